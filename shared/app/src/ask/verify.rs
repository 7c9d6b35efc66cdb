//! The gate: shows a sentence only when its quotes were found in the passages it names.
//!
//! Links are made here too, for a link to the words needs the words' place. What is shown is never taken back.

use std::collections::HashMap;

use adapters::postgres::retrieve::{Evidence, page_texts};
use adapters::provider::{ChatEvent, Finish, Phase, ProviderError};
use anyhow::Context as _;
use domain::canary::CanaryGuard;
use domain::citation::{Checked, Citation, RemovalReason, VerifiedSentence, Verifier};
use domain::fragment::Page;
use domain::gate::{End, Gate, GateLimits, Passage, Ruling};
use tokio::time::Instant;

use super::event::{self, CitationCounts, Event};
use super::failure::{Failure, Stopped};
use super::generate::{Draft, Extracted, Written};
use super::question::Ask;
use super::rerank::{Ranked, label};
use super::run::Run;
use crate::context::Context;

/// Words an answer may have.
pub const MOST_WORDS: usize = 250;

/// An answer as shown.
#[derive(Debug)]
pub struct Verified {
    /// The passages it cites.
    pub ranked: Ranked,
    /// The text of each shown sentence.
    pub shown: Vec<String>,
    /// Sentences that did not hold.
    pub removed: usize,
    /// Whether a note says that it is not the whole answer.
    pub noted: bool,
    /// Why it broke off, if it did.
    pub(super) broken: Option<Failure>,
    /// Its citations.
    pub citations: CitationCounts,
}

/// Checks each sentence and sends it, or why not.
pub(super) async fn verify(
    ctx: &Context,
    draft: Draft,
    ask: &Ask,
    run: &mut Run<'_>,
) -> Result<Verified, Stopped> {
    let started = Instant::now();
    let verified = match draft {
        Draft::Extracted(extracted) => all(*extracted, run).await?,
        Draft::Written(written) => as_written(ctx, *written, ask, run).await?,
    };
    run.ended("verify", started).await?;
    Ok(verified)
}

/// Checks the passages' own sentences.
async fn all(extracted: Extracted, run: &mut Run<'_>) -> Result<Verified, Stopped> {
    let Extracted { ranked, sentences } = extracted;
    let texts: Vec<&str> = ranked
        .passages
        .iter()
        .map(|scored| scored.evidence.text.as_str())
        .collect();
    let verifier = Verifier::new(&texts);
    let mut answer = Answer::new(ranked).await?;
    for claimed in sentences {
        match verifier.check(claimed) {
            Checked::Removed { index, reason } => answer.removed(index, reason, run).await?,
            Checked::Shown { sentence } => {
                if answer.words + words(&sentence) > MOST_WORDS {
                    answer.note("truncated", run).await?;
                    break;
                }
                answer.shown(&sentence, run).await?;
            }
        }
    }
    Ok(answer.verified)
}

/// Checks a model's sentences as they are written.
async fn as_written(
    ctx: &Context,
    written: Written,
    ask: &Ask,
    run: &mut Run<'_>,
) -> Result<Verified, Stopped> {
    let Written {
        ranked,
        mut stream,
        model,
        canary,
    } = written;
    let headings: Vec<String> = ranked
        .passages
        .iter()
        .map(|scored| scored.evidence.heading.join(" › "))
        .collect();
    let passages: Vec<Passage<'_>> = ranked
        .passages
        .iter()
        .zip(&headings)
        .map(|(scored, heading)| Passage {
            text: &scored.evidence.text,
            heading,
        })
        .collect();
    let mut gate = Gate::new(&passages, GateLimits { words: MOST_WORDS });
    let mut guard = CanaryGuard::new(&canary);
    let mut answer = Answer::new(ranked).await?;
    let end = loop {
        match stream.next().await {
            Some(Ok(ChatEvent::Text(text))) => {
                let text = guard.push(&text);
                if ask.draft && !text.is_empty() {
                    run.send(Event::Draft { text: text.clone() }).await?;
                }
                answer.rule(gate.push(&text), run).await?;
                if guard.leaked() {
                    tracing::warn!(
                        question.id = run.request_id(),
                        "the model recited its rules"
                    );
                    break End::Interrupted;
                }
                if gate.is_full() {
                    break End::Complete;
                }
            }
            Some(Ok(ChatEvent::Usage(_))) => {}
            Some(Ok(ChatEvent::Finished(Finish::Stop))) | None => break End::Complete,
            Some(Ok(ChatEvent::Finished(Finish::Length))) => break End::Truncated,
            Some(Err(error)) => {
                run.broke_off(&error);
                answer.verified.broken = Some(broken_by(&error));
                break End::Interrupted;
            }
        }
    };
    run.spent_on_chat(ctx, &model, stream.spent());
    let rest = guard.finish();
    if ask.draft && !rest.is_empty() {
        run.send(Event::Draft { text: rest.clone() }).await?;
    }
    answer.rule(gate.push(&rest), run).await?;
    answer.rule(gate.finish(end), run).await?;
    if end == End::Interrupted {
        answer.note("interrupted", run).await?;
    }
    Ok(answer.verified)
}

/// What a visitor is told of a text that broke off before a sentence of it held.
fn broken_by(error: &ProviderError) -> Failure {
    match error {
        ProviderError::Timeout(Phase::Deadline) => Failure::Deadline,
        ProviderError::Refused { .. } => Failure::Refused,
        ProviderError::Filtered { .. } => Failure::Filtered,
        _ => Failure::Provider,
    }
}

/// The answer as far as it is shown.
struct Answer {
    verified: Verified,
    pages: HashMap<String, Page>,
    words: usize,
}

impl Answer {
    async fn new(ranked: Ranked) -> Result<Self, Stopped> {
        Ok(Self {
            pages: pages(&ranked).await?,
            verified: Verified {
                shown: Vec::new(),
                removed: 0,
                noted: false,
                broken: None,
                citations: CitationCounts::default(),
                ranked,
            },
            words: 0,
        })
    }

    async fn rule(&mut self, rulings: Vec<Ruling>, run: &mut Run<'_>) -> Result<(), Stopped> {
        for ruling in rulings {
            match ruling {
                Ruling::Shown(sentence) => self.shown(&sentence, run).await?,
                Ruling::Removed { index, reason } => self.removed(index, reason, run).await?,
                Ruling::NotCovered => self.note("not_covered", run).await?,
                Ruling::Truncated => self.note("truncated", run).await?,
                // What was shown before stands; without anything shown the corpus's refusal is the answer.
                Ruling::NoAnswer => {}
            }
        }
        Ok(())
    }

    async fn shown(
        &mut self,
        sentence: &VerifiedSentence,
        run: &mut Run<'_>,
    ) -> Result<(), Stopped> {
        let verified = &mut self.verified;
        self.words += words(sentence);
        verified.citations.verified += sentence.citations().len();
        run.held(sentence.citations().len());
        verified.citations.dropped += sentence.dropped().len();
        for (_, reason) in sentence.dropped() {
            run.dropped(reason.as_str());
        }
        verified.shown.push(sentence.text().to_owned());
        let event = event(sentence, &verified.ranked, &self.pages);
        Ok(run.send(Event::Sentence(event)).await?)
    }

    async fn removed(
        &mut self,
        index: usize,
        reason: RemovalReason,
        run: &mut Run<'_>,
    ) -> Result<(), Stopped> {
        self.verified.removed += 1;
        let reason = reason.as_str();
        run.dropped(reason);
        Ok(run.send(Event::Removed { index, reason }).await?)
    }

    async fn note(&mut self, kind: &'static str, run: &mut Run<'_>) -> Result<(), Stopped> {
        self.verified.noted = true;
        Ok(run.send(Event::Note { kind }).await?)
    }
}

fn words(sentence: &VerifiedSentence) -> usize {
    sentence.text().split_whitespace().count()
}

/// The pages of the passages that may be cited, by document.
async fn pages(ranked: &Ranked) -> Result<HashMap<String, Page>, Stopped> {
    let mut documents: Vec<String> = ranked
        .passages
        .iter()
        .map(|scored| scored.evidence.document.clone())
        .collect();
    documents.sort();
    documents.dedup();
    let texts = page_texts(&ranked.client, ranked.served.version, &documents)
        .await
        .context("read the cited pages")
        .map_err(Failure::Unavailable)?;
    Ok(texts
        .into_iter()
        .map(|(document, text)| (document, Page::new(&text)))
        .collect())
}

fn event(
    sentence: &VerifiedSentence,
    ranked: &Ranked,
    pages: &HashMap<String, Page>,
) -> event::Sentence {
    let citations = sentence.citations().iter().map(|citation| {
        let evidence = &ranked.passages[citation.passage()].evidence;
        event::Citation {
            passage: label(citation.passage()),
            quote: citation.quote().to_owned(),
            start: citation.start(),
            end: citation.end(),
            url: source_url(citation, evidence, pages),
        }
    });
    let dropped = sentence
        .dropped()
        .iter()
        .map(|(passage, reason)| event::Dropped {
            passage: passage.clone(),
            reason: reason.as_str(),
        });
    event::Sentence {
        index: sentence.index(),
        text: sentence.text().to_owned(),
        kind: sentence.kind().as_str(),
        citations: citations.collect(),
        dropped: dropped.collect(),
    }
}

/// Opens the source at the words: at the last anchor before them, scrolled to their text.
fn source_url(citation: &Citation, evidence: &Evidence, pages: &HashMap<String, Page>) -> String {
    let anchor = evidence
        .anchors
        .iter()
        .take_while(|(offset, _)| *offset <= citation.start())
        .last()
        .map_or(evidence.anchor.as_str(), |(_, anchor)| anchor);
    match pages.get(&evidence.document) {
        Some(page) => page.source_url(
            &evidence.url,
            anchor,
            evidence.page_offset,
            citation.quote(),
        ),
        None => super::rerank::link(&evidence.url, anchor),
    }
}
