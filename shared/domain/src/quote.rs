//! Finds a quote in a passage, word for word, or says why it is not there.
//!
//! Never fuzzy: after [`crate::fold`] every letter, digit and mark must agree, in order, from token bound to token bound. An
//! ellipsis stands for three dots and never for left-out words. What counts as too little to be evidence is decided here
//! too. [`crate::citation`] is the caller that matters.

use std::ops::Range;

use crate::fold::{Folded, JOINT};
use crate::names;

/// Fewer words than this are no evidence, unless they are an exact name or a whole line of code.
pub const MIN_WORDS: usize = 3;
/// Fewer letters and digits than this are no evidence either.
pub const MIN_ALPHANUMERICS: usize = 12;

/// Why a quote does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum QuoteFault {
    /// The passage does not hold these words in this order.
    #[error("quote not found in the passage")]
    NotFound,
    /// Too little to be evidence: "the", "1 GB".
    #[error("quote too short to be evidence")]
    TooShort,
    /// Nothing was quoted.
    #[error("quote is empty")]
    Empty,
}

/// Where `quote` first stands in `passage`, in scalars of the original text.
///
/// # Errors
/// [`QuoteFault`] when it does not stand there or is too short to be evidence.
pub fn find(passage: &Folded, quote: &str) -> Result<Range<usize>, QuoteFault> {
    find_all(passage, quote).map(|places| places[0].clone())
}

/// Everywhere `quote` stands in `passage` as evidence, in scalars of the original text; at least one place.
///
/// # Errors
/// [`QuoteFault`] when it does not stand there or is too short to be evidence.
pub fn find_all(passage: &Folded, quote: &str) -> Result<Vec<Range<usize>>, QuoteFault> {
    let mut places = places(passage, quote);
    let fault = if is_long_enough(quote)? {
        QuoteFault::NotFound
    } else {
        // A short line of code is evidence as a whole; the same words inside a line are not.
        places.retain(|place| is_code_line(passage, place));
        QuoteFault::TooShort
    };
    if places.is_empty() {
        return Err(fault);
    }
    Ok(places
        .into_iter()
        .map(|place| passage.span(place))
        .collect())
}

/// Everywhere `text` stands in `passage`, in scalars of the original text, however short it is.
#[must_use]
pub fn occurrences(passage: &Folded, text: &str) -> Vec<Range<usize>> {
    places(passage, text)
        .into_iter()
        .map(|place| passage.span(place))
        .collect()
}

/// `text` without the quotation marks around it: straight, curly, angle or corner ones, also an unequal pair. Marks inside,
/// and a mark without a partner, stay.
#[must_use]
pub fn unquote(text: &str) -> &str {
    let text = text.trim();
    for marks in [DOUBLE_MARKS, SINGLE_MARKS] {
        let inner = text
            .strip_prefix(marks)
            .and_then(|rest| rest.strip_suffix(marks));
        if let Some(inner) = inner {
            return inner.trim();
        }
    }
    if let Some(inner) = text
        .strip_prefix("&quot;")
        .and_then(|rest| rest.strip_suffix("&quot;"))
    {
        return inner.trim();
    }
    text
}

const DOUBLE_MARKS: &[char] = &[
    '"', '“', '”', '„', '‟', '«', '»', '「', '」', '『', '』', '＂', '″', '〝', '〞', '〟',
];
const SINGLE_MARKS: &[char] = &['\'', '‘', '’', '‚', '‛', '‹', '›', '＇', '′', '`'];

/// Whether `text` is enough to be evidence for itself; what is not is never shown, and need not be chosen.
#[must_use]
pub fn is_evidence(text: &str) -> bool {
    is_long_enough(text) == Ok(true)
}

/// Whether the quote alone is enough to be evidence.
fn is_long_enough(quote: &str) -> Result<bool, QuoteFault> {
    let folded = Folded::new(quote);
    let (mut words, mut alphanumerics, mut letters, mut inside, mut visible) =
        (0, 0, 0, false, false);
    for &c in folded.chars() {
        visible |= c != ' ' && c != JOINT;
        if is_unspaced(c) {
            // Scripts without spaces write about a word in two characters.
            (words, alphanumerics, letters, inside) =
                (words + 1, alphanumerics + 2, letters + 2, false);
        } else if c.is_alphanumeric() {
            words += usize::from(!inside);
            alphanumerics += 1;
            letters += usize::from(c.is_alphabetic());
            inside = true;
        } else if c != JOINT {
            inside = false;
        }
    }
    if !visible {
        return Err(QuoteFault::Empty);
    }
    let is_text = words >= MIN_WORDS
        && alphanumerics >= MIN_ALPHANUMERICS
        && letters >= MIN_ALPHANUMERICS / 2;
    Ok(is_text || names::is_exact_name(unquote(quote).trim_matches(is_sentence_mark)))
}

/// Whether `place` is a whole line of the passage, and code by the marks in it.
fn is_code_line(passage: &Folded, place: &Range<usize>) -> bool {
    let begins = place.start == 0 || passage.starts_line(place.start);
    let after =
        (place.end..passage.len()).find(|&at| !matches!(passage.chars()[at], ' ' | ';' | ','));
    let ends = after.is_none_or(|at| passage.starts_line(at));
    let line = &passage.chars()[place.clone()];
    let alphanumerics = line.iter().filter(|c| c.is_alphanumeric()).count();
    let is_code = line.iter().any(|c| ";=()[]{}<>_|@\\$".contains(*c));
    begins && ends && is_code && alphanumerics >= 4
}

/// Where the quote stands, in folded characters: as written if it stands there so, else without what writers put around
/// quotes.
fn places(passage: &Folded, quote: &str) -> Vec<Range<usize>> {
    for written in writings(quote) {
        let folded = Folded::new(&written);
        let strict = case_marks(&folded);
        let mut tried: Vec<Range<usize>> = Vec::new();
        for trimmed in [
            trim_spaces(&folded),
            trim_end_marks(&folded),
            trim_marks(&folded),
        ] {
            if trimmed.is_empty() || tried.contains(&trimmed) {
                continue;
            }
            tried.push(trimmed.clone());
            let needle = Needle {
                chars: folded.chars()[trimmed.clone()].to_vec(),
                strict: trimmed
                    .clone()
                    .map(|at| strict[at].then(|| folded.exact(at)))
                    .collect(),
            };
            let found: Vec<_> = needle.places_in(passage).collect();
            if !found.is_empty() {
                return found;
            }
        }
    }
    Vec::new()
}

/// The quote, and the quote without the marks that JSON and Markdown add to text.
fn writings(quote: &str) -> Vec<String> {
    let mut writings = vec![quote.to_owned()];
    if quote.contains("\\\"") {
        writings.push(quote.replace("\\\"", "\""));
    }
    if quote.contains('`') {
        let plain = writings
            .last()
            .map_or(String::new(), |last| last.replace('`', ""));
        writings.push(plain);
    }
    writings
}

/// Marks the characters of identifiers inside double quotes, whose case is part of the name.
fn case_marks(folded: &Folded) -> Vec<bool> {
    let chars = folded.chars();
    let mut strict = vec![false; chars.len()];
    let quotes: Vec<usize> = (0..chars.len()).filter(|&at| chars[at] == '"').collect();
    for pair in quotes.windows(2) {
        let inner = pair[0] + 1..pair[1];
        if !inner.is_empty() && chars[inner.clone()].iter().all(|&c| is_word(c)) {
            strict[inner].fill(true);
        }
    }
    strict
}

struct Needle {
    chars: Vec<char>,
    strict: Vec<Option<char>>,
}

impl Needle {
    fn places_in<'a>(self, passage: &'a Folded) -> impl Iterator<Item = Range<usize>> + 'a {
        let plain_start = self.chars[0] != JOINT;
        (0..passage.len()).filter_map(move |start| {
            if plain_start && passage.chars()[start] != self.chars[0] {
                return None;
            }
            let end = self.end_at(passage, start, 0)?;
            (is_bound(passage, start) && is_bound(passage, end)).then_some(start..end)
        })
    }

    /// Where the needle's characters from `next` end in the passage, if they stand at `at`.
    fn end_at(&self, passage: &Folded, mut at: usize, mut next: usize) -> Option<usize> {
        let text = passage.chars();
        while let Some(&c) = self.chars.get(next) {
            let Some(&found) = text.get(at) else {
                return (c == JOINT)
                    .then(|| self.end_at(passage, at, next + 1))
                    .flatten();
            };
            if c == found && self.strict[next].is_none_or(|exact| exact == passage.exact(at)) {
                (at, next) = (at + 1, next + 1);
                continue;
            }
            // A hyphen at a line's end is the line's or the word's: `check-⏎point`, `read-⏎only`.
            if found == JOINT {
                let spaced = usize::from(self.chars.get(next + 1) == Some(&' '));
                return (c == '-')
                    .then(|| self.end_at(passage, at + 1, next + 1 + spaced))
                    .flatten()
                    .or_else(|| self.end_at(passage, at + 1, next));
            }
            if c == JOINT {
                let spaced = usize::from(text.get(at + 1) == Some(&' '));
                return (found == '-')
                    .then(|| self.end_at(passage, at + 1 + spaced, next + 1))
                    .flatten()
                    .or_else(|| self.end_at(passage, at, next + 1));
            }
            return None;
        }
        Some(at)
    }
}

/// Whether a quote may begin or end before the character at `at`: not inside a word, a number, a dotted, hyphenated or
/// qualified name, nor between a sign and what it changes.
fn is_bound(text: &Folded, at: usize) -> bool {
    let chars = text.chars();
    if at == 0 || at >= chars.len() {
        return true;
    }
    let (before, after) = (chars[at - 1], chars[at]);
    let further_before = at.checked_sub(2).map_or(' ', |index| chars[index]);
    let further_after = chars.get(at + 1).copied().unwrap_or(' ');
    let long_dash = |index: usize| text.exact(index) == '\u{2014}';
    if before == JOINT || after == JOINT {
        return false;
    }
    if is_word(before) && is_word(after) {
        return is_unspaced(before) || is_unspaced(after);
    }
    if is_word(before) && !long_dash(at) {
        let goes_on = joins(after, before, further_after);
        let suffix = (after == '%' && before.is_numeric())
            || (after == ':' && further_after == ':')
            || (before.is_alphabetic() && (after == '#' || (after == '+' && further_after == '+')));
        return !goes_on && !suffix;
    }
    if is_word(after) && !long_dash(at - 1) {
        let goes_on = joins(before, further_before, after);
        let prefix = match before {
            '-' | '\\' | '@' | '#' => true,
            ':' => further_before == ':',
            '+' => after.is_numeric(),
            '.' => further_before != '.' && after.is_numeric(),
            _ => false,
        };
        return !goes_on && !prefix;
    }
    // A sign that begins or ends a quote belongs to the word it touches: `-only` is no part of `read-only`.
    if is_operator(before) && is_operator(after) {
        return long_dash(at - 1) || long_dash(at);
    }
    true
}

/// Whether `mark` between two characters makes them one token.
fn joins(mark: char, before: char, after: char) -> bool {
    match mark {
        '.' | '-' | '/' | '\'' | '@' | ':' => is_word(before) && is_word(after),
        ',' => before.is_numeric() && after.is_numeric(),
        _ => false,
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(c, '_' | '$')
        || unicode_normalization::char::is_combining_mark(c)
}

fn is_operator(c: char) -> bool {
    "+-*/<>=~!@#%^&|?:\\".contains(c)
}

/// Letters of scripts that put no spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

fn is_sentence_mark(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '…') || c.is_whitespace()
}

fn trim_spaces(folded: &Folded) -> Range<usize> {
    trim(folded, |c| c == ' ', |c| c == ' ')
}

fn trim_end_marks(folded: &Folded) -> Range<usize> {
    trim(folded, |c| c == ' ', is_sentence_mark)
}

fn trim_marks(folded: &Folded) -> Range<usize> {
    let is_mark = |c: char| matches!(c, '"' | '\'' | '`' | '(' | ')' | '[' | ']');
    let mut range = trim(
        folded,
        |c| c == ' ' || is_mark(c),
        |c| is_sentence_mark(c) || is_mark(c),
    );
    while folded.chars()[range.clone()].starts_with(&['.', '.', '.']) {
        range.start += 3;
        while range.start < range.end && folded.chars()[range.start] == ' ' {
            range.start += 1;
        }
    }
    range
}

fn trim(
    folded: &Folded,
    leading: impl Fn(char) -> bool,
    trailing: impl Fn(char) -> bool,
) -> Range<usize> {
    let chars = folded.chars();
    let start = chars
        .iter()
        .position(|&c| !leading(c))
        .unwrap_or(chars.len());
    let end = chars
        .iter()
        .rposition(|&c| !trailing(c))
        .map_or(start, |last| last + 1);
    start..end.max(start)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const F1: &str = "max_wal_size (integer) Maximum size to let the WAL grow during automatic checkpoints. The default is 1 GB.";

    /// The passage's own words where the quote stands.
    fn words(passage: &str, quote: &str) -> Result<String, QuoteFault> {
        let span = find(&Folded::new(passage), quote)?;
        Ok(passage.chars().skip(span.start).take(span.len()).collect())
    }

    fn holds(cases: &[(&str, &str)]) {
        for (passage, quote) in cases {
            assert!(
                words(passage, quote).is_ok(),
                "{quote:?} stands in {passage:?}: {:?}",
                words(passage, quote)
            );
        }
    }

    fn fails(fault: QuoteFault, cases: &[(&str, &str)]) {
        for (passage, quote) in cases {
            assert_eq!(
                words(passage, quote),
                Err(fault),
                "{quote:?} in {passage:?}"
            );
        }
    }

    #[test]
    fn c120_takes_quotes_out_of_any_marks() {
        for (marked, inner) in [
            ("“the WAL grow”", "the WAL grow"),
            ("‘the WAL grow’", "the WAL grow"),
            ("\"the WAL grow\"", "the WAL grow"),
            ("«the WAL grow»", "the WAL grow"),
            ("„the WAL grow“", "the WAL grow"),
            ("“the WAL grow\"", "the WAL grow"),
            (" 'the WAL grow' ", "the WAL grow"),
            ("&quot;the WAL grow&quot;", "the WAL grow"),
            ("the WAL grow", "the WAL grow"),
            ("“the WAL grow", "“the WAL grow"),
            ("\"", "\""),
            ("", ""),
        ] {
            assert_eq!(unquote(marked), inner, "{marked:?}");
        }
        for quote in [
            "“Maximum size to let”",
            "\"Maximum size to let”",
            "«Maximum size to let»",
            "“Maximum size to let",
        ] {
            assert_eq!(
                words(F1, quote).as_deref(),
                Ok("Maximum size to let"),
                "{quote:?}"
            );
        }
    }

    #[test]
    fn c121_no_break_spaces_are_spaces() {
        holds(&[(
            "see Table\u{A0}9.47 for the operators",
            "see Table 9.47 for the operators",
        )]);
        holds(&[(
            "see Table 9.47 for the operators",
            "see\u{A0}Table\u{2009}9.47 for the operators",
        )]);
    }

    #[test]
    fn c123_typographic_forms_fold() {
        let source = "The office uses non-blocking writes, set -1 to wait...";
        holds(&[
            (source, "The o\u{FB03}ce uses non\u{2011}blocking writes"),
            (
                source,
                "non-block\u{AD}ing wri\u{200B}tes, set \u{2212}1 to wait\u{2026}",
            ),
            (
                "The o\u{FB03}ce uses non\u{2010}block\u{AD}ing wri\u{200B}tes",
                "the office uses non-blocking writes",
            ),
        ]);
    }

    #[test]
    fn c126_an_ellipsis_is_no_wildcard() {
        let source = "This option is not recommended for production";
        fails(
            QuoteFault::NotFound,
            &[
                (source, "This option is ... recommended for production"),
                (source, "This option is … recommended for production"),
                (source, "This option is [...] recommended for production"),
                (source, "This option is recommended for production"),
            ],
        );
        holds(&[
            (source, "...not recommended for production"),
            (source, "This option is not recommended…"),
        ]);
    }

    #[test]
    fn c129_too_little_is_no_evidence() {
        let source = "max_wal_size (integer)\nthe default is 1 GB. Use ->> or jsonb_path_ops, pg_dump -Fc, nextval ( regclass ); \
                      error 42P01 undefined_table PostgreSQL HAVING 23505";
        fails(
            QuoteFault::TooShort,
            &[
                (source, "the"),
                (source, "1 GB"),
                (source, "1 GB."),
                (source, "is 1 GB. Use"),
                (source, "PostgreSQL"),
                (source, "HAVING"),
                (source, "23505"),
                (source, "absent"),
                (source, "or"),
            ],
        );
        fails(
            QuoteFault::Empty,
            &[(source, ""), (source, " \u{200B}\n"), (source, "\u{AD}")],
        );
        holds(&[
            (source, "max_wal_size"),
            (source, "“max_wal_size”"),
            (source, "jsonb_path_ops"),
            (source, "->>"),
            (source, "42P01"),
            (source, "pg_dump -Fc"),
            (source, "nextval()"),
            (source, "max_wal_size (integer)"),
        ]);
        fails(
            QuoteFault::NotFound,
            &[
                (source, "min_wal_size"),
                (source, "->"),
                (source, "pg_dump -F"),
                (source, "42P02"),
            ],
        );
    }

    #[test]
    fn c129_a_whole_short_line_of_code_is_evidence() {
        let source = "Then commit:\nBEGIN;\nSELECT pi();\nCOMMIT;\nthe\n1 GB\nand SELECT 1; too";
        holds(&[
            (source, "BEGIN;"),
            (source, "SELECT pi();"),
            (source, "COMMIT;"),
        ]);
        fails(
            QuoteFault::TooShort,
            &[(source, "the"), (source, "1 GB"), (source, "SELECT 1;")],
        );
    }

    #[test]
    fn c132_words_that_are_never_contiguous_do_not_hold() {
        fails(
            QuoteFault::NotFound,
            &[
                (F1, "Maximum size during automatic checkpoints"),
                (F1, "the default WAL size is 1 GB"),
            ],
        );
    }

    #[test]
    fn c134_differences_of_white_space_alone_hold() {
        let source = "jsonb -> integer → jsonb\nExtracts n'th element of JSON array\t(array elements are indexed from zero)";
        holds(&[
            (
                source,
                "jsonb -> integer \u{2192} jsonb Extracts n'th element",
            ),
            (
                source,
                "Extracts  n\u{2019}th\telement of JSON array (array elements",
            ),
            (F1, "max_wal_size(integer) Maximum size"),
            (
                "nextval ( regclass ) → bigint",
                "nextval(regclass) → bigint",
            ),
        ]);
        fails(
            QuoteFault::NotFound,
            &[
                (source, "jsonb -> integer -> jsonb Extracts n'th element"),
                (source, "jsonb - > integer \u{2192} jsonb Extracts"),
                (source, "Extractsn'th element of JSON array"),
            ],
        );
    }

    #[test]
    fn c135_a_hyphen_at_a_line_break_may_be_the_words_own_or_not() {
        let source = "during checkpointing the checkpoint is read-only for all";
        holds(&[
            (source, "during checkpoint-\ning the check-\r\n  point is"),
            (source, "the check\u{AD}\npoint is read-\nonly for all"),
            (
                source,
                "during check-\npointing the check-\npoint is read-only",
            ),
            (
                "during check-\npointing the WAL is read-\nonly",
                "during checkpointing the WAL is read-only",
            ),
            (
                "during check-\npointing the WAL is read-\nonly",
                "during check-\npointing the WAL is read-\nonly",
            ),
            (
                "during check-\npointing the WAL is read- only",
                "the WAL is read-\nonly",
            ),
        ]);
        fails(
            QuoteFault::NotFound,
            &[
                (source, "the checkpoint is readonly for all"),
                (source, "check-pointing the checkpoint"),
            ],
        );
        fails(
            QuoteFault::NotFound,
            &[(
                "uses 10-\n20 workers for this",
                "uses 1020 workers for this",
            )],
        );
    }

    #[test]
    fn c136_entities_are_decoded_once() {
        let source = "use a < b && b > c, it's fine & good";
        holds(&[
            (source, "use a &lt; b &amp;&amp; b &gt; c, it&#39;s fine"),
            (
                source,
                "use a &#60; b &#x26;&#38; b &gt; c, it&#x27;s fine &amp; good",
            ),
            ("returns jsonb → text for it", "returns jsonb &#x2192; text"),
        ]);
        fails(
            QuoteFault::NotFound,
            &[(source, "use a &amp;lt; b &amp;amp;&amp;amp; b")],
        );
    }

    #[test]
    fn c137_case_folds_but_not_in_quoted_identifiers() {
        holds(&[
            (F1, "Maximum Size To Let The WAL Grow"),
            (
                "refer to \"MyTable\" in all queries",
                "REFER TO \"MyTable\" in all",
            ),
            (
                "refer to “MyTable” in all queries",
                "refer to \"MyTable\" in all queries",
            ),
        ]);
        fails(
            QuoteFault::NotFound,
            &[
                (
                    "refer to \"MyTable\" in all queries",
                    "refer to \"mytable\" in all queries",
                ),
                (
                    "refer to \"mytable\" in all queries",
                    "refer to “MyTable” in all queries",
                ),
            ],
        );
    }

    #[test]
    fn c138_numbers_are_exact() {
        let source = "the default is 1 GB, at most 10 GBps, release 17.2 or 5.3, costs 1,000 or 10% of it, -1 disables it, \
                      at 10:30 on 2024-01-02";
        fails(
            QuoteFault::NotFound,
            &[
                (source, "the default is 10 GB"),
                (source, "the default is 1 G"),
                (source, "he default is 1 GB"),
                (source, "0 GBps, release 17.2 or 5.3"),
                (source, "the default is 1 GB, at most 10 GB"),
                (source, "at most 10 GBps, release 17"),
                (source, "at most 10 GBps, release 17."),
                (source, "release 17.2 or 53, costs"),
                (source, "2 or 5.3, costs 1,000 or"),
                (source, "release 17.2 or 5.3, costs 1,00"),
                (source, "release 17.2 or 5.3, costs 1"),
                (source, "000 or 10% of it, -1 disables"),
                (source, "release 17.2 or 5.3, costs 1,000 or 10"),
                (source, "1 disables it, at 10:30 on 2024-01-02"),
                (source, "10% of it, -1 disables it, at 10"),
                (source, "disables it, at 10:30 on 2024"),
                (source, "disables it, at 10:30 on 2024-01"),
                (source, "costs 1000 or 10% of it"),
            ],
        );
        holds(&[
            (source, "the default is 1 GB"),
            (source, "at most 10 GBps, release 17.2"),
            (source, "-1 disables it, at 10:30 on 2024-01-02."),
        ]);
        fails(
            QuoteFault::NotFound,
            &[
                (
                    "raised to 10⁵ rows per table",
                    "raised to 105 rows per table",
                ),
                ("takes 3½ hours in all", "takes 31/2 hours in all"),
            ],
        );
    }

    #[test]
    fn bounds_fall_outside_names_and_words() {
        fails(
            QuoteFault::NotFound,
            &[
                ("set max_wal_size to limit it", "wal_size to limit it"),
                ("set max_wal_size to limit it", "wal_size"),
                ("see pg_hba.conf for the records", "pg_hba"),
                ("uses non-blocking index builds", "blocking index builds"),
                (
                    "you can't drop the table then",
                    "drop the table then and you can",
                ),
                ("the owner of it all can't drop", "the owner of it all can"),
                ("pass -Fc to the command line", "Fc to the command line"),
                ("parameters $1 and $2 are bound", "1 and $2 are bound"),
                ("written in C++ by the authors", "they are written in C"),
                (
                    "a ->> b is text, a -> b is json",
                    "> b is text, a -> b is json",
                ),
                ("see public.accounts for all rows", "accounts for all rows"),
                ("x::integer is a cast of it", "integer is a cast of it"),
                ("the unreadable text of it all", "readable text of it all"),
            ],
        );
        holds(&[
            ("the default—which is fine—holds", "which is fine—holds"),
            ("the default—which is fine—holds", "the default—which is"),
            ("(see “the whole thing” there)", "the whole thing"),
            ("the server process(es) will stop", "the server process"),
            ("array[1] is the first element", "is the first element"),
            ("等待数据库完成检查点操作后返回", "数据库完成检查点操作"),
        ]);
    }

    #[test]
    fn markdown_and_json_marks_of_the_writer_are_dropped() {
        holds(&[
            (F1, "`max_wal_size` (integer) Maximum size"),
            (
                "the “excluded” table is special",
                "the \\\"excluded\\\" table is special",
            ),
            (
                "the \"excluded\" max_wal_size here",
                "the \\\"excluded\\\" `max_wal_size` here",
            ),
        ]);
    }

    #[test]
    fn c140_spans_are_right_behind_letters_that_change_length() {
        let source = "\u{1E9E}\u{130} max_wal_size is soft and not a hard limit";
        assert_eq!(
            words(source, "MAX_WAL_SIZE is soft").as_deref(),
            Ok("max_wal_size is soft")
        );
        assert_eq!(
            words(source, "\u{DF}i\u{307} max_wal_size is soft").as_deref(),
            Ok("\u{1E9E}\u{130} max_wal_size is soft")
        );
    }

    #[test]
    fn c141_any_cut_of_a_text_with_emoji_is_safe() {
        let source =
            "fire \u{1F525}\u{FE0F} and \u{1F469}\u{200D}\u{1F4BB} write the checkpoints here";
        for (cut, _) in source.char_indices() {
            assert!(matches!(
                words(source, &source[cut..]),
                Ok(_) | Err(QuoteFault::TooShort | QuoteFault::NotFound)
            ));
            assert!(matches!(words(source, &source[..cut]), Ok(_) | Err(_)));
        }
    }

    #[test]
    fn c143_nested_quotes_are_taken_conservatively() {
        let source = "He said \"use 'fsync' here\" and the string 'it''s' is SQL";
        holds(&[
            (source, "He said \"use ‘fsync’ here\""),
            (source, unquote("\"He said \"use ‘fsync’ here\"\"")),
            (source, "and the string 'it''s' is SQL"),
        ]);
        assert_eq!(
            unquote("\"He said \"use ‘fsync’ here\""),
            "He said \"use ‘fsync’ here"
        );
        assert_eq!(unquote("'it''s'"), "it''s");
        fails(
            QuoteFault::NotFound,
            &[
                (source, "and the string 'it's' is SQL"),
                (source, "He said \"use fsync here\""),
            ],
        );
    }

    #[test]
    fn c144_a_translation_is_no_quote() {
        fails(
            QuoteFault::NotFound,
            &[
                (F1, "Taille maximale que peut atteindre le WAL"),
                (F1, "La valeur par défaut est 1 GB"),
            ],
        );
    }

    #[test]
    fn gives_every_place() {
        let folded = Folded::new("a b a b a");
        assert_eq!(occurrences(&folded, "a b"), [0..3, 4..7]);
        assert!(occurrences(&folded, "c").is_empty());
    }

    fn word() -> impl Strategy<Value = String> {
        prop_oneof![
            6 => "[a-z]{2,9}",
            1 => "[A-Z][a-z]{2,6}",
            1 => "[a-z]{2,4}_[a-z]{2,5}",
            1 => "[0-9]{1,3}(\\.[0-9]{1,2})?",
            1 => "fi[a-z]{2}|[a-z]{2}ff[a-z]",
            1 => Just("\"Quoted\"".to_owned()),
            1 => Just("it's".to_owned()),
            1 => Just("(in)".to_owned()),
            1 => Just("->>".to_owned()),
            1 => Just("read-only".to_owned()),
            1 => Just("caf\u{E9}".to_owned()),
            1 => Just("STRA\u{1E9E}E".to_owned()),
        ]
    }

    /// The same words as another writer might set them.
    fn represent(text: &str, seed: u64) -> String {
        let mut state = seed | 1;
        let mut chance = |out_of: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33).is_multiple_of(out_of)
        };
        let mut set = String::new();
        let mut quoted = false;
        let mut chars = text
            .replace("fi", "\u{FB01}")
            .chars()
            .collect::<Vec<_>>()
            .into_iter()
            .peekable();
        while let Some(c) = chars.next() {
            quoted ^= c == '"';
            let between_letters =
                c.is_alphabetic() && chars.peek().is_some_and(|next| next.is_alphabetic());
            match c {
                ' ' if chance(3) => set.push_str(
                    ["\u{A0}", "\n", "\t", "  "]
                        [usize::from(chance(2)) * 2 + usize::from(chance(2))],
                ),
                '"' if chance(2) => set.push('\u{201C}'),
                '\'' if chance(2) => set.push('\u{2019}'),
                '-' if chance(2) && chars.peek() != Some(&'>') => set.push('\u{2011}'),
                '\u{FB01}' if chance(2) => set.push_str("fi"),
                '\u{E9}' if chance(2) => set.push_str("e\u{301}"),
                _ if !quoted && c.is_ascii_lowercase() && chance(6) => {
                    set.push(c.to_ascii_uppercase())
                }
                _ => set.push(c),
            }
            if between_letters && chance(8) {
                set.push_str(if chance(2) { "\u{AD}" } else { "\u{200B}" });
            }
        }
        set
    }

    proptest! {
        #[test]
        fn any_words_of_a_source_hold_however_they_are_set(
            words in proptest::collection::vec(word(), 6..40), from in 0..100_usize, length in 4..20_usize,
            seeds in any::<(u64, u64)>(),
        ) {
            let from = from % (words.len() - 4);
            let chosen = words[from..(from + length).min(words.len())].join(" ");
            let source = represent(&words.join(" "), seeds.0);
            let quote = represent(&chosen, seeds.1);
            let folded = Folded::new(&source);
            let found = match find(&folded, &quote) {
                Err(QuoteFault::TooShort) => return Ok(()),
                found => found,
            };
            prop_assert!(found.is_ok(), "{:?} in {:?}", quote, source);
            let span = found.unwrap_or_default();
            let cut: String = source.chars().skip(span.start).take(span.len()).collect();
            let fold = |text: &str| Folded::new(text).chars().iter().collect::<String>();
            let marks = |c: char| matches!(c, '"' | '\'' | '(' | ')' | ' ');
            prop_assert_eq!(fold(&cut).trim_matches(marks).to_owned(), fold(&quote).trim_matches(marks).to_owned());
        }

        #[test]
        fn one_changed_letter_or_digit_never_holds(
            words in proptest::collection::vec("[a-z]{3,8}|[0-9]{1,4}|[a-z]{2,4}_[a-z]{3,5}", 5..30), at in any::<prop::sample::Index>(),
        ) {
            let source = words.join(" ");
            let mut chars: Vec<char> = source.chars().collect();
            let changeable: Vec<usize> = (0..chars.len()).filter(|&at| chars[at].is_alphanumeric()).collect();
            let at = changeable[at.index(changeable.len())];
            chars[at] = match chars[at] {
                '9' => '0',
                'z' => 'a',
                c => char::from_u32(u32::from(c) + 1).unwrap_or(c),
            };
            let quote: String = chars.into_iter().collect();
            prop_assert!(find(&Folded::new(&source), &quote).is_err());
        }

        #[test]
        fn never_panics(passage in any::<String>(), quote in any::<String>()) {
            let folded = Folded::new(&passage);
            if let Ok(span) = find(&folded, &quote) {
                prop_assert!(span.end <= passage.chars().count());
            }
            let _ = occurrences(&folded, &quote);
            let _ = unquote(&quote);
        }

        #[test]
        fn never_panics_on_the_marks_it_treats(
            passage in "[a-c0-1 \n\u{AD}.,:'\"()\\-_$%+#@\\\\`…—]{0,40}", quote in "[a-c0-1 \n\u{AD}.,:'\"()\\-_$%+#@\\\\`…—]{0,12}",
        ) {
            let folded = Folded::new(&passage);
            if let Ok(span) = find(&folded, &quote) {
                prop_assert!(span.end <= passage.chars().count());
            }
            prop_assert!(occurrences(&folded, &quote).iter().all(|range| range.end <= passage.chars().count()));
        }
    }
}
