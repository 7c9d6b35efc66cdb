//! The extractive answer: the passages' own sentences, each its own quote.
//!
//! Chooses, never writes: every claimed sentence is a run of a passage's text, so it can only be wrong by being beside the
//! point. It goes through the same verification as a model's answer. Scores come from [`crate::relevance`].

use std::collections::{BTreeMap, HashSet};

use crate::citation::{ClaimedCitation, ClaimedSentence, ShownAs};
use crate::quote::is_evidence;
use crate::relevance::ScoredSentence;
use crate::sentence::{Sentence, SentenceKind};

/// A passage to answer from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// As citations name it: `P1`.
    pub label: &'a str,
    /// The passage.
    pub text: &'a str,
    /// Its sentences, in reading order.
    pub sentences: &'a [ScoredSentence],
}

/// How long an answer may be.
#[derive(Debug, Clone, Copy)]
pub struct AnswerLimits {
    /// Words of the chosen sentences; a listing that belongs to one comes on top, up to [`AnswerLimits::code_words`].
    pub words: usize,
    /// Words of all such listings together.
    pub code_words: usize,
    /// Sentences chosen.
    pub sentences: usize,
    /// Passages cited.
    pub passages: usize,
}

impl Default for AnswerLimits {
    /// Long enough to hold an answer's condition beside the answer, short enough to be read. Measured on 102 questions:
    /// more words find no more answers.
    fn default() -> Self {
        Self {
            words: 118,
            code_words: 40,
            sentences: 6,
            passages: 3,
        }
    }
}

/// Sentences as an answer, best first within what reads in order; empty when no passage has one worth showing.
#[must_use]
pub fn extract(sources: &[Source<'_>], limits: &AnswerLimits) -> Vec<ClaimedSentence> {
    let texts: Vec<Vec<char>> = sources.iter().map(|s| s.text.chars().collect()).collect();
    let chosen = choose(sources, &texts, limits);
    let placed = with_code(sources, &texts, &chosen, limits);
    placed
        .into_iter()
        .enumerate()
        .map(|(index, place)| claim(sources, &texts, index, place))
        .collect()
}

/// A sentence by passage and position.
type Place = (usize, usize);

/// The best sentence with its neighbours and the best of another passage, then the next best until a limit is met; best
/// first. What answers a question often stands beside the sentence that sounds most like it.
fn choose(sources: &[Source<'_>], texts: &[Vec<char>], limits: &AnswerLimits) -> Vec<Place> {
    let mut choice = Choice {
        candidates: candidates(sources, texts),
        limits,
        places: Vec::new(),
        words: 0,
    };
    let mut order: Vec<Place> = choice.candidates.keys().copied().collect();
    order.sort_by(|a, b| choice.score(*b).total_cmp(&choice.score(*a)).then(a.cmp(b)));
    let mut seeds: Vec<Place> = Vec::new();
    for &place in &order {
        if seeds.len() < SEEDS && seeds.iter().all(|seed| seed.0 != place.0) && choice.add(place) {
            seeds.push(place);
        }
    }
    if let Some(&best) = seeds.first() {
        choice.add_neighbours(best);
    }
    for &place in &order {
        choice.add(place);
    }
    let mut places = std::mem::take(&mut choice.places);
    places.sort_by(|a, b| choice.score(*b).total_cmp(&choice.score(*a)).then(a.cmp(b)));
    places
}

/// Passages that are heard before any is heard at length.
const SEEDS: usize = 2;

/// How far below a chosen sentence its neighbour may score. Anything from 0.35 to 0.5 does as well.
const NEAR: f32 = 0.35;

/// Share of the shorter sentence's words above which two say the same.
const REPEATED: f32 = 0.7;

/// Fewer words make no statement.
const SHORTEST: usize = 4;

/// More words are a listing, which belongs to the sentence that introduces it.
const LONGEST: usize = 100;

/// A sentence that can stand in an answer.
struct Candidate {
    score: f32,
    length: usize,
    words: HashSet<String>,
}

/// What is chosen so far. Limits are held in [`Choice::add`]; what belongs to a chosen sentence, its listing or the words
/// that introduce it, comes on top.
struct Choice<'a> {
    candidates: BTreeMap<Place, Candidate>,
    limits: &'a AnswerLimits,
    places: Vec<Place>,
    words: usize,
}

impl Choice<'_> {
    fn score(&self, place: Place) -> f32 {
        self.candidates[&place].score
    }

    fn add(&mut self, place: Place) -> bool {
        let Some(candidate) = self.candidates.get(&place) else {
            return false;
        };
        let passages: HashSet<usize> = self.places.iter().map(|&(passage, _)| passage).collect();
        let fits = self.places.len() < self.limits.sentences
            && (self.places.is_empty() || self.words + candidate.length <= self.limits.words)
            && (passages.contains(&place.0) || passages.len() < self.limits.passages);
        let says_more = || {
            self.places
                .iter()
                .all(|other| overlap(&candidate.words, &self.candidates[other].words) <= REPEATED)
        };
        if self.places.contains(&place) || !fits || !says_more() {
            return false;
        }
        self.words += candidate.length;
        self.places.push(place);
        true
    }

    /// The sentence after it first: what is said is more often explained than announced.
    fn add_neighbours(&mut self, (passage, n): Place) {
        let least = self.score((passage, n)) - NEAR;
        for neighbour in [Some(n + 1), n.checked_sub(1)].into_iter().flatten() {
            let place = (passage, neighbour);
            if self
                .candidates
                .get(&place)
                .is_some_and(|candidate| candidate.score >= least)
            {
                self.add(place);
            }
        }
    }
}

fn candidates(sources: &[Source<'_>], texts: &[Vec<char>]) -> BTreeMap<Place, Candidate> {
    let mut candidates = BTreeMap::new();
    for (p, source) in sources.iter().enumerate() {
        for (n, scored) in source.sentences.iter().enumerate() {
            let length = word_count(&texts[p], scored.sentence);
            let words: HashSet<String> = words_of(&texts[p], scored.sentence).into_iter().collect();
            if scored.sentence.kind == SentenceKind::Term
                || !(SHORTEST..=LONGEST).contains(&length)
                || words.is_empty()
                || !is_evidence(&said(&texts[p], scored.sentence))
            {
                continue;
            }
            let mut score = scored.score();
            if scored.coverage_in_place >= NEARLY_ALL {
                score += COMPLETES;
            }
            if words.iter().any(|word| decides(word)) {
                score += DECIDES;
            }
            if defers(&texts[p][scored.sentence.start..scored.sentence.end]) {
                score -= DEFERS;
            }
            candidates.insert(
                (p, n),
                Candidate {
                    score,
                    length,
                    words,
                },
            );
        }
    }
    candidates
}

/// What a sentence gains that holds, with its heading and the name it describes, nearly all that is asked: "The default is 1
/// GB." under `max_wal_size` says little by itself. 0.1 to 0.25 show as many gold quotes as none does.
const COMPLETES: f32 = 0.2;

/// Share of the question's idf from which on it is nearly all.
const NEARLY_ALL: f32 = 0.93;

/// What a sentence gains that says no, only, must or by default: answers lie in such sentences more often than subjects do.
const DECIDES: f32 = 0.04;

fn decides(word: &str) -> bool {
    matches!(
        word,
        "not"
            | "never"
            | "cannot"
            | "only"
            | "must"
            | "default"
            | "instead"
            | "always"
            | "therefore"
            | "because"
    )
}

/// What a sentence loses that only says where something is said.
const DEFERS: f32 = 0.1;

fn defers(sentence: &[char]) -> bool {
    let text: String = sentence.iter().collect::<String>().to_lowercase();
    let text = joined(&text);
    [
        "see section",
        "see chapter",
        "see table",
        "see also",
        "following subsections",
        "following sections",
        "described in",
        "described below",
        "detailed in",
        "discussed in",
        "as mentioned above",
    ]
    .iter()
    .any(|phrase| text.contains(phrase))
}

/// Adds the listing that a chosen sentence introduces, and the sentence that introduces a chosen listing.
fn with_code(
    sources: &[Source<'_>],
    texts: &[Vec<char>],
    chosen: &[Place],
    limits: &AnswerLimits,
) -> Vec<Place> {
    let mut placed: Vec<Place> = Vec::new();
    let mut code_words = 0;
    for &(p, n) in chosen {
        let sentences = source_sentences(sources, p);
        let is_code = |n: usize| {
            sentences
                .get(n)
                .is_some_and(|s| s.kind == SentenceKind::Code)
        };
        if is_code(n)
            && n > 0
            && introduces(&texts[p], sentences[n - 1])
            && !placed.contains(&(p, n - 1))
        {
            placed.push((p, n - 1));
        }
        if !placed.contains(&(p, n)) {
            placed.push((p, n));
        }
        if !is_code(n)
            && is_code(n + 1)
            && introduces(&texts[p], sentences[n])
            && is_evidence(&said(&texts[p], sentences[n + 1]))
        {
            let words = word_count(&texts[p], sentences[n + 1]);
            if code_words + words <= limits.code_words && !placed.contains(&(p, n + 1)) {
                code_words += words;
                placed.push((p, n + 1));
            }
        }
    }
    placed
}

fn source_sentences(sources: &[Source<'_>], passage: usize) -> Vec<Sentence> {
    sources[passage]
        .sentences
        .iter()
        .map(|scored| scored.sentence)
        .collect()
}

fn introduces(text: &[char], sentence: Sentence) -> bool {
    sentence.kind == SentenceKind::Prose && text[sentence.start..sentence.end].last() == Some(&':')
}

fn claim(
    sources: &[Source<'_>],
    texts: &[Vec<char>],
    index: usize,
    (p, n): Place,
) -> ClaimedSentence {
    let sentence = sources[p].sentences[n].sentence;
    let quote = said(&texts[p], sentence);
    let (kind, text) = match sentence.kind {
        SentenceKind::Code => (ShownAs::Code, quote.clone()),
        // Cells and the lines inside them are bounds of layout, not of meaning.
        SentenceKind::Row => (ShownAs::Prose, joined(&quote.replace('\t', " | "))),
        SentenceKind::Prose | SentenceKind::Term => (ShownAs::Prose, joined(&quote)),
    };
    ClaimedSentence {
        index,
        text,
        kind,
        citations: vec![ClaimedCitation {
            passage: sources[p].label.to_owned(),
            quote,
        }],
    }
}

fn said(text: &[char], sentence: Sentence) -> String {
    text[sentence.start..sentence.end].iter().collect()
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn words_of(text: &[char], sentence: Sentence) -> Vec<String> {
    text[sentence.start..sentence.end]
        .split(|c| !c.is_alphanumeric() && *c != '_')
        .filter(|word| !word.is_empty())
        .map(|word| word.iter().flat_map(|c| c.to_lowercase()).collect())
        .collect()
}

fn word_count(text: &[char], sentence: Sentence) -> usize {
    text[sentence.start..sentence.end]
        .split(|c| c.is_whitespace())
        .filter(|word| !word.is_empty())
        .count()
}

#[expect(clippy::cast_precision_loss, reason = "a sentence has few words")]
fn overlap(a: &HashSet<String>, b: &HashSet<String>) -> f32 {
    let least = a.len().min(b.len()).max(1);
    a.intersection(b).count() as f32 / least as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::citation::{Checked, Verifier};

    /// Sentences of `text` divided by `/`, with their kinds and similarities.
    fn scored(parts: &[(&str, SentenceKind, f32)]) -> (String, Vec<ScoredSentence>) {
        let mut text = String::new();
        let mut sentences = Vec::new();
        for (part, kind, similarity) in parts {
            if !text.is_empty() {
                text.push('\n');
            }
            let start = text.chars().count();
            text.push_str(part);
            sentences.push(ScoredSentence {
                sentence: Sentence {
                    start,
                    end: text.chars().count(),
                    kind: *kind,
                },
                similarity: *similarity,
                coverage: 0.0,
                coverage_in_place: 0.0,
            });
        }
        (text, sentences)
    }

    fn check(passages: &[&[(&str, SentenceKind, f32)]], limits: &AnswerLimits, expected: &[&str]) {
        let passages: Vec<_> = passages.iter().map(|parts| scored(parts)).collect();
        let labels: Vec<String> = (1..=passages.len()).map(|n| format!("P{n}")).collect();
        let sources: Vec<Source<'_>> = passages
            .iter()
            .zip(&labels)
            .map(|((text, sentences), label)| Source {
                label,
                text,
                sentences,
            })
            .collect();
        let claimed = extract(&sources, limits);
        let texts: Vec<&str> = claimed.iter().map(|s| s.text.as_str()).collect();
        assert_eq!(texts, expected);
        let verifier = Verifier::new(
            &passages
                .iter()
                .map(|(text, _)| text.as_str())
                .collect::<Vec<_>>(),
        );
        for sentence in claimed {
            let index = sentence.index;
            assert!(
                matches!(verifier.check(sentence), Checked::Shown { .. }),
                "sentence {index}"
            );
        }
    }

    use SentenceKind::{Code, Prose, Row, Term};

    #[test]
    fn the_best_sentence_comes_first_and_brings_its_neighbour() {
        check(
            &[&[
                (
                    "Checkpoints are points in the sequence of transactions.",
                    Prose,
                    0.2,
                ),
                (
                    "The default of max_wal_size is one gigabyte here.",
                    Prose,
                    0.9,
                ),
                (
                    "Raising it makes crash recovery take longer time.",
                    Prose,
                    0.6,
                ),
            ]],
            &AnswerLimits::default(),
            &[
                "The default of max_wal_size is one gigabyte here.",
                "Raising it makes crash recovery take longer time.",
                "Checkpoints are points in the sequence of transactions.",
            ],
        );
    }

    #[test]
    fn a_repeated_sentence_is_said_once() {
        let twin = ("A twin stands on both of these pages alike.", Prose, 0.8);
        check(&[&[twin], &[twin]], &AnswerLimits::default(), &[twin.0]);
    }

    #[test]
    fn a_sentence_that_introduces_a_listing_brings_it() {
        check(
            &[&[
                ("To create a hash index write this command:", Prose, 0.9),
                (
                    "CREATE INDEX name ON\n    table USING HASH (column);",
                    Code,
                    -0.5,
                ),
            ]],
            &AnswerLimits::default(),
            &[
                "To create a hash index write this command:",
                "CREATE INDEX name ON\n    table USING HASH (column);",
            ],
        );
    }

    #[test]
    fn rows_read_as_text_and_bare_terms_never_answer() {
        check(
            &[&[
                ("max_wal_size (integer) of the server", Term, 0.9),
                (
                    "jsonb -> integer\tExtracts an element of the array",
                    Row,
                    0.5,
                ),
            ]],
            &AnswerLimits::default(),
            &["jsonb -> integer | Extracts an element of the array"],
        );
    }

    #[test]
    fn a_pointer_elsewhere_is_no_answer() {
        check(
            &[&[
                (
                    "The levels are detailed in the following subsections.",
                    Prose,
                    0.65,
                ),
                ("Read Committed is the level by default.", Prose, 0.6),
            ]],
            &AnswerLimits::default(),
            &[
                "Read Committed is the level by default.",
                "The levels are detailed in the following subsections.",
            ],
        );
    }

    #[test]
    fn limits_hold() {
        let one = ("Every word in here counts towards the limit.", Prose, 0.9);
        let two = ("Nothing beyond it may ever be shown again.", Prose, 0.8);
        let limits = AnswerLimits {
            words: 10,
            ..AnswerLimits::default()
        };
        check(&[&[one, two]], &limits, &[one.0]);
        let limits = AnswerLimits {
            passages: 1,
            ..AnswerLimits::default()
        };
        check(&[&[one], &[two]], &limits, &[one.0]);
        check(&[], &AnswerLimits::default(), &[]);
        check(
            &[&[("too short here", Prose, 0.9)]],
            &AnswerLimits::default(),
            &[],
        );
    }
}
