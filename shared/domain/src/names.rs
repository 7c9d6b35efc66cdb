//! The exact names in a text: what a search must match letter for letter and a stemmer would take apart.
//!
//! The same function reads chunks at ingest and questions at search, so `clock_timestamp()` in a question meets
//! `clock_timestamp ( )` in a passage. Names are compared by [`Name::text`]; the kind says how much a missing name means.
//! Plain words, plain numbers and the punctuation of prose are never names, however rare they are.

use std::collections::HashSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// An exact name in its canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Name {
    /// Lower case, without call parentheses, without a version's `v`. Options keep their case, which is part of them.
    pub text: String,
    /// What sort of name it is.
    pub kind: NameKind,
}

/// What sort of name a [`Name`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameKind {
    /// `max_wal_size`, `NpgsqlConnection`, `int4range`, `DataFileRead`.
    Identifier,
    /// A dotted name, `pg_catalog.pg_class` or `excluded.dname`. Its parts that are names follow on their own.
    Qualified,
    /// A name written with call parentheses: `now()`, `nextval ( regclass )`.
    Call,
    /// `->>`, `@>`, `::`.
    Operator,
    /// `-Fc`, `--globals-only`, `\dt`.
    Option,
    /// An error or SQLSTATE code: `42P01`, `ERR_4521`, `ORA-00942`.
    Code,
    /// `17.2`, also written `v17.2`.
    Version,
    /// `pg_hba.conf`, `/etc/postgresql`.
    File,
    /// A word written in capitals: `HAVING`, `BYPASSRLS`, `WAL`. It may be plain emphasis.
    Capitals,
}

/// The names of `text`, in order, each once.
#[must_use]
pub fn exact_names(text: &str) -> Vec<Name> {
    let mut lexer = Lexer::new(text);
    lexer.run();
    let mut seen = HashSet::new();
    lexer
        .found
        .into_iter()
        .map(|(_, name)| name)
        .filter(|name| seen.insert(name.text.clone()))
        .collect()
}

/// The names of a question: those of [`exact_names`], and the SQL word it is about though written in small letters
/// (`what does between do?`), which is a stop word to a search in English.
#[must_use]
pub fn question_names(question: &str) -> Vec<Name> {
    let mut names = exact_names(question);
    let words: Vec<String> = question
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '_' | '’')))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let mut about = words
        .iter()
        .filter(|word| !SCAFFOLDING.contains(&word.as_str()));
    if let (Some(word), None) = (about.next(), about.next())
        && SQL_STOP_WORDS.contains(&word.as_str())
        && !names.iter().any(|name| name.text == *word)
    {
        names.push(Name {
            text: word.clone(),
            kind: NameKind::Capitals,
        });
    }
    names
}

/// Whether `text` is nothing but names that stand for themselves: `max_wal_size`, `->>`, `pg_dump -Fc`, `nextval()`. Words
/// in capitals, plain numbers and mixed-case product names are not enough.
#[must_use]
pub fn is_exact_name(text: &str) -> bool {
    let mut lexer = Lexer::new(text);
    lexer.run();
    let mut bare: Vec<bool> = lexer.chars.iter().map(|c| !c.is_whitespace()).collect();
    for (span, name) in &lexer.found {
        let stands_alone = match name.kind {
            NameKind::Identifier => name.text.contains('_'),
            NameKind::Qualified | NameKind::File => {
                name.text.chars().filter(|c| c.is_alphabetic()).count() >= 4
            }
            NameKind::Call => true,
            NameKind::Operator | NameKind::Option => name.text.chars().count() >= 2,
            NameKind::Code => name.text.chars().any(char::is_alphabetic),
            NameKind::Version | NameKind::Capitals => false,
        };
        if stands_alone {
            bare[span.clone()].fill(false);
        }
    }
    !lexer.found.is_empty() && !bare.contains(&true)
}

/// English stop words that are words of SQL.
const SQL_STOP_WORDS: &[&str] = &[
    "all", "and", "any", "as", "at", "before", "after", "between", "both", "by", "do", "for",
    "from", "having", "if", "in", "into", "is", "no", "not", "of", "off", "on", "only", "or",
    "over", "same", "some", "then", "to", "under", "until", "when", "where", "while", "with",
    "each", "own", "most", "will",
];

/// Words a question about one word is built of.
const SCAFFOLDING: &[&str] = &[
    "what",
    "what's",
    "what’s",
    "whats",
    "does",
    "do",
    "did",
    "is",
    "are",
    "the",
    "a",
    "an",
    "how",
    "to",
    "i",
    "can",
    "use",
    "used",
    "using",
    "mean",
    "means",
    "meaning",
    "explain",
    "describe",
    "about",
    "tell",
    "me",
    "clause",
    "keyword",
    "word",
    "operator",
    "statement",
    "command",
    "expression",
    "condition",
    "predicate",
    "construct",
    "sql",
    "postgres",
    "postgresql",
    "work",
    "works",
    "example",
    "syntax",
    "please",
    "of",
];

/// Words before a parenthesis that are grammar, not functions.
const NEVER_CALLED: &[&str] = &[
    "in",
    "and",
    "or",
    "not",
    "as",
    "on",
    "if",
    "is",
    "values",
    "where",
    "exists",
    "any",
    "all",
    "some",
    "over",
    "using",
    "by",
    "from",
    "when",
    "then",
    "check",
    "key",
    "references",
    "unique",
    "table",
    "into",
    "set",
    "like",
    "with",
    "only",
    "select",
    "the",
    "a",
    "an",
    "to",
    "of",
    "for",
    "e",
    "eg",
    "ie",
    "see",
    "include",
    "generated",
    "always",
    "partition",
    "between",
    "column",
    "columns",
    "option",
    "options",
    "function",
    "functions",
    "rows",
    "returns",
    "integer",
    "boolean",
    "string",
    "enum",
    "distinct",
    "having",
    "union",
    "limit",
    "end",
    "else",
    "case",
    "within",
    "group",
    "filter",
    "array",
    "row",
];

/// Endings that make a dotted word a file.
const FILE_ENDINGS: &[&str] = &[
    "conf", "html", "htm", "sql", "so", "dll", "c", "h", "dat", "csv", "tsv", "txt", "log", "json",
    "jsonl", "xml", "toml", "yaml", "yml", "py", "rs", "sh", "pl", "md", "pid", "signal",
    "history", "backup", "control", "dump", "tar", "gz", "zst", "bz2", "zip", "ini", "cfg", "key",
    "crt", "pem", "crl", "opts", "done", "ready", "partial", "map", "bak", "exe", "out", "service",
    "lock", "env",
];

/// Words before a number that make it a version.
const VERSION_WORDS: &[&str] = &[
    "postgresql",
    "postgres",
    "pg",
    "version",
    "versions",
    "release",
    "releases",
    "since",
    "upgrade",
    "upgraded",
];

/// Words before a number that make it a place in a book.
const SECTION_WORDS: &[&str] = &[
    "section", "sections", "chapter", "appendix", "table", "figure", "example", "part", "see",
];

/// Words before a number that make it an error code.
const CODE_WORDS: &[&str] = &[
    "sqlstate", "error", "code", "codes", "errcode", "state", "errno",
];

/// Capitals that measure the number before them.
const UNITS: &[&str] = &[
    "KB", "MB", "GB", "TB", "PB", "KIB", "MIB", "GIB", "TIB", "MS", "AM", "PM", "BC", "AD",
];

struct Lexer {
    chars: Vec<char>,
    at: usize,
    found: Vec<(Range<usize>, Name)>,
    previous: [String; 2],
    shouted: bool,
}

impl Lexer {
    fn new(text: &str) -> Self {
        const SHOUTED_WORDS: usize = 7;
        let shouted = !text.chars().any(char::is_lowercase)
            && text.split_whitespace().count() >= SHOUTED_WORDS;
        Self {
            chars: text.chars().collect(),
            at: 0,
            found: Vec::new(),
            previous: [String::new(), String::new()],
            shouted,
        }
    }

    fn run(&mut self) {
        while self.at < self.chars.len() {
            let start = self.at;
            let c = self.chars[start];
            let opens = start == 0 || !is_word(self.chars[start - 1]);
            let taken = match c {
                _ if is_word(c) => {
                    self.word();
                    true
                }
                '-' | '\\' if opens => self.option(),
                '/' | '.' | '~' if opens => self.path(),
                _ => false,
            };
            if !taken && is_operator(c) {
                self.operator();
            } else if !taken {
                self.at += 1;
            }
            debug_assert!(self.at > start, "the lexer advances");
        }
    }

    fn peek(&self, at: usize) -> char {
        self.chars.get(at).copied().unwrap_or(' ')
    }

    fn before(&self, at: usize) -> char {
        at.checked_sub(1).map_or(' ', |index| self.chars[index])
    }

    fn text(&self, range: Range<usize>) -> String {
        self.chars[range].iter().collect()
    }

    fn add(&mut self, span: Range<usize>, text: String, kind: NameKind) {
        self.found.push((span, Name { text, kind }));
    }

    fn end_of(&self, start: usize, is_part: impl Fn(char) -> bool) -> usize {
        (start..self.chars.len())
            .find(|&at| !is_part(self.chars[at]))
            .unwrap_or(self.chars.len())
    }

    /// A run of letters, digits and underscores, dots between them included.
    fn word(&mut self) {
        let start = self.at;
        let mut end = self.end_of(start, is_word);
        while self.peek(end) == '.' && is_word(self.peek(end + 1)) {
            end = self.end_of(end + 1, is_word);
        }
        if self.peek(end) == ':' && self.peek(end + 1) == '/' && self.peek(end + 2) == '/' {
            // An address is not made of names.
            self.at = self.end_of(end, |c| !c.is_whitespace());
            return;
        }
        if self.peek(end) == '@' && self.peek(end + 1).is_alphabetic() {
            // Neither is a mail address; `a@>b` and `a @> b` are operators.
            self.at = self.end_of(end + 1, |c| is_word(c) || matches!(c, '.' | '-'));
            return;
        }
        self.at = end;
        let text = self.text(start..end);
        let called = self.call_end(end);
        self.classify(start..end, &text, called);
        let [_, last] = std::mem::take(&mut self.previous);
        self.previous = [last, text.to_lowercase()];
    }

    /// Where a call's opening or empty parentheses end, if some follow: `now()`, `now ( )`, `age(x`, `age ( timestamp )`.
    fn call_end(&self, end: usize) -> Option<usize> {
        let open = self.end_of(end, |c| c == ' ' || c == '\u{A0}');
        if self.peek(open) != '(' {
            return None;
        }
        let inner = self.end_of(open + 1, |c| c == ' ' || c == '\u{A0}');
        if self.peek(inner) == ')' {
            return Some(inner + 1);
        }
        let plural = ["s)", "es)", "ies)", "n)"]
            .iter()
            .any(|ending| self.chars[open + 1..].starts_with(&ending.chars().collect::<Vec<_>>()));
        let spaced = open > end;
        // Reference pages space signatures evenly; prose puts a space before a parenthesis and none inside.
        let is_signature = if spaced { inner > open + 1 } else { !plural };
        is_signature.then_some(end)
    }

    fn classify(&mut self, span: Range<usize>, text: &str, called: Option<usize>) {
        let lower = text.to_lowercase();
        if let Some(version) = self.version(&span, &lower) {
            self.add(span, version, NameKind::Version);
        } else if let Some(code) = self.code(&span, text) {
            self.at = code.0.end;
            self.add(code.0, code.1, NameKind::Code);
        } else if text.contains('.') {
            self.dotted(span, text, &lower, called);
        } else {
            self.simple(span, text, &lower, called);
        }
    }

    fn version(&self, span: &Range<usize>, lower: &str) -> Option<String> {
        let number = lower.strip_prefix('v').unwrap_or(lower);
        let parts: Vec<&str> = number.split('.').collect();
        let is_dotted = parts.len() >= 2
            && parts.iter().all(|part| {
                !part.is_empty()
                    && part.len() <= 4
                    && part.bytes().all(|byte| byte.is_ascii_digit())
            });
        let announced = VERSION_WORDS.contains(&self.previous[1].as_str());
        // Two parts without a `v` may be any decimal number, three a section's.
        let is_section =
            SECTION_WORDS.contains(&self.previous[1].as_str()) || self.opens_heading(span);
        let is_version =
            number.len() < lower.len() || announced || (parts.len() == 3 && !is_section);
        (is_dotted && is_version).then(|| number.to_owned())
    }

    /// Whether what stands at `span` is a heading's number: `24.1.3. Updating`.
    fn opens_heading(&self, span: &Range<usize>) -> bool {
        let opens_line = span.start == 0 || self.before(span.start) == '\n';
        opens_line && self.peek(span.end) == '.'
    }

    fn code(&self, span: &Range<usize>, text: &str) -> Option<(Range<usize>, String)> {
        let is_upper_or_digit = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let announced = || {
            self.previous
                .iter()
                .any(|word| CODE_WORDS.contains(&word.as_str()))
        };
        let alone = || self.chars.iter().filter(|c| !c.is_whitespace()).count() == text.len();
        if text.len() == 5 && text.chars().all(is_upper_or_digit) && digits >= 2 {
            let measures = text.starts_with(|c: char| c.is_ascii_digit())
                && UNITS.iter().any(|unit| text.ends_with(unit));
            let dated = self.before(span.start) == '-' || matches!(self.peek(span.end), '-' | ':');
            if measures || dated {
                return None;
            }
            let is_code = digits < 5 || announced() || alone();
            return is_code.then(|| (span.clone(), text.to_lowercase()));
        }
        if digits == text.len() && (4..=6).contains(&digits) && announced() {
            return Some((span.clone(), text.to_owned()));
        }
        let is_prefix = |prefix: &str| {
            prefix.len() >= 2
                && prefix
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        };
        if let Some((prefix, number)) = text.rsplit_once('_')
            && is_prefix(prefix)
            && number.len() >= 2
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            return Some((span.clone(), text.to_lowercase()));
        }
        if is_prefix(text) && self.peek(span.end) == '-' {
            let end = self.end_of(span.end + 1, |c| c.is_ascii_digit() || c == '-');
            if end >= span.end + 4 && !is_word(self.peek(end)) {
                return Some((span.start..end, self.text(span.start..end).to_lowercase()));
            }
        }
        None
    }

    /// Where the hyphenated name that goes on at `start` begins: `routine-vacuuming.html`.
    fn start_of_hyphenated(&self, start: usize) -> usize {
        let is_part = |at: &usize| {
            is_word(self.chars[*at]) || (self.chars[*at] == '-' && is_word(self.before(*at)))
        };
        let back = (0..start).rev().take_while(is_part).count();
        start - back
    }

    fn dotted(&mut self, span: Range<usize>, text: &str, lower: &str, called: Option<usize>) {
        let parts: Vec<&str> = text.split('.').collect();
        let starts_as_name =
            |part: &&str| part.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if parts
            .last()
            .is_some_and(|ending| FILE_ENDINGS.contains(&ending.to_lowercase().as_str()))
            && parts[0].len() >= 2
            && parts.iter().any(starts_as_name)
        {
            let start = self.start_of_hyphenated(span.start);
            let name = self.text(start..span.end).to_lowercase();
            self.add(start..span.end, name, NameKind::File);
            return;
        }
        // "e.g." and "U.S." are abbreviations; a number before or after a dot is a number.
        let is_name = parts.iter().all(starts_as_name)
            && (text.contains('_') || parts.iter().all(|part| part.len() >= 2));
        if !is_name {
            return;
        }
        // "end.Next": a full stop whose space was lost.
        let lost_space = parts.windows(2).any(|pair| {
            pair[0].chars().all(char::is_lowercase)
                && pair[1].starts_with(char::is_uppercase)
                && pair[1].chars().skip(1).all(char::is_lowercase)
        });
        let mut start = span.start;
        if !lost_space {
            let kind = if called.is_some() {
                NameKind::Call
            } else {
                NameKind::Qualified
            };
            self.add(
                span.start..called.unwrap_or(span.end).max(span.end),
                lower.to_owned(),
                kind,
            );
            self.at = called.unwrap_or(span.end).max(span.end);
        }
        for (position, part) in parts.iter().enumerate() {
            let part_span = start..start + part.chars().count();
            start = part_span.end + 1;
            let part_lower = part.to_lowercase();
            if position == 0 && !lost_space && part.len() >= 3 {
                self.add(part_span, part_lower, NameKind::Identifier);
            } else {
                self.simple(part_span, part, &part_lower, None);
            }
        }
    }

    fn simple(&mut self, span: Range<usize>, text: &str, lower: &str, called: Option<usize>) {
        let trimmed = text.trim_matches('_');
        let emphasised = text.starts_with('_') && text.ends_with('_') && !trimmed.contains('_');
        let has_letter = text.chars().any(char::is_alphabetic);
        if text.starts_with(|c: char| c.is_ascii_digit() || c == '$') || !has_letter || emphasised {
            return;
        }
        if let Some(end) = called.filter(|_| !NEVER_CALLED.contains(&lower)) {
            self.at = end;
            self.add(span.start..end, lower.to_owned(), NameKind::Call);
            return;
        }
        // "NULLs", "INSERTs": the plural of a word in capitals.
        let singular = text
            .strip_suffix('s')
            .filter(|stem| is_capitals(stem) && stem.len() >= 2);
        let is_identifier = text.contains('_')
            || (singular.is_none() && has_inner_capital(text))
            || (text.len() >= 3 && text.bytes().any(|byte| byte.is_ascii_digit()));
        if is_identifier {
            self.add(span, lower.to_owned(), NameKind::Identifier);
        } else if let Some(word) =
            singular.or((is_capitals(text) && text.len() >= 2).then_some(text))
            && !self.shouted
            && !(UNITS.contains(&word)
                && self.previous[1].starts_with(|c: char| c.is_ascii_digit()))
        {
            self.add(span, word.to_lowercase(), NameKind::Capitals);
        }
    }

    /// `-Fc`, `--globals-only` or `\dt`, with nothing but space, a quote or a bracket before it.
    fn option(&mut self) -> bool {
        let start = self.at;
        let before = self.before(start);
        if !(before.is_whitespace()
            || matches!(
                before,
                '"' | '\'' | '`' | '(' | '[' | '{' | '|' | ',' | '“' | '‘'
            ))
        {
            return false;
        }
        let dashes = self.end_of(start, |c| c == '-') - start;
        let backslash = self.chars[start] == '\\';
        let name = if backslash { start + 1 } else { start + dashes };
        if !self.peek(name).is_ascii_alphabetic() || dashes > 2 {
            return false;
        }
        let mut end = self.end_of(name, |c| {
            is_word(c) || (c == '-' && dashes == 2) || (c == '+' && backslash)
        });
        while self.chars[end - 1] == '-' {
            end -= 1;
        }
        const SHORT_OPTION: usize = 4;
        let length = end - name;
        let is_option = if dashes == 2 {
            length >= 2
        } else {
            length <= SHORT_OPTION || backslash
        };
        if is_option {
            let text = self.text(start..end);
            self.add(start..end, text, NameKind::Option);
            self.at = end;
        }
        is_option
    }

    /// `/etc/postgresql`, `./run`, `~/.pgpass`, `.pgpass`, with nothing but space, a quote or a bracket before it.
    fn path(&mut self) -> bool {
        let start = self.at;
        let before = self.before(start);
        if !(before.is_whitespace() || matches!(before, '"' | '\'' | '`' | '(' | '=' | '“' | '‘'))
        {
            return false;
        }
        let mut end = self.end_of(start, |c| {
            is_word(c) || matches!(c, '/' | '.' | '-' | '~' | '%')
        });
        while end > start && matches!(self.chars[end - 1], '.' | '-' | '/' | '%') {
            end -= 1;
        }
        let text = self.text(start..end);
        let letters = text.chars().filter(|c| c.is_alphabetic()).count();
        let is_rooted = text.starts_with('/')
            || text.starts_with("./")
            || text.starts_with("../")
            || text.starts_with("~/");
        let is_hidden = text.starts_with('.')
            && text[1..].starts_with(char::is_alphabetic)
            && self.peek(end) != '(';
        if letters < 3 || !(is_rooted || is_hidden) || text.contains("//") {
            return false;
        }
        let base_length = text
            .rsplit('/')
            .next()
            .map_or(0, |base| base.chars().count());
        self.add(start..end, text.to_lowercase(), NameKind::File);
        self.at = end - base_length;
        if base_length == end - start {
            self.at = end;
        }
        true
    }

    fn operator(&mut self) {
        let start = self.at;
        let end = self.end_of(start, is_operator);
        self.at = end;
        let run = self.text(start..end);
        let (before, after) = (self.before(start), self.peek(end));
        if self.is_operator_name(&run, start, before, after, end) {
            self.add(start..end, run, NameKind::Operator);
        }
    }

    /// Whether the word before or behind `end` is "operator".
    fn speaks_of_operators(&self, end: usize) -> bool {
        let behind = self.end_of(end, char::is_whitespace);
        let next = self
            .text(behind..self.end_of(behind, is_word))
            .to_lowercase();
        next.starts_with("operator") || self.previous[1].starts_with("operator")
    }

    fn is_operator_name(
        &self,
        run: &str,
        start: usize,
        before: char,
        after: char,
        end: usize,
    ) -> bool {
        const MARKUP: &[&str] = &[
            "**", "//", "/*", "*/", "</", "/>", "://", "??", "!!", "?!", "!?", "--", "+/-", "<!--",
            "-->", ":-", "%%",
        ];
        let standalone = !is_operand(before) && !is_operand(after);
        if run.len() == 1 {
            // One sign between spaces; at the end of a text a question mark asks and an exclamation mark exclaims.
            let before_end = self.chars[end..]
                .iter()
                .all(|c| c.is_whitespace() || matches!(c, '"' | '\'' | ')'));
            let alone = self.chars.iter().filter(|c| !c.is_whitespace()).count() == 1;
            let spaced = before.is_whitespace() && after.is_whitespace();
            let quoted = matches!(
                (before, after),
                ('"', '"') | ('\'', '\'') | ('`', '`') | ('“', '”') | ('‘', '’')
            );
            return match run {
                "?" => (spaced && !before_end) || quoted || alone,
                "~" => spaced || quoted,
                // Everyday signs are names where the talk is of them.
                "@" | "#" | "^" | "<" | ">" | "=" => {
                    quoted || alone || (spaced && self.speaks_of_operators(end))
                }
                _ => false,
            };
        }
        let first = run.as_bytes()[0];
        let is_rule = run
            .bytes()
            .all(|byte| matches!(byte, b'-' | b'+' | b'=' | b'*' | b'#'));
        let is_table_rule = run.len() >= 4 && !run.contains(['<', '>', '@', '&', '?', '!']);
        let is_line = run.len() >= 3 && run.bytes().all(|byte| byte == first);
        let is_heading = run.bytes().all(|byte| byte == b'#') && (start == 0 || before == '\n');
        if MARKUP.contains(&run)
            || (is_rule && !matches!(run, "##" | "=="))
            || is_line
            || is_table_rule
            || is_heading
        {
            return false;
        }
        // `wait?:` and `foo::` end a phrase; `x->>y`, `->>` and `::int` do not.
        let trails = is_operand(before) && !is_operand(after);
        standalone
            || !trails
            || (run.contains(['<', '>', '=', '|', '@', '~', '#', '&']) && !run.contains(['?', '!']))
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

fn is_operator(c: char) -> bool {
    "+-*/<>=~!@#%^&|?:".contains(c)
}

/// What may stand on an operator's side without space: a word, a literal or a closed expression.
fn is_operand(c: char) -> bool {
    is_word(c) || matches!(c, '\'' | '"' | ')' | '(' | ']' | '[')
}

fn is_capitals(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// A capital after a small letter: `NpgsqlConnection`, `iOS`.
fn has_inner_capital(text: &str) -> bool {
    text.chars()
        .zip(text.chars().skip(1))
        .any(|(left, right)| left.is_lowercase() && right.is_uppercase())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<String> {
        exact_names(text)
            .into_iter()
            .map(|name| name.text)
            .collect()
    }

    fn check(cases: &[(&str, &[&str])]) {
        for (text, expected) in cases {
            assert_eq!(texts(text), *expected, "{text:?}");
        }
    }

    fn kind(text: &str) -> Vec<NameKind> {
        exact_names(text)
            .into_iter()
            .map(|name| name.kind)
            .collect()
    }

    #[test]
    fn c017_c026_identifiers_are_whole_and_alone() {
        check(&[
            (
                "How do I change the maximum size of max_wal_size in my cluster?",
                &["max_wal_size"],
            ),
            (
                "max_wal_size (integer) Maximum size to let the WAL grow.",
                &["max_wal_size", "wal"],
            ),
            ("wal size may grow to some max value", &[]),
            (
                "Set WAL_LEVEL, then innodb_buffer_pool_size's value.",
                &["wal_level", "innodb_buffer_pool_size"],
            ),
            (
                "An NpgsqlConnection opens; int4range and md5 too",
                &["npgsqlconnection", "int4range", "md5"],
            ),
            (
                "pg_catalog.pg_class",
                &["pg_catalog.pg_class", "pg_catalog", "pg_class"],
            ),
            (
                "excluded.column in ON CONFLICT DO UPDATE",
                &[
                    "excluded.column",
                    "excluded",
                    "on",
                    "conflict",
                    "do",
                    "update",
                ],
            ),
            ("an _emphasised_ word", &[]),
        ]);
    }

    #[test]
    fn c019_options_keep_their_case() {
        check(&[
            ("pg_dump -Fc", &["pg_dump", "-Fc"]),
            (
                "pg_dumpall --globals-only | psql",
                &["pg_dumpall", "--globals-only"],
            ),
            (
                "pass --jobs=4 (or -j 4), not \\dt+",
                &["--jobs", "-j", "\\dt+"],
            ),
            ("set it to -1 -- or to 0 -- to disable", &[]),
            ("a read-only, self-made thing - at -5 degrees", &[]),
        ]);
        assert_eq!(
            kind("pg_dump -Fc \\dt"),
            [NameKind::Identifier, NameKind::Option, NameKind::Option]
        );
    }

    #[test]
    fn c022_capitals_are_names_of_their_own_class() {
        let capitals = |text: &str| {
            let names = question_names(text)
                .into_iter()
                .filter(|name| name.kind == NameKind::Capitals);
            names.map(|name| name.text).collect::<Vec<_>>()
        };
        assert_eq!(capitals("What does HAVING do?"), ["having"]);
        assert_eq!(capitals("does WITH"), ["with"]);
        for word in ["between", "all", "any"] {
            assert_eq!(capitals(word), [word]);
            assert_eq!(capitals(&format!("What does {word} do?")), [word]);
        }
        assert_eq!(capitals("having clause"), ["having"]);
        assert_eq!(
            capitals("Do all NULLs and INSERTs count?"),
            ["null", "insert"]
        );
        assert_eq!(capitals("BYPASSRLS"), ["bypassrls"]);
        assert_eq!(
            capitals("Can I use all of them between two dates?"),
            [] as [&str; 0]
        );
        assert_eq!(capitals("How do I do this?"), [] as [&str; 0]);
        assert_eq!(
            capitals("WHY IS MY QUERY SO SLOW ON MONDAYS"),
            [] as [&str; 0],
            "shouting names nothing"
        );
    }

    #[test]
    fn c024_c025_operators_stand_alone_or_between_operands() {
        for operator in [
            "->>", "->", "@>", "<@", "::", "=>", "||", "?|", "?&", "~*", "!~*", "#>>", "<->", "&&",
            "@@", ":=", "<>", "-|-",
        ] {
            check(&[
                (operator, &[operator]),
                (
                    &format!("What does the {operator} operator do?"),
                    &[operator],
                ),
                (
                    &format!("Use \"{operator}\", or `{operator}`."),
                    &[operator],
                ),
            ]);
            assert_eq!(kind(operator), [NameKind::Operator]);
        }
        check(&[
            ("a->>'b' and x::int, data@>'{}'", &["->>", "::", "@>"]),
            (
                "jsonb_path_ops and the ? operator",
                &["jsonb_path_ops", "?"],
            ),
            ("?", &["?"]),
            ("state = idle in transaction", &[]),
            ("What does the = operator do to < signs?", &["="]),
            ("Is it on (a, b)? Really?! Yes... and/or 24/7: see a=b", &[]),
            ("wait -- what --- is ** this ** ?", &[]),
            ("+----+----+\n| a | b |\n|====|====|", &[]),
            (
                "<b>bold</b> & more <br/> at https://e.example/?a=1&b=->>",
                &[],
            ),
            (
                "write to someone@example.com at 10:30 e.g. today, i.e. now",
                &[],
            ),
            ("## Heading\ntext", &[]),
        ]);
    }

    #[test]
    fn c029_versions_are_announced_and_exact() {
        check(&[
            ("PostgreSQL v17.2 changes", &["postgresql", "17.2"]),
            ("Release 17.2", &["17.2"]),
            ("Release 17", &[]),
            ("version 9.6.1 or 9.6.24", &["9.6.1", "9.6.24"]),
            ("42.1.3. A heading, see Section 24.1.3 or Table 9.16.2", &[]),
            ("128MB or 256KB at 2003-04-12T04:05:06", &[]),
            ("see Section 9.16, the factor is 0.2 and 1.5 GB of 10", &[]),
        ]);
    }

    #[test]
    fn c032_error_codes() {
        check(&[
            ("ERR_4521", &["err_4521"]),
            ("SQLSTATE 23505", &["sqlstate", "23505"]),
            ("error 42P01", &["42p01"]),
            ("42P01 undefined_table", &["42p01", "undefined_table"]),
            ("error code 40001", &["40001"]),
            ("23505", &["23505"]),
            ("What is ORA-00942?", &["ora-00942"]),
            ("about 10000 rows in 19200 blocks", &[]),
        ]);
        assert_eq!(kind("ERR_4521 42P01"), [NameKind::Code, NameKind::Code]);
    }

    #[test]
    fn calls_meet_their_spaced_signatures() {
        let call = Name {
            text: "clock_timestamp".to_owned(),
            kind: NameKind::Call,
        };
        for text in [
            "clock_timestamp()",
            "clock_timestamp ( )",
            "clock_timestamp ( ) → timestamp with time zone",
        ] {
            assert_eq!(exact_names(text), std::slice::from_ref(&call), "{text:?}");
        }
        check(&[
            ("Does now() change within a transaction?", &["now"]),
            ("now is the time", &[]),
            ("age ( timestamp, timestamp ) → interval", &["age"]),
            ("jsonb_to_recordset(...)", &["jsonb_to_recordset"]),
            ("the column(s) of a table (a, b) in (1, 2), index (a)", &[]),
            ("IN(1)", &["in"]),
        ]);
    }

    #[test]
    fn files_and_paths() {
        check(&[
            (
                "edit pg_hba.conf and postgresql.conf.",
                &["pg_hba.conf", "postgresql.conf"],
            ),
            (
                "in /etc/postgresql/pg_hba.conf or ~/.pgpass",
                &["/etc/postgresql/pg_hba.conf", "pg_hba.conf", "~/.pgpass"],
            ),
            (
                "see routine-vacuuming.html, runtime-config-wal.html",
                &["routine-vacuuming.html", "runtime-config-wal.html"],
            ),
            ("the end.Next sentence, the U.S. and 1. e4", &[]),
        ]);
        assert_eq!(kind("pg_hba.conf"), [NameKind::File]);
    }

    #[test]
    fn exact_names_stand_for_themselves_as_quotes() {
        for text in [
            "max_wal_size",
            "jsonb_path_ops",
            "->>",
            "42P01",
            "pg_dump -Fc",
            "nextval()",
            "pg_hba.conf",
            "now ( )",
        ] {
            assert!(is_exact_name(text), "{text:?}");
        }
        for text in [
            "the",
            "1 GB",
            "PostgreSQL",
            "HAVING",
            "17",
            "v17.2",
            "23505",
            "",
            "max_wal_size is",
            "?",
            "...",
            "int4",
        ] {
            assert!(!is_exact_name(text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>()) {
            let _ = question_names(&text);
            let _ = is_exact_name(&text);
        }

        #[test]
        fn never_panics_on_the_marks_it_treats(text in "[aBc_01 \n.:@/\\\\~(){}'\"$%<>=|?!*#+-]{0,30}") {
            let names = exact_names(&text);
            prop_assert!(names.iter().all(|name| !name.text.is_empty()));
        }

        #[test]
        fn names_of_a_text_are_names_of_its_names(words in proptest::collection::vec("[a-z]{2,6}_[a-z]{2,6}", 1..6)) {
            let mut unique = words.clone();
            let mut seen = HashSet::new();
            unique.retain(|word| seen.insert(word.clone()));
            prop_assert_eq!(texts(&format!("Set {}, then go.", words.join(" or "))), unique);
        }
    }
}
