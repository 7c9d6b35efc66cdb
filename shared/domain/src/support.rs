//! Objects to a sentence that says what its evidence does not: another number, unit, version or name, or the opposite.
//!
//! Runs after [`crate::citation`] has found the quotes, and knows nothing but the sentence and the passages it cites: a question
//! never vouches for a fact. It is deterministic and made of small tables, so that each objection can be explained. It accepts
//! equivalents it knows (`1 gigabyte` is `1 GB`, "disabled" is "off") and is silent where two texts merely differ in words.
//!
//! - **Numbers** stand in a cited passage with their unit, or with it nearby; versions as written, also in the heading. A number
//!   from elsewhere in the passage does not take the place of the quote's, or of one beside the quote in its sentence.
//! - **Names** ([`crate::names`], and what stands in backticks or alone in quotation marks) stand in a cited passage or heading.
//! - **Polarity** does not contradict the quote, read in the sentence it was cut out of.

mod code;
mod lexicon;
mod polarity;
mod quantity;
mod reading;
mod text;

use std::collections::HashSet;

use crate::names::{self, Name, NameKind};
use code::UsedKind;
use quantity::{Quantity, Unit};
use reading::Stance;
use text::Plain;

/// What one citation of a sentence gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence<'a> {
    /// The full text of the cited passage.
    pub passage: &'a str,
    /// Where it stands: title and heading path.
    pub heading: &'a str,
    /// The words cited, which stand in the passage.
    pub quote: &'a str,
}

/// What in a sentence its evidence does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unsupported {
    /// A number, a unit or a version.
    Number,
    /// An exact name.
    Name,
    /// The evidence says the opposite.
    Contradicts,
}

impl Unsupported {
    /// The contract's word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Number => "unsupported_number",
            Self::Name => "unsupported_name",
            Self::Contradicts => "contradicts_negation",
        }
    }
}

/// What the evidence of a sentence of prose does not hold, if anything. Without evidence nothing is held, and a sentence
/// that states numbers or names is unsupported.
#[must_use]
pub fn unsupported(sentence: &str, evidence: &[Evidence<'_>]) -> Option<Unsupported> {
    let statement = text::statement(sentence);
    let sources: Vec<Source> = evidence.iter().map(Source::new).collect();
    let plain = Plain::new(&statement);
    if has_unheld_number(&plain, &sources) {
        return Some(Unsupported::Number);
    }
    if has_unknown_name(&statement, &sources) {
        return Some(Unsupported::Name);
    }
    contradicts(&plain, &sources).then_some(Unsupported::Contradicts)
}

/// What the evidence of a code block does not hold, if anything: every name in it that is not plain SQL, a placeholder or the
/// writer's data stands in a cited passage. Its prose, which is comments and literals of several words, is held to the rules for
/// sentences and says nothing in words of its own.
#[must_use]
pub fn unsupported_code(code: &str, evidence: &[Evidence<'_>]) -> Option<Unsupported> {
    let sources: Vec<Source> = evidence.iter().map(Source::new).collect();
    let read = code::read(code);
    let prose = Plain::new(&read.prose);
    if has_unheld_number(&prose, &sources) {
        return Some(Unsupported::Number);
    }
    let is_unknown = has_unknown_word(&read, &sources)
        || has_unknown_operator(code, &sources)
        || has_unknown_name(&read.prose, &sources)
        || has_strange_word(&read.prose, &sources);
    if is_unknown {
        return Some(Unsupported::Name);
    }
    contradicts(&prose, &sources).then_some(Unsupported::Contradicts)
}

/// The share of a statement's words from which it says a sentence again.
const COPIED: f32 = 0.8;

/// The words of a text that are no numbers.
fn words(lower: &str) -> impl Iterator<Item = &str> {
    lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.contains(char::is_alphabetic))
}

/// One citation in plain form.
struct Source {
    passage: Plain,
    heading: Plain,
    quote: Plain,
}

impl Source {
    fn new(evidence: &Evidence<'_>) -> Self {
        Self {
            passage: Plain::new(evidence.passage),
            heading: Plain::new(evidence.heading),
            quote: Plain::new(evidence.quote),
        }
    }

    /// The sentences that the quote may have been cut out of and that `statement` says again, but for a word or two: where they
    /// have another number, the statement changed it.
    fn copied_by(&self, statement: &Plain) -> Vec<&str> {
        let said: Vec<&str> = words(&statement.lower).collect();
        self.passage
            .find_all(&self.quote)
            .into_iter()
            .map(|quoted| &self.passage.lower[self.passage.sentences_around(quoted)])
            .filter(|sentence| {
                let theirs: HashSet<&str> = words(sentence).collect();
                let same = said.iter().filter(|word| theirs.contains(*word)).count();
                same as f32 >= COPIED * said.len() as f32
            })
            .collect()
    }

    fn texts(&self) -> [&Plain; 3] {
        [&self.passage, &self.heading, &self.quote]
    }

    fn any(&self, holds: impl Fn(&Plain) -> bool) -> bool {
        self.texts().into_iter().any(holds)
    }
}

fn has_unheld_number(plain: &Plain, sources: &[Source]) -> bool {
    let stated = quantity::stated(&plain.lower);
    if stated.is_empty() {
        return false;
    }
    let held: Vec<[Vec<Quantity>; 3]> = sources
        .iter()
        .map(|source| source.texts().map(|text| quantity::held(&text.lower)))
        .collect();
    let in_quotes: Vec<Quantity> = sources
        .iter()
        .flat_map(|source| quantity::stated(&source.quote.lower))
        .collect();
    // A quote may end before the number that the sentence changed.
    let copied: Vec<Vec<Quantity>> = sources
        .iter()
        .flat_map(|source| source.copied_by(plain))
        .map(quantity::stated)
        .collect();
    stated.iter().any(|claim| {
        let mut is_held = false;
        for (source, [passage, heading, quote]) in sources.iter().zip(&held) {
            is_held |= quantity::is_held(claim, passage, &source.passage.lower)
                || quantity::is_held(claim, quote, &source.quote.lower)
                || (claim.unit == Unit::Version
                    && quantity::is_held(claim, heading, &source.heading.lower));
        }
        !is_held
            || quantity::is_substituted(claim, &stated, &in_quotes)
            || (!copied.is_empty()
                && copied
                    .iter()
                    .all(|numbers| quantity::is_substituted(claim, &stated, numbers)))
    })
}

/// Product and language names that state nothing.
const FAMILIAR: &[&str] = &["postgresql", "postgres", "sql"];

/// English words that are written in capitals for emphasis.
const EMPHASIS: &[&str] = &[
    "not", "no", "never", "only", "must", "may", "can", "cannot", "always", "and", "or", "all",
    "any", "is", "if", "on", "off", "in", "to", "by", "for", "with", "at", "from", "as", "do",
    "does", "note", "warning", "ok", "yes", "vs", "the", "before", "after", "both", "then", "ie",
    "eg",
];

fn has_unknown_name(statement: &str, sources: &[Source]) -> bool {
    let (prose, spans) = without_code(statement);
    let plain = Plain::new(&prose);
    names::exact_names(&plain.cased)
        .iter()
        .any(|name| !knows(name, sources))
        || spans.iter().any(|span| {
            has_unknown_word(&code::read(span), sources) || has_unknown_operator(span, sources)
        })
        || quoted_words(&plain.cased).any(|word| {
            !sources.iter().any(|source| {
                source.any(|text| text.has_exact(word) || (is_small(word) && text.has_word(word)))
            })
        })
}

/// The prose with its longer code spans cut out, and all its code spans. Short spans stay, for they are names.
fn without_code(statement: &str) -> (String, Vec<&str>) {
    const NAME_WORDS: usize = 2;
    let mut prose = String::with_capacity(statement.len());
    let mut spans = Vec::new();
    for (position, part) in statement.split('`').enumerate() {
        if position % 2 == 0 {
            prose.push_str(part);
            continue;
        }
        spans.push(part);
        if part.split_whitespace().count() <= NAME_WORDS {
            prose.push('`');
            prose.push_str(part);
            prose.push('`');
        }
    }
    (prose, spans)
}

/// Words that stand alone in quotation marks: `'pause'`, `"MyTable"`.
fn quoted_words(cased: &str) -> impl Iterator<Item = &str> {
    ['"', '\''].into_iter().flat_map(move |mark| {
        cased.match_indices(mark).filter_map(move |(at, _)| {
            let opens = at == 0 || cased[..at].ends_with([' ', '(', '\n', '=', ',']);
            let inner = &cased[at + 1..];
            let end = inner
                .find(|c| !text::is_word(c))
                .filter(|&end| end > 1 && inner[end..].starts_with(mark))?;
            let word = &inner[..end];
            (opens && word.starts_with(char::is_alphabetic)).then_some(word)
        })
    })
}

/// Whether case says nothing about the word: all small, or a capital only at its head.
fn is_small(word: &str) -> bool {
    word.chars().skip(1).all(|c| !c.is_uppercase())
}

fn knows(name: &Name, sources: &[Source]) -> bool {
    let text = name.text.as_str();
    let any = |holds: &dyn Fn(&Plain) -> bool| sources.iter().any(|source| source.any(holds));
    match name.kind {
        _ if FAMILIAR.contains(&text) => true,
        // Versions are numbers, and judged as such.
        NameKind::Version => true,
        NameKind::Operator => any(&|plain| plain.has_operator(text)),
        NameKind::Option => any(&|plain| has_option(plain, text)),
        NameKind::Capitals => EMPHASIS.contains(&text) || any(&|plain| has_capitals(plain, text)),
        NameKind::Qualified | NameKind::Call if text.contains('.') => {
            any(&|plain| plain.has_word(text))
                || text
                    .split('.')
                    .all(|part| any(&|plain| plain.has_word(part)))
        }
        NameKind::Identifier
        | NameKind::Qualified
        | NameKind::Call
        | NameKind::Code
        | NameKind::File => any(&|plain| plain.has_word(text)),
    }
}

/// Whether `-Fc` stands there, together or apart: `-F c`.
fn has_option(plain: &Plain, option: &str) -> bool {
    let mut chars = option.chars();
    let apart = match (chars.next(), chars.next()) {
        (Some('-'), Some(letter)) if letter != '-' && chars.as_str().len() == 1 => {
            Some(format!("-{letter} {}", chars.as_str()))
        }
        _ => None,
    };
    plain.has_exact(option) || apart.is_some_and(|apart| plain.has_exact(&apart))
}

/// Whether the word stands there in any case, as a plural, or as the words whose initials it is: `WAL` for "write-ahead log".
fn has_capitals(plain: &Plain, word: &str) -> bool {
    const INITIALS: std::ops::RangeInclusive<usize> = 3..=5;
    plain.has_word(word)
        || plain.has_word(&format!("{word}s"))
        || (INITIALS.contains(&word.len()) && has_initials(&plain.lower, word))
}

fn has_initials(lower: &str, word: &str) -> bool {
    let initials: Vec<u8> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter_map(|part| part.bytes().next())
        .collect();
    initials
        .windows(word.len())
        .any(|window| window == word.as_bytes())
}

fn has_unknown_word(code: &code::Code, sources: &[Source]) -> bool {
    code.used.iter().any(|used| {
        let lower = used.text.to_lowercase();
        !FAMILIAR.contains(&lower.as_str())
            && !sources.iter().any(|source| {
                source.any(|plain| match used.kind {
                    UsedKind::Word => plain.has_word(&lower),
                    UsedKind::Exact => has_option(plain, &used.text),
                })
            })
    })
}

fn has_unknown_operator(code: &str, sources: &[Source]) -> bool {
    /// Operators that every language has.
    const COMMON: &[&str] = &[
        "::", "<=", ">=", "<>", "!=", "||", "==", ":=", "=>", "->", "--", "/*", "*/",
    ];
    names::exact_names(code).iter().any(|name| {
        name.kind == NameKind::Operator
            && !COMMON.contains(&name.text.as_str())
            && !sources
                .iter()
                .any(|source| source.any(|plain| plain.has_operator(&name.text)))
    })
}

fn contradicts(plain: &Plain, sources: &[Source]) -> bool {
    let sentence = Stance::of(plain);
    let mut evidence = Stance::default();
    for source in nearest(&sentence, sources) {
        match source.passage.find(&source.quote) {
            Some(quoted) => {
                let around = source.passage.sentences_around(quoted.clone());
                evidence.add(&source.passage, around, quoted);
            }
            None => {
                let whole = 0..source.quote.lower.len();
                evidence.add(&source.quote, whole.clone(), whole);
            }
        }
    }
    let passages: Vec<&Plain> = sources.iter().map(|source| &source.passage).collect();
    sentence.contradicts(&evidence, &passages)
}

/// The sources whose quotes say at least half as much of the sentence as the one that says most: what the others deny, they
/// deny of something else.
fn nearest<'a>(
    sentence: &Stance,
    sources: &'a [Source],
) -> impl Iterator<Item = &'a Source> + use<'a> {
    let shared: Vec<usize> = match sources {
        [_] => vec![0],
        _ => sources
            .iter()
            .map(|source| Stance::of(&source.quote).shares(sentence))
            .collect(),
    };
    let most = shared.iter().copied().max().unwrap_or_default();
    sources
        .iter()
        .zip(shared)
        .filter(move |(_, words)| words * 2 >= most)
        .map(|(source, _)| source)
}

/// Whether the prose of a listing says something in words that no source has: whoever reads it takes it for the sources' own.
fn has_strange_word(prose: &str, sources: &[Source]) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split(|c| !text::is_word(c))
            .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
            .map(str::to_lowercase)
            .collect()
    };
    let stated: Vec<String> = words(prose)
        .into_iter()
        .filter(|word| !lexicon::says_nothing(word))
        .collect();
    if stated.is_empty() {
        return false;
    }
    let known: std::collections::HashSet<String> = sources
        .iter()
        .flat_map(Source::texts)
        .flat_map(|text| words(&text.lower))
        .map(|word| lexicon::stem(&word))
        .collect();
    stated
        .iter()
        .any(|word| !known.contains(&lexicon::stem(word)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Evidence, Unsupported, unsupported, unsupported_code};

    const WAL: &str = "max_wal_size (integer)\nMaximum size to let the WAL grow during automatic checkpoints. This is a soft limit; the size can exceed it under heavy load. If this value is given without units, it is taken as megabytes. The default is 1 GB. The minimum is 64 MB.";

    fn judge(sentence: &str, passage: &str, quote: &str) -> Option<&'static str> {
        let evidence = Evidence {
            passage,
            heading: "Server settings 17.2 › Checkpoints",
            quote,
        };
        unsupported(sentence, &[evidence]).map(Unsupported::as_str)
    }

    #[track_caller]
    fn check(passage: &str, quote: &str, cases: &[(&str, Option<&str>)]) {
        for (sentence, expected) in cases {
            assert_eq!(judge(sentence, passage, quote), *expected, "{sentence:?}");
        }
    }

    const NUMBER: Option<&str> = Some("unsupported_number");
    const NAME: Option<&str> = Some("unsupported_name");
    const OPPOSITE: Option<&str> = Some("contradicts_negation");

    #[test]
    fn c126_words_cut_off_the_quote_still_deny() {
        let passage = "It exists. This option is not recommended for production. It may go.";
        check(
            passage,
            "recommended for production",
            &[
                ("This option is recommended for production.", OPPOSITE),
                ("This option is not recommended for production.", None),
                ("It isn't advisable for production.", None),
                ("You should never use it in production.", None),
            ],
        );
    }

    #[test]
    fn c137_case_is_part_of_a_quoted_name_only() {
        let passage = "The table \"MyTable\" is folded unless quoted. max_wal_size is a limit.";
        check(
            passage,
            "The table \"MyTable\" is folded",
            &[
                ("The table \"MyTable\" is folded.", None),
                ("The table \"mYtable\" is folded.", NAME),
                ("MAX_WAL_SIZE is a limit.", None),
                ("min_wal_size is a limit.", NAME),
            ],
        );
    }

    #[test]
    fn a_quote_that_ends_before_the_number_vouches_for_no_other() {
        let passage = "Bounds are evaluated at entry. If the BY clause isn't specified the iteration step is 1. \
                       Loops of 2 steps count 10, 8, 6, 4.";
        check(
            passage,
            "If the BY clause isn't specified",
            &[
                (
                    "If the BY clause isn't specified the iteration step is 1.",
                    None,
                ),
                (
                    "If the BY clause isn't specified the iteration step is 8.",
                    NUMBER,
                ),
                ("Without BY the step is 1; others count 10, 8, 6.", None),
            ],
        );
        let passage = "For sequential scans, the table is read in chunks of 5 MB. For parallel scans, the table is read in \
                       chunks of 8 MB.";
        check(
            passage,
            "the table is read in chunks",
            &[
                (
                    "For parallel scans, the table is read in chunks of 8 MB.",
                    None,
                ),
                (
                    "For sequential scans, the table is read in chunks of 5 MB.",
                    None,
                ),
                (
                    "For parallel scans, the table is read in chunks of 9 MB.",
                    NUMBER,
                ),
            ],
        );
        check(
            "The timeout of the worker can be set and defaults to 5 minutes. Between retries it waits 30 seconds.",
            "timeout of the worker can be set",
            &[
                (
                    "The timeout of the worker can be set, and between retries it waits 30 seconds.",
                    None,
                ),
                (
                    "The timeout of the worker can be set and defaults to 30 seconds.",
                    NUMBER,
                ),
            ],
        );
    }

    #[test]
    fn c138_digits_and_units_are_exact() {
        check(
            WAL,
            "The default is 1 GB.",
            &[
                ("By default max_wal_size is 1 GB.", None),
                ("It defaults to one gigabyte.", None),
                ("The default is 1024 MB.", None),
                ("The default is 10 GB.", NUMBER),
                ("The default is 1 MB.", NUMBER),
                ("The default is 64 MB.", NUMBER),
                ("The default is 1 GB, and it can be as low as 64 MB.", None),
                (
                    "2. The default is 1 GB [P1: \"The default is 1 GB\"].",
                    None,
                ),
            ],
        );
        check(
            "It came with 5.3 of it.",
            "It came with 5.3 of it.",
            &[("It came with 53.", NUMBER), ("It came with 5.3.", None)],
        );
    }

    #[test]
    fn versions_may_stand_in_the_heading() {
        check(
            WAL,
            "This is a soft limit",
            &[
                ("In PostgreSQL 17.2 the limit is soft.", None),
                ("In PostgreSQL 17 the limit is soft.", NUMBER),
                ("It has a limit of 17.2 there.", NUMBER),
            ],
        );
    }

    #[test]
    fn defaults_are_read_in_the_passage() {
        let passage = "fast_path (boolean)\nTakes the short way where it can. The default is off.";
        check(
            passage,
            "Takes the short way where it can.",
            &[
                ("fast_path is disabled by default.", None),
                ("fast_path is on by default.", OPPOSITE),
                (
                    "By default it is off; turn it on to take the short way.",
                    None,
                ),
            ],
        );
    }

    #[test]
    fn no_evidence_holds_nothing() {
        assert_eq!(unsupported("It is 5 MB.", &[]), Some(Unsupported::Number));
        assert_eq!(unsupported("Set work_mem.", &[]), Some(Unsupported::Name));
        assert_eq!(unsupported("", &[]), None);
    }

    #[test]
    fn code_uses_what_its_passage_knows() {
        let evidence = [Evidence {
            passage: "CREATE INDEX CONCURRENTLY builds without blocking writes. pg_dump -F c mydb. Use a ->> 'k' and fill_rate = 70.",
            heading: "",
            quote: "CREATE INDEX CONCURRENTLY builds",
        }];
        for (code, expected) in [
            ("CREATE INDEX CONCURRENTLY idx ON my_table (col1);", None),
            (
                "CREATE INDEX CONCURRENTLY idx ON my_table (col1) WITH (fill_rate = 70);",
                None,
            ),
            (
                "CREATE INDEX CONCURRENTLY idx ON my_table (col1) WITH (fillfactor = 70);",
                NAME,
            ),
            ("CREATE INDEX INSTANTLY idx ON my_table (col1);", NAME),
            ("SELECT jsonb_pretty(x) FROM t;", NAME),
            ("pg_dump -Fc mydb", None),
            ("pg_dump -Fd mydb", NAME),
            ("SELECT x ->> 'k' FROM t;", None),
            ("SELECT x #>> 'k' FROM t;", NAME),
            (
                "CREATE INDEX CONCURRENTLY idx ON t (x); -- takes 5 minutes",
                NUMBER,
            ),
            ("CREATE INDEX CONCURRENTLY idx ON t (x); -- builds it", None),
            ("-- builds while writes wait\nSELECT 1;", NAME),
            ("SELECT 1; -- a[P1], [P9: \"x\"]", NAME),
            ("SELECT 'some data' FROM t;", NAME),
            ("SELECT 'data' FROM t;", None),
            ("SELECT 'without blocking writes';", None),
            ("SELECT 1; -- builds with blocking writes", OPPOSITE),
        ] {
            assert_eq!(
                unsupported_code(code, &evidence).map(Unsupported::as_str),
                expected,
                "{code:?}"
            );
        }
    }
    fn any_text() -> impl Strategy<Value = String> {
        let pieces = "not |only |on|off |before |after |at most |more than |default |unless |is |until |it |no |key |nor |1|0|.|,|5.3|GB |%|-|\
            v17|half a |second |é|ẞ|İ|→|\u{FB01}|\u{AD}|\u{A0}|\n| |`|'|\"|[P1|]|【|】|(|)|->>|-Fc |--|/*|max_wal_size |WAL |e.g. |A|b. C|K.1 |**|$1|=";
        let piece = prop::sample::select(pieces.split('|').collect::<Vec<_>>());
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_texts_are_judged_without_a_fault(sentence in any_text(), passage in any_text(), quote in any_text()) {
            let of = |quote| Evidence { passage: &passage, heading: quote, quote };
            let evidence = [of(&quote), of(&passage)];
            for count in 0..=evidence.len() {
                let judged = unsupported(&sentence, &evidence[..count]);
                prop_assert_eq!(judged, unsupported(&sentence, &evidence[..count]));
                let _ = unsupported_code(&sentence, &evidence[..count]);
            }
        }
    }
}
