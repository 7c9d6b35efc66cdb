//! Folds presentation away and leaves meaning: the one normal form in which passages and quotes are compared.
//!
//! Both sides go through [`Folded::new`] and nothing else. Letters and digits are never dropped, guessed or changed for
//! others (`10⁵` is not `105`), punctuation between them stays. Every folded character knows which scalars of the original it came
//! from, so a match is cut out of the original and never out of the folded text. [`crate::quote`] does the comparing.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

/// A hyphen at a line's end inside a word: it may belong to the word or to the line break, and matches both readings. A
/// noncharacter, which no text can hold.
pub(crate) const JOINT: char = '\u{FDD0}';

/// A text in normal form, with the way back.
#[derive(Debug, Clone)]
pub struct Folded {
    chars: Vec<char>,
    exact: Vec<char>,
    line_start: Vec<bool>,
    spans: Vec<(usize, usize)>,
}

impl Folded {
    /// Folds `text`: HTML entities decoded once; compatibility forms (ligatures, full width) and combining marks composed;
    /// soft hyphens and zero-width characters dropped; quotation marks, dashes and ellipses made ASCII; white space one
    /// space, and none beside brackets; case folded.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let pieces = decode(text);
        let mut folded = Folding::with_capacity(pieces.len());
        let mut at = 0;
        while at < pieces.len() {
            at = folded.take(&pieces, at);
        }
        folded.into_folded()
    }

    /// The folded characters.
    #[must_use]
    pub fn chars(&self) -> &[char] {
        &self.chars
    }

    /// Number of folded characters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chars.len()
    }

    /// Whether nothing visible was there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// The original scalars that `range` of the folded characters came from; empty for an empty range.
    #[must_use]
    pub fn span(&self, range: Range<usize>) -> Range<usize> {
        match (
            self.spans.get(range.start),
            range
                .end
                .checked_sub(1)
                .and_then(|last| self.spans.get(last)),
        ) {
            (Some(first), Some(last)) if range.start < range.end => first.0..last.1,
            _ => 0..0,
        }
    }

    /// The folded character before its case was folded, and an em dash before it became a hyphen.
    pub(crate) fn exact(&self, at: usize) -> char {
        self.exact[at]
    }

    /// Whether a line of the original begins at this character.
    pub(crate) fn starts_line(&self, at: usize) -> bool {
        self.line_start[at]
    }
}

/// A decoded character and the original scalars it came from.
#[derive(Debug, Clone, Copy)]
struct Piece {
    c: char,
    start: usize,
    end: usize,
}

struct Folding {
    out: Folded,
    line_broken: bool,
}

impl Folding {
    fn with_capacity(n: usize) -> Self {
        let out = Folded {
            chars: Vec::with_capacity(n),
            exact: Vec::with_capacity(n),
            line_start: Vec::with_capacity(n),
            spans: Vec::with_capacity(n),
        };
        Self {
            out,
            line_broken: true,
        }
    }

    /// Folds the cluster, break or run of white space at `at` and returns where the next begins.
    fn take(&mut self, pieces: &[Piece], at: usize) -> usize {
        let Piece { c, start, end } = pieces[at];
        if c.is_ascii_alphanumeric() && pieces.get(at + 1).is_none_or(|next| next.c.is_ascii()) {
            self.push(c.to_ascii_lowercase(), c, (start, end));
            return at + 1;
        }
        if c.is_whitespace() {
            return self.take_space(pieces, at);
        }
        if (c == SOFT_HYPHEN || is_dash(c))
            && self
                .out
                .chars
                .last()
                .is_some_and(|last| last.is_alphabetic())
            && let Some(next) = word_after_line_break(pieces, at + 1)
        {
            self.push(JOINT, JOINT, (start, pieces[next - 1].end));
            return next;
        }
        if is_ignorable(c) {
            return at + 1;
        }
        self.take_cluster(pieces, at)
    }

    fn take_space(&mut self, pieces: &[Piece], at: usize) -> usize {
        let mut next = at;
        while let Some(piece) = pieces.get(next) {
            if piece.c.is_whitespace() {
                self.line_broken |= is_line_break(piece.c);
            } else if !is_ignorable(piece.c) {
                break;
            }
            next += 1;
        }
        // White space beside a bracket is a matter of taste: `nextval ( regclass )` is `nextval(regclass)`.
        let beside_bracket = self.out.chars.last().is_some_and(|&last| is_bracket(last));
        if !beside_bracket {
            self.append(' ', ' ', (pieces[at].start, pieces[next - 1].end), false);
        }
        next
    }

    /// A base character and the marks that combine with it.
    fn take_cluster(&mut self, pieces: &[Piece], at: usize) -> usize {
        let Piece { c, start, mut end } = pieces[at];
        let mut marks = String::new();
        let mut next = at + 1;
        while let Some(piece) = pieces.get(next) {
            if combines(piece.c) {
                if !is_ignorable(piece.c) {
                    marks.push(piece.c);
                    end = piece.end;
                }
            } else if !is_ignorable(piece.c) || piece.c == SOFT_HYPHEN {
                break;
            }
            next += 1;
        }
        if marks.is_empty() {
            self.push_base(c, (start, end));
        } else {
            marks.insert(0, c);
            for composed in marks.nfkc() {
                self.push_cased(composed, (start, end));
            }
        }
        next
    }

    fn push_base(&mut self, c: char, span: (usize, usize)) {
        match c {
            _ if is_dash(c) => self.push('-', if is_long_dash(c) { '\u{2014}' } else { '-' }, span),
            '\u{2018}'..='\u{201B}'
            | '\u{2032}'
            | '\u{2035}'
            | '\u{2039}'
            | '\u{203A}'
            | '\u{00B4}'
            | '\u{FF07}' => {
                self.push('\'', '\'', span);
            }
            '\u{201C}'..='\u{201F}'
            | '\u{2033}'
            | '\u{2036}'
            | '\u{00AB}'
            | '\u{00BB}'
            | '\u{301D}'..='\u{301F}'
            | '\u{FF02}' => self.push('"', '"', span),
            JOINT => self.push('\u{FFFD}', '\u{FFFD}', span),
            _ if c.is_ascii() || is_meaningful_form(c) => self.push_cased(c, span),
            _ => {
                let mut composed = c.nfkc();
                match (composed.next(), composed.next()) {
                    // A spacing mark (U+00A8) decomposes to a space and a mark: that would divide a word.
                    (Some(' '), Some(_)) | (None, _) => self.push_cased(c, span),
                    (Some(one), None) => self.push_cased(one, span),
                    (Some(_), Some(_)) => {
                        for part in c.nfkc() {
                            self.push_cased(part, span);
                        }
                    }
                }
            }
        }
    }

    fn push_cased(&mut self, c: char, span: (usize, usize)) {
        if is_dash(c) {
            return self.push('-', '-', span);
        }
        let mut lower = c.to_lowercase();
        let first = lower.next().unwrap_or(c);
        self.push(if first == 'ς' { 'σ' } else { first }, c, span);
        for rest in lower {
            self.push(rest, rest, span);
        }
    }

    fn push(&mut self, c: char, exact: char, span: (usize, usize)) {
        if is_bracket(c) && self.out.chars.last() == Some(&' ') {
            self.out.chars.pop();
            self.out.exact.pop();
            self.out.line_start.pop();
            self.out.spans.pop();
        }
        let starts_line = std::mem::take(&mut self.line_broken);
        self.append(c, exact, span, starts_line);
    }

    fn append(&mut self, c: char, exact: char, span: (usize, usize), starts_line: bool) {
        self.out.chars.push(c);
        self.out.exact.push(exact);
        self.out.line_start.push(starts_line);
        self.out.spans.push(span);
    }

    fn into_folded(self) -> Folded {
        self.out
    }
}

const SOFT_HYPHEN: char = '\u{00AD}';

fn is_dash(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{2010}'
            ..='\u{2015}' | '\u{2043}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' | '\u{FF0D}'
    )
}

/// Dashes that divide words rather than join them.
fn is_long_dash(c: char) -> bool {
    matches!(c, '\u{2014}' | '\u{2015}' | '\u{FE58}')
}

fn is_bracket(c: char) -> bool {
    matches!(c, '(' | ')' | '[' | ']' | '{' | '}')
}

fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{0B}' | '\u{0C}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Characters without a picture of their own: soft hyphens, zero-width and bidirectional controls, variation selectors.
pub(crate) fn is_ignorable(c: char) -> bool {
    matches!(c,
        SOFT_HYPHEN | '\u{034F}' | '\u{061C}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Compatibility forms whose difference is meaning: superscripts, subscripts, fractions, enclosed numbers.
fn is_meaningful_form(c: char) -> bool {
    matches!(c,
        '\u{AA}' | '\u{B2}' | '\u{B3}' | '\u{B9}' | '\u{BA}' | '\u{BC}'..='\u{BE}' | '\u{2B0}'..='\u{2B8}'
        | '\u{2E0}'..='\u{2E4}' | '\u{1D2C}'..='\u{1D6A}' | '\u{1D78}' | '\u{1D9B}'..='\u{1DBF}' | '\u{2070}'..='\u{209C}'
        | '\u{2120}' | '\u{2122}' | '\u{2150}'..='\u{215F}' | '\u{2189}' | '\u{2460}'..='\u{24FF}' | '\u{3192}'..='\u{319F}'
        | '\u{3200}'..='\u{32FF}' | '\u{1F100}'..='\u{1F1FF}')
}

/// Marks, and the Hangul vowels and finals that compose with the letter before them.
fn combines(c: char) -> bool {
    !c.is_ascii()
        && (canonical_combining_class(c) != 0
            || is_combining_mark(c)
            || matches!(c, '\u{1160}'..='\u{11FF}'))
}

/// Where the word goes on after a line break at `at`, if it does.
fn word_after_line_break(pieces: &[Piece], at: usize) -> Option<usize> {
    let mut broken = false;
    for (offset, piece) in pieces[at..].iter().enumerate() {
        if piece.c.is_whitespace() {
            broken |= is_line_break(piece.c);
        } else {
            return (broken && piece.c.is_alphabetic()).then_some(at + offset);
        }
    }
    None
}

/// Characters with HTML entities decoded once.
fn decode(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(text.len());
    let mut scalar = 0;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (decoded, bytes, scalars) = match c {
            '&' => entity(rest).map_or((c, 1, 1), |(decoded, length)| (decoded, length, length)),
            _ => (c, c.len_utf8(), 1),
        };
        pieces.push(Piece {
            c: decoded,
            start: scalar,
            end: scalar + scalars,
        });
        scalar += scalars;
        rest = &rest[bytes..];
    }
    pieces
}

/// The character an entity at the start of `text` stands for, and its length; entities are ASCII.
fn entity(text: &str) -> Option<(char, usize)> {
    const LONGEST: usize = 12;
    let end = text.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let decoded = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) if hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                    u32::from_str_radix(hex, 16).ok()?
                }
                None if number.bytes().all(|byte| byte.is_ascii_digit()) => number.parse().ok()?,
                _ => return None,
            };
            char::from_u32(code).filter(|&c| c != '\0')?
        }
        None => ENTITIES.iter().find(|(known, _)| *known == name)?.1,
    };
    Some((decoded, end + 1))
}

/// The named entities that occur in prose and code; others stay as they are written.
const ENTITIES: &[(&str, char)] = &[
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", '\u{A0}'),
    ("shy", SOFT_HYPHEN),
    ("ndash", '–'),
    ("mdash", '—'),
    ("minus", '−'),
    ("hellip", '…'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("sbquo", '‚'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bdquo", '„'),
    ("laquo", '«'),
    ("raquo", '»'),
    ("lsaquo", '‹'),
    ("rsaquo", '›'),
    ("prime", '′'),
    ("Prime", '″'),
    ("larr", '←'),
    ("rarr", '→'),
    ("uarr", '↑'),
    ("darr", '↓'),
    ("harr", '↔'),
    ("lArr", '⇐'),
    ("rArr", '⇒'),
    ("hArr", '⇔'),
    ("times", '×'),
    ("divide", '÷'),
    ("plusmn", '±'),
    ("le", '≤'),
    ("ge", '≥'),
    ("ne", '≠'),
    ("equiv", '≡'),
    ("asymp", '≈'),
    ("infin", '∞'),
    ("radic", '√'),
    ("sum", '∑'),
    ("middot", '·'),
    ("bull", '•'),
    ("sect", '§'),
    ("para", '¶'),
    ("deg", '°'),
    ("micro", 'µ'),
    ("copy", '©'),
    ("reg", '®'),
    ("trade", '™'),
    ("euro", '€'),
    ("pound", '£'),
    ("yen", '¥'),
    ("cent", '¢'),
    ("ensp", '\u{2002}'),
    ("emsp", '\u{2003}'),
    ("thinsp", '\u{2009}'),
    ("zwj", '\u{200D}'),
    ("zwnj", '\u{200C}'),
    ("szlig", 'ß'),
    ("auml", 'ä'),
    ("ouml", 'ö'),
    ("uuml", 'ü'),
    ("Auml", 'Ä'),
    ("Ouml", 'Ö'),
    ("Uuml", 'Ü'),
    ("eacute", 'é'),
    ("egrave", 'è'),
    ("agrave", 'à'),
    ("ccedil", 'ç'),
    ("ntilde", 'ñ'),
    ("oslash", 'ø'),
    ("aring", 'å'),
    ("half", '½'),
    ("frac12", '½'),
    ("frac14", '¼'),
    ("frac34", '¾'),
    ("sup2", '²'),
    ("sup3", '³'),
    ("lbrack", '['),
    ("rbrack", ']'),
    ("lpar", '('),
    ("rpar", ')'),
    ("colon", ':'),
    ("comma", ','),
    ("period", '.'),
    ("sol", '/'),
    ("bsol", '\\'),
    ("lowbar", '_'),
    ("grave", '`'),
    ("num", '#'),
    ("percnt", '%'),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folded(text: &str) -> String {
        Folded::new(text).chars().iter().collect()
    }

    fn check(cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(folded(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn folds_presentation() {
        check(&[
            ("\u{FB01}nd the o\u{FB03}ce", "find the office"),
            ("check\u{AD}point\u{200B}ing", "checkpointing"),
            ("non\u{2011}blocking \u{2212}1", "non-blocking -1"),
            ("wait\u{2026}", "wait..."),
            (
                "\u{201C}a\u{201D} \u{2018}b\u{2019} \u{AB}c\u{BB}",
                "\"a\" 'b' \"c\"",
            ),
            ("Table\u{A0}9.47\t\n  x", "table 9.47 x"),
            ("\u{FF26}\u{FF35}\u{FF2C}\u{FF2C}", "full"),
            ("e\u{301}tude", "\u{E9}tude"),
            (
                "nextval ( regclass ) \u{2192} bigint",
                "nextval(regclass)\u{2192} bigint",
            ),
            ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"),
        ]);
    }

    #[test]
    fn keeps_meaning() {
        check(&[
            ("10\u{2075}", "10\u{2075}"),
            ("3\u{BD}", "3\u{BD}"),
            ("\u{2460}0", "\u{2460}0"),
            ("a ->> b \u{2192} c", "a ->> b \u{2192} c"),
            ("read-only", "read-only"),
            ("read - only", "read - only"),
            ("5.3, 1,000", "5.3, 1,000"),
            ("x\u{A8}y", "x\u{A8}y"),
        ]);
    }

    #[test]
    fn c136_decodes_entities_once() {
        check(&[
            (
                "&lt;b&gt; &amp; &#39;x&#x27; &#x2192;",
                "<b> & 'x' \u{2192}",
            ),
            ("&amp;lt;", "&lt;"),
            (
                "&foo; & &; &#; &#x; &#xZ; &#0; &#xD800; &#99999999999;",
                "&foo; & &; &#; &#x; &#xz; &#0; &#xd800; &#99999999999;",
            ),
            ("&#+39;", "&#+39;"),
            ("a&nbsp;b&shy;c", "a bc"),
            ("&\u{E9};", "&\u{E9};"),
        ]);
        assert_eq!(Folded::new("a &lt; b").span(2..3), 2..6);
    }

    #[test]
    fn c135_marks_a_hyphen_at_a_line_break_inside_a_word() {
        let joint = |text: &str| folded(text).contains(JOINT);
        assert!(joint("checkpoint-\ning"));
        assert!(joint("check\u{AD}\r\n  point"));
        assert!(!joint("10-\n20"));
        assert!(!joint("see -\nbelow"));
        assert!(!joint("read-only"));
        assert!(
            !joint("\u{FDD0}"),
            "a noncharacter in the text is not taken for a joint"
        );
    }

    #[test]
    fn c140_offsets_survive_letters_that_change_length() {
        let text = "\u{1E9E}\u{130} max_wal_size is soft";
        let folded = Folded::new(text);
        let at = folded
            .chars()
            .iter()
            .position(|&c| c == 'm')
            .expect("the name is there");
        let span = folded.span(at..folded.len());
        let words: String = text.chars().skip(span.start).take(span.len()).collect();
        assert_eq!(words, "max_wal_size is soft");
    }

    proptest! {
        #[test]
        fn c141_never_panics_and_offsets_are_monotone(text in any::<String>()) {
            let folded = Folded::new(&text);
            let scalars = text.chars().count();
            let mut before = (0, 0);
            for at in 0..folded.len() {
                let span = folded.span(at..at + 1);
                prop_assert!(span.start < span.end && span.end <= scalars);
                prop_assert!(span.start >= before.0 && span.end >= before.1);
                before = (span.start, span.end);
            }
            prop_assert_eq!(folded.span(0..0), 0..0);
            prop_assert_eq!(folded.span(folded.len()..folded.len() + 5), 0..0);
        }

        #[test]
        fn never_panics_on_the_characters_it_treats(
            text in "[a-zA-Z0-9 \n\t\r&#;x\u{AD}\u{200B}\u{2010}-\u{2015}\u{2026}\u{FB01}\u{301}\u{1E9E}\u{130}()\"'<>\u{FE0F}\u{1F600}-]{0,60}"
        ) {
            let folded = Folded::new(&text);
            prop_assert!(folded.span(0..folded.len()).end <= text.chars().count());
        }
    }
}
