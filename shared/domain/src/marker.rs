//! Reads one citation mark in a model's text, in every form that models write.
//!
//! The prompt asks for `[P2: "exact words"]`; what comes is also `[P1, P2]`, `(P2)`, `[^P2]`, `[Source P2]`, `["exact words", P2]`,
//! `［P2］`, `【1†source】`, quotes in any marks and with brackets inside. A mark is read from what has arrived so far and
//! is left open until no later character can change it, so that nothing of a mark is ever taken for text. What it claims
//! is not judged here: [`crate::citation`] does. [`crate::writing`] is the caller.

use crate::citation::ClaimedCitation;

/// A mark longer than this is none: its sentence is unreadable.
pub const MARK_CHARS: usize = 1_200;

/// What stands where a mark may begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lexed {
    /// No mark: the opening character is text.
    Text,
    /// It depends on what follows.
    Open,
    /// A mark of `bytes`, with what it claims.
    Mark {
        bytes: usize,
        claims: Vec<ClaimedCitation>,
    },
    /// The mark that the passages leave something unanswered.
    NotCovered { bytes: usize },
    /// A mark that is never closed. What follows its last readable byte cannot be told from it.
    Broken,
}

/// Whether a mark may begin with `c`.
pub(crate) fn opens(c: char) -> bool {
    closer(c).is_some()
}

/// Whether `c` can decide about a mark that is still open; a long quote is not read anew for every letter.
pub(crate) fn decides(c: char) -> bool {
    opens(c) || is_closer(c) || c == '\n'
}

/// Reads the mark that may begin `text`. `attached` says that a letter, digit or bracket stands directly before, as in
/// `a[1]`; `ended` that nothing follows.
pub(crate) fn lex(text: &str, attached: bool, ended: bool) -> Lexed {
    let mut reader = Reader {
        text,
        at: 0,
        ended,
        claims: Vec::new(),
        labelled: None,
        quoting: false,
        depth: 0,
    };
    match reader.mark(attached) {
        Ok(()) | Err(Stop::Unclosed) => Lexed::Mark {
            bytes: reader.at,
            claims: reader.claims,
        },
        Err(Stop::Text) => Lexed::Text,
        Err(Stop::NotCovered) => Lexed::NotCovered { bytes: reader.at },
        Err(Stop::Open) if !ended && text.len() <= MARK_CHARS => Lexed::Open,
        Err(Stop::Open | Stop::Broken) => match reader.labelled {
            // A bare label needs no bracket to be read; a quotation without an end cannot be told from what follows.
            Some(bytes) if !reader.quoting => Lexed::Mark {
                bytes,
                claims: reader.claims,
            },
            Some(_) => Lexed::Broken,
            None if is_begun(text) => Lexed::Broken,
            None => Lexed::Text,
        },
    }
}

/// Whether an unfinished text is a mark's first characters: `[`, `[P`, `(P1`, `【1†`.
fn is_begun(text: &str) -> bool {
    if let Some(provider) = text.strip_prefix('【') {
        let line = provider.lines().next().unwrap_or_default();
        return line.contains('†') || line.starts_with(|c: char| c.is_ascii_digit());
    }
    let inner = text
        .trim_end()
        .trim_start_matches(|c: char| opens(c) || c.is_whitespace() || c == '^');
    let digits = inner.strip_prefix(['P', 'p']).unwrap_or(inner);
    inner.is_empty() && text.starts_with('[')
        || inner.len() > digits.len() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether `c` can open or close a quotation.
pub(crate) fn is_quotation_mark(c: char) -> bool {
    family(c).is_some()
}

/// The quotation that ends `text`, without its marks.
pub(crate) fn quotation_at_end(text: &str) -> Option<&str> {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ')' | '.' | ','));
    let last = text.chars().next_back()?;
    let family = family(last).filter(|&family| family != Family::Backtick)?;
    let inside = &text[..text.len() - last.len_utf8()];
    let open = inside
        .char_indices()
        .rev()
        .find(|&(at, c)| self::family(c) == Some(family) && begins_word(inside, at))?;
    Some(inside[open.0 + open.1.len_utf8()..].trim()).filter(|quote| !quote.is_empty())
}

/// The quotation that begins `text`, after a colon, a dash or a parenthesis, without its marks.
pub(crate) fn quotation_at_start(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, ':' | '(' | '–' | '—' | '-')
    });
    let first = text.chars().next()?;
    let family = family(first).filter(|&family| family == Family::Double)?;
    let inside = &text[first.len_utf8()..];
    let end = inside.find(|c| self::family(c) == Some(family))?;
    Some(inside[..end].trim()).filter(|quote| !quote.is_empty())
}

fn begins_word(text: &str, at: usize) -> bool {
    text[..at]
        .chars()
        .next_back()
        .is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '—' | '–'))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Double,
    Single,
    Backtick,
}

fn family(c: char) -> Option<Family> {
    match c {
        '"' | '“' | '”' | '„' | '‟' | '«' | '»' | '「' | '」' | '『' | '』' | '＂' | '″' | '〝'
        | '〞' | '〟' => Some(Family::Double),
        '\'' | '‘' | '’' | '‚' | '‛' | '‹' | '›' | '＇' | '′' => {
            Some(Family::Single)
        }
        '`' => Some(Family::Backtick),
        _ => None,
    }
}

fn closer(opener: char) -> Option<char> {
    match opener {
        '[' => Some(']'),
        '(' => Some(')'),
        '{' => Some('}'),
        '［' => Some('］'),
        '（' => Some('）'),
        '【' => Some('】'),
        '〔' => Some('〕'),
        _ => None,
    }
}

fn is_closer(c: char) -> bool {
    matches!(c, ']' | ')' | '}' | '］' | '）' | '】' | '〕')
}

/// Words that may stand before a label inside a mark.
const LEADS: &[&str] = &[
    "see",
    "source",
    "sources",
    "passage",
    "passages",
    "ref",
    "refs",
    "reference",
    "references",
    "quote",
    "quoting",
    "citation",
    "cite",
    "cited",
    "citing",
    "cf",
    "from",
    "per",
    "in",
    "also",
    "and",
    "doc",
    "document",
    "according",
    "to",
];

/// Why reading stopped before the mark's end.
enum Stop {
    Text,
    Open,
    Broken,
    /// All is read but the closing bracket, which is missing.
    Unclosed,
    NotCovered,
}

type Step<T = ()> = Result<T, Stop>;

struct Reader<'a> {
    text: &'a str,
    at: usize,
    ended: bool,
    claims: Vec<ClaimedCitation>,
    /// Where the last label ends.
    labelled: Option<usize>,
    /// A quotation has begun.
    quoting: bool,
    /// How many brackets stand around it.
    depth: usize,
}

impl<'a> Reader<'a> {
    /// A reader of what is ahead, for what may turn out to be something else.
    fn inner(&self) -> Self {
        Self {
            text: self.rest(),
            at: 0,
            ended: self.ended,
            claims: Vec::new(),
            labelled: None,
            quoting: false,
            depth: self.depth + 1,
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character; without one the mark is still open.
    fn peek(&self) -> Step<char> {
        self.rest().chars().next().ok_or(Stop::Open)
    }

    fn next(&mut self) -> Step<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Ok(c)
    }

    /// Skips white space and emphasis, with one line break at most; a paragraph's end ends every mark.
    fn spaces(&mut self) -> Step {
        let mut breaks = 0;
        while self.peek()?.is_whitespace() || self.peek()? == '*' {
            breaks += usize::from(self.next()? == '\n');
            if breaks > 1 {
                return Err(Stop::Broken);
            }
        }
        Ok(())
    }

    fn claim(&mut self, passage: String) {
        self.labelled = Some(self.at);
        let quote = String::new();
        self.claims.push(ClaimedCitation { passage, quote });
    }

    fn mark(&mut self, attached: bool) -> Step {
        let opener = self.next()?;
        let close = closer(opener).ok_or(Stop::Text)?;
        let square = !matches!(opener, '(' | '（' | '{');
        if attached && !square {
            return Err(Stop::Text);
        }
        self.spaces()?;
        if opens(self.peek()?) {
            const DEEPEST: usize = 4;
            if self.depth >= DEEPEST {
                return Err(Stop::Text);
            }
            return self.wrapped(close);
        }
        if square {
            self.not_covered(close)?;
            if self.foreign(opener, close, attached)? {
                return Ok(());
            }
        }
        if square && is_quotation_mark(self.peek()?) {
            return self.quote_before_label(close);
        }
        self.leads(square)?;
        self.labels(close, square)
    }

    /// Marks in brackets of their own: `([P1])`, `[[P1], [P2]]`.
    fn wrapped(&mut self, close: char) -> Step {
        loop {
            let mut inner = self.inner();
            let end = inner.mark(false);
            let first = self.claims.is_empty();
            self.claims.append(&mut inner.claims);
            self.labelled = inner.labelled.map(|at| self.at + at).or(self.labelled);
            self.quoting |= inner.quoting;
            match end {
                Ok(()) => self.at += inner.at,
                Err(Stop::Unclosed) => {
                    self.at += inner.at;
                    return Err(Stop::Unclosed);
                }
                Err(Stop::NotCovered) => {
                    self.at += inner.at;
                    self.until(close)?;
                    return Err(Stop::NotCovered);
                }
                Err(Stop::Text) if !first => return Err(Stop::Broken),
                Err(stop) => return Err(stop),
            }
            loop {
                self.spaces()?;
                match self.peek()? {
                    c if c == close => {
                        self.next()?;
                        return Ok(());
                    }
                    ',' | ';' | '&' | '.' => {
                        self.next()?;
                    }
                    c if c.is_alphabetic() && self.conjunction()? => {}
                    c if opens(c) => break,
                    // Words beside a mark: the outer bracket was text after all.
                    _ => {
                        self.claims.clear();
                        return Err(Stop::Text);
                    }
                }
            }
        }
    }

    fn conjunction(&mut self) -> Step<bool> {
        let word = self.word()?;
        let found = matches!(word.as_str(), "and" | "or" | "see" | "also");
        if found {
            self.at += word.len();
        }
        Ok(found)
    }

    /// The ASCII letters ahead, in lower case, not taken yet; open while they may go on.
    fn word(&self) -> Step<String> {
        let word: String = self
            .rest()
            .chars()
            .take_while(char::is_ascii_alphabetic)
            .collect();
        if word.len() == self.rest().len() && word.len() < 16 && !self.ended {
            return Err(Stop::Open);
        }
        Ok(word.to_ascii_lowercase())
    }

    /// `NOT COVERED` in any case and spacing, with whatever it says was not.
    fn not_covered(&mut self, close: char) -> Step {
        const WORDS: &str = "notcovered";
        let mut matched = 0;
        for (at, c) in self.rest().char_indices() {
            if matched == WORDS.len() {
                if c.is_alphanumeric() {
                    return Ok(());
                }
                self.at += at;
                self.until(close)?;
                return Err(Stop::NotCovered);
            }
            if matched > 0 && matches!(c, ' ' | '_' | '-' | '\u{A0}') {
                continue;
            }
            if !WORDS[matched..].starts_with(c.to_ascii_lowercase()) {
                return Ok(());
            }
            matched += 1;
        }
        Err(if matched == WORDS.len() && self.ended {
            Stop::NotCovered
        } else {
            Stop::Open
        })
    }

    /// Takes everything up to and with `close`, within the line.
    fn until(&mut self, close: char) -> Step {
        loop {
            match self.next()? {
                c if c == close => return Ok(()),
                '\n' => return Err(Stop::Broken),
                _ => {}
            }
        }
    }

    /// What a provider or another prompt's habit puts there: `【1†source】`, `[1]`, `[^2]`. It names no passage, and `a[1]` is
    /// an element rather than a mark.
    fn foreign(&mut self, opener: char, close: char, attached: bool) -> Step<bool> {
        const LONGEST: usize = 60;
        if opener != '【' && !matches!(self.peek()?, '^' | '0'..='9') {
            return Ok(false);
        }
        let Some(end) = self.rest().find(close) else {
            let may_go_on = self.rest().len() <= LONGEST && !self.rest().contains('\n');
            let digits = self.rest().trim_start_matches('^');
            let is_foreign = opener == '【' || digits.bytes().all(|byte| byte.is_ascii_digit());
            return match (may_go_on, opener == '【') {
                (true, _) if is_foreign => Err(Stop::Open),
                (false, true) if is_begun(self.text) => Err(Stop::Broken),
                _ => Ok(false),
            };
        };
        let inner = self.rest()[..end].trim();
        let number = inner.strip_prefix('^').unwrap_or(inner);
        let is_number = (1..=3).contains(&number.len())
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && (!attached || number.len() < inner.len());
        let is_provider = opener == '【'
            && inner.len() <= LONGEST
            && (inner.contains('†') || is_number)
            && !inner.contains('\n');
        if !is_number && !is_provider {
            return Ok(false);
        }
        self.claim(inner.to_owned());
        self.at += end + close.len_utf8();
        Ok(true)
    }

    /// `["exact words", P2]`.
    fn quote_before_label(&mut self, close: char) -> Step {
        let mark = self.next()?;
        let start = self.at;
        let family = family(mark);
        let mut tried = 0;
        for (at, c) in self.text[start..].char_indices() {
            if self::family(c) != family {
                continue;
            }
            self.at = start + at + c.len_utf8();
            self.separators()?;
            if self.starts_label() {
                let label = self.label()?.ok_or(Stop::Text)?;
                let quote = self.text[start..start + at].trim().to_owned();
                self.claims.push(ClaimedCitation {
                    passage: label,
                    quote,
                });
                return self.labels(close, true);
            }
            tried += 1;
            // `["a", "b"]` is an array.
            if tried > 4 || self.peek()? == close {
                return Err(Stop::Text);
            }
        }
        if self.text[start..].contains('\n') {
            return Err(Stop::Text);
        }
        Err(Stop::Open)
    }

    fn separators(&mut self) -> Step {
        self.spaces()?;
        while matches!(
            self.peek()?,
            ',' | ';' | ':' | '-' | '–' | '—' | '&' | '/' | '|' | '='
        ) {
            self.next()?;
            self.spaces()?;
        }
        Ok(())
    }

    /// Words before the first label, which must follow.
    fn leads(&mut self, square: bool) -> Step {
        const MOST: usize = 4;
        if self.peek()? == '^' {
            self.next()?;
        }
        let mut numbered = false;
        for _ in 0..MOST {
            if self.starts_label() {
                break;
            }
            let word = self.word()?;
            if !LEADS.contains(&word.as_str()) {
                break;
            }
            self.at += word.len();
            self.spaces()?;
            if matches!(self.peek()?, ':' | '.' | '-') {
                self.next()?;
                self.spaces()?;
            }
            numbered = matches!(word.as_str(), "passage" | "passages");
        }
        // `[Passage 2]` says `P2` in full.
        if numbered && self.peek()?.is_ascii_digit() {
            let digits = self.digits();
            if digits.len() == self.rest().len() && !self.ended {
                return Err(Stop::Open);
            }
            let label = format!("P{digits}");
            self.at += digits.len();
            self.claim(label);
            return self.spaces();
        }
        match self.label()? {
            // `(p-1)` is arithmetic.
            Some(label) if square || !label.contains(['-', '+']) => self.claim(label),
            _ => return Err(Stop::Text),
        }
        Ok(())
    }

    fn digits(&self) -> &'a str {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        &rest[..end]
    }

    fn starts_label(&self) -> bool {
        let mut chars = self.rest().chars();
        let spaced = match chars.next() {
            Some('P' | 'Ｐ') => true,
            Some('p' | 'ｐ') => false,
            _ => return false,
        };
        chars
            .find(|&c| c != ' ' || !spaced)
            .is_none_or(|c| c.is_numeric() || matches!(c, '-' | '+' | '−'))
    }

    /// `P2` and what is meant to be like it: `P07`, `P-1`, `P1.5`, `P 2`. Not `P2P`, nor a page's `p. 5`.
    fn label(&mut self) -> Step<Option<String>> {
        if !self.starts_label() {
            return Ok(None);
        }
        let mut label = String::from("P");
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some(&(at, c)) = chars.peek() {
            let ascii = match c {
                '０'..='９' => char::from_u32(c as u32 - '０' as u32 + '0' as u32).unwrap_or(c),
                '−' => '-',
                _ => c,
            };
            let begun = label.len() > 1;
            let goes_on = match ascii {
                ' ' | '-' | '+' => !begun,
                '.' => begun,
                _ => ascii.is_alphanumeric() || ascii == '_',
            };
            if !goes_on {
                let full = label.trim_end_matches('.');
                let tail = full[1..].trim_start_matches(|c: char| c.is_ascii_digit());
                // A word that begins like a label is one only if nothing else stands in the brackets.
                if tail.chars().any(char::is_alphabetic) && !is_closer(c) {
                    return Ok(None);
                }
                if full.len() < 2 || full.ends_with(['-', '+']) {
                    return Ok(None);
                }
                self.at += at - (label.len() - full.len());
                return Ok(Some(full.to_owned()));
            }
            if ascii != ' ' {
                label.push(ascii);
            }
            chars.next();
        }
        let full = label.trim_end_matches('.');
        let is_number = full.ends_with(|c: char| c.is_ascii_digit())
            && !full[1..].contains(|c: char| c.is_alphabetic() || c == '_');
        if self.ended && is_number {
            self.at = self.text.len() - (label.len() - full.len());
            return Ok(Some(full.to_owned()));
        }
        Err(Stop::Open)
    }

    /// What follows the first label: quotes, further labels, and whatever else a square bracket holds.
    fn labels(&mut self, close: char, square: bool) -> Step {
        let mut quoted = self
            .claims
            .last()
            .is_some_and(|claim| !claim.quote.is_empty());
        loop {
            self.spaces()?;
            let c = self.peek()?;
            if c == close {
                self.next()?;
                return Ok(());
            }
            if is_quotation_mark(c) {
                quoted = true;
                let quote = self.quote(close)?;
                self.quoted(quote);
            } else if matches!(c, ':' | '=' | '：') {
                self.next()?;
                self.spaces()?;
                let c = self.peek()?;
                if !is_quotation_mark(c) && c != close && !self.starts_label() {
                    quoted = true;
                    let quote = self.bare_quote(close)?;
                    self.quoted(quote);
                }
            } else if self.starts_label() {
                match self.label()? {
                    Some(label) => {
                        self.claim(label);
                        quoted = false;
                    }
                    None => self.other(square || quoted)?,
                }
            } else {
                self.other(square || quoted)?;
            }
        }
    }

    /// Anything else inside the brackets. A round bracket with words in it is a parenthesis, not a mark.
    fn other(&mut self, allowed: bool) -> Step {
        let c = self.next()?;
        if c.is_alphanumeric() && !allowed {
            self.at -= c.len_utf8();
            let word = self.word()?;
            if !matches!(word.as_str(), "and" | "or") {
                self.claims.clear();
                return Err(Stop::Text);
            }
            self.at += word.len();
        } else if c.is_alphanumeric() {
            while self.peek()?.is_alphanumeric() {
                self.next()?;
            }
        } else if opens(c) && self.starts_label() {
            // The mark before was never closed: this is the next one.
            return Err(Stop::Broken);
        }
        Ok(())
    }

    /// Whether another mark begins after the opening bracket just taken, so that the mark being read was never closed. `a[P1]`
    /// and `f(P1, x)` may stand in a passage.
    fn begins_mark(&mut self, own: char) -> Step<bool> {
        let mut inner = self.inner();
        inner.spaces()?;
        match inner.leads(true) {
            Ok(()) => {}
            Err(Stop::Open) => return Err(Stop::Open),
            Err(_) => return Ok(false),
        }
        let follows = inner.peek()?;
        let is_mark = match own {
            ')' | '）' | '}' => follows == ':' || is_quotation_mark(follows),
            _ => follows != own,
        };
        Ok(is_mark)
    }

    /// Gives `quote` to the last label, which may have several.
    fn quoted(&mut self, quote: String) {
        let Some(last) = self.claims.last_mut() else {
            return;
        };
        if last.quote.is_empty() {
            last.quote = quote;
        } else {
            let passage = last.passage.clone();
            self.claims.push(ClaimedCitation { passage, quote });
        }
    }

    /// A quotation. It ends at a mark of its family after which the citation goes on, so that it may hold such marks itself;
    /// brackets that are open inside ask for a later end, if there is one.
    fn quote(&mut self, close: char) -> Step<String> {
        self.quoting = true;
        let opener = self.next()?;
        let family = family(opener);
        let start = self.at;
        let mut depth = 0_i32;
        let mut unbalanced = None;
        let mut seen = None;
        let mut last = '\0';
        for (at, c) in self.text[start..].char_indices() {
            let at = start + at;
            if c == '\n' && last == '\n' {
                return self.early_end(start, unbalanced, seen);
            }
            if c == '\n' || !c.is_whitespace() {
                last = c;
            }
            if let Some(own) = closer(c) {
                self.at = at + c.len_utf8();
                if self.begins_mark(own)? {
                    return self.early_end(start, unbalanced, seen);
                }
                depth += i32::from(own == close);
            } else if c == close {
                depth -= 1;
            } else if self::family(c) == family {
                self.at = at + c.len_utf8();
                let goes_on = self.goes_on(close)?;
                if goes_on && depth <= 0 {
                    return Ok(self.text[start..at].trim().to_owned());
                }
                if goes_on {
                    unbalanced = unbalanced.or(Some((at, at + c.len_utf8())));
                }
                // A bracket can be missing at a line's end. Elsewhere what is quoted cannot be told from what follows.
                let after = self.rest().trim_start_matches(['.', ' ', ';']);
                let ends_line = after.starts_with('\n') || after.is_empty() && self.ended;
                seen = seen.or(ends_line.then_some((at, at + c.len_utf8())));
            }
        }
        if self.ended || self.text.len() > MARK_CHARS {
            return self.early_end(start, unbalanced, seen);
        }
        Err(Stop::Open)
    }

    /// The paragraph or the next mark came before the quotation's end: it ended with its brackets open inside, or the mark's
    /// own bracket is missing.
    fn early_end(
        &mut self,
        start: usize,
        unbalanced: Option<(usize, usize)>,
        seen: Option<(usize, usize)>,
    ) -> Step<String> {
        if let Some((end, after)) = unbalanced {
            self.at = after;
            return Ok(self.text[start..end].trim().to_owned());
        }
        let (end, after) = seen.ok_or(Stop::Broken)?;
        self.at = after;
        self.quoted(self.text[start..end].trim().to_owned());
        Err(Stop::Unclosed)
    }

    /// Whether the citation goes on after a quotation's closing mark: with the bracket's end, a label or another quotation.
    fn goes_on(&mut self, close: char) -> Step<bool> {
        let after = self.at;
        let result = (|| {
            self.spaces()?;
            let mut separated = false;
            while matches!(
                self.peek()?,
                ',' | ';' | '.' | '&' | '…' | '，' | '；' | '、'
            ) {
                self.next()?;
                separated = true;
                self.spaces()?;
            }
            if self.peek()? == close || self.starts_label() {
                return Ok(true);
            }
            let word = self.word()?;
            if matches!(word.as_str(), "and" | "or" | "see") {
                self.at += word.len();
                self.spaces()?;
                separated = true;
            }
            Ok(separated && (is_quotation_mark(self.peek()?) || self.starts_label()))
        })();
        self.at = after;
        match result {
            Err(Stop::Broken) => Ok(false),
            Err(Stop::Open) if self.ended => Ok(false),
            other => other,
        }
    }

    /// Words after a label without quotation marks: up to the bracket's end or the next label.
    fn bare_quote(&mut self, close: char) -> Step<String> {
        self.quoting = true;
        let start = self.at;
        let mut depth = 0_i32;
        let mut last = '\0';
        for (at, c) in self.text[start..].char_indices() {
            let at = start + at;
            if c == '\n' && last == '\n' {
                return Err(Stop::Broken);
            }
            if c == '\n' || !c.is_whitespace() {
                last = c;
            }
            self.at = at + c.len_utf8();
            if let Some(own) = closer(c) {
                if self.begins_mark(own)? {
                    return Err(Stop::Broken);
                }
                depth += i32::from(own == close);
            } else if c == close && depth > 0 {
                depth -= 1;
            } else if c == close {
                self.at = at;
                return Ok(self.text[start..at].trim().to_owned());
            } else if matches!(c, ';' | '；') {
                self.spaces()?;
                if self.starts_label() {
                    return Ok(self.text[start..at].trim().to_owned());
                }
            }
        }
        Err(Stop::Open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read at the start of `text`, as `P1:quote P2:`; `text`, `open`, `broken` or `not covered`; with what is left over.
    fn read(text: &str, ended: bool) -> String {
        match lex(text, false, ended) {
            Lexed::Text => "text".to_owned(),
            Lexed::Open => "open".to_owned(),
            Lexed::Broken => "broken".to_owned(),
            Lexed::NotCovered { bytes } => format!("not covered|{}", &text[bytes..]),
            Lexed::Mark { bytes, claims } => {
                let claims: Vec<String> = claims
                    .iter()
                    .map(|claim| format!("{}:{}", claim.passage, claim.quote))
                    .collect();
                format!("{}|{}", claims.join(" "), &text[bytes..])
            }
        }
    }

    fn check(cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(read(text, true), *expected, "{text:?}");
            if expected.ends_with('|') {
                // No shorter text is taken for something else.
                for (at, _) in text.char_indices().skip(1) {
                    assert_eq!(read(&text[..at], false), "open", "{:?}", &text[..at]);
                }
            }
        }
    }

    #[test]
    fn c100_labels() {
        check(&[
            ("[P1, P2]", "P1: P2:|"),
            ("[P1][P2]", "P1:|[P2]"),
            ("[p1]", "P1:|"),
            ("[ P1 ]", "P1:|"),
            ("[P1; P2]", "P1: P2:|"),
            ("[P1 and P2]", "P1: P2:|"),
            ("[P1/P2]", "P1: P2:|"),
            ("[P1 P2]", "P1: P2:|"),
            ("[P 1]", "P1:|"),
        ]);
    }

    #[test]
    fn c102_forms_of_others() {
        check(&[
            ("\u{3010}1\u{2020}source\u{3011}", "1†source:|"),
            ("\u{3010}P2\u{3011}", "P2:|"),
            ("【重要】", "text"),
            ("[1]", "1:|"),
            ("[^1]", "^1:|"),
            ("(P2)", "P2:|"),
            ("[^P2]", "P2:|"),
            ("[Source P2]", "P2:|"),
            ("[see passage 2]", "P2:|"),
            ("\u{FF3B}P2\u{FF3D}", "P2:|"),
            ("\u{FF3B}\u{FF30}\u{FF12}\u{FF3D}", "P2:|"),
            ("[1, 2]", "text"),
            ("[0-9]", "text"),
            ("[^a-z]", "text"),
            ("[sic]", "text"),
            ("(p. 5)", "text"),
            ("(p-1)", "text"),
            ("(P2 is meant)", "text"),
            ("[P2P]", "P2P:|"),
            ("[P2P networks]", "text"),
            ("[Primary]", "text"),
            ("(see the list)", "text"),
            ("(", "text"),
        ]);
        assert_eq!(lex("[1]", true, true), Lexed::Text, "an element");
        assert_eq!(lex("(P2)", true, true), Lexed::Text, "a call");
    }

    #[test]
    fn c103_labels_of_no_passage_are_marks() {
        check(&[
            ("[P99]", "P99:|"),
            ("[P0]", "P0:|"),
            ("[P07]", "P07:|"),
            ("[P-1]", "P-1:|"),
            ("[P1.5]", "P1.5:|"),
            ("[P184467440737095516160]", "P184467440737095516160:|"),
        ]);
    }

    #[test]
    fn quotes() {
        check(&[
            ("[P2: \"a b\"]", "P2:a b|"),
            ("[P2: \"a b\"; P3: “c”]", "P2:a b P3:c|"),
            ("[P2: \"a\", \"b\"]", "P2:a P2:b|"),
            ("[P2: \"a\" and \"b\"]", "P2:a P2:b|"),
            (
                "[P2: \"a; b: [c] (d) \"e\" f\"]",
                "P2:a; b: [c] (d) \"e\" f|",
            ),
            ("[P2: \"a[\"x\"] b\"]", "P2:a[\"x\"] b|"),
            ("[P2: \"f(P1, x) of a[P1]\"]", "P2:f(P1, x) of a[P1]|"),
            ("[P2: a b [c]; P3: d]", "P2:a b [c] P3:d|"),
            ("[P2: 'it''s']", "P2:it''s|"),
            ("[\"a b\" P2]", "P2:a b|"),
            ("[\"a\", \"b\"]", "text"),
            ("[P2, Table 3: \"a b\"]", "P2:a b|"),
            ("[P2: \"a\nb\"]", "P2:a\nb|"),
            ("([P1: \"a\"], [P2: \"b\"])", "P1:a P2:b|"),
            ("([P1] is meant)", "text"),
            ("[**P1**: *\"a b\"*]", "P1:a b|"),
            ("【P1：“a b”；P2：“c”】", "P1:a b P2:c|"),
        ]);
    }

    #[test]
    fn marks_without_an_end() {
        for (text, expected) in [
            ("[", "broken"),
            ("[P", "broken"),
            ("[P1", "P1:|"),
            ("[P1: \"ab", "broken"),
            ("[P1: \"ab\"", "P1:ab|"),
            ("[P1: \"ab\".\nNext", "P1:ab|.\nNext"),
            ("[P1: \"ab. Next [P2: \"c\"]", "broken"),
            ("[P1: \"ab\n\nNext\"]", "broken"),
            ("[P1: ab", "broken"),
            ("[P1.1. And", "P1.1:|. And"),
            ("[P1.1.", "P1.1:|."),
            ("【1†sou", "broken"),
        ] {
            assert_eq!(read(text, true), expected, "{text:?}");
        }
        let long = format!("[P1: \"{}", "word ".repeat(MARK_CHARS / 5));
        assert_eq!(read(&long, false), "broken", "too long to wait for");
    }

    #[test]
    fn the_note_that_something_is_not_covered() {
        check(&[
            ("[NOT COVERED]", "not covered|"),
            ("[not-covered: the rest]", "not covered|"),
            ("[notcovered]", "not covered|"),
            ("([Not Covered])", "not covered|"),
            ("[not coveredness]", "text"),
            ("[nothing]", "text"),
        ]);
    }
}
