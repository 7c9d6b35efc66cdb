//! Links that open a source page at the quoted words: the page's anchor and a text directive a browser scrolls to.
//!
//! A directive is `[prefix-,]start[,end][,-suffix]` as in the Text Fragments specification (WICG): every part lies within
//! one block of the page, on word bounds, case ignored. It is built from the page's own words and only given out if
//! [`find_fragment`] finds exactly the quote with it; a link that might lead elsewhere is a link to the anchor alone.

use std::fmt;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::fold::{Folded, is_ignorable};
use crate::quote;

/// A quote of up to this many words within a block is linked whole; a longer one by its first and last words.
const WHOLE_WORDS: usize = 8;
/// Words a range's start or end has where there are as many: fewer would read badly and seldom be unique.
const EDGE_WORDS: usize = 3;
/// No part of a directive grows beyond this many words.
const MOST_WORDS: usize = 40;

/// The link to `quote` in the page `document_url`: its anchor (if any) and a text directive, or the anchor alone when the
/// words are not on the page or cannot be told from others there. `page_text` is [`crate::document::Document::page_text`],
/// `near` the scalar in it at or behind which the quote is looked for first: where the quoted passage begins, or the quote
/// itself if that is known.
///
/// To link several quotes of one page, make a [`Page`] once.
#[must_use]
pub fn source_url(
    document_url: &str,
    anchor: &str,
    page_text: &str,
    near: usize,
    quote: &str,
) -> String {
    Page::new(page_text).source_url(document_url, anchor, near, quote)
}

/// The ranges of `page_text` (in scalars) that `directive` matches, as a browser would find them: one for each place its
/// start (with its prefix) matches, up to the first end (with its suffix) after it. Takes `text=…`, what stands behind it,
/// or a whole URL.
#[must_use]
pub fn find_fragment(page_text: &str, directive: &str) -> Vec<Range<usize>> {
    let text = directive
        .rsplit_once(":~:")
        .map_or(directive, |(_, behind)| behind);
    let text = text.strip_prefix("text=").unwrap_or(text);
    Directive::parse(text).map_or_else(Vec::new, |directive| {
        Rendered::new(page_text).places(&directive)
    })
}

/// A page prepared for links to its words.
#[derive(Debug, Clone)]
pub struct Page {
    chars: Vec<char>,
    folded: Folded,
    rendered: Rendered,
    words: Vec<Word>,
}

impl Page {
    /// Prepares a page's text as rendered: `\n` between blocks and lines, `\t` between cells.
    #[must_use]
    pub fn new(page_text: &str) -> Self {
        let chars: Vec<char> = page_text.chars().collect();
        let words = words(&chars);
        Self {
            folded: Folded::new(page_text),
            rendered: Rendered::new(page_text),
            words,
            chars,
        }
    }

    /// See [`source_url`].
    #[must_use]
    pub fn source_url(&self, document_url: &str, anchor: &str, near: usize, quote: &str) -> String {
        let page = document_url
            .split_once('#')
            .map_or(document_url, |(page, _)| page);
        let anchor = encode(anchor, is_fragment_safe);
        match (self.directive(near, quote), anchor.is_empty()) {
            (Some(directive), _) => format!("{page}#{anchor}:~:text={directive}"),
            (None, false) => format!("{page}#{anchor}"),
            (None, true) => page.to_owned(),
        }
    }

    /// The directive that finds `quote` and nothing else, percent-encoded; `None` when there is none.
    #[must_use]
    pub fn directive(&self, near: usize, quote: &str) -> Option<String> {
        // The place the verifier would have taken, else any: a short quote may stand elsewhere as part of a line.
        let found = quote::find_all(&self.folded, quote)
            .unwrap_or_else(|_| quote::occurrences(&self.folded, quote));
        let target = found
            .iter()
            .find(|range| range.start >= near)
            .or(found.first())?;
        self.tell_apart(target)
            .map(|directive| directive.to_string())
    }

    fn tell_apart(&self, target: &Range<usize>) -> Option<Directive> {
        let quoted = self.words_of(target);
        let (first, last) = (quoted.first()?, quoted.last()?);
        let one_block = first.block == last.block;
        if one_block && quoted.len() <= WHOLE_WORDS {
            return self.whole(&quoted, target);
        }
        self.range(&quoted, target).or_else(|| {
            let fits = one_block && quoted.len() <= MOST_WORDS;
            fits.then(|| self.whole(&quoted, target)).flatten()
        })
    }

    /// The quote's words, and as much around them as makes them unique.
    fn whole(&self, quoted: &[Word], target: &Range<usize>) -> Option<Directive> {
        let plain = Directive {
            start: self.text(quoted),
            ..Directive::default()
        };
        self.in_context(&plain, target)
    }

    /// The fewest first words that are unique, and last words that end where the quote ends. Where no first words are
    /// unique, what stands before them has to tell them apart.
    fn range(&self, quoted: &[Word], target: &Range<usize>) -> Option<Directive> {
        let (first, last) = (quoted.first()?.block, quoted.last()?.block);
        let starts = quoted.iter().take_while(|word| word.block == first).count();
        let ends = quoted
            .iter()
            .rev()
            .take_while(|word| word.block == last)
            .count();
        let longest_start = if first == last {
            starts.checked_sub(1)?
        } else {
            starts
        }
        .min(MOST_WORDS);
        let shortest_start = EDGE_WORDS.min(longest_start);
        let is_unique = |words: &usize| {
            let start = normal(&self.text(&quoted[..*words]));
            self.rendered.occurrences(&start, 0).nth(1).is_none()
        };
        let unique = (shortest_start..=longest_start).find(is_unique);
        let lengths = unique.map_or([shortest_start, longest_start], |words| [words, words]);
        lengths.into_iter().find_map(|start_words| {
            let longest_end = if first == last {
                quoted.len() - start_words
            } else {
                ends
            };
            let longest_end = longest_end.min(MOST_WORDS);
            let directive = |end_words: usize| Directive {
                start: self.text(&quoted[..start_words]),
                end: Some(self.text(&quoted[quoted.len() - end_words..])),
                ..Directive::default()
            };
            let starts = self.rendered.starts(&directive(1).start);
            let ends_right = |directive: &Directive| {
                let places = self.rendered.places_from(&starts, directive);
                places.contains(target)
            };
            let plain = (EDGE_WORDS.min(longest_end)..=longest_end)
                .map(directive)
                .find(ends_right);
            self.in_context(&plain.unwrap_or_else(|| directive(longest_end)), target)
        })
    }

    /// `plain` as it is, or with the fewest words before, after or on both sides that make it match `target` alone.
    fn in_context(&self, plain: &Directive, target: &Range<usize>) -> Option<Directive> {
        let before = self.context_before(target.start);
        let after = self.context_after(target.end);
        let with = |prefix: usize, suffix: usize| Directive {
            prefix: (prefix > 0)
                .then(|| self.text(&before[before.len() - prefix.min(before.len())..])),
            suffix: (suffix > 0).then(|| self.text(&after[..suffix.min(after.len())])),
            ..plain.clone()
        };
        let more = (1..=before.len().max(after.len())).flat_map(|n| {
            let (prefix, suffix) = (n.min(before.len()), n.min(after.len()));
            [(prefix, 0), (0, suffix), (prefix, suffix)]
        });
        let starts = self.rendered.starts(&plain.start);
        std::iter::once((0, 0))
            .chain(more)
            .map(|(prefix, suffix)| with(prefix, suffix))
            .find(|directive| self.rendered.places_from(&starts, directive) == [target.clone()])
    }

    /// Words that directly precede `at`: those before it in its block, or the last of the block before.
    fn context_before(&self, at: usize) -> Vec<Word> {
        let before = self.words_of(&(0..at));
        let Some(block) = before.last().map(|word| word.block) else {
            return Vec::new();
        };
        let mut context: Vec<Word> = before
            .into_iter()
            .rev()
            .take_while(|word| word.block == block)
            .take(MOST_WORDS)
            .collect();
        context.reverse();
        context
    }

    /// Words that directly follow `at`.
    fn context_after(&self, at: usize) -> Vec<Word> {
        let after = self.words_of(&(at..self.chars.len()));
        let block = after.first().map(|word| word.block);
        after
            .into_iter()
            .take_while(|word| Some(word.block) == block)
            .take(MOST_WORDS)
            .collect()
    }

    /// The words in `range`, those on its bounds cut to it.
    fn words_of(&self, range: &Range<usize>) -> Vec<Word> {
        let from = self.words.partition_point(|word| word.end <= range.start);
        let to = self.words.partition_point(|word| word.start < range.end);
        let cut = |word: &Word| Word {
            start: word.start.max(range.start),
            end: word.end.min(range.end),
            ..*word
        };
        self.words
            .get(from..to)
            .unwrap_or_default()
            .iter()
            .map(cut)
            .collect()
    }

    /// The page's own text from the first of `words` to the last.
    fn text(&self, words: &[Word]) -> String {
        let (Some(first), Some(last)) = (words.first(), words.last()) else {
            return String::new();
        };
        let space = |&c: &char| if c.is_whitespace() { ' ' } else { c };
        self.chars[first.start..last.end]
            .iter()
            .map(space)
            .collect()
    }
}

/// A run without white space, and the block it lies in.
#[derive(Debug, Clone, Copy)]
struct Word {
    start: usize,
    end: usize,
    block: usize,
}

/// The words of a text. A block ends at a line's or cell's end, and also at a wider gap: browsers differ in what they make
/// of the spaces of preformatted text.
fn words(chars: &[char]) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut block = 0;
    let mut at = 0;
    while at < chars.len() {
        let is_space = chars[at].is_whitespace();
        let end = (at..chars.len())
            .find(|&next| chars[next].is_whitespace() != is_space)
            .unwrap_or(chars.len());
        if !is_space {
            words.push(Word {
                start: at,
                end,
                block,
            });
        } else if divides(&chars[at..end]) {
            block += 1;
        }
        at = end;
    }
    words
}

fn divides(space: &[char]) -> bool {
    space.len() > 1
        || matches!(
            space,
            ['\n' | '\t' | '\r' | '\u{0B}' | '\u{0C}' | '\u{85}' | '\u{2028}' | '\u{2029}']
        )
}

/// A text directive's parts, not encoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Directive {
    prefix: Option<String>,
    start: String,
    end: Option<String>,
    suffix: Option<String>,
}

impl Directive {
    fn parse(text: &str) -> Option<Self> {
        let mut parts: Vec<&str> = text.split(',').collect();
        let prefix = parts
            .first()
            .and_then(|part| part.strip_suffix('-'))
            .map(decode);
        if prefix.is_some() {
            parts.remove(0);
        }
        let suffix = parts
            .last()
            .and_then(|part| part.strip_prefix('-'))
            .map(decode);
        if suffix.is_some() {
            parts.pop();
        }
        let (start, end) = match parts[..] {
            [start] => (decode(start), None),
            [start, end] => (decode(start), Some(decode(end))),
            _ => return None,
        };
        Some(Self {
            prefix,
            start,
            end,
            suffix,
        })
    }
}

impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |text: &str| encode(text, is_directive_safe);
        if let Some(prefix) = &self.prefix {
            write!(f, "{}-,", part(prefix))?;
        }
        f.write_str(&part(&self.start))?;
        if let Some(end) = &self.end {
            write!(f, ",{}", part(end))?;
        }
        if let Some(suffix) = &self.suffix {
            write!(f, ",-{}", part(suffix))?;
        }
        Ok(())
    }
}

/// RFC 3986's unreserved characters without `-`, which has a meaning in directives.
fn is_directive_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~')
}

/// What may stand in a URL's fragment as it is.
fn is_fragment_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte)
}

fn encode(text: &str, is_safe: impl Fn(u8) -> bool) -> String {
    use fmt::Write as _;
    let mut encoded = String::with_capacity(text.len() * 3 / 2);
    for byte in text.bytes() {
        if is_safe(byte) {
            encoded.push(char::from(byte));
        } else {
            let written = write!(encoded, "%{byte:02X}");
            debug_assert!(written.is_ok(), "a string takes all that is written to it");
        }
    }
    encoded
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten();
        let value = escaped
            .filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        decoded.push(value.unwrap_or(bytes[at]));
        at += if value.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// A page as a browser's search sees it: case, accents and quotation marks' shapes ignored, blocks apart.
#[derive(Debug, Clone)]
struct Rendered {
    text: Vec<char>,
    origins: Vec<usize>,
}

/// Divides blocks; a noncharacter, so that no search term holds it.
const BLOCK: char = '\u{FDD1}';

impl Rendered {
    fn new(page_text: &str) -> Self {
        let chars: Vec<char> = page_text.chars().collect();
        let mut rendered = Self {
            text: Vec::with_capacity(chars.len()),
            origins: Vec::with_capacity(chars.len()),
        };
        let mut at = 0;
        while at < chars.len() {
            let space = chars[at..].iter().take_while(|c| c.is_whitespace()).count();
            if space > 0 {
                let divider = if divides(&chars[at..at + space]) {
                    BLOCK
                } else {
                    ' '
                };
                rendered.text.push(divider);
                rendered.origins.push(at);
                at += space;
            } else {
                normal_char(chars[at], |c| {
                    rendered.text.push(c);
                    rendered.origins.push(at);
                });
                at += 1;
            }
        }
        rendered
    }

    fn places(&self, directive: &Directive) -> Vec<Range<usize>> {
        self.places_from(&self.starts(&directive.start), directive)
    }

    /// Where a directive's start stands, whatever surrounds it.
    fn starts(&self, start: &str) -> Vec<Range<usize>> {
        self.occurrences(&normal(start), 0).collect()
    }

    /// The places of a directive whose start stands at `starts`.
    fn places_from(&self, starts: &[Range<usize>], directive: &Directive) -> Vec<Range<usize>> {
        let [prefix, end, suffix] = [&directive.prefix, &directive.end, &directive.suffix]
            .map(|part| part.as_ref().map(|text| normal(text)));
        let mut places = Vec::new();
        for begins in starts {
            if prefix
                .as_ref()
                .is_some_and(|prefix| !self.is_preceded(begins.start, prefix))
            {
                continue;
            }
            let is_followed = |at: usize| {
                suffix
                    .as_ref()
                    .is_none_or(|suffix| self.is_followed(at, suffix))
            };
            let ends = match &end {
                None => Some(begins.end).filter(|&at| is_followed(at)),
                Some(end) => self
                    .occurrences(end, begins.end)
                    .map(|found| found.end)
                    .find(|&at| is_followed(at)),
            };
            if let Some(ends) = ends {
                places.push(self.origins[begins.start]..self.origins[ends - 1] + 1);
            }
        }
        places
    }

    /// Where `term` stands on word bounds, from `from` on.
    fn occurrences<'a>(
        &'a self,
        term: &'a [char],
        from: usize,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let last = if term.is_empty() {
            0
        } else {
            (self.text.len() + 1).saturating_sub(term.len())
        };
        (from..last.max(from)).filter_map(move |start| {
            let range = start..start + term.len();
            let matches = self.text[start] == term[0] && self.text[range.clone()] == *term;
            (matches && self.is_word_bound(range.start) && self.is_word_bound(range.end))
                .then_some(range)
        })
    }

    fn is_preceded(&self, at: usize, prefix: &[char]) -> bool {
        let end = self.text[..at]
            .iter()
            .rposition(|&c| !is_space(c))
            .map_or(0, |last| last + 1);
        self.text[..end].ends_with(prefix) && self.is_word_bound(end - prefix.len())
    }

    fn is_followed(&self, at: usize, suffix: &[char]) -> bool {
        let start = at + self.text[at..].iter().take_while(|&&c| is_space(c)).count();
        self.text[start..].starts_with(suffix) && self.is_word_bound(start + suffix.len())
    }

    fn is_word_bound(&self, at: usize) -> bool {
        let char_at = |index: Option<usize>| {
            index
                .and_then(|index| self.text.get(index))
                .copied()
                .unwrap_or(' ')
        };
        let (before, after) = (char_at(at.checked_sub(1)), char_at(Some(at)));
        let inside_number = |mark: char, left: char, right: char| {
            matches!(mark, '.' | ',' | '\'')
                && left.is_alphanumeric()
                && right.is_alphanumeric()
                && (mark != ',' || (left.is_numeric() && right.is_numeric()))
        };
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let inside =
            (is_word(before) && is_word(after) && !is_ideograph(before) && !is_ideograph(after))
                || inside_number(after, before, char_at(Some(at + 1)))
                || inside_number(before, char_at(at.checked_sub(2)), after);
        !inside
    }
}

fn is_space(c: char) -> bool {
    c == ' ' || c == BLOCK
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// A search term as [`Rendered`] has it.
fn normal(text: &str) -> Vec<char> {
    let mut chars = Vec::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() {
            chars.push(' ');
        } else {
            normal_char(c, |c| chars.push(c));
        }
    }
    chars
}

fn normal_char(c: char, mut push: impl FnMut(char)) {
    match c {
        _ if c.is_ascii() => push(c.to_ascii_lowercase()),
        _ if is_ignorable(c) => {}
        BLOCK => push('\u{FFFD}'),
        '\u{2018}'..='\u{201B}' => push('\''),
        '\u{201C}'..='\u{201F}' => push('"'),
        _ => c
            .nfkd()
            .filter(|&part| !is_combining_mark(part))
            .flat_map(char::to_lowercase)
            .for_each(push),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAGE: &str = "19.5. Write Ahead Log\nPrev\tUp\tHome\tNext\n\
        max_wal_size (integer)\nMaximum size to let the WAL grow during automatic checkpoints. This is a soft limit; WAL size \
        can exceed max_wal_size under special circumstances, such as heavy load, a failing archive_command, or a high \
        wal_keep_size setting. The default is 1 GB. This parameter can only be set in the postgresql.conf file or on the \
        server command line.\n\
        min_wal_size (integer)\nAs long as WAL disk usage stays below this setting, old WAL files are always recycled. The \
        default is 80 MB. This parameter can only be set in the postgresql.conf file or on the server command line.\n\
        CREATE TABLE t (\n    a int,\n    b text\n);\n\
        ->\tjsonb\tGet a field, R&D\n->>\ttext\tGet a field as text\n\
        Prev\tUp\tHome\tNext";

    fn at(page: &str, words: &str) -> Range<usize> {
        let byte = page.find(words).expect("the page holds the words");
        let start = page[..byte].chars().count();
        start..start + words.chars().count()
    }

    fn directive(quote: &str) -> Option<String> {
        Page::new(PAGE).directive(0, quote)
    }

    #[test]
    fn links_a_short_quote_whole() {
        for (quote, expected) in [
            (
                "Maximum size to let the WAL grow",
                "Maximum%20size%20to%20let%20the%20WAL%20grow",
            ),
            ("maximum  size\nto let", "Maximum%20size%20to%20let"),
            ("The default is 1 GB.", "The%20default%20is%201%20GB."),
            ("max_wal_size (integer)", "max_wal_size%20%28integer%29"),
            ("->>", "%2D%3E%3E"),
            ("Get a field, R&D", "Get%20a%20field%2C%20R%26D"),
        ] {
            let directive = directive(quote);
            assert_eq!(directive.as_deref(), Some(expected));
            assert_eq!(find_fragment(PAGE, expected).len(), 1, "{expected}");
        }
    }

    #[test]
    fn links_a_long_quote_by_its_ends() {
        let quote =
            "This is a soft limit; WAL size can exceed max_wal_size under special circumstances";
        let directive = directive(quote).expect("a link");
        assert_eq!(directive, "This%20is%20a,under%20special%20circumstances");
        assert_eq!(find_fragment(PAGE, &directive), [at(PAGE, quote)]);
    }

    #[test]
    fn links_across_blocks_by_their_ends() {
        for quote in [
            "max_wal_size (integer)\nMaximum size to let the WAL grow during automatic checkpoints.",
            "CREATE TABLE t (\n    a int,\n    b text\n);",
            "->\tjsonb\tGet a field, R&D",
        ] {
            let directive = directive(quote).expect("a link");
            assert!(directive.contains(','), "{directive}");
            assert_eq!(
                find_fragment(PAGE, &directive),
                [at(PAGE, quote)],
                "{directive}"
            );
        }
    }

    #[test]
    fn tells_repeated_words_apart_by_what_stands_around_them() {
        let quote = "This parameter can only be set in the postgresql.conf file or on the server command line.";
        let second = at(PAGE, "min_wal_size (integer)").start;
        let page = Page::new(PAGE);
        let found = page.directive(second, quote).expect("a link");
        assert_eq!(
            found,
            "MB.-,This%20parameter%20can,server%20command%20line."
        );
        let places = find_fragment(PAGE, &found);
        assert_eq!(places.len(), 1);
        assert!(places[0].start > second);
        let first = page.directive(0, quote).expect("a link");
        assert!(find_fragment(PAGE, &first)[0].end < second);
        let navigation = page
            .directive(0, "Prev")
            .expect("told apart by its neighbours");
        assert_eq!(find_fragment(PAGE, &navigation), [at(PAGE, "Prev")]);
    }

    #[test]
    fn falls_back_to_the_anchor() {
        let url = |anchor, quote| source_url("https://e.example/wal.html", anchor, PAGE, 0, quote);
        assert_eq!(
            url("GUC", "words of another page"),
            "https://e.example/wal.html#GUC"
        );
        assert_eq!(
            url("", "words of another page"),
            "https://e.example/wal.html"
        );
        assert_eq!(url("", "R&D"), "https://e.example/wal.html#:~:text=R%26D");
        assert_eq!(
            url("A B%", "R&D"),
            "https://e.example/wal.html#A%20B%25:~:text=R%26D"
        );
        assert_eq!(
            source_url("sources/a#old", "new", PAGE, 0, "R&D"),
            "sources/a#new:~:text=R%26D"
        );
        let twins = "one line of text\none line of text";
        assert_eq!(source_url("u", "a", "x", 0, "x"), "u#a:~:text=x");
        assert!(source_url("u", "a", twins, 0, "one line of text").contains(":~:text="));
        let endless = "same\n".repeat(60);
        assert_eq!(
            source_url("u", "a", &endless, 100, "same"),
            "u#a",
            "nothing tells them apart"
        );
    }

    #[test]
    fn finds_as_a_browser_does() {
        let page = "Alpha beta gamma.\nDelta caf\u{E9} \u{201C}zeta\u{201D} eta.\talpha BETA delta 17.2 alphabet";
        for (directive, expected) in [
            ("text=alpha%20beta", 2),
            ("alpha", 2),
            ("alpha-,beta", 2),
            ("gamma.-,delta", 1),
            ("alpha,delta", 2),
            ("beta,-gamma", 1),
            ("cafe%20%22zeta%22", 1),
            ("gamma.%20delta", 0),
            ("lpha", 0),
            ("17", 0),
            ("17.2", 1),
            ("https://e.example/p#a:~:text=alphabet", 1),
            ("", 0),
            ("a,b,c,d", 0),
            ("%ZZ%", 0),
        ] {
            assert_eq!(
                find_fragment(page, directive).len(),
                expected,
                "{directive}"
            );
        }
    }

    fn page() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            4 => "[a-f]{1,2}",
            2 => "[a-z]{3,7}",
            1 => "[a-c]_[a-c]",
            1 => Just("(x)".to_owned()),
            1 => Just("a,b".to_owned()),
            1 => Just("->>".to_owned()),
            1 => Just("it\u{2019}s".to_owned()),
            1 => Just("caf\u{E9}".to_owned()),
            1 => Just("17.2".to_owned()),
            1 => Just("\u{FB01}x-y&z".to_owned()),
        ];
        let space = prop_oneof![8 => Just(" "), 2 => Just("\n"), 1 => Just("\t"), 1 => Just("    "), 1 => Just("\u{A0}")];
        proptest::collection::vec((word, space), 3..80).prop_map(|words| {
            words
                .into_iter()
                .map(|(word, space)| word + space)
                .collect()
        })
    }

    proptest! {
        #[test]
        fn every_link_finds_its_quote_alone(
            page in page(), from in any::<prop::sample::Index>(), length in 1..30_usize, near in any::<prop::sample::Index>(),
        ) {
            let words: Vec<_> = page.split_whitespace().collect();
            let from = from.index(words.len());
            let quote = words[from..(from + length).min(words.len())].join(" ");
            let near = near.index(page.chars().count());
            if let Some(directive) = Page::new(&page).directive(near, &quote) {
                let places = find_fragment(&page, &directive);
                prop_assert_eq!(places.len(), 1, "{}", directive);
                let found: String = page.chars().skip(places[0].start).take(places[0].len()).collect();
                let fold = |text: &str| Folded::new(text).chars().iter().collect::<String>();
                prop_assert_eq!(fold(&found), fold(&quote));
                prop_assert!(directive.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"%._~,-".contains(&byte)));
            }
        }

        #[test]
        fn distinct_words_always_get_a_link(order in Just((0..60_u32).collect::<Vec<_>>()).prop_shuffle(), from in 0..50_usize, length in 1..30_usize) {
            let words: Vec<String> = order.iter().map(|n| format!("w{n}x")).collect();
            let page = words.chunks(7).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n");
            let quote = words[from..(from + length).min(words.len())].join(" ");
            let directive = Page::new(&page).directive(0, &quote);
            prop_assert!(directive.is_some_and(|directive| find_fragment(&page, &directive).len() == 1));
        }

        #[test]
        fn never_panics(page in any::<String>(), quote in any::<String>(), near in any::<usize>()) {
            let _ = source_url("u", &quote, &page, near, &quote);
            let _ = find_fragment(&page, &quote);
        }
    }
}
