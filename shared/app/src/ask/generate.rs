//! Writes the answer, sentence by claimed sentence. Nothing written here is shown before [`super::verify`] passed it.
//!
//! A model's answer begins here and is read on by the verification, as it is written. What fails before its first word is
//! answered for with the passages' own sentences: nobody has seen anything of the other answer yet.

use adapters::provider::{ChatRequest, ChatStream, ProviderError};
use domain::citation::ClaimedSentence;
use domain::extract::{AnswerLimits, Source, extract};
use domain::gate::{NO_ANSWER, NOT_COVERED};
use tokio::time::{Duration, Instant};

use super::failure::{Failure, Stopped};
use super::judge::Relevant;
use super::prompt::{Nonces, Signals, prompt};
use super::question::Ask;
use super::rerank::{Ranked, label};
use super::run::Run;
use crate::context::Context;

/// Room for 250 words with their quotes and marks, in the wordiest of languages.
pub(super) const MOST_OUTPUT_TOKENS: u32 = 1_200;

/// Kept back from the question's deadline, so that an answer that runs into it is ended and not cut off.
const ENDING: Duration = Duration::from_millis(750);

/// An answer as written.
pub enum Draft {
    /// The passages' own sentences, all of them.
    Extracted(Box<Extracted>),
    /// A model's text, of which the first word is here.
    Written(Box<Written>),
}

/// Sentences of passages.
#[derive(Debug)]
pub struct Extracted {
    /// The passages they were taken from.
    pub ranked: Ranked,
    /// The sentences, unverified.
    pub sentences: Vec<ClaimedSentence>,
}

/// A text on its way.
pub struct Written {
    /// The passages it was given.
    pub ranked: Ranked,
    /// The text.
    pub stream: ChatStream,
    /// The model that writes it.
    pub model: String,
    /// The word of its rules that must not come back.
    pub canary: String,
}

/// Answers with the configured generator, or with the passages' own sentences when that fails.
pub(super) async fn generate(
    ctx: &Context,
    relevant: Relevant,
    ask: &Ask,
    run: &mut Run<'_>,
) -> Result<Draft, Stopped> {
    let started = Instant::now();
    let Relevant { ranked } = relevant;
    let draft = match &ctx.chat {
        None => extracted(ranked),
        Some(model) => {
            let (mark, canary) = (nonce(), nonce());
            let signals = Signals {
                not_covered: NOT_COVERED,
                no_answer: NO_ANSWER,
            };
            let nonces = Nonces {
                mark: &mark,
                canary: &canary,
            };
            let prompt = prompt(&ranked, ask.question.as_str(), nonces, signals);
            let request = ChatRequest {
                system: prompt.system,
                user: prompt.user,
                max_output_tokens: MOST_OUTPUT_TOKENS,
                json: false,
            };
            let deadline = ask.deadline.checked_sub(ENDING).unwrap_or(ask.deadline);
            run.calls();
            match model.start(&request, deadline).await {
                Ok(stream) => {
                    run.began_writing();
                    Draft::Written(Box::new(Written {
                        ranked,
                        stream,
                        model: model.name().to_owned(),
                        canary,
                    }))
                }
                Err(error) => {
                    run.spent_on_failure(ctx, model.name(), &error);
                    match declined(&error) {
                        Some(failure) => return Err(failure.into()),
                        None => run.without("generator", &error),
                    }
                    extracted(ranked)
                }
            }
        }
    };
    run.ended("generate", started).await?;
    Ok(draft)
}

/// A model that will not answer is not answered for: a visitor is told.
fn declined(error: &ProviderError) -> Option<Failure> {
    match error {
        ProviderError::Refused { .. } => Some(Failure::Refused),
        ProviderError::Filtered { .. } => Some(Failure::Filtered),
        _ => None,
    }
}

fn extracted(ranked: Ranked) -> Draft {
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
    Draft::Extracted(Box::new(Extracted { ranked, sentences }))
}

/// 96 random bits as text: not to be guessed by whoever wrote a passage or a question.
fn nonce() -> String {
    let mut bytes = [0_u8; 12];
    // Without a source of randomness nothing else of the process would work either; the fence is then a constant one.
    let _ = getrandom::fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
