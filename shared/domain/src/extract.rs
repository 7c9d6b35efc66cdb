//! The extractive answer: the passages' own sentences, each its own quote.
//!
//! Chooses, never writes: every claimed sentence is a run of a passage's text, so it can only be wrong by being beside the
//! point. It goes through the same verification as a model's answer. Scores come from [`crate::relevance`].

use std::collections::{BTreeMap, HashSet};

use crate::citation::{ClaimedCitation, ClaimedSentence, ShownAs};
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

/// The best sentence and the best of another passage, each with its neighbours, then the next best until a limit is met;
/// best first. What answers a question often stands beside the sentence that sounds most like it.
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
    for seed in seeds {
        choice.add_neighbours(seed);
    }
    for &place in &order {
        if choice.add(place) {
            choice.add_neighbours(place);
        }
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

/// What is chosen so far; every limit is held in [`Choice::add`].
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
            {
                continue;
            }
            let score = scored.score() + if words.iter().any(|w| decides(w)) { DECIDES } else { 0.0 };
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

/// What a sentence gains that says no, only, must or by default: answers lie in such sentences more often than subjects do.
const DECIDES: f32 = 0.04;

fn decides(word: &str) -> bool {
    matches!(
        word,
        "not" | "never" | "cannot" | "only" | "must" | "default" | "instead" | "always" | "therefore" | "because"
    )
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
        if !is_code(n) && is_code(n + 1) && introduces(&texts[p], sentences[n]) {
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

fn claim(sources: &[Source<'_>], texts: &[Vec<char>], index: usize, (p, n): Place) -> ClaimedSentence {
    let sentence = sources[p].sentences[n].sentence;
    let quote: String = texts[p][sentence.start..sentence.end].iter().collect();
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
