//! The gate: shows a sentence only when its quotes were found in the passages it names.
//!
//! Links are made here too, for a link to the words needs the words' place. What is shown is never taken back.

use std::collections::HashMap;

use adapters::postgres::retrieve::{Evidence, page_texts};
use anyhow::Context as _;
use domain::citation::{Checked, Citation, VerifiedSentence, Verifier};
use domain::fragment::Page;
use tokio::time::Instant;

use super::event::{self, CitationCounts, Event};
use super::failure::{Failure, Stopped};
use super::generate::Draft;
use super::rerank::{Ranked, label};
use super::run::Run;

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
    /// Whether it was cut at [`MOST_WORDS`].
    pub truncated: bool,
    /// Its citations.
    pub citations: CitationCounts,
}

/// Checks each sentence and sends it, or why not.
pub(super) async fn verify(draft: Draft, run: &mut Run<'_>) -> Result<Verified, Stopped> {
    let started = Instant::now();
    let Draft { ranked, sentences } = draft;
    let texts: Vec<&str> = ranked
        .passages
        .iter()
        .map(|scored| scored.evidence.text.as_str())
        .collect();
    let verifier = Verifier::new(&texts);
    let pages = pages(&ranked).await?;
    let mut verified = Verified {
        shown: Vec::new(),
        removed: 0,
        truncated: false,
        citations: CitationCounts::default(),
        ranked,
    };
    let mut words = 0;
    for claimed in sentences {
        match verifier.check(claimed) {
            Checked::Removed { index, reason } => {
                verified.removed += 1;
                let reason = reason.as_str();
                run.send(Event::Removed { index, reason }).await?;
            }
            Checked::Shown { sentence } => {
                words += sentence.text().split_whitespace().count();
                if words > MOST_WORDS {
                    verified.truncated = true;
                    run.send(Event::Note { kind: "truncated" }).await?;
                    break;
                }
                verified.citations.verified += sentence.citations().len();
                verified.citations.dropped += sentence.dropped().len();
                verified.shown.push(sentence.text().to_owned());
                let event = shown(&sentence, &verified.ranked, &pages);
                run.send(Event::Sentence(event)).await?;
            }
        }
    }
    run.ended("verify", started).await?;
    Ok(verified)
}

/// The cited documents' pages, by document.
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

fn shown(
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
