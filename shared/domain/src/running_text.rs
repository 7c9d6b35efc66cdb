//! Divides running text into sentences as it arrives, and takes the citation marks out of it.
//!
//! Every decision falls at a character, never at the end of what happened to arrive, so that the same text gives the same
//! sentences however it is cut. What may still become part of a mark or a code span is held back; what is held is bounded.
//! Where sentences end is [`crate::sentence`]'s rule, what is a mark [`crate::marker`]'s; lines and blocks are [`crate::writing`]'s.

use crate::citation::ClaimedCitation;
use crate::marker::{self, Lexed};
use crate::sentence::prose_sentences;

/// A sentence with more bytes is removed, and its line with it.
pub const SENTENCE_BYTES: usize = 2_000;

/// Citations of one sentence that are looked at.
const CITATIONS: usize = 24;

/// A code span that is longer is no code span.
const SPAN_BYTES: usize = 400;

/// A longer parenthesis holds sentences of its own.
const PARENTHESIS_BYTES: usize = 240;

/// Why a sentence cannot be shown, whatever it cites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WritingFault {
    /// The answer was cut off inside it.
    Unfinished,
    /// It goes on for too long.
    TooLong,
    /// A citation mark in it has no end.
    Unreadable,
}

/// A sentence without its marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Divided {
    pub(crate) text: String,
    pub(crate) claims: Vec<ClaimedCitation>,
    pub(crate) fault: Option<WritingFault>,
    /// It holds the mark that something is not covered.
    pub(crate) not_covered: bool,
    /// All of it is set in bold: a heading by another name.
    pub(crate) is_title: bool,
}

/// The sentence being written.
#[derive(Debug, Default)]
pub(crate) struct RunningText {
    /// Cells are divided by bars and stops divide nothing.
    is_row: bool,
    /// What may be the beginning of a mark or a code span.
    raw: String,
    text: String,
    claims: Vec<ClaimedCitation>,
    /// Claims without a quote: where in the text they stand, and which they are.
    bare: Vec<(usize, usize)>,
    /// The last thing read was a mark.
    after_mark: bool,
    /// What may only separate two marks: `, ` or ` and `.
    between: String,
    /// Where the next sentence begins, if the stop before it ends one.
    next: Option<usize>,
    /// Where parentheses are open.
    open: Vec<usize>,
    not_covered: bool,
    /// The rest of the line is dropped.
    skipping: bool,
}

impl RunningText {
    /// A table's row.
    pub(crate) fn row() -> Self {
        Self {
            is_row: true,
            ..Self::default()
        }
    }

    /// Whether a mark may have begun that goes on in the next line.
    pub(crate) fn is_inside_mark(&self) -> bool {
        self.raw.starts_with(marker::opens)
    }

    /// Whether there are marks so far and nothing else.
    pub(crate) fn is_marks_only(&self) -> bool {
        self.raw.is_empty() && self.text.trim().is_empty() && !self.claims.is_empty()
    }

    pub(crate) fn push(&mut self, c: char, out: &mut Vec<Divided>) {
        /// Short beginnings are read at every character: most are soon seen to be text.
        const SHORT: usize = 48;
        if self.skipping {
            self.skipping = c != '\n';
            return;
        }
        if is_invisible(c) {
            return;
        }
        if self.raw.is_empty() && c != '`' && !marker::opens(c) {
            return self.visible(c, out);
        }
        self.raw.push(c);
        let waits = self.raw.len() > SHORT
            && self.raw.len() <= marker::MARK_CHARS
            && self.is_inside_mark()
            && !marker::decides(c);
        if !waits {
            self.drain(false, out);
        }
    }

    /// Ends the last sentence with its block. With `cut` the answer was cut off here.
    pub(crate) fn finish(&mut self, cut: bool, out: &mut Vec<Divided>) {
        let mut fault = None;
        if cut {
            let unread = !self.raw.is_empty();
            self.raw.clear();
            self.flush_between(out);
            if !self.is_complete(unread) {
                fault = Some(WritingFault::Unfinished);
            }
        } else {
            self.drain(true, out);
            self.flush_between(out);
        }
        self.emit(fault, out);
        self.skipping = false;
    }

    /// Whether the text ends as a sentence does, were it cut off here.
    fn is_complete(&self, unread: bool) -> bool {
        let text = self.text.trim_end();
        if text.is_empty() {
            return true;
        }
        let spaced = text.len() < self.text.len() || self.after_mark || unread;
        let number = text
            .strip_suffix('.')
            .is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_digit()));
        let followed = format!("{text} Xx");
        let ends = prose_sentences(&followed)
            .last()
            .is_some_and(|last| &followed[last.clone()] == "Xx");
        ends && (spaced || !number)
    }

    fn drain(&mut self, ended: bool, out: &mut Vec<Divided>) {
        while let Some(first) = self.raw.chars().next() {
            if first == '`' {
                let Some((bytes, is_code)) = span(&self.raw, ended) else {
                    return;
                };
                let token: String = self.raw.drain(..bytes).collect();
                if is_code {
                    self.code(&token, out);
                } else {
                    token.chars().for_each(|c| self.visible(c, out));
                }
                continue;
            }
            if !marker::opens(first) {
                self.raw.drain(..first.len_utf8());
                self.visible(first, out);
                continue;
            }
            let attached = !self.after_mark && ends_in_operand(&self.text);
            match marker::lex(&self.raw, attached, ended) {
                Lexed::Open => return,
                Lexed::Text => {
                    self.raw.drain(..first.len_utf8());
                    self.visible(first, out);
                }
                Lexed::Mark { bytes, claims } => {
                    self.raw.drain(..bytes);
                    self.mark(claims);
                }
                Lexed::NotCovered { bytes } => {
                    self.raw.drain(..bytes);
                    self.not_covered = true;
                    self.mark(Vec::new());
                }
                Lexed::Broken => self.give_up(WritingFault::Unreadable, out),
            }
            if self.skipping {
                return;
            }
        }
    }

    /// Removes the sentence with what is left of its line.
    fn give_up(&mut self, fault: WritingFault, out: &mut Vec<Divided>) {
        self.between.clear();
        self.emit(Some(fault), out);
        match self.raw.find('\n') {
            Some(at) => {
                self.raw.drain(..at);
            }
            None => {
                self.raw.clear();
                self.skipping = true;
            }
        }
    }

    fn mark(&mut self, claims: Vec<ClaimedCitation>) {
        const ENOUGH_WORDS: usize = 3;
        self.between.clear();
        let quotation = marker::quotation_at_end(&self.text)
            .filter(|quote| quote.split_whitespace().count() >= ENOUGH_WORDS)
            .map(str::to_owned);
        for mut claim in claims {
            if self.claims.len() >= CITATIONS {
                break;
            }
            if claim.quote.is_empty() {
                match &quotation {
                    Some(quote) => claim.quote.clone_from(quote),
                    None => self
                        .bare
                        .push((self.text.trim_end().len(), self.claims.len())),
                }
            }
            self.claims.push(claim);
        }
        self.after_mark = true;
    }

    fn code(&mut self, token: &str, out: &mut Vec<Divided>) {
        self.flush_between(out);
        self.after_mark = false;
        let next = self.next.take();
        self.text.push_str(token);
        self.divide(next, out);
        self.limit(out);
    }

    fn visible(&mut self, c: char, out: &mut Vec<Divided>) {
        if c.is_control() && !c.is_whitespace() {
            return;
        }
        if self.after_mark {
            self.between.push(if c.is_whitespace() { ' ' } else { c });
            if !may_separate(&self.between) {
                self.flush_between(out);
            }
            return;
        }
        self.plain(c, out);
    }

    fn flush_between(&mut self, out: &mut Vec<Divided>) {
        for c in std::mem::take(&mut self.between).chars() {
            self.plain(c, out);
        }
    }

    fn plain(&mut self, c: char, out: &mut Vec<Divided>) {
        if self.skipping {
            return;
        }
        if c.is_whitespace() {
            if !self.text.is_empty() && !self.text.ends_with(' ') {
                self.text.push(' ');
                if self.next.is_none()
                    && !self.is_row
                    && !self.is_enclosed()
                    && ends_in_stop(&self.text)
                {
                    self.next = Some(self.text.len());
                }
            }
            return;
        }
        if self.after_mark && !self.joins_after_mark(c) {
            return;
        }
        self.after_mark = false;
        if self.is_row && c == '|' {
            return self.bar();
        }
        match c {
            '(' => self.open.push(self.text.len()),
            ')' => {
                self.open.pop();
            }
            _ => {}
        }
        self.text.push(c);
        if matches!(c, '。' | '！' | '？') && !self.is_row {
            self.next = Some(self.text.len());
        } else if !matches!(c, '(' | '[' | '"' | '\'' | '“' | '‘' | '«' | '`') {
            let next = self.next.take();
            self.divide(next, out);
        }
        self.limit(out);
    }

    /// Whether `c`, the first character after a mark, still has to be written: what only held the mark goes with it, and a
    /// stop that stands before it is not said twice.
    fn joins_after_mark(&mut self, c: char) -> bool {
        if matches!(c, '*' | '_') && self.text.ends_with(c) {
            self.text.pop();
            return false;
        }
        let is_stop = matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '…' | '。' | '，');
        if !is_stop && !matches!(c, ')' | ']' | '）' | '"' | '”' | '|') {
            return true;
        }
        if matches!(c, '.' | ',' | ';' | '。') && ends_in_stop(&self.text) {
            return false;
        }
        if c == '"' && self.text.matches('"').count().is_multiple_of(2) {
            return true;
        }
        self.trim_end();
        self.next = None;
        let opener = match c {
            ')' => Some('('),
            ']' => Some('['),
            '）' => Some('（'),
            _ => None,
        };
        if let Some(at) = opener.and_then(|opener| self.text.rfind(opener))
            && holds_leads_only(&self.text[at..])
        {
            self.text.truncate(at);
            self.trim_end();
            self.open.retain(|&open| open < at);
            return false;
        }
        if is_stop {
            let kept = without_lead(&self.text).len();
            self.text.truncate(kept);
        }
        true
    }

    fn bar(&mut self) {
        self.trim_end();
        if self.text.ends_with('\\') {
            self.text.pop();
            self.text.push('|');
        } else if !self.text.is_empty() && !self.text.ends_with(" |") {
            self.text.push_str(" |");
        }
    }

    fn trim_end(&mut self) {
        self.text.truncate(self.text.trim_end().len());
    }

    fn is_enclosed(&self) -> bool {
        self.open
            .last()
            .is_some_and(|&at| self.text.len() - at <= PARENTHESIS_BYTES)
    }

    /// Ends the sentence before `next` if a sentence ends there.
    fn divide(&mut self, next: Option<usize>, out: &mut Vec<Divided>) {
        let Some(next) = next else {
            return;
        };
        let ends = prose_sentences(&self.text)
            .iter()
            .any(|range| range.start == next);
        if !ends {
            return;
        }
        let rest = self.text.split_off(next);
        let open = std::mem::take(&mut self.open);
        self.emit(None, out);
        self.open = open
            .into_iter()
            .filter_map(|at| at.checked_sub(next))
            .collect();
        self.text = rest;
    }

    fn limit(&mut self, out: &mut Vec<Divided>) {
        if self.text.len() > SENTENCE_BYTES {
            self.give_up(WritingFault::TooLong, out);
        }
    }

    /// Hands the sentence out as it stands and begins the next.
    fn emit(&mut self, fault: Option<WritingFault>, out: &mut Vec<Divided>) {
        let text = std::mem::take(&mut self.text);
        let mut claims = std::mem::take(&mut self.claims);
        for (at, claim) in std::mem::take(&mut self.bare) {
            if let Some(quote) = text.get(at..).and_then(marker::quotation_at_start) {
                quote.clone_into(&mut claims[claim].quote);
            }
        }
        let not_covered = std::mem::take(&mut self.not_covered);
        self.after_mark = false;
        self.next = None;
        self.open.clear();
        let is_title = is_title(text.trim());
        let text = if self.is_row {
            text.trim_matches(|c: char| c.is_whitespace() || c == '|')
                .to_owned()
        } else {
            without_opener(&without_emphasis(without_lead(text.trim())))
        };
        // `Sources: [P1]` says nothing by itself.
        let text = if holds_leads_only(&text) {
            String::new()
        } else {
            text
        };
        if text.is_empty() && claims.is_empty() && fault.is_none() && !not_covered {
            return;
        }
        // What stood around a mark can read as one itself once it is gone.
        let is_raw = || holds_mark(&text) || holds_label(&text);
        let fault = fault.or_else(|| is_raw().then_some(WritingFault::Unreadable));
        out.push(Divided {
            text,
            claims,
            fault,
            not_covered,
            is_title,
        });
    }
}

/// Characters that would hide a mark or turn text around: zero-width spaces and bidirectional controls.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

/// The bytes of the code span at the start of `raw`, or of backticks that begin none; nothing while it may go on.
fn span(raw: &str, ended: bool) -> Option<(usize, bool)> {
    let fence = raw.len() - raw.trim_start_matches('`').len();
    if fence == raw.len() {
        return (ended || fence > SPAN_BYTES).then_some((fence, false));
    }
    let mut at = fence;
    while let Some(found) = raw[at..].find('`') {
        let start = at + found;
        let run = raw[start..].len() - raw[start..].trim_start_matches('`').len();
        if start + run == raw.len() && !ended {
            return None;
        }
        if raw[fence..start].contains('\n') {
            return Some((fence, false));
        }
        if run == fence {
            return Some((start + run, true));
        }
        at = start + run;
    }
    (ended || raw.len() > SPAN_BYTES || raw.contains('\n')).then_some((fence, false))
}

/// Whether a bracket after `text` would be a subscript or a call's.
fn ends_in_operand(text: &str) -> bool {
    text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ']' | ')' | '`'))
}

/// Whether something outside code in `text` reads as a mark.
fn holds_mark(text: &str) -> bool {
    let mut at = 0;
    while let Some(found) = text[at..].find(|c| c == '`' || marker::opens(c)) {
        at += found;
        if text[at..].starts_with('`') {
            at += span(&text[at..], true).map_or(1, |(bytes, _)| bytes);
            continue;
        }
        if marker::lex(&text[at..], ends_in_operand(&text[..at]), true) != Lexed::Text {
            return true;
        }
        at += text[at..].chars().next().map_or(1, char::len_utf8);
    }
    false
}

/// Whether a passage's label stands outside code in `text` without brackets: `as P2 says`. `f(P2)` is code anyway.
fn holds_label(text: &str) -> bool {
    const DIGITS: std::ops::RangeInclusive<usize> = 1..=2;
    let mut at = 0;
    while let Some(found) = text[at..].find(['`', 'P']) {
        at += found;
        if text[at..].starts_with('`') {
            at += span(&text[at..], true).map_or(1, |(bytes, _)| bytes);
            continue;
        }
        let before = text[..at].trim_end_matches(['(', '[']);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let begins =
            !text[..at].ends_with(is_word) && (before.len() == at || !ends_in_operand(before));
        at += 1;
        let digits = text[at..].bytes().take_while(u8::is_ascii_digit).count();
        if begins && DIGITS.contains(&digits) && !text[at + digits..].starts_with(is_word) {
            return true;
        }
    }
    false
}

/// The cell as a mark, if it is nothing but labels, or one with its quote, whose brackets were forgotten.
fn bracketed(cell: &str) -> Option<String> {
    let inner = cell.trim();
    let after = inner
        .strip_prefix(['P', 'p'])?
        .trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = inner.len() - 1 - after.len();
    let begins = digits > 0 && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let mark = format!("[{inner}]");
    let read = marker::lex(&mark, false, true);
    let is_whole = matches!(read, Lexed::Mark { bytes, .. } if bytes == mark.len());
    (begins && is_whole).then_some(mark)
}

/// A table's row with brackets around the cells that are marks without them.
pub(crate) fn with_brackets(row: &str) -> String {
    let cells: Vec<String> = row
        .split('|')
        .map(|cell| bracketed(cell).map_or_else(|| cell.to_owned(), |mark| format!(" {mark} ")))
        .collect();
    cells.join("|")
}

/// Whether `text` may turn out to be all that stands between two marks.
fn may_separate(text: &str) -> bool {
    const LONGEST: usize = 8;
    let word = text
        .trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '&' | '/'))
        .trim_end();
    text.len() <= LONGEST && ["and", "or"].iter().any(|known| known.starts_with(word))
}

/// Whether `text` ends in a stop, closing marks and spaces after it aside.
fn ends_in_stop(text: &str) -> bool {
    text.trim_end()
        .trim_end_matches(|c: char| {
            matches!(
                c,
                ')' | ']' | '"' | '\'' | '”' | '’' | '»' | '」' | '』' | '*' | '_'
            )
        })
        .ends_with(['.', '!', '?', '…', '。', '！', '？'])
}

/// `(see` or `(source:`, left over when the mark it leads to is taken out.
fn holds_leads_only(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .all(|word| {
            matches!(
                word.to_ascii_lowercase().as_str(),
                "see"
                    | "source"
                    | "sources"
                    | "reference"
                    | "references"
                    | "citation"
                    | "citations"
                    | "cf"
                    | "from"
                    | "also"
                    | "ref"
                    | "passage"
                    | "per"
                    | "and"
            )
        })
}

/// `text` without what only led to a mark at its end.
fn without_lead(text: &str) -> &str {
    let mut kept = text.trim_end();
    let bare = kept.trim_end_matches(['—', '–']);
    if bare.len() < kept.len() {
        kept = bare.trim_end();
    }
    for lead in [
        "according to",
        "as described in",
        "as documented in",
        "as explained in",
        "as noted in",
        "as shown in",
        "as stated in",
        "source:",
        "sources:",
        "(source:",
    ] {
        let start = kept.len().saturating_sub(lead.len());
        if kept
            .get(start..)
            .is_some_and(|end| end.eq_ignore_ascii_case(lead))
            && kept[..start].ends_with(|c: char| c.is_whitespace() || c == ',')
        {
            return kept[..start].trim_end_matches(|c: char| c.is_whitespace() || c == ',');
        }
    }
    kept
}

/// `text` without the words of chat before what it says: "Sure, here is the answer: …", "According to the documentation, …".
/// Nothing but such words may stand before the comma, colon or exclamation mark.
fn without_opener(text: &str) -> String {
    /// Without one of these, small words are no opener: "In this case, …" says when.
    const CHAT: &[&str] = &[
        "sure",
        "certainly",
        "absolutely",
        "answer",
        "documentation",
        "docs",
        "passages",
        "sources",
        "context",
    ];
    const SMALL: &[&str] = &[
        "here",
        "here's",
        "here\u{2019}s",
        "is",
        "are",
        "the",
        "an",
        "your",
        "this",
        "to",
        "of",
        "in",
        "on",
        "question",
        "according",
        "based",
        "provided",
        "given",
        "course",
        "from",
        "i",
        "can",
        "help",
        "with",
        "that",
        "short",
        "as",
        "per",
    ];
    let mut rest = text;
    while let Some(end) = rest.find([',', ':', '!']) {
        let words = rest[..end].split_whitespace().map(str::to_lowercase);
        let words: Vec<String> = words.collect();
        let is_chat = |word: &String| CHAT.contains(&word.as_str());
        let is_opener = words.iter().any(is_chat)
            && words
                .iter()
                .all(|word| is_chat(word) || SMALL.contains(&word.as_str()));
        let after = &rest[end + 1..];
        if !is_opener || !(after.starts_with(' ') || after.is_empty()) {
            break;
        }
        rest = after.trim_start();
    }
    if rest.len() == text.len() {
        return text.to_owned();
    }
    let first = rest.split(' ').next().unwrap_or_default();
    let is_plain = first.chars().all(|c| c.is_lowercase() && c.is_alphabetic());
    let mut chars = rest.chars();
    match chars.next() {
        Some(c) if is_plain => c.to_uppercase().chain(chars).collect(),
        _ => rest.to_owned(),
    }
}

/// `**Checkpoints**` or `**Checkpoints:**`.
fn is_title(text: &str) -> bool {
    const LONGEST: usize = 120;
    let inner = text
        .trim_end_matches(':')
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**"));
    inner.is_some_and(|inner| {
        inner.len() <= LONGEST && !inner.contains("**") && !ends_in_stop(inner)
    })
}

/// `text` without Markdown's strong emphasis, which is no part of what is said. In code and between operands asterisks stay.
fn without_emphasis(text: &str) -> String {
    if !text.contains("**") {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut strong = false;
    let mut in_code = false;
    while let Some(c) = rest.chars().next() {
        if c == '`' {
            in_code = !in_code;
        }
        if !in_code && rest.starts_with("**") {
            let before = out.chars().next_back().unwrap_or(' ');
            let after = rest[2..].chars().next().unwrap_or(' ');
            let opens = !strong
                && !before.is_alphanumeric()
                && !after.is_whitespace()
                && rest[2..].contains("**");
            if opens || strong {
                strong = opens;
                if !opens && out.ends_with(' ') && !after.is_alphanumeric() {
                    out.pop();
                }
                rest = &rest[2..];
                continue;
            }
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sentences of `text` as `text <P1:quote> !fault`.
    fn sentences(text: &str, cut: bool) -> Vec<String> {
        let mut running = RunningText::default();
        let mut out = Vec::new();
        text.chars().for_each(|c| running.push(c, &mut out));
        running.finish(cut, &mut out);
        out.iter()
            .map(|part| {
                let mut line = part.text.clone();
                for claim in &part.claims {
                    line += &format!(" <{}:{}>", claim.passage, claim.quote);
                }
                if let Some(fault) = part.fault {
                    line += &format!(" !{fault:?}");
                }
                line
            })
            .collect()
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(sentences(text, false), expected, "{text:?}");
    }

    #[test]
    fn marks_go_with_the_sentence_before_them() {
        check(
            "A is so [P1: \"a b\"]. B is. [P2] [P3]. \"C\" is [P4]",
            &["A is so. <P1:a b>", "B is. <P2:> <P3:>", "\"C\" is <P4:>"],
        );
        check("[P1] A is so. B is.", &["A is so. <P1:>", "B is."]);
        check("A is so.[P1: \"a\"] B is.", &["A is so. <P1:a>", "B is."]);
        check(
            "A is [P1], and B [P2] or [P3]; C.",
            &["A is, and B; C. <P1:> <P2:> <P3:>"],
        );
        check(
            "As said in [P1] and so on.",
            &["As said in and so on. <P1:>"],
        );
    }

    #[test]
    fn a_quotation_beside_a_bare_mark_is_its_quote() {
        check(
            "It says \"a soft limit here\" [P1].",
            &["It says \"a soft limit here\". <P1:a soft limit here>"],
        );
        check(
            "It bends [P1]: “a soft limit here”.",
            &["It bends: “a soft limit here”. <P1:a soft limit here>"],
        );
        check("It says \"soft\" [P1].", &["It says \"soft\". <P1:>"]);
        check(
            "It's a dog's life, isn't it [P1].",
            &["It's a dog's life, isn't it. <P1:>"],
        );
    }

    #[test]
    fn code_is_never_a_mark_and_never_changed() {
        check(
            "Use `a[P1]  **x**. So` and `` `[P2]` ``. B.",
            &["Use `a[P1]  **x**. So` and `` `[P2]` ``.", "B."],
        );
        check("An open ` [P1].", &["An open `. <P1:>"]);
    }

    #[test]
    fn stops_that_end_nothing() {
        check(
            "In 17.2, e.g. Pages (see there. It is short) vs. Rows of pg_catalog.pg_class.",
            &["In 17.2, e.g. Pages (see there. It is short) vs. Rows of pg_catalog.pg_class."],
        );
        check(
            "Run pg_dump. Then it ends.",
            &["Run pg_dump.", "Then it ends."],
        );
        check("Is it? wal_level is.", &["Is it? wal_level is."]);
    }

    #[test]
    fn invisible_characters_hide_nothing() {
        check(
            "It is [P\u{200B}1: \"a\u{202E}b\"\u{2060}]. \u{FEFF}So.",
            &["It is. <P1:ab>", "So."],
        );
    }

    #[test]
    fn a_cut_shows_what_was_complete() {
        let cut = |text: &str| sentences(text, true);
        assert_eq!(cut("A is so. B is"), ["A is so.", "B is !Unfinished"]);
        assert_eq!(cut("A is so. B is."), ["A is so.", "B is."]);
        assert_eq!(cut("A is so [P1"), ["A is so !Unfinished"]);
        assert_eq!(cut("A is so. [P1"), ["A is so."]);
        assert_eq!(cut("A is 1."), ["A is 1. !Unfinished"]);
        assert_eq!(cut("A is 1. "), ["A is 1."]);
        assert_eq!(cut("A is, e.g."), ["A is, e.g. !Unfinished"]);
        assert_eq!(cut("A is (B is."), ["A is (B is."]);
        assert_eq!(cut("Use `a"), ["Use !Unfinished"]);
        assert_eq!(cut("The list:"), ["The list: !Unfinished"]);
    }

    #[test]
    fn a_mark_without_an_end_removes_its_line() {
        check("A [P1: \"abc. B is so.\nC is.", &["A !Unreadable", "C is."]);
        check("A [P1 and so on. B is.", &["A and so on. <P1:>", "B is."]);
        check(
            "A [P1: \"abc [P2: \"def\"]. B is.\nC is.",
            &["A !Unreadable", "C is."],
        );
    }

    #[test]
    fn a_label_without_brackets_is_never_text() {
        for text in [
            "As P2 says, A is so [P1].",
            "A is so P3: \"a b c\" [P1].",
            "P2, A is so [P1].",
        ] {
            assert!(
                sentences(text, false)[0].ends_with("!Unreadable"),
                "{text:?}"
            );
        }
        check(
            "A is `P2`, f(P2), XP2 and P2X [P1].",
            &["A is `P2`, f(P2), XP2 and P2X. <P1:>"],
        );
        for (row, read) in [
            ("| a | P3 |", "| a | [P3] |"),
            ("| a | P2: \"x y z\" |", "| a | [P2: \"x y z\"] |"),
            ("| a | P1, p2 |", "| a | [P1, p2] |"),
            ("| P1x | pg P3 |", "| P1x | pg P3 |"),
        ] {
            assert_eq!(with_brackets(row), read);
        }
    }

    #[test]
    fn words_of_chat_are_no_part_of_a_sentence() {
        check(
            "Sure, here is the answer: the limit is soft [P1].",
            &["The limit is soft. <P1:>"],
        );
        check(
            "According to the documentation, `a` is so [P1].",
            &["`a` is so. <P1:>"],
        );
        check(
            "However, in this case, A is so [P1].",
            &["However, in this case, A is so. <P1:>"],
        );
        check("Sure, here is the answer:", &[]);
        check("In the answer, A is: so [P1].", &["A is: so. <P1:>"]);
        check("In rows, A is so [P1].", &["In rows, A is so. <P1:>"]);
    }

    #[test]
    fn emphasis_is_layout() {
        check(
            "**A** is **so**, 2**3 and 2 ** 3.",
            &["A is so, 2**3 and 2 ** 3."],
        );
        check("**A** is `**so**`.", &["A is `**so**`."]);
        assert!(
            is_title("**Checkpoints**")
                && is_title("**Checkpoints:**")
                && is_title("**Checkpoints**:")
        );
        assert!(!is_title("**Checkpoints.**") && !is_title("**A** and **B**"));
    }
}
