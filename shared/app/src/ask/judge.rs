//! Decides whether what was found is near enough to answer from. Refusing is a normal answer.

use domain::relevance::{RELEVANCE_THRESHOLD, relevance};

use super::rerank::Ranked;
use crate::context::Context;

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

/// The threshold in force: the configured one, else the measured one.
#[must_use]
pub fn threshold(ctx: &Context) -> f32 {
    ctx.config
        .models
        .relevance_threshold
        .unwrap_or(RELEVANCE_THRESHOLD)
}

/// Judges `ranked`. A threshold of 0 never abstains by score, but nothing can be answered from no passage.
#[must_use]
pub fn judge(ranked: Ranked, threshold: f32) -> Judged {
    if ranked.passages.is_empty() || relevance(ranked.signals) < threshold {
        Judged::Abstained(Abstained { ranked })
    } else {
        Judged::Relevant(Relevant { ranked })
    }
}
