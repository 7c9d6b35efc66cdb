//! Orders the candidates by their best sentence and keeps six.
//!
//! Local and free: the sentence vectors were made at ingest, so no model is asked. Without candidates there is nothing to
//! order and the question is refused by the judge. With `RERANKER=none` the fused order stands and no passage is given a
//! score; the sentences are scored all the same, for relevance is judged and the answer chosen by them.

use std::collections::HashSet;
use std::sync::Arc;

use adapters::dynamodb::corpus::Corpus;
use adapters::postgres::Client;
use adapters::postgres::retrieve::{Evidence, Served};
use domain::names::exact_names;
use domain::relevance::{
    AskedTerm, Heading, ScoredSentence, Signals, passage_probability, score_passage,
    score_sentences, signals,
};
use tokio::time::Instant;

use super::event::{Event, Passage};
use super::failure::Stopped;
use super::retrieve::{Arms, Candidates};
use super::run::Run;
use crate::config::Reranker;
use crate::context::Context;

/// Passages an answer may cite.
pub const PASSAGES: usize = 6;

/// Share of the smaller passage's words above which two passages say the same. Neighbours of one section share 80 of 500
/// tokens and stay below.
const SAME_PASSAGE: f64 = 0.9;

/// What a sentence is worth that holds all of a question about an operator.
const OPERATOR_WORTH: f32 = 0.75;

/// A candidate with what its sentences are worth.
#[derive(Debug)]
pub struct Scored {
    /// The chunk.
    pub evidence: Evidence,
    /// Its sentences.
    pub sentences: Vec<ScoredSentence>,
    /// Its best sentence's score.
    pub score: f32,
}

/// The passages to answer from, best first.
#[derive(Debug)]
pub struct Ranked {
    /// How the corpus speaks.
    pub corpus: Arc<Corpus>,
    /// The open connection.
    pub client: Arc<Client>,
    /// The version that answers.
    pub served: Served,
    /// At most [`PASSAGES`].
    pub passages: Vec<Scored>,
    /// Whether they are in the reranker's order; the fusion's otherwise.
    pub reranked: bool,
    /// What relevance is judged by.
    pub signals: Signals,
    /// The arms' own orders, for measuring them.
    pub arms: Arms,
}

/// Scores every sentence of every candidate and keeps the best passages.
pub(super) async fn rerank(
    ctx: &Context,
    candidates: Candidates,
    run: &mut Run<'_>,
) -> Result<Ranked, Stopped> {
    let started = Instant::now();
    let Candidates {
        corpus,
        client,
        served,
        asked,
        unknown_name,
        operators,
        by_vector,
        evidence,
        arms,
    } = candidates;
    let (evidence, holds_operator) = about_operators(evidence, &operators);
    let mut scored = score(&asked, evidence, by_vector);
    let reranked = match ctx.config.models.reranker {
        Reranker::Local => {
            scored.sort_by(|a, b| b.score.total_cmp(&a.score));
            true
        }
        Reranker::None => false,
    };
    let mut signals = signals(
        &asked,
        scored
            .iter()
            .map(|candidate| candidate.sentences.as_slice()),
        unknown_name,
    );
    if holds_operator {
        // Found letter for letter, and mute to a sentence model: what is covered judges.
        signals.best_sentences = scored
            .iter()
            .flat_map(|candidate| &candidate.sentences)
            .map(|sentence| OPERATOR_WORTH * sentence.coverage_in_place)
            .fold(signals.best_sentences, f32::max);
    }
    let passages = best(scored);
    run.ended("rerank", started).await?;
    Ok(Ranked {
        corpus,
        client,
        served,
        passages,
        reranked,
        signals,
        arms,
    })
}

/// Those that hold an operator that is asked about, if any does: to a sentence model one operator is like another.
fn about_operators(evidence: Vec<Evidence>, operators: &[String]) -> (Vec<Evidence>, bool) {
    let (holding, others): (Vec<_>, Vec<_>) = evidence.into_iter().partition(|evidence| {
        exact_names(&evidence.text)
            .iter()
            .any(|name| operators.contains(&name.text))
    });
    if holding.is_empty() {
        (others, false)
    } else {
        (holding, true)
    }
}

/// The candidates with their sentences scored, in the same order.
fn score(asked: &[AskedTerm], evidence: Vec<Evidence>, by_vector: bool) -> Vec<Scored> {
    evidence
        .into_iter()
        .map(|evidence| {
            let held = with_names(asked, &evidence);
            let heading = Heading {
                similarity: evidence.heading_similarity,
                held: evidence.heading_terms | names_in(asked, &evidence.heading.join("\n")),
            };
            let mut sentences = score_sentences(
                asked,
                &evidence.sentences,
                &evidence.similarities,
                &held,
                heading,
            );
            if !by_vector {
                // Words stand in for meaning: a question that is covered is still answered, one that is not still refused.
                for sentence in &mut sentences {
                    sentence.similarity = sentence.coverage;
                }
            }
            Scored {
                score: score_passage(&sentences),
                evidence,
                sentences,
            }
        })
        .collect()
}

/// The sentences' terms with the exact names added, which are found in the text itself.
fn with_names(asked: &[AskedTerm], evidence: &Evidence) -> Vec<i64> {
    if !asked.iter().any(|term| term.term.starts_with(['=', '~'])) {
        return evidence.terms.clone();
    }
    let bounds: Vec<usize> = evidence
        .text
        .char_indices()
        .map(|(byte, _)| byte)
        .chain([evidence.text.len()])
        .collect();
    evidence
        .sentences
        .iter()
        .zip(&evidence.terms)
        .map(|(sentence, held)| {
            let text = &evidence.text[bounds[sentence.start]..bounds[sentence.end]];
            held | names_in(asked, text)
        })
        .collect()
}

fn names_in(asked: &[AskedTerm], text: &str) -> i64 {
    let names = exact_names(text);
    let is_word = |asked: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word.eq_ignore_ascii_case(asked))
    };
    asked
        .iter()
        .enumerate()
        .filter(|(_, term)| match term.term.split_at_checked(1) {
            Some(("=", asked)) => names.iter().any(|name| name.text == asked),
            Some(("~", asked)) => is_word(asked),
            _ => false,
        })
        .fold(0, |mask, (n, _)| mask | 1 << n)
}

/// The first [`PASSAGES`] that do not repeat one another.
fn best(scored: Vec<Scored>) -> Vec<Scored> {
    let mut kept: Vec<(Scored, HashSet<String>)> = Vec::new();
    for candidate in scored {
        let words: HashSet<String> = candidate
            .evidence
            .text
            .split_whitespace()
            .map(str::to_lowercase)
            .collect();
        if kept.iter().all(|(_, other)| !same(&words, other)) {
            kept.push((candidate, words));
        }
        if kept.len() == PASSAGES {
            break;
        }
    }
    kept.into_iter().map(|(candidate, _)| candidate).collect()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a passage has some hundred words"
)]
fn same(a: &HashSet<String>, b: &HashSet<String>) -> bool {
    let (least, most) = (a.len().min(b.len()), a.len().max(b.len()));
    // A short passage inside a long one is not the long one.
    let shared = a.intersection(b).count() as f64;
    shared > SAME_PASSAGE * least as f64 && shared > SAME_PASSAGE * most as f64
}

/// The `passages` event.
#[must_use]
pub fn passages(ranked: &Ranked) -> Event {
    let passages = ranked.passages.iter().enumerate().map(|(n, scored)| {
        let evidence = &scored.evidence;
        Passage {
            id: label(n),
            title: evidence.title.clone(),
            heading: evidence.heading.get(1..).unwrap_or_default().to_vec(),
            url: link(&evidence.url, &evidence.anchor),
            anchor: evidence.anchor.clone(),
            text: evidence.text.clone(),
            metadata: evidence.metadata.clone(),
            score: ranked.reranked.then(|| passage_probability(scored.score)),
        }
    });
    Event::Passages {
        passages: passages.collect(),
    }
}

/// How passages are named to models and visitors: `P1` is the best.
#[must_use]
pub fn label(place: usize) -> String {
    format!("P{}", place + 1)
}

/// A document's address at an anchor.
#[must_use]
pub fn link(url: &str, anchor: &str) -> String {
    if anchor.is_empty() {
        url.to_owned()
    } else {
        format!("{url}#{anchor}")
    }
}
