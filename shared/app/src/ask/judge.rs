//! Decides whether what was found is near enough to answer from. Refusing is a normal answer.
//!
//! A threshold belongs to the kind of score it was measured on: sentences have theirs, each remote reranker its own. When
//! the reranker failed, the sentences judge. An exact name that the corpus does not hold refuses whoever judges.

use domain::relevance::{RELEVANCE_THRESHOLD, relevance};

use super::rerank::{Order, Ranked};
use crate::config::Reranker;
use crate::context::Context;

/// Grades of a chat model: its prompt allows none above 0.4 where no passage answers.
const CHAT_THRESHOLD: f32 = 0.5;
/// Of rerankers of Cohere's kind; not measured here, so that `RELEVANCE_THRESHOLD` may have to be set.
const COHERE_THRESHOLD: f32 = 0.3;

/// The verdict.
#[derive(Debug)]
pub enum Judged {
    /// To be answered.
    Relevant(Relevant),
    /// To be refused.
    Abstained(Abstained),
}

/// Passages that are near enough.
#[derive(Debug)]
pub struct Relevant {
    /// The passages.
    pub ranked: Ranked,
}

/// Passages that are not.
#[derive(Debug)]
pub struct Abstained {
    /// The nearest there were.
    pub ranked: Ranked,
}

/// What must be reached, by the kind of score that is judged by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Of [`relevance`].
    pub sentences: f32,
    /// Of a remote reranker's best score.
    pub reranker: f32,
}

impl Thresholds {
    /// Those in force: the configured one, else the calibrated one, else the measured one. A configured one holds for the
    /// configured reranker's scores; when that one failed, the measured one holds for the sentences, unless nothing is to be
    /// refused by score at all.
    #[must_use]
    pub fn of(ctx: &Context) -> Self {
        let models = &ctx.config.models;
        let measured = match models.reranker {
            Reranker::Local | Reranker::None => RELEVANCE_THRESHOLD,
            Reranker::Chat(_) => CHAT_THRESHOLD,
            Reranker::Cohere(_) => COHERE_THRESHOLD,
        };
        let measured = ctx.calibrated.unwrap_or(measured);
        let reranker = models.relevance_threshold.unwrap_or(measured);
        let sentences = match models.reranker {
            Reranker::Local | Reranker::None => reranker,
            Reranker::Chat(_) | Reranker::Cohere(_) if reranker > 0.0 => RELEVANCE_THRESHOLD,
            Reranker::Chat(_) | Reranker::Cohere(_) => 0.0,
        };
        Self {
            sentences,
            reranker,
        }
    }
}

/// What `ranked` is judged by.
#[must_use]
pub fn judged_score(ranked: &Ranked) -> f32 {
    match ranked.order {
        Order::Model { best } if !ranked.signals.unknown_name => best,
        Order::Model { .. } | Order::Sentences | Order::Fused => relevance(ranked.signals),
    }
}

/// Judges `ranked`. A threshold of 0 never abstains by score, but nothing can be answered from no passage.
#[must_use]
pub fn judge(ranked: Ranked, thresholds: Thresholds) -> Judged {
    let threshold = match ranked.order {
        Order::Model { .. } => thresholds.reranker,
        Order::Sentences | Order::Fused => thresholds.sentences,
    };
    if ranked.passages.is_empty() || judged_score(&ranked) < threshold {
        Judged::Abstained(Abstained { ranked })
    } else {
        Judged::Relevant(Relevant { ranked })
    }
}
