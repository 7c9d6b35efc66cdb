//! Orders the candidates by their best sentence and their share of the question's terms, and keeps six.
//!
//! Local and free: the sentence vectors were made at ingest, so no model is asked. Without candidates there is nothing to
//! order and the question is refused by the judge. A remote reranker's order and scores take the place of the local ones;
//! when it fails, and with `RERANKER=none`, the fused order stands and no passage is given a score. The sentences are scored
//! all the same: relevance is then judged by them, and an extractive answer chosen.

use std::collections::HashSet;
use std::sync::Arc;

use adapters::dynamodb::corpus::Corpus;
use adapters::model::{RerankPassage, RerankUsage, Reranker};
use adapters::postgres::Client;
use adapters::postgres::retrieve::{Evidence, Served};
use domain::cost::Usage;
use domain::names::exact_names;
use domain::relevance::{
    AskedTerm, Heading, ScoredSentence, Seen, Signals, keyword_share, passage_probability,
    score_passage, score_sentences, signals,
};
use tokio::time::{Duration, Instant};

use super::event::{Event, Passage};
use super::failure::Stopped;
use super::question::Ask;
use super::retrieve::{Arms, Candidates};
use super::run::Run;
use crate::context::{Context, Reranking};

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
    /// Its score by its sentences and terms; see [`score_passage`].
    pub score: f32,
    /// A remote reranker's, 0 to 1, where it gave one.
    pub graded: Option<f32>,
}

/// Who ordered the passages, and what relevance is judged by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Order {
    /// The local reranker, by sentences.
    Sentences,
    /// A remote reranker, whose best score this is.
    Model {
        /// 0 to 1.
        best: f32,
    },
    /// The fusion: no passage has a score, and the sentences judge.
    Fused,
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
    /// Who ordered them.
    pub order: Order,
    /// What relevance is judged by.
    pub signals: Signals,
    /// The arms' own orders, for measuring them.
    pub arms: Arms,
}

/// Scores every sentence of every candidate and keeps the best passages.
pub(super) async fn rerank(
    ctx: &Context,
    candidates: Candidates,
    ask: &Ask,
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
    let scored = score(&asked, evidence, by_vector);
    let seen: Vec<Seen<'_>> = scored
        .iter()
        .map(|candidate| Seen {
            chunk: candidate.evidence.chunk,
            page: &candidate.evidence.document,
            sentences: &candidate.sentences,
        })
        .collect();
    let mut signals = signals(&asked, &seen, &[&arms.vector, &arms.keyword], unknown_name);
    if holds_operator {
        // Found letter for letter, and mute to a sentence model: what is covered judges.
        signals.best_sentence = scored
            .iter()
            .flat_map(|candidate| &candidate.sentences)
            .map(|sentence| OPERATOR_WORTH * sentence.coverage_in_place)
            .fold(signals.best_sentence, f32::max);
    }
    let (ordered, order) = match &ctx.reranker {
        Reranking::Local => by_sentences(scored),
        Reranking::Remote(reranker) if !scored.is_empty() => {
            by_model(ctx, &**reranker, scored, ask, run).await
        }
        Reranking::Remote(_) | Reranking::None => (scored, Order::Fused),
    };
    let passages = best(ordered);
    run.ended("rerank", started).await?;
    Ok(Ranked {
        corpus,
        client,
        served,
        passages,
        order,
        signals,
        arms,
    })
}

fn by_sentences(mut scored: Vec<Scored>) -> (Vec<Scored>, Order) {
    scored.sort_by(|a, b| b.score.total_cmp(&a.score));
    (scored, Order::Sentences)
}

/// The candidates in a remote reranker's order, or as they came when it failed.
async fn by_model(
    ctx: &Context,
    reranker: &dyn Reranker,
    scored: Vec<Scored>,
    ask: &Ask,
    run: &mut Run<'_>,
) -> (Vec<Scored>, Order) {
    let passages: Vec<RerankPassage> = scored
        .iter()
        .map(|candidate| RerankPassage {
            heading: candidate.evidence.heading.join(" › "),
            text: candidate.evidence.text.clone(),
        })
        .collect();
    // An answer without it is better than none: most of the time is the generator's.
    let deadline = ask.deadline.min(Instant::now() + RERANK_TIME);
    run.calls();
    let reranked = match reranker
        .rerank(ask.question.as_str(), &passages, deadline)
        .await
    {
        Ok(reranked) => reranked,
        Err(error) => {
            run.spent_on_failure(ctx, reranker.model(), &error);
            run.without("reranker", &error);
            return (scored, Order::Fused);
        }
    };
    match reranked.usage {
        RerankUsage::Chat(spent) => run.spent_on_chat(ctx, reranker.model(), spent),
        RerankUsage::Searches(calls) => run.spent(ctx, reranker.model(), Usage::rerank(calls)),
    }
    let mut waiting: Vec<Option<Scored>> = scored.into_iter().map(Some).collect();
    let mut ordered = Vec::with_capacity(waiting.len());
    for placed in reranked.order {
        if let Some(mut candidate) = waiting.get_mut(placed.index).and_then(Option::take) {
            candidate.graded = placed.score;
            ordered.push(candidate);
        }
    }
    let best = ordered
        .iter()
        .filter_map(|candidate| candidate.graded)
        .reduce(f32::max);
    let order = best.map_or(Order::Fused, |best| Order::Model { best });
    (ordered, order)
}

/// What a remote reranker may take of a question's time.
const RERANK_TIME: Duration = Duration::from_secs(8);

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
                score: score_passage(&sentences, keyword_share(asked, evidence.keyword_weight)),
                graded: None,
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
            score: match ranked.order {
                Order::Sentences => Some(passage_probability(scored.score)),
                Order::Model { .. } => scored.graded,
                Order::Fused => None,
            },
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
