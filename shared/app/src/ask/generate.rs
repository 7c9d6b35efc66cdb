//! Writes the answer, sentence by claimed sentence. Nothing written here is shown before [`super::verify`] passed it.

use domain::citation::ClaimedSentence;
use domain::extract::{AnswerLimits, Source, extract};
use tokio::time::Instant;

use super::failure::Stopped;
use super::judge::Relevant;
use super::rerank::{Ranked, label};
use super::run::Run;

/// An answer as written.
#[derive(Debug)]
pub struct Draft {
    /// The passages it was written from.
    pub ranked: Ranked,
    /// Its sentences, unverified.
    pub sentences: Vec<ClaimedSentence>,
}

/// Answers with the passages' own sentences.
pub(super) async fn generate(relevant: Relevant, run: &mut Run<'_>) -> Result<Draft, Stopped> {
    let started = Instant::now();
    let Relevant { ranked } = relevant;
    let labels: Vec<String> = (0..ranked.passages.len()).map(label).collect();
    let sources: Vec<Source<'_>> = ranked
        .passages
        .iter()
        .zip(&labels)
        .map(|(scored, label)| Source {
            label,
            text: &scored.evidence.text,
            sentences: &scored.sentences,
        })
        .collect();
    let sentences = extract(&sources, &AnswerLimits::default());
    run.ended("generate", started).await?;
    Ok(Draft { ranked, sentences })
}
