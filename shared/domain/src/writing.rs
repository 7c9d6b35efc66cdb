//! Reads a model's answer while it is written: which sentences, rows and listings it claims, with which citations.
//!
//! Text arrives cut anywhere and is read character by character, so that the same text gives the same sentences whatever
//! the cuts. Citation marks never stay in a sentence's text, an unfinished one is never shown, and what a listing holds is never
//! touched. Headings, a table's header row, rules and bullets are layout: without a citation they are no sentences and
//! are not shown. Marks are [`crate::marker`]'s, sentences [`crate::running_text`]'s; [`crate::scope`] reads the places
//! given here, [`crate::gate`] is the caller.

use crate::citation::{ClaimedCitation, ClaimedSentence, ShownAs};
pub use crate::running_text::WritingFault;
use crate::running_text::{Divided, RunningText, with_brackets};

/// What a model writes where the passages leave part of the question unanswered. Read in any case, brackets and spacing.
pub const NOT_COVERED: &str = "[NOT COVERED]";

/// What a model writes, and nothing else, when the passages answer nothing.
pub const NO_ANSWER: &str = "NO ANSWER IN THE PASSAGES";

/// A longer listing is removed.
pub const LISTING_BYTES: usize = 6_000;

/// A line that has to be read whole (a row, a heading) and is longer is removed.
const LINE_BYTES: usize = 4_000;

/// One thing read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// A sentence, a row or a listing.
    Sentence {
        /// What it claims.
        claimed: ClaimedSentence,
        /// Where it stands.
        place: Place,
        /// Why it cannot be shown, whatever it cites.
        fault: Option<WritingFault>,
    },
    /// Citations that stand alone, after a block.
    Alone {
        /// What they claim.
        citations: Vec<ClaimedCitation>,
        /// Where they stand.
        place: Place,
    },
    /// The passages leave part of the question unanswered.
    NotCovered,
    /// The passages answer nothing.
    NoAnswer,
}

/// Where in the answer something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The paragraph, the whole list, the whole table or the listing, counted from 0.
    pub group: usize,
    /// The paragraph, the one item, the one row or the listing, counted from 0.
    pub block: usize,
    /// Of what sort the group is.
    pub kind: PlaceKind,
    /// It ends in a colon.
    pub leads_in: bool,
}

/// Sorts of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlaceKind {
    /// A paragraph, or a heading with a citation.
    Paragraph,
    /// An item of a list.
    Item,
    /// A row of a table.
    Row,
    /// A listing.
    Listing,
}

/// An answer being read.
#[derive(Debug, Default)]
pub struct Writing {
    /// The current line, while it is not passed on as running text.
    line: String,
    line_is_text: bool,
    /// The line before ended in a carriage return, whose line feed is still to come.
    returned: bool,
    after_blank: bool,
    block: Block,
    running: RunningText,
    /// Lines of the current block.
    lines: usize,
    group: usize,
    blocks: usize,
    /// The group of the list that may go on.
    list: Option<usize>,
    index: usize,
}

#[derive(Debug, Default)]
enum Block {
    #[default]
    None,
    Paragraph,
    Item,
    /// With the first row, which is the header if a separator follows.
    Table(Option<String>),
    Listing {
        code: String,
        /// The fence that opened it; an indented listing has none.
        fence: Option<Fence>,
    },
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

/// What a line is by its beginning.
#[derive(Debug, Clone, Copy)]
enum Line {
    Blank,
    Fence(Fence),
    /// A heading whose text begins at this byte.
    Heading(usize),
    Rule,
    Row,
    Indented,
    /// An item whose text begins at this byte.
    Item(usize),
    /// Running text from this byte, indented by so many columns.
    Text(usize, usize),
}

impl Writing {
    /// Reads on; what is complete is returned, in order.
    pub fn push(&mut self, delta: &str) -> Vec<Written> {
        let mut out = Vec::new();
        for c in delta.chars() {
            let line_feed_of_return = std::mem::replace(&mut self.returned, c == '\r') && c == '\n';
            match c {
                _ if line_feed_of_return => {}
                '\n' | '\r' => self.end_line(&mut out),
                _ => self.character(c, &mut out),
            }
        }
        out
    }

    /// The text has ended; with `cut` it was cut off.
    pub fn finish(mut self, cut: bool) -> Vec<Written> {
        let mut out = Vec::new();
        if cut {
            self.finish_cut(&mut out);
        } else {
            if !self.line.is_empty() || self.line_is_text {
                self.end_line(&mut out);
            }
            self.end_block(&mut out);
        }
        out
    }

    fn finish_cut(&mut self, out: &mut Vec<Written>) {
        if let Block::Table(held) = &mut self.block {
            // Whether it was the header is not known.
            held.take();
        }
        let unfinished = (!self.line.trim().is_empty(), &self.block);
        let kind = match unfinished {
            (_, Block::Listing { fence: Some(_), .. }) => Some(PlaceKind::Listing),
            (true, Block::Listing { .. }) => Some(PlaceKind::Listing),
            (true, _) if self.line.trim_start().starts_with('|') => Some(PlaceKind::Row),
            _ => None,
        };
        let Some(kind) = kind else {
            let mut divided = Vec::new();
            self.running.finish(true, &mut divided);
            self.claim_all(divided, out);
            return self.end_block(out);
        };
        if kind == PlaceKind::Listing {
            self.block = Block::None;
        } else {
            self.end_block(out);
            self.begin(false);
        }
        let divided = Divided {
            text: String::new(),
            claims: Vec::new(),
            fault: Some(WritingFault::Unfinished),
            not_covered: false,
            is_title: false,
        };
        self.claim(divided, kind, out);
    }

    fn character(&mut self, c: char, out: &mut Vec<Written>) {
        if self.line_is_text {
            return self.run(c, out);
        }
        let is_listing = matches!(self.block, Block::Listing { .. });
        let longest = if is_listing {
            LISTING_BYTES
        } else {
            LINE_BYTES
        };
        if self.line.len() > longest {
            return;
        }
        self.line.push(c);
        if matches!(self.block, Block::Listing { fence: Some(_), .. }) {
            return;
        }
        match classify(&self.line, self.may_be_listing(), false) {
            Some(Line::Text(start, indent)) => self.text(start, indent, out),
            Some(Line::Item(start)) => self.item(start, out),
            _ => {}
        }
    }

    /// Passes a character on as running text.
    fn run(&mut self, c: char, out: &mut Vec<Written>) {
        let mut divided = Vec::new();
        self.running.push(c, &mut divided);
        self.claim_all(divided, out);
    }

    fn run_line(&mut self, start: usize, out: &mut Vec<Written>) {
        let line = std::mem::take(&mut self.line);
        self.line_is_text = true;
        self.lines += 1;
        for c in line[start..].chars() {
            self.run(c, out);
        }
    }

    fn end_line(&mut self, out: &mut Vec<Written>) {
        if let Block::Listing {
            fence: Some(fence), ..
        } = self.block
        {
            return self.end_listing_line(fence, out);
        }
        let is_too_long = !self.line_is_text && self.line.len() > LINE_BYTES;
        if is_too_long && !matches!(self.block, Block::Listing { .. } | Block::Table(_)) {
            self.end_block(out);
            self.begin(false);
            self.claim(too_long(), PlaceKind::Paragraph, out);
        } else if !self.line_is_text {
            let line = classify(&self.line, self.may_be_listing(), true);
            match line {
                Some(Line::Text(start, indent)) => self.text(start, indent, out),
                Some(Line::Item(start)) => self.item(start, out),
                Some(line) => self.whole_line(line, out),
                None => {}
            }
        }
        if std::mem::take(&mut self.line_is_text) {
            // Citations alone in a block's first line belong to the block before, whatever the next line says.
            if self.lines == 1 && self.running.is_marks_only() {
                self.end_block(out);
            } else {
                self.run('\n', out);
            }
            self.after_blank = false;
        }
        self.line.clear();
    }

    fn may_be_listing(&self) -> bool {
        match self.block {
            Block::Listing { .. } => true,
            Block::None => self.list.is_none(),
            _ => false,
        }
    }

    fn text(&mut self, start: usize, indent: usize, out: &mut Vec<Written>) {
        const CONTINUES_ITEM: usize = 2;
        let goes_on = match self.block {
            Block::Paragraph => true,
            Block::Item => indent >= CONTINUES_ITEM || self.running.is_inside_mark(),
            _ => false,
        };
        if self.running.is_inside_mark() {
            return self.run_line(0, out);
        }
        if !goes_on {
            self.end_block(out);
            let in_list = self.list.is_some() && indent >= CONTINUES_ITEM;
            self.begin(in_list && self.list == Some(self.group));
            self.block = if in_list {
                self.list = Some(self.group);
                Block::Item
            } else {
                self.list = None;
                Block::Paragraph
            };
        }
        self.run_line(start, out);
    }

    fn item(&mut self, start: usize, out: &mut Vec<Written>) {
        self.end_block(out);
        self.begin(self.list == Some(self.group));
        self.list = Some(self.group);
        self.block = Block::Item;
        self.run_line(start, out);
    }

    /// Counts a new block, and a new group unless it goes on with the last.
    fn begin(&mut self, same_group: bool) {
        self.blocks += 1;
        self.group += usize::from(!same_group);
        self.lines = 0;
    }

    fn whole_line(&mut self, line: Line, out: &mut Vec<Written>) {
        let is_blank = matches!(line, Line::Blank);
        match line {
            Line::Blank => {
                if let Block::Listing { code, .. } = &mut self.block {
                    add_line(code, "");
                } else {
                    self.end_block(out);
                }
            }
            Line::Rule => {
                self.end_block(out);
                self.list = None;
            }
            Line::Heading(start) => {
                self.end_block(out);
                self.list = None;
                self.begin(false);
                let text = self.line[start..].trim_end_matches(['#', ' ']).to_owned();
                self.heading(&text, out);
            }
            Line::Row => self.row(out),
            Line::Indented => self.indented(out),
            Line::Fence(fence) => {
                self.end_block(out);
                self.list = self.list.filter(|_| fence.indent > 0);
                self.begin(false);
                self.block = Block::Listing {
                    code: String::new(),
                    fence: Some(fence),
                };
            }
            Line::Text(..) | Line::Item(_) => {}
        }
        self.after_blank = is_blank;
    }

    fn heading(&mut self, text: &str, out: &mut Vec<Written>) {
        let mut divided = Vec::new();
        let mut running = RunningText::default();
        text.chars().for_each(|c| running.push(c, &mut divided));
        running.finish(false, &mut divided);
        divided.retain(|part| !part.claims.is_empty() || part.not_covered);
        for part in divided {
            self.claim(part, PlaceKind::Paragraph, out);
        }
    }

    fn row(&mut self, out: &mut Vec<Written>) {
        let line = std::mem::take(&mut self.line);
        let is_first = !matches!(self.block, Block::Table(_));
        if is_first {
            self.end_block(out);
            self.list = None;
            self.begin(false);
            self.block = Block::Table(Some(line));
            return;
        }
        let Block::Table(held) = &mut self.block else {
            return;
        };
        let held = held.take();
        if is_separator(&line) {
            // The row before was the header: names of columns claim nothing.
            return;
        }
        if let Some(held) = held {
            self.cells(&held, out);
        }
        self.cells(&line, out);
    }

    fn cells(&mut self, line: &str, out: &mut Vec<Written>) {
        self.blocks += 1;
        let mut divided = Vec::new();
        if line.len() > LINE_BYTES {
            divided.push(too_long());
        } else {
            let mut running = RunningText::row();
            with_brackets(line.trim())
                .chars()
                .for_each(|c| running.push(c, &mut divided));
            running.finish(false, &mut divided);
        }
        for part in divided {
            self.claim(part, PlaceKind::Row, out);
        }
    }

    fn indented(&mut self, out: &mut Vec<Written>) {
        const INDENT: usize = 4;
        if !matches!(self.block, Block::Listing { .. }) {
            self.end_block(out);
            self.begin(false);
            self.block = Block::Listing {
                code: String::new(),
                fence: None,
            };
        }
        if let Block::Listing { code, .. } = &mut self.block {
            add_line(code, without_indent(&self.line, INDENT));
        }
    }

    fn end_listing_line(&mut self, fence: Fence, out: &mut Vec<Written>) {
        let line = std::mem::take(&mut self.line);
        let trimmed = line.trim_start();
        let rest = trimmed.trim_start_matches(fence.mark);
        let closes = trimmed.len() - rest.len() >= fence.length;
        // A citation may follow on the closing line.
        let rest = rest.trim_start();
        if closes && (rest.is_empty() || rest.starts_with(crate::marker::opens)) {
            self.end_block(out);
            if !rest.is_empty() {
                rest.clone_into(&mut self.line);
                self.text(0, 0, out);
                self.line_is_text = false;
                self.end_block(out);
            }
            return;
        }
        if let Block::Listing { code, .. } = &mut self.block {
            add_line(code, without_indent(&line, fence.indent));
        }
    }

    fn end_block(&mut self, out: &mut Vec<Written>) {
        let mut divided = Vec::new();
        self.running.finish(false, &mut divided);
        self.claim_all(divided, out);
        match std::mem::take(&mut self.block) {
            Block::Table(Some(row)) if !is_separator(&row) => self.cells(&row, out),
            Block::Listing { code, .. } => {
                let mut listing = Divided {
                    text: code.trim_end().trim_start_matches('\n').to_owned(),
                    claims: Vec::new(),
                    fault: None,
                    not_covered: false,
                    is_title: false,
                };
                if code.len() > LISTING_BYTES {
                    listing = too_long();
                }
                if !listing.text.is_empty() || listing.fault.is_some() {
                    self.claim(listing, PlaceKind::Listing, out);
                }
            }
            _ => {}
        }
        self.lines = 0;
    }

    fn claim_all(&mut self, divided: Vec<Divided>, out: &mut Vec<Written>) {
        let kind = if matches!(self.block, Block::Item) {
            PlaceKind::Item
        } else {
            PlaceKind::Paragraph
        };
        for part in divided {
            self.claim(part, kind, out);
        }
    }

    fn claim(&mut self, part: Divided, kind: PlaceKind, out: &mut Vec<Written>) {
        let Divided {
            text,
            claims: citations,
            fault,
            mut not_covered,
            is_title,
        } = part;
        if kind != PlaceKind::Listing {
            let letters = letters(&text);
            if letters == self::letters(NO_ANSWER) {
                out.push(Written::NoAnswer);
                return;
            }
            if is_title && citations.is_empty() {
                return;
            }
            let is_bare = letters == self::letters(NOT_COVERED) || text.starts_with("NOT COVERED:");
            not_covered |= is_bare;
            // What else an uncited sentence with the mark says is what is not covered.
            if not_covered && (is_bare || citations.is_empty()) {
                out.push(Written::NotCovered);
                return;
            }
        }
        let place = Place {
            group: self.group,
            block: self.blocks,
            kind,
            leads_in: text.ends_with([':', '：']),
        };
        if fault.is_none() && !text.chars().any(char::is_alphanumeric) && kind != PlaceKind::Listing
        {
            if !citations.is_empty() {
                out.push(Written::Alone { citations, place });
            }
            return;
        }
        let claimed = ClaimedSentence {
            index: self.index,
            text,
            kind: match kind {
                PlaceKind::Listing => ShownAs::Code,
                _ => ShownAs::Prose,
            },
            citations,
        };
        self.index += 1;
        out.push(Written::Sentence {
            claimed,
            place,
            fault,
        });
        if not_covered {
            out.push(Written::NotCovered);
        }
    }
}

fn too_long() -> Divided {
    Divided {
        text: String::new(),
        claims: Vec::new(),
        fault: Some(WritingFault::TooLong),
        not_covered: false,
        is_title: false,
    }
}

/// Adds a line to a listing that may already be too long to be kept.
fn add_line(code: &mut String, line: &str) {
    if code.len() <= LISTING_BYTES {
        code.push_str(line);
        code.push('\n');
    }
}

fn without_indent(line: &str, columns: usize) -> &str {
    let mut rest = line;
    for _ in 0..columns {
        match rest.strip_prefix(' ') {
            Some(shorter) => rest = shorter,
            None => return rest.strip_prefix('\t').unwrap_or(rest),
        }
    }
    rest
}

fn letters(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// `|---|:--:|`.
fn is_separator(line: &str) -> bool {
    line.contains('-')
        && line
            .chars()
            .all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

/// What the line is, once its beginning shows it or it has `ended`. A blank's indentation makes a listing only where a
/// listing may begin.
fn classify(line: &str, may_be_listing: bool, ended: bool) -> Option<Line> {
    const LISTING_INDENT: usize = 4;
    let mut start = 0;
    let mut indent = 0;
    for c in line
        .chars()
        .take_while(|c| matches!(c, ' ' | '\t' | '>' | '\u{A0}'))
    {
        // A quoted paragraph is a paragraph.
        start += c.len_utf8();
        indent = match c {
            '>' => 0,
            '\t' => indent + LISTING_INDENT,
            _ => indent + 1,
        };
    }
    let rest = &line[start..];
    let Some(first) = rest.chars().next() else {
        return ended.then_some(Line::Blank);
    };
    if indent >= LISTING_INDENT && may_be_listing {
        return ended.then_some(Line::Indented);
    }
    let text = Line::Text(start, indent);
    let run = rest.len() - rest.trim_start_matches(first).len();
    let run_ends = run < rest.len() || ended;
    match first {
        '`' | '~' => match (run >= 3, run_ends) {
            (true, _) if first == '`' && rest[run..].contains('`') => Some(text),
            (true, true) => ended.then_some(Line::Fence(Fence {
                mark: first,
                length: run,
                indent,
            })),
            (true, false) | (false, false) => None,
            (false, true) => Some(text),
        },
        '#' => match rest[run..].chars().next() {
            _ if run > 6 => Some(text),
            Some(' ') => ended.then_some(Line::Heading(start + run)),
            Some(_) => Some(text),
            None => None,
        },
        '|' => ended.then_some(Line::Row),
        '-' | '*' | '+' | '•' | '=' | '_' | '–' => {
            let bullet = first != '=' && first != '_';
            match rest[first.len_utf8()..].chars().next() {
                Some(' ' | '\t') if bullet => Some(Line::Item(start + first.len_utf8() + 1)),
                Some(next) if next != first => Some(text),
                Some(_) if run < rest.len() && !rest[run..].trim().is_empty() => Some(text),
                _ if !ended => None,
                _ if run >= 3 => Some(Line::Rule),
                _ => Some(text),
            }
        }
        '0'..='9' => {
            const DIGITS: usize = 3;
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let mut after = rest[digits..].chars();
            match (after.next(), after.next()) {
                _ if digits > DIGITS => Some(text),
                (None, _) | (Some('.' | ')'), None) if !ended => None,
                (Some('.' | ')'), Some(' ' | '\t')) => Some(Line::Item(start + digits + 2)),
                _ => Some(text),
            }
        }
        _ => Some(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read, as `g0 b1 Item text <P1>`; `:` after the sort leads in.
    fn read(text: &str, step: usize) -> Vec<String> {
        let mut writing = Writing::default();
        let chars: Vec<char> = text.chars().collect();
        let mut written: Vec<Written> = chars
            .chunks(step)
            .flat_map(|delta| writing.push(&delta.iter().collect::<String>()))
            .collect();
        written.extend(writing.finish(false));
        written.iter().map(line).collect()
    }

    fn line(written: &Written) -> String {
        let (place, text, citations) = match written {
            Written::Sentence { claimed, place, .. } => {
                (place, claimed.text.as_str(), &claimed.citations)
            }
            Written::Alone { citations, place } => (place, "alone", citations),
            Written::NotCovered => return "not covered".to_owned(),
            Written::NoAnswer => return "no answer".to_owned(),
        };
        let labels: String = citations
            .iter()
            .map(|claim| format!(" <{}>", claim.passage))
            .collect();
        let colon = if place.leads_in { ":" } else { "" };
        format!(
            "g{} b{} {:?}{colon} {text}{labels}",
            place.group, place.block, place.kind
        )
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        for step in [1, 3, text.len().max(1)] {
            assert_eq!(read(text, step), expected, "{text:?} cut every {step}");
        }
    }

    #[test]
    fn paragraphs_and_lists() {
        check(
            "# Title\n\nOne is\nso [P1]. Two:\n- a [P1]\n  goes on\n\n  More.\n* b\n\n2) c\n\nThree\n***\nFour",
            &[
                "g2 b2 Paragraph One is so. <P1>",
                "g2 b2 Paragraph: Two:",
                "g3 b3 Item a goes on <P1>",
                "g3 b4 Item More.",
                "g3 b5 Item b",
                "g3 b6 Item c",
                "g4 b7 Paragraph Three",
                "g5 b8 Paragraph Four",
            ],
        );
    }

    #[test]
    fn c104_listings_are_unchanged() {
        let code = "SELECT ARRAY[P1];  a[P1] := 1;\n\n\tx  ( )  [P9: \"y\"] | # - 【1†s】";
        check(
            &format!("```sql\n{code}\n```\n[P1]\nNext"),
            &[
                &format!("g1 b1 Listing {code}"),
                "g2 b2 Paragraph alone <P1>",
                "g3 b3 Paragraph Next",
            ],
        );
        check(
            &format!("~~~~\n```\n{code}\n~~~~ ([P1])"),
            &[
                &format!("g1 b1 Listing ```\n{code}"),
                "g2 b2 Paragraph alone <P1>",
            ],
        );
        check(
            "A:\n\n    x[P1]\n\n      y\nB",
            &[
                "g1 b1 Paragraph: A:",
                "g2 b2 Listing x[P1]\n\n  y",
                "g3 b3 Paragraph B",
            ],
        );
        check(
            "1. A:\n   ```\n   x\n     y\n   ```\n   [P1]\n2. B",
            &[
                "g1 b1 Item: A:",
                "g2 b2 Listing x\n  y",
                "g3 b3 Item alone <P1>",
                "g3 b4 Item B",
            ],
        );
        check("```\nx", &["g1 b1 Listing x"]);
        check("A ```x``` b", &["g1 b1 Paragraph A ```x``` b"]);
        check("```x``` b", &["g1 b1 Paragraph ```x``` b"]);
    }

    #[test]
    fn tables() {
        check(
            "|a|b|\n|:-|-:|\n| c `|` d | e [P1: \"x|y\"] |\n| f | | [P2] |\nAfter",
            &[
                "g1 b2 Row c `|` d | e <P1>",
                "g1 b3 Row f <P2>",
                "g2 b4 Paragraph After",
            ],
        );
        check("| a | b |", &["g1 b2 Row a | b"]);
    }

    #[test]
    fn line_ends_of_every_kind() {
        let expected = ["g1 b1 Paragraph A.", "g2 b2 Item b", "g2 b3 Item c"];
        for end in ["\n", "\r\n", "\r"] {
            check(&format!("A.{end}{end}- b{end}- c{end}"), &expected);
        }
    }

    #[test]
    fn a_line_that_looks_like_layout_but_is_text() {
        for text in [
            "-1 is a number",
            "17.2 is a version",
            "--clean is an option",
            "#1 is a number",
            "*a* is b",
            "2024. That was it",
        ] {
            let read = read(text, 1);
            assert!(read[0].starts_with("g1 b1 Paragraph"), "{read:?}");
        }
        check("**Title**\n\n---\n\n- - -\n===\n", &[]);
        check("Sources: [P1], [P2]", &["g1 b1 Paragraph alone <P1> <P2>"]);
    }

    #[test]
    fn notes() {
        check(
            "A [P1]. [NOT COVERED]",
            &["g1 b1 Paragraph A. <P1>", "not covered"],
        );
        check("NO ANSWER IN THE PASSAGES", &["no answer"]);
        check(
            "There is no answer in the passages.",
            &["g1 b1 Paragraph There is no answer in the passages."],
        );
    }
}
