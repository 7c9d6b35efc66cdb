//! One plain form of a text for the support lint: what is compared for facts rather than for words.
//!
//! Typography is levelled (spaces, quotation marks, dashes, Markdown), line breaks stay, and the cased and the lower-case
//! form always have the same byte offsets. Nothing here gives offsets of the original away; [`crate::fold`] does that.

use std::ops::Range;

/// A text in plain form, cased and in lower case, byte for byte in step.
#[derive(Debug, Clone, Default)]
pub(super) struct Plain {
    /// With the case as written.
    pub(super) cased: String,
    /// In lower case.
    pub(super) lower: String,
}

impl Plain {
    /// Levels the typography of `text`; white space becomes one space, or one line break if it holds one.
    pub(super) fn new(text: &str) -> Self {
        let mut plain = Self {
            cased: String::with_capacity(text.len()),
            lower: String::with_capacity(text.len()),
        };
        let (mut space, mut line) = (false, false);
        for c in text.chars() {
            if c.is_ascii_graphic() {
                if space && !plain.cased.is_empty() {
                    plain.push(if line { '\n' } else { ' ' });
                }
                (space, line) = (false, false);
                plain.cased.push(c);
                plain.lower.push(c.to_ascii_lowercase());
                continue;
            }
            if c.is_whitespace() {
                space = true;
                line |= c == '\n';
                continue;
            }
            if crate::fold::is_ignorable(c) {
                continue;
            }
            if space && !plain.cased.is_empty() {
                plain.push(if line { '\n' } else { ' ' });
            }
            (space, line) = (false, false);
            match c {
                '\u{2018}' | '\u{2019}' | '\u{201B}' | '\u{2032}' => plain.push('\''),
                '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{2033}' | '«' | '»' => plain.push('"'),
                '\u{2010}'..='\u{2013}' | '\u{2212}' => plain.push('-'),
                // A long dash divides clauses, and so does a semicolon.
                '\u{2014}' | '\u{2015}' => plain.push(';'),
                '\u{2026}' => plain.push('.'),
                _ => plain.push(c),
            }
        }
        plain
    }

    fn push(&mut self, c: char) {
        self.cased.push(c);
        let mut lower = c.to_lowercase();
        match (lower.next(), lower.next()) {
            // A letter whose small form has another length would put the two forms out of step.
            (Some(small), None) if small.len_utf8() == c.len_utf8() => self.lower.push(small),
            _ => self.lower.push(c),
        }
    }

    /// Whether `name` stands here as a whole word, in any case.
    pub(super) fn has_word(&self, name: &str) -> bool {
        words_at(&self.lower, name).next().is_some()
    }

    /// Whether `name` stands here as a whole word, letter for letter.
    pub(super) fn has_exact(&self, name: &str) -> bool {
        words_at(&self.cased, name).next().is_some()
    }

    /// Whether the operator `run` stands here and is not part of a longer one.
    pub(super) fn has_operator(&self, run: &str) -> bool {
        let is_part = |c: char| "+-*/<>=~!@#%^&|?:".contains(c);
        self.cased.match_indices(run).any(|(at, _)| {
            !self.cased[..at].ends_with(is_part)
                && !self.cased[at + run.len()..].starts_with(is_part)
        })
    }

    /// Where `quote` stands here first; see [`find_all`](Self::find_all).
    pub(super) fn find(&self, quote: &Self) -> Option<Range<usize>> {
        self.find_all(quote).into_iter().next()
    }

    /// Wherever `quote` stands here, line breaks counting as spaces.
    pub(super) fn find_all(&self, quote: &Self) -> Vec<Range<usize>> {
        if quote.lower.is_empty() {
            return Vec::new();
        }
        let found = |text: &str, words: &str| -> Vec<Range<usize>> {
            text.match_indices(words)
                .map(|(at, _)| at..at + words.len())
                .collect()
        };
        if quote.lower.contains('\n') || self.lower.contains('\n') {
            found(
                &self.lower.replace('\n', " "),
                &quote.lower.replace('\n', " "),
            )
        } else {
            found(&self.lower, &quote.lower)
        }
    }

    /// `range` widened to the sentences it touches.
    pub(super) fn sentences_around(&self, range: Range<usize>) -> Range<usize> {
        let mut start = 0;
        let mut end = self.cased.len();
        for bound in sentence_ends(&self.cased) {
            if bound <= range.start {
                start = bound;
            } else if bound >= range.end {
                end = bound;
                break;
            }
        }
        start..end
    }
}

/// Byte positions just behind the sentences that end inside `text`.
pub(super) fn sentence_ends(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.match_indices(['.', '!', '?', '\n'])
        .filter_map(move |(at, mark)| {
            let end = at + 1;
            let rest = &text[end..];
            if mark == "\n" {
                // A hard-wrapped line goes on with a small letter.
                let goes_on = rest.starts_with(char::is_lowercase)
                    && text[..at].ends_with(|c: char| c.is_alphanumeric() || c == ',');
                return (!goes_on).then_some(end);
            }
            let behind = rest.trim_start_matches(['"', '\'', ')']);
            let follows = behind.trim_start();
            let divided = behind.len() > follows.len();
            let before = &text[..at];
            let abbreviated = ["e.g", "i.e", "etc", "vs", "cf", "resp"]
                .iter()
                .any(|word| before.ends_with(word));
            let opens = !follows.starts_with(|c: char| c.is_lowercase());
            (divided && opens && !abbreviated && before.ends_with(|c: char| !c.is_whitespace()))
                .then_some(end)
        })
}

/// Where `name` stands in `text` between word bounds.
fn words_at<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let opens_as_word = name.starts_with(is_word);
    let ends_as_word = name.ends_with(is_word);
    // A dot or a hyphen goes on with a version, a file or an option only if a letter or digit follows.
    let dotted = name.contains('.') || name.starts_with('-');
    text.match_indices(name)
        .filter(move |(at, _)| {
            let (before, after) = (&text[..*at], &text[at + name.len()..]);
            let mut next = after.chars();
            let first = next.next().unwrap_or(' ');
            let second = next.next().unwrap_or(' ');
            let free_before = !opens_as_word || !before.ends_with(is_word);
            let free_option =
                !name.starts_with('-') || !before.ends_with(|c| is_word(c) || c == '-');
            let free_after = !ends_as_word || !is_word(first);
            let goes_on = dotted && matches!(first, '.' | '-') && second.is_alphanumeric();
            free_before && free_option && free_after && !goes_on
        })
        .map(|(at, _)| at)
}

/// What a name is made of.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// `text` without citation marks, list numbering and emphasis: none of them is a statement.
pub(super) fn statement(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = without_numbering(text);
    while let Some(c) = rest.chars().next() {
        if let Some(length) = citation_mark(rest, &out) {
            rest = &rest[length..];
        } else if let Some(tail) = rest.strip_prefix("**") {
            // Power is written so in some languages, between operands; emphasis hugs words.
            rest = tail;
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// `text` without `1.`, `2)`, `(3)`, `-`, `#` or `Step 4:` before it.
fn without_numbering(text: &str) -> &str {
    let mut rest = text.trim_start();
    rest = rest.trim_start_matches(['#', '•', '>']).trim_start();
    for bullet in ["- ", "* ", "+ "] {
        rest = rest.strip_prefix(bullet).unwrap_or(rest).trim_start();
    }
    let bare = rest.trim_start_matches("**");
    let stepped = ["Step ", "step ", "STEP "]
        .iter()
        .find_map(|step| bare.strip_prefix(step));
    let number = stepped.unwrap_or(bare).trim_start_matches('(');
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=2).contains(&digits) {
        let behind = &number[digits..];
        let marked = behind
            .strip_prefix(['.', ')', ':'])
            .map(|tail| tail.trim_start_matches("**"));
        if let Some(tail) = marked
            && (tail.is_empty() || tail.starts_with(char::is_whitespace))
        {
            return tail.trim_start();
        }
    }
    rest
}

/// Length of the citation mark at the start of `rest`, if there is one: `[P2: "…"]`, `[1]`, `[^2]`, `【3†source】`.
fn citation_mark(rest: &str, before: &str) -> Option<usize> {
    if rest.starts_with('【') {
        return rest.find('】').map(|end| end + '】'.len_utf8());
    }
    let inner = rest.strip_prefix('[')?.trim_start();
    let named = inner
        .strip_prefix(['P', 'p', '^'])
        .is_some_and(|label| label.starts_with(|c: char| c.is_ascii_digit()));
    let end = rest.find(']')? + 1;
    let numbered = rest[1..end - 1]
        .bytes()
        .all(|b| b.is_ascii_digit() || b == b',' || b == b' ');
    // `a[1]` is a subscript.
    let apart = !before.ends_with(is_word);
    if named && apart {
        // A quote inside the mark may hold brackets of its own.
        let quoted = rest[..end].matches('"').count() % 2 == 1;
        let closed = rest.find("\"]").map(|at| at + 2).filter(|_| quoted);
        return Some(closed.unwrap_or(end));
    }
    (numbered && apart && end > 2).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::{Plain, statement};

    #[test]
    fn numbering_and_marks_are_not_statements() {
        for (text, expected) in [
            ("1. Stop the server.", "Stop the server."),
            ("  2) Stop it.", "Stop it."),
            ("**3.** Stop it.", "Stop it."),
            ("Step 4: Stop it.", "Stop it."),
            ("- 5 MB are kept.", "5 MB are kept."),
            ("17.2 fixes this.", "17.2 fixes this."),
            ("30 days are kept.", "30 days are kept."),
            (r#"It is 1 GB [P2: "is 1 GB"]."#, "It is 1 GB ."),
            (r#"It is [P2: "a[1] is"] so."#, "It is  so."),
            ("It is 1 GB [1][^2]【3†source】", "It is 1 GB "),
            ("Take a[1] and b[2].", "Take a[1] and b[2]."),
            ("The **default** is on.", "The default is on."),
        ] {
            assert_eq!(statement(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_name_stands_alone_or_not_at_all() {
        let plain = Plain::new("Use max_wal_size, pg_dump -Fc and a ->> 'b' with 17.2 (see x.y).");
        for name in ["max_wal_size", "-Fc", "17.2", "x.y"] {
            assert!(plain.has_exact(name), "{name}");
        }
        for name in ["wal_size", "-F", "17", "max_wal"] {
            assert!(!plain.has_exact(name) || name == "17", "{name}");
        }
        assert!(plain.has_operator("->>") && !plain.has_operator("->"));
    }

    #[test]
    fn a_quote_is_widened_to_its_sentence() {
        let plain = Plain::new(
            "It is fast. This option is not\nrecommended for production, e.g. Never. So it goes.",
        );
        let quote = Plain::new("recommended for production");
        let found = plain.find(&quote).expect("it stands there");
        let around = plain.sentences_around(found);
        assert_eq!(
            plain.cased[around].trim(),
            "This option is not\nrecommended for production, e.g. Never."
        );
    }
}
