//! What a passage's own words say about a sentence, without meaning: which words they share.
//!
//! Two questions of the gate are answered here: which words of the passage a citation without a quote can stand on, and
//! whether a passage speaks of what a borrowed citation would cover. An answer never makes anything shown by itself: every quote
//! still goes through [`crate::citation`], and every sentence through [`crate::support`].

use std::collections::HashSet;
use std::ops::Range;

use crate::sentence::prose_sentences;

/// A run of shared words shorter than this, or than half the sentence, is a coincidence.
const RUN_WORDS: usize = 3;

/// A run of as many words is a quote by itself; a shorter one is quoted with the passage's sentence around it.
const QUOTE_WORDS: usize = 5;

/// Two thirds of a sentence's words must occur in a passage that speaks of it. Measured on sentences that restate a passage
/// (`tests/it/gate_cost.rs`), this loses 9 of 296, and lets through none of 649 about something else; half loses none and lets
/// through 5, three quarters loses 51.
const SHARED: (u16, u16) = (2, 3);

/// Words of a longer sentence that are looked at.
const MOST_WORDS: usize = 400;

/// A passage taken apart into words.
#[derive(Debug, Clone)]
pub struct PassageWords {
    text: String,
    heading: String,
    words: Vec<(String, Range<usize>)>,
    sentences: Vec<Range<usize>>,
    stems: HashSet<String>,
    known: HashSet<String>,
}

impl PassageWords {
    /// Takes `text` apart. The words of its `heading` are said of all of it, but never quoted.
    #[must_use]
    pub fn new(text: &str, heading: &str) -> Self {
        let words = lower_words(text);
        let known: HashSet<String> = words
            .iter()
            .map(|(word, _)| word.clone())
            .chain(lower_words(heading).into_iter().map(|(word, _)| word))
            .collect();
        Self {
            sentences: prose_sentences(text),
            stems: known.iter().map(|word| stem(word).to_owned()).collect(),
            known,
            words,
            text: text.to_owned(),
            heading: heading.to_owned(),
        }
    }

    /// The passage.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where it stands: title and heading path.
    #[must_use]
    pub fn heading(&self) -> &str {
        &self.heading
    }

    /// The passage's words that `sentence` is made of: its longest run that stands in the passage, if that is half of it or
    /// more and the passage speaks of the rest; with the passage's sentence around it when it is short.
    #[must_use]
    pub fn quote_for(&self, sentence: &str) -> Option<&str> {
        let wanted: Vec<String> = words(sentence)
            .take(MOST_WORDS)
            .map(|range| sentence[range].to_lowercase())
            .collect();
        // Lengths of the runs that end at each word of the passage, one word of the sentence after the other.
        let mut lengths = vec![0_usize; self.words.len() + 1];
        let mut best = 0..0;
        for word in &wanted {
            for at in (0..self.words.len()).rev() {
                lengths[at + 1] = if self.words[at].0 == *word {
                    lengths[at] + 1
                } else {
                    0
                };
                if lengths[at + 1] > best.len() {
                    best = at + 1 - lengths[at + 1]..at + 1;
                }
            }
        }
        let is_chance = best.len() < RUN_WORDS || best.len() * 2 < wanted.len();
        if is_chance || !self.speaks_of(sentence) {
            return None;
        }
        let mut quote = self.words[best.start].1.start..self.words[best.end - 1].1.end;
        if best.len() < QUOTE_WORDS {
            let around = self
                .sentences
                .iter()
                .find(|range| range.start <= quote.start && range.end >= quote.end)?;
            quote = around.clone();
        }
        Some(&self.text[quote])
    }

    /// Whether the passage has anything to do with `sentence`: a third of its telling words, where it has some.
    #[must_use]
    pub fn relates_to(&self, sentence: &str) -> bool {
        let telling: Vec<String> = words(sentence)
            .take(MOST_WORDS)
            .map(|range| sentence[range].to_lowercase())
            .filter(|word| !says_nothing(word))
            .collect();
        let shared = telling
            .iter()
            .filter(|word| self.stems.contains(stem(word)) || self.known.contains(word.as_str()))
            .count();
        telling.len() < FEW_WORDS || shared * 3 >= telling.len()
    }

    /// Whether the passage speaks of what `sentence` says: it holds every number and name, and most of the other words.
    #[must_use]
    pub fn speaks_of(&self, sentence: &str) -> bool {
        let (mut all, mut shared) = (0_u16, 0_u16);
        for range in words(sentence).take(MOST_WORDS) {
            let word = sentence[range].to_lowercase();
            let is_exact = word.contains(|c: char| c.is_numeric() || c == '_');
            if is_exact && !self.known.contains(&word) {
                return false;
            }
            if !is_exact && says_nothing(&word) {
                continue;
            }
            all += 1;
            shared += u16::from(self.stems.contains(stem(&word)));
        }
        all > 0 && shared * SHARED.1 >= all * SHARED.0
    }
}

/// Fewer telling words are a turn of phrase.
const FEW_WORDS: usize = 3;

/// The words of `text` in lower case, with their bytes.
fn lower_words(text: &str) -> Vec<(String, Range<usize>)> {
    words(text)
        .map(|range| (text[range.clone()].to_lowercase(), range))
        .collect()
}

/// Byte ranges of the words of `text`: letters, digits and underscores.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let start = at + text[at..].find(is_word)?;
        let end = text[start..]
            .find(|c| !is_word(c))
            .map_or(text.len(), |length| start + length);
        at = end;
        Some(start..end)
    })
}

/// The letters of a word that its forms have in common, nearly.
fn stem(word: &str) -> &str {
    const LETTERS: usize = 5;
    match word.char_indices().nth(LETTERS) {
        Some((at, _)) if !word.contains(|c: char| c.is_numeric() || c == '_') => &word[..at],
        _ => word
            .strip_suffix('s')
            .filter(|word| word.len() > 2)
            .unwrap_or(word),
    }
}

/// Words that say nothing about what a sentence is about.
fn says_nothing(word: &str) -> bool {
    const SHORT: usize = 3;
    word.chars().count() < SHORT
        || matches!(
            word,
            "the"
                | "and"
                | "are"
                | "for"
                | "you"
                | "can"
                | "not"
                | "but"
                | "its"
                | "has"
                | "was"
                | "may"
                | "any"
                | "all"
                | "use"
                | "how"
                | "this"
                | "that"
                | "with"
                | "when"
                | "have"
                | "will"
                | "also"
                | "which"
                | "there"
                | "these"
                | "those"
                | "such"
                | "into"
                | "from"
                | "than"
                | "then"
                | "used"
                | "uses"
                | "using"
                | "they"
                | "them"
                | "their"
                | "other"
                | "each"
                | "some"
                | "more"
                | "most"
                | "only"
                | "your"
                | "here"
                | "what"
                | "where"
                | "while"
                | "following"
                | "follows"
                | "below"
                | "above"
                | "example"
                | "instead"
                | "because"
                | "does"
                | "been"
                | "being"
                | "both"
                | "either"
                | "however"
                | "therefore"
                | "thus"
                | "several"
                | "one"
                | "two"
                | "three"
                | "four"
                | "five"
                | "way"
                | "ways"
                | "per"
                | "about"
                | "after"
                | "before"
                | "would"
                | "could"
                | "should"
                | "must"
                | "over"
                | "under"
                | "very"
                | "just"
                | "like"
                | "well"
                | "main"
                | "note"
                | "means"
                | "mean"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSAGE: &str = "max_wal_size (integer) Maximum size to let the WAL grow. The default is 1 GB. Use pg_dump -Fc, or --globals-only.";

    #[test]
    fn a_run_of_shared_words_is_a_quote() {
        let words = PassageWords::new(PASSAGE, "Write-Ahead Log");
        for (sentence, quote) in [
            ("Lets the WAL grow fast, in truth and in fact.", None),
            (
                "The maximum size to let the WAL grow!",
                Some("Maximum size to let the WAL grow"),
            ),
            ("It is 1 GB.", Some("The default is 1 GB.")),
            (
                "It is 1 GB, and that is far more than anybody would want.",
                None,
            ),
            ("The default is 2 GB.", None),
            ("Yes.", None),
            ("", None),
        ] {
            assert_eq!(words.quote_for(sentence), quote, "{sentence:?}");
        }
        assert_eq!(
            PassageWords::new("", "It is so now").quote_for("It is so."),
            None
        );
    }

    #[test]
    fn a_passage_speaks_of_what_shares_its_words() {
        let words = PassageWords::new(PASSAGE, "Write-Ahead Log");
        for (sentence, speaks) in [
            ("The maximal size defaults to 1 GB.", true),
            ("The default size is 2 GB.", false),
            ("The default of min_wal_size is 1 GB.", false),
            ("The moon grows.", false),
            ("The write-ahead log grows.", true),
            ("It is so.", false),
        ] {
            assert_eq!(words.speaks_of(sentence), speaks, "{sentence:?}");
        }
    }
}
