//! Finds the sentences of a chunk: the unit that is scored, quoted and shown.
//!
//! A sentence is a contiguous, trimmed, non-empty range of the chunk's text; ranges ascend and never overlap, and every
//! visible character outside a table's header belongs to one. A stop ends a sentence only if what follows looks like a
//! beginning: documentation is full of stops that end nothing (`e.g.`, `17.2`, `pg_catalog.pg_class`, `ALTER ... SET`).
//! Chunks come from [`crate::chunk`]; quotes are checked in [`crate::quote`].

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::chunk::Chunk;
use crate::document::BlockKind;

/// One sentence, table row or code block of a chunk's text, `start..end` in Unicode scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// First scalar.
    pub start: usize,
    /// One past the last scalar.
    pub end: usize,
    /// How it may be shown.
    pub kind: SentenceKind,
}

/// How a [`Sentence`] may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SentenceKind {
    /// Running text.
    Prose,
    /// A whole preformatted block.
    Code,
    /// A table row.
    Row,
    /// A list item's or paragraph's name without a sentence of its own.
    Term,
}

/// A listing longer than this is divided at its blank lines: nobody reads sixty lines as one quote.
const LONG_CODE_LINES: usize = 60;

/// A row with more words than this is several sentences rather than one.
const LONG_ROW_WORDS: usize = 40;

/// Running text with at most this many words and no stop names something rather than saying it: an admonition's `Note`,
/// a list item `CREATE TABLE`.
const TERM_WORDS: usize = 4;

/// The sentences of `chunk`, ascending. What its torn head leaves of a sentence is none: it would say something else.
#[must_use]
pub fn split(chunk: &Chunk) -> Vec<Sentence> {
    let offsets = ScalarOffsets::new(&chunk.text);
    let mut sentences = Vec::new();
    for span in &chunk.spans {
        let start = offsets.byte(span.start);
        let text = &chunk.text[start..offsets.byte(span.end)];
        for (range, kind) in split_block(text, span.kind) {
            let range = trim(text, range);
            if !range.is_empty() {
                sentences.push(Sentence {
                    start: span.start + text[..range.start].chars().count(),
                    end: span.start + text[..range.end].chars().count(),
                    kind,
                });
            }
        }
    }
    if chunk.torn_head && sentences.first().is_some_and(|first| first.start == 0) {
        sentences.remove(0);
    }
    sentences
}

/// Byte positions of scalar offsets, found without walking the text anew for each.
struct ScalarOffsets<'a> {
    text: &'a str,
    /// Byte position of every 64th scalar.
    marks: Vec<usize>,
}

impl<'a> ScalarOffsets<'a> {
    fn new(text: &'a str) -> Self {
        let marks = text.char_indices().step_by(64).map(|(at, _)| at).collect();
        Self { text, marks }
    }

    fn byte(&self, scalar: usize) -> usize {
        let Some(&mark) = self.marks.get(scalar / 64) else {
            return self.text.len();
        };
        self.text[mark..]
            .char_indices()
            .nth(scalar % 64)
            .map_or(self.text.len(), |(at, _)| mark + at)
    }
}

fn split_block(text: &str, kind: BlockKind) -> Vec<(Range<usize>, SentenceKind)> {
    match kind {
        BlockKind::TableHeader => Vec::new(),
        BlockKind::Prose | BlockKind::ListItem => split_prose(text),
        BlockKind::Term => lines(text)
            .into_iter()
            .map(|line| (line, SentenceKind::Term))
            .collect(),
        BlockKind::Code => split_code(text)
            .into_iter()
            .map(|part| (part, SentenceKind::Code))
            .collect(),
        BlockKind::TableRow => split_row(text),
    }
}

fn split_prose(text: &str) -> Vec<(Range<usize>, SentenceKind)> {
    prose_sentences(text)
        .into_iter()
        .map(|range| {
            let kind = if names_only(&text[range.clone()]) {
                SentenceKind::Term
            } else {
                SentenceKind::Prose
            };
            (range, kind)
        })
        .collect()
}

fn split_code(text: &str) -> Vec<Range<usize>> {
    let long = text.lines().count() > LONG_CODE_LINES;
    let mut parts = Vec::new();
    let mut start = 0;
    let mut blank_since = None;
    for line in lines(text).into_iter().filter(|_| long) {
        if text[line.clone()].trim().is_empty() {
            blank_since = blank_since.or(Some(line.start));
        } else if let Some(end) = blank_since.take() {
            // Short paragraphs of code stay together: a part ends at the first blank line past a dozen lines.
            if text[start..end].lines().count() >= LONG_CODE_LINES / 5 {
                parts.push(start..end);
                start = line.start;
            }
        }
    }
    parts.push(start..text.len());
    parts
}

/// A short row is one sentence. In a long one, and in one whose cell holds paragraphs, a description is prose of its
/// own, a listing is code, and the short cells around them stay together.
fn split_row(text: &str) -> Vec<(Range<usize>, SentenceKind)> {
    if !text.contains('\n') && text.split_whitespace().count() <= LONG_ROW_WORDS {
        return vec![(0..text.len(), SentenceKind::Row)];
    }
    let mut sentences: Vec<(Range<usize>, SentenceKind)> = Vec::new();
    let mut in_listing = false;
    for line in lines(text) {
        let listing = is_preformatted(&text[line.clone()]);
        match sentences.last_mut() {
            Some((last, _)) if listing && in_listing => last.end = line.end,
            _ if listing => sentences.push((line, SentenceKind::Code)),
            _ => split_row_line(text, line, &mut sentences),
        }
        in_listing = listing;
    }
    sentences
}

fn split_row_line(
    text: &str,
    line: Range<usize>,
    sentences: &mut Vec<(Range<usize>, SentenceKind)>,
) {
    let mut names: Option<Range<usize>> = None;
    for cell in pieces(text, line, '\t') {
        if is_description(&text[cell.clone()]) {
            sentences.extend(names.take().map(|names| (names, SentenceKind::Row)));
            let base = cell.start;
            let parts = prose_sentences(&text[cell]).into_iter();
            sentences.extend(
                parts.map(|part| (base + part.start..base + part.end, SentenceKind::Prose)),
            );
        } else {
            names = Some(names.map_or(cell.start, |names| names.start)..cell.end);
        }
    }
    sentences.extend(names.map(|names| (names, SentenceKind::Row)));
}

/// Whether a line of a row comes from a listing: running text has its white space folded.
fn is_preformatted(line: &str) -> bool {
    line.starts_with(' ')
        || line.contains("  ")
        || line.len() > 2 && line.chars().all(|c| matches!(c, '-' | '+' | '|'))
}

/// Whether a cell's paragraph is running text rather than a signature, an example with its result, or a value.
fn is_description(text: &str) -> bool {
    if text.contains('→') || text.split_whitespace().count() <= TERM_WORDS {
        return false;
    }
    let sentences = prose_sentences(text);
    let ends = text
        .trim_end()
        .trim_end_matches(is_closer)
        .ends_with(['.', '!', '?', ':', ';']);
    ends || sentences.len() > 1
}

fn names_only(text: &str) -> bool {
    let text = text.trim();
    let stopped = text
        .trim_end_matches(is_closer)
        .ends_with(['.', '!', '?', ':', ';', '。', '！', '？']);
    is_caption(text) || (!stopped && text.split_whitespace().count() <= TERM_WORDS)
}

/// `Table 9.53. Sequence Functions`: a number between a caption's word and its title.
fn is_caption(text: &str) -> bool {
    caption_label(text).is_some() && text.len() < 160 && !text.ends_with('.')
}

/// The bytes of `Table 9.53.` or `Table B.3.` at the start of a caption.
fn caption_label(text: &str) -> Option<usize> {
    let rest = ["Table ", "Example ", "Figure "]
        .iter()
        .find_map(|word| text.strip_prefix(word))?;
    let number = rest.split(' ').next()?;
    let digits = number
        .strip_prefix(|c: char| c.is_ascii_uppercase())
        .unwrap_or(number);
    let is_number = digits.chars().all(|c| c.is_ascii_digit() || c == '.')
        && digits.chars().any(|c| c.is_ascii_digit());
    (is_number && number.ends_with('.')).then(|| text.len() - rest.len() + number.len())
}

fn lines(text: &str) -> Vec<Range<usize>> {
    pieces(text, 0..text.len(), '\n')
}

fn pieces(text: &str, within: Range<usize>, separator: char) -> Vec<Range<usize>> {
    let base = within.start;
    let mut at = 0;
    text[within]
        .split(separator)
        .map(|piece| {
            let start = base + at;
            at += piece.len() + separator.len_utf8();
            start..start + piece.len()
        })
        .collect()
}

fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let piece = &text[range.clone()];
    let start = range.start + piece.len() - piece.trim_start().len();
    start..(start + piece.trim().len())
}

/// Byte ranges of the sentences of running text, trimmed and ascending; a line break always ends one.
pub(crate) fn prose_sentences(text: &str) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    for line in lines(text) {
        let base = line.start;
        let line = &text[line];
        let mut start = 0;
        for end in sentence_ends(line) {
            sentences.push(base + start..base + end);
            start = end;
        }
        sentences.push(base + start..base + line.len());
    }
    sentences
        .into_iter()
        .map(|range| trim(text, range))
        .filter(|range| !range.is_empty())
        .collect()
}

/// Where sentences end within one line, its own end left out.
fn sentence_ends(line: &str) -> Vec<usize> {
    let chars: Vec<(usize, char)> = line.char_indices().collect();
    let enclosed = enclosed_by_parentheses(&chars);
    let label = caption_label(line).unwrap_or(0);
    let mut ends = Vec::new();
    let mut start = 0;
    let mut i = 0;
    while i < chars.len() {
        if !is_stop(chars[i].1) {
            i += 1;
            continue;
        }
        let first = i;
        while i < chars.len() && is_stop(chars[i].1) {
            i += 1;
        }
        let stop = first..i;
        while i < chars.len() && is_closer(chars[i].1) {
            i += 1;
        }
        let Some(&(end, next)) = chars.get(i) else {
            break;
        };
        let wide = matches!(chars[stop.start].1, '。' | '！' | '？');
        if enclosed[i - 1] || end <= label || (!next.is_whitespace() && !wide) {
            continue;
        }
        if wide || ends_sentence(line, &chars, start, stop, i) {
            ends.push(end);
            start = i;
        }
    }
    ends
}

fn is_stop(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？')
}

fn is_closer(c: char) -> bool {
    matches!(c, ')' | ']' | '"' | '\'' | '”' | '’' | '»' | '」' | '』')
}

/// A longer parenthesis holds sentences of its own.
const PARENTHESIS_CHARS: usize = 240;

/// For each character, whether a parenthesis is still open after it. One that is never closed encloses nothing, and
/// neither does a long one.
fn enclosed_by_parentheses(chars: &[(usize, char)]) -> Vec<bool> {
    let mut change = vec![0_i32; chars.len() + 1];
    let mut open = Vec::new();
    for (i, &(_, c)) in chars.iter().enumerate() {
        if c == '(' {
            open.push(i);
        } else if c == ')'
            && let Some(from) = open.pop()
            && i - from <= PARENTHESIS_CHARS
        {
            change[from] += 1;
            change[i] -= 1;
        }
    }
    let mut depth = 0;
    let depths = change.iter().map(|step| {
        depth += step;
        depth > 0
    });
    depths.take(chars.len()).collect()
}

/// Whether the stop at `stop` (character indices) ends the sentence that began at `start`, `next` being the first
/// character after it and its closers.
fn ends_sentence(
    line: &str,
    chars: &[(usize, char)],
    start: usize,
    stop: Range<usize>,
    next: usize,
) -> bool {
    let Some(before) = stop.start.checked_sub(1).map(|i| chars[i].1) else {
        return false;
    };
    // A stop that stands alone is an operator (`?`, `!`) or a placeholder (`ALTER ... SET`), not punctuation.
    if before.is_whitespace()
        || !(before.is_alphanumeric()
            || is_closer(before)
            || matches!(before, '%' | '*' | '_' | '+' | '#' | '`' | '\\'))
    {
        return false;
    }
    let word = word_before(line, chars, start, stop.start);
    let follower: String = chars[next..]
        .iter()
        .map(|&(_, c)| c)
        .skip_while(|c| c.is_whitespace())
        .take_while(|c| !c.is_whitespace())
        .collect();
    let Some(first) = follower
        .chars()
        .find(|c| !matches!(c, '(' | '[' | '"' | '\'' | '“' | '‘' | '«' | '`'))
    else {
        return follower.is_empty();
    };
    let ellipsis = stop.len() > 1 || chars[stop.start].1 == '…';
    if ellipsis {
        return first.is_uppercase() || stop.clone().any(|i| matches!(chars[i].1, '?' | '!'));
    }
    if chars[stop.start].1 != '.' {
        return !first.is_lowercase();
    }
    if first.is_lowercase() && is_closer(chars[next - 1].1) {
        return false;
    }
    // `1. First step`: the number that opens an item is no sentence.
    if word.at_start && word.text.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return false;
    }
    match abbreviation(word.text) {
        Some(Abbreviation::Never) => return false,
        Some(Abbreviation::BeforeNumber) if first.is_ascii_digit() => return false,
        Some(Abbreviation::BeforeCapital) if !first.is_uppercase() => return false,
        _ => {}
    }
    // `J. Smith` against `plan B. Then`: an initial follows a name or nothing, a letter that ends a sentence a word.
    let mut letters = word.text.chars();
    if let (Some(only), None) = (letters.next(), letters.next())
        && only.is_uppercase()
        && !word.after_lowercase
    {
        return false;
    }
    true
}

/// The word a stop is attached to.
struct Word<'a> {
    text: &'a str,
    /// Nothing of the sentence comes before it.
    at_start: bool,
    /// The word before it begins in lower case.
    after_lowercase: bool,
}

fn word_before<'a>(line: &'a str, chars: &[(usize, char)], start: usize, stop: usize) -> Word<'a> {
    let mut from = stop;
    while from > start && !chars[from - 1].1.is_whitespace() {
        from -= 1;
    }
    let mut at = from;
    while at < stop
        && matches!(
            chars[at].1,
            '(' | '[' | '"' | '\'' | '“' | '‘' | '«' | '`' | '—' | '-'
        )
    {
        at += 1;
    }
    let before = line[..chars[from].0].trim_end();
    let previous = before
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default();
    Word {
        text: &line[chars[at.min(stop - 1)].0..chars[stop].0],
        at_start: chars[start..from].iter().all(|(_, c)| c.is_whitespace()),
        after_lowercase: previous.chars().next().is_some_and(char::is_lowercase),
    }
}

enum Abbreviation {
    /// What follows belongs to it, whatever it looks like.
    Never,
    /// It is one only if a number follows: `No. 5`, but `The answer is no.`
    BeforeNumber,
    /// It may end a sentence, if a capital follows.
    BeforeCapital,
}

fn abbreviation(word: &str) -> Option<Abbreviation> {
    let lower = word.to_lowercase();
    match lower.as_str() {
        "e.g" | "i.e" | "eg" | "ie" | "vs" | "cf" | "viz" | "resp" | "approx" | "ca" | "mr"
        | "mrs" | "ms" | "dr" | "prof" | "st" | "incl" | "excl" => Some(Abbreviation::Never),
        "no" | "nos" | "fig" | "figs" | "eq" | "sec" | "sect" | "ch" | "chap" | "vol" | "pp"
        | "p" | "art" | "para" | "ver" | "v" => Some(Abbreviation::BeforeNumber),
        "etc" | "al" | "inc" | "ltd" | "co" | "corp" | "jr" | "sr" | "a.m" | "p.m" | "u.s"
        | "jan" | "feb" | "mar" | "apr" | "jun" | "jul" | "aug" | "sep" | "sept" | "oct"
        | "nov" | "dec" | "min" | "max" | "est" | "dept" => Some(Abbreviation::BeforeCapital),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Sentence, SentenceKind, split};
    use crate::chunk::{Chunk, Span};
    use crate::document::BlockKind::{self, Code, ListItem, Prose, TableHeader, TableRow, Term};

    fn chunk(blocks: &[(BlockKind, &str)]) -> Chunk {
        let mut text = String::new();
        let mut spans = Vec::new();
        for (kind, block) in blocks {
            if !spans.is_empty() {
                text.push('\n');
            }
            let start = text.chars().count();
            text.push_str(block);
            spans.push(Span {
                kind: *kind,
                start,
                end: text.chars().count(),
            });
        }
        Chunk {
            ordinal: 0,
            heading: vec!["Page".to_owned()],
            anchor: String::new(),
            text,
            page_offset: 0,
            tokens: 0,
            anchors: Vec::new(),
            torn_head: false,
            spans,
        }
    }

    fn slice(text: &str, sentence: &Sentence) -> String {
        text.chars()
            .skip(sentence.start)
            .take(sentence.end - sentence.start)
            .collect()
    }

    #[track_caller]
    fn check(kind: BlockKind, block: &str, expected: &[(SentenceKind, &str)]) {
        let chunk = chunk(&[(kind, block)]);
        let sentences: Vec<_> = split(&chunk)
            .iter()
            .map(|s| (s.kind, slice(&chunk.text, s)))
            .collect();
        let sentences: Vec<_> = sentences
            .iter()
            .map(|(kind, text)| (*kind, text.as_str()))
            .collect();
        assert_eq!(sentences, expected);
    }

    /// Sentences written one after the other are found again.
    #[track_caller]
    fn check_prose(sentences: &[&str]) {
        let expected: Vec<_> = sentences
            .iter()
            .map(|text| (SentenceKind::Prose, *text))
            .collect();
        check(Prose, &sentences.join(" "), &expected);
    }

    #[test]
    fn stops_that_end_a_sentence() {
        check_prose(&[
            "The server writes pages first.",
            "It then flushes the log!",
            "Does it wait for that?",
            "It does.",
        ]);
        check_prose(&[
            "The server starts anew.",
            "wal_level decides what it logs.",
            "pg_dump does not care.",
        ]);
        check_prose(&[
            "They call this “freezing.”",
            "It costs time.",
            "(That is rarely noticed.)",
            "It is needed.",
        ]);
        check_prose(&[
            "It is replaced by version 9.",
            "The next one differs.",
            "There is no plan B.",
            "Nobody minds.",
        ]);
        check_prose(&[
            "Rows are sorted, merged, etc.",
            "Nothing is written before that.",
        ]);
        check_prose(&["設定は再起動後に有効です。", "次に確認します。"]);
    }

    #[test]
    fn stops_that_end_nothing() {
        for text in [
            "Some types, e.g. Numbers, are kept as they are.",
            "That is, i.e. in short, the whole of it vs. a part of it, cf. Section 5 above.",
            "It came with 17.2 and is described in Fig. 3 and in No. 5 of the list.",
            "The view pg_catalog.pg_class holds it, as does the file postgresql.conf of the server.",
            "A command of the form ALTER ... SET TABLESPACE moves it there.",
            "The operator ? tests for a key and ! negates what follows it.",
            "The call nextval('foo. Bar') takes a name (see there. It is short) and returns it.",
            "The words 'a stop.' are quoted here and there.",
            "The first to do so was Donald J. Smith in that year.",
        ] {
            check_prose(&[text]);
        }
    }

    #[test]
    fn numbers_that_open_an_item_stay_with_it() {
        check(
            ListItem,
            "1. Stop the server. Wait a moment.",
            &[
                (SentenceKind::Prose, "1. Stop the server."),
                (SentenceKind::Prose, "Wait a moment."),
            ],
        );
    }

    #[test]
    fn names_without_a_sentence_are_terms() {
        check(
            Term,
            "fsync (boolean)\n-F",
            &[
                (SentenceKind::Term, "fsync (boolean)"),
                (SentenceKind::Term, "-F"),
            ],
        );
        for (kind, name) in [
            (Prose, "Note"),
            (ListItem, "CREATE TABLE"),
            (Prose, "Table 9.1. What There Is to See"),
            (ListItem, "now()"),
        ] {
            check(kind, name, &[(SentenceKind::Term, name)]);
        }
    }

    #[test]
    fn code_is_whole_unless_very_long() {
        let short = "SELECT 1;\n\n-- It goes on. And on.\n    SELECT 2;";
        check(Code, short, &[(SentenceKind::Code, short)]);
        let part = "x := 1;\n".repeat(40);
        let long = format!("{part}\n{part}\n{part}");
        let part = part.trim_end();
        check(
            Code,
            long.trim_end(),
            &[
                (SentenceKind::Code, part),
                (SentenceKind::Code, part),
                (SentenceKind::Code, part),
            ],
        );
    }

    #[test]
    fn a_short_row_is_one_row() {
        check(
            TableRow,
            "ROW SHARE\t\tX",
            &[(SentenceKind::Row, "ROW SHARE\t\tX")],
        );
        check(TableHeader, "Mode\tConflicts", &[]);
    }

    #[test]
    fn a_function_s_row_gives_its_signature_description_and_example() {
        check(
            TableRow,
            "next_value ( name ) → bigint\nAdvances the counter by one. The new value is returned.\nnext_value('a') → 2",
            &[
                (SentenceKind::Row, "next_value ( name ) → bigint"),
                (SentenceKind::Prose, "Advances the counter by one."),
                (SentenceKind::Prose, "The new value is returned."),
                (SentenceKind::Row, "next_value('a') → 2"),
            ],
        );
    }

    #[test]
    fn a_listing_in_a_row_is_code() {
        check(
            TableRow,
            "list_all ( )\nReturns all there is. For example,\n  value\n-------\n 1. One\n 2. Two\nNothing is left out by it.",
            &[
                (SentenceKind::Row, "list_all ( )"),
                (SentenceKind::Prose, "Returns all there is."),
                (SentenceKind::Prose, "For example,"),
                (SentenceKind::Code, "value\n-------\n 1. One\n 2. Two"),
                (SentenceKind::Prose, "Nothing is left out by it."),
            ],
        );
    }

    #[test]
    fn a_long_description_in_a_row_is_prose() {
        let first = format!(
            "The column counts {} of the server.",
            "very many of the things ".repeat(10).trim()
        );
        let row = format!("seq_scan\tbigint\t{first} It is never reset.\tyes");
        check(
            TableRow,
            &row,
            &[
                (SentenceKind::Row, "seq_scan\tbigint"),
                (SentenceKind::Prose, &first),
                (SentenceKind::Prose, "It is never reset."),
                (SentenceKind::Row, "yes"),
            ],
        );
    }

    #[test]
    fn a_torn_head_makes_no_sentence() {
        let mut chunk = chunk(&[(
            BlockKind::Prose,
            "only queries with it. The rest stands whole.",
        )]);
        let said = |chunk: &Chunk| {
            let letters: Vec<char> = chunk.text.chars().collect();
            split(chunk)
                .iter()
                .map(|sentence| {
                    letters[sentence.start..sentence.end]
                        .iter()
                        .collect::<String>()
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(said(&chunk).len(), 2);
        chunk.torn_head = true;
        assert_eq!(said(&chunk), ["The rest stands whole."]);
    }

    fn any_block() -> impl Strategy<Value = (BlockKind, String)> {
        let kind = prop::sample::select(vec![Prose, ListItem, Term, Code, TableHeader, TableRow]);
        let piece = prop::sample::select(vec![
            "word",
            "Name",
            "e.g.",
            "17.2",
            ". ",
            "... ",
            " ",
            "  ",
            "\n",
            "\t",
            "(",
            ")",
            "? ",
            "é",
            "。",
            "→",
            "No. ",
            "'",
            "A. ",
            "it ends. ",
        ]);
        (kind, prop::collection::vec(piece, 1..60))
            .prop_map(|(kind, pieces)| (kind, format!("x{}", pieces.concat())))
    }

    proptest! {
        #[test]
        fn sentences_ascend_are_trimmed_and_cover_everything(blocks in prop::collection::vec(any_block(), 1..6)) {
            let blocks: Vec<(BlockKind, &str)> = blocks.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
            let chunk = chunk(&blocks);
            let scalars: Vec<char> = chunk.text.chars().collect();
            let mut covered = vec![false; scalars.len()];
            let mut last = 0;
            for sentence in split(&chunk) {
                prop_assert!(sentence.start >= last && sentence.start < sentence.end && sentence.end <= scalars.len());
                prop_assert!(!scalars[sentence.start].is_whitespace() && !scalars[sentence.end - 1].is_whitespace());
                covered[sentence.start..sentence.end].fill(true);
                last = sentence.end;
            }
            for span in &chunk.spans {
                for at in span.start..span.end {
                    let wanted = span.kind != TableHeader && !scalars[at].is_whitespace();
                    prop_assert!(covered[at] || !wanted, "{:?} at {at} of {:?}", scalars[at], chunk.text);
                    prop_assert!(!covered[at] || span.kind != TableHeader);
                }
            }
        }
    }
}
