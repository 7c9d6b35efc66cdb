//! Cuts a chunk into the windows its vectors are made of: a small model reads 256 tokens, a chunk has up to 800.
//!
//! Windows cover the chunk from end to end and break between sentences, except within one that is longer than a window.
//! They are only for finding a chunk; what is quoted are its sentences.

use std::ops::Range;

use crate::sentence::Sentence;

/// Words of a window. With its heading it stays below the 256 tokens a sentence model reads.
pub const WINDOW_WORDS: usize = 110;

/// The windows of `text` as scalar ranges, ascending. Neighbours share a sentence where that is no longer than half a
/// window. Text without words has none.
#[must_use]
pub fn windows(text: &str, sentences: &[Sentence]) -> Vec<Range<usize>> {
    let pieces = pieces(text, sentences);
    let mut windows = Vec::new();
    let mut first = 0;
    while first < pieces.len() {
        let mut end = first;
        let mut words = 0;
        while end < pieces.len() && (end == first || words + pieces[end].words <= WINDOW_WORDS) {
            words += pieces[end].words;
            end += 1;
        }
        windows.push(pieces[first].range.start..pieces[end - 1].range.end);
        if end == pieces.len() {
            break;
        }
        // The last piece is repeated, unless the window holds no other or it would leave the next one little room.
        let repeat = end - 1 > first && pieces[end - 1].words <= WINDOW_WORDS / 2;
        first = if repeat { end - 1 } else { end };
        // A repeated piece that leaves no room for the one after it would make a window of nothing new.
        if repeat && pieces[end - 1].words + pieces[end].words > WINDOW_WORDS {
            first = end;
        }
    }
    windows
}

/// A sentence, or a part of one that is longer than a window.
struct Piece {
    range: Range<usize>,
    words: usize,
}

/// Divides the whole text at the starts of sentences, so that what lies between two sentences is not lost.
fn pieces(text: &str, sentences: &[Sentence]) -> Vec<Piece> {
    let words = words(text);
    let mut pieces = Vec::new();
    let mut first = 0;
    let bounds = sentences
        .iter()
        .skip(1)
        .map(|sentence| sentence.start)
        .chain([usize::MAX]);
    for bound in bounds {
        let end = first + words[first..].partition_point(|word| word.start < bound);
        for part in words[first..end].chunks(WINDOW_WORDS) {
            pieces.push(Piece {
                range: part[0].start..part[part.len() - 1].end,
                words: part.len(),
            });
        }
        first = end;
    }
    pieces
}

/// Runs without white space, as scalar ranges.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    let mut length = 0;
    for (position, character) in text.chars().enumerate() {
        length = position + 1;
        match (character.is_whitespace(), start) {
            (false, None) => start = Some(position),
            (true, Some(begin)) => {
                words.push(begin..position);
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.map(|begin| begin..length));
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sentence::SentenceKind;

    /// Sentences of the given numbers of words, one after another.
    fn text(lengths: &[usize]) -> (String, Vec<Sentence>) {
        let mut text = String::new();
        let mut sentences = Vec::new();
        for length in lengths {
            let start = text.chars().count();
            text.push_str(&vec!["wörd"; *length].join(" "));
            sentences.push(Sentence {
                start,
                end: text.chars().count(),
                kind: SentenceKind::Prose,
            });
            text.push(' ');
        }
        (text, sentences)
    }

    /// Windows given as the numbers of their first and last words.
    fn check(lengths: &[usize], expected: &[(usize, usize)]) {
        let (text, sentences) = text(lengths);
        let words = words(&text);
        let actual: Vec<_> = windows(&text, &sentences)
            .into_iter()
            .map(|window| {
                let first = words.iter().position(|word| word.start == window.start);
                let last = words.iter().position(|word| word.end == window.end);
                (first.unwrap_or(usize::MAX), last.unwrap_or(usize::MAX))
            })
            .collect();
        assert_eq!(actual, expected, "{lengths:?}");
    }

    #[test]
    fn packs_whole_sentences_and_repeats_one() {
        check(&[], &[]);
        check(&[20], &[(0, 19)]);
        check(&[50, 60], &[(0, 109)]);
        check(&[50, 30, 40], &[(0, 79), (50, 119)]);
        check(&[40, 40, 40, 40], &[(0, 79), (40, 119), (80, 159)]);
        check(&[60, 60, 60], &[(0, 59), (60, 119), (120, 179)]);
        check(&[20, 50, 90], &[(0, 69), (70, 159)]);
    }

    #[test]
    fn cuts_a_sentence_longer_than_a_window() {
        check(&[250], &[(0, 109), (110, 219), (220, 249)]);
        check(&[10, 250], &[(0, 9), (10, 119), (120, 229), (230, 259)]);
    }

    #[test]
    fn keeps_what_lies_between_sentences() {
        let text = "Before. One sentence here. between Another one. after";
        let sentences = [(8, 26), (35, 47)].map(|(start, end)| Sentence {
            start,
            end,
            kind: SentenceKind::Prose,
        });
        assert_eq!(windows(text, &sentences), vec![0..53]);
        assert_eq!(windows("no sentence", &[]), vec![0..11]);
        assert!(windows(" \n ", &[]).is_empty());
    }

    proptest! {
        #[test]
        fn covers_every_word_and_advances(lengths in prop::collection::vec(1_usize..300, 0..20)) {
            let (text, sentences) = text(&lengths);
            let windows = windows(&text, &sentences);
            for word in words(&text) {
                prop_assert!(windows.iter().any(|w| w.start <= word.start && word.end <= w.end));
            }
            for pair in windows.windows(2) {
                prop_assert!(pair[0].start < pair[1].start && pair[0].end < pair[1].end);
            }
            for window in &windows {
                let inside = words(&text).into_iter()
                    .filter(|w| window.start <= w.start && w.end <= window.end).count();
                prop_assert!((1..=WINDOW_WORDS).contains(&inside));
            }
        }
    }
}
