//! Asks every question and compares what was found and shown with what is known.

use std::collections::HashMap;

use adapters::postgres::retrieve::all_chunks;
use anyhow::{Context as _, bail};
use app::ask::event::{Event, Sink};
use app::ask::question::{Ask, Question};
use app::ask::settle::Payer;
use app::ask::{ask, inspect};
use app::context::Context;
use app::suggest::operator;
use domain::fold::Folded;
use domain::relevance::relevance;
use tokio::time::{Duration, Instant};

use crate::dataset::Row;

/// Longer than any question takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// One question, measured.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) row: Row,
    /// Place of the first gold chunk, from 1: by vector, by keyword, fused, reranked.
    pub(crate) places: [Option<usize>; 4],
    /// The relevance that was judged.
    pub(crate) relevance: f32,
    /// What it was judged by: best sentences, unknown share, unknown name.
    pub(crate) signals: (f32, f32, bool),
    /// As in `done`, or the code of an `error`.
    pub(crate) outcome: String,
    /// Whether each shown sentence overlaps a gold quote, in order.
    pub(crate) overlaps: Vec<bool>,
    /// Whether a shown sentence holds the correction's quote, or lies in it.
    pub(crate) corrected: bool,
    /// Words shown.
    pub(crate) words: usize,
    /// Passages cited.
    pub(crate) passages: usize,
    /// Milliseconds by stage.
    pub(crate) timings_ms: HashMap<&'static str, f64>,
}

/// Measures every row, one at a time; also returns which questions the service refuses to take, and why.
pub(crate) async fn measure(
    ctx: &Context,
    rows: Vec<Row>,
) -> anyhow::Result<(Vec<Measured>, Vec<String>)> {
    let mut chunks: Option<(i64, Vec<(i64, String)>)> = None;
    let mut measured = Vec::new();
    let mut not_asked = Vec::new();
    for row in rows {
        let question = match Question::parse(&row.question) {
            Ok(question) => question,
            Err(error) => {
                not_asked.push(format!("{} ({error})", row.id));
                continue;
            }
        };
        let asked = Ask {
            question,
            filter: std::collections::BTreeMap::new(),
            draft: false,
            request_id: row.id.clone(),
            deadline: Instant::now() + PATIENCE,
        };
        let ranked = inspect(ctx, &asked).await.with_context(|| row.id.clone())?;
        let version = ranked.served.version;
        if chunks.as_ref().is_none_or(|(of, _)| *of != version) {
            let read = all_chunks(&ranked.client, version).await?;
            let folded = read
                .into_iter()
                .map(|(id, _, text)| (id, fold(&text)))
                .collect();
            chunks = Some((version, folded));
        }
        let gold: Vec<String> = row.gold.iter().map(|gold| fold(&gold.quote)).collect();
        let holders: Vec<i64> = chunks
            .iter()
            .flat_map(|(_, chunks)| chunks)
            .filter(|(_, text)| gold.iter().any(|quote| text.contains(quote.as_str())))
            .map(|(id, _)| *id)
            .collect();
        if !gold.is_empty() && holders.is_empty() {
            bail!("{}: no chunk holds a gold quote", row.id);
        }
        let reranked: Vec<i64> = ranked.passages.iter().map(|p| p.evidence.chunk).collect();
        let place = |order: &[i64]| {
            order
                .iter()
                .position(|id| holders.contains(id))
                .map(|n| n + 1)
        };
        let places = [
            place(&ranked.arms.vector),
            place(&ranked.arms.keyword),
            place(&ranked.arms.fused),
            place(&reranked),
        ];
        let signals = ranked.signals;
        let payer = operator(ctx).await.with_context(|| row.id.clone())?;
        let events = events(ctx, asked, payer).await;
        let read = read(row, places, signals, &events);
        if events.iter().any(|event| matches!(event, Event::Error(_))) {
            bail!("{}: the answer ended with {}", read.row.id, read.outcome);
        }
        measured.push(read);
    }
    Ok((measured, not_asked))
}

async fn events(ctx: &Context, asked: Ask, payer: Payer) -> Vec<Event> {
    let (sink, mut receiver) = Sink::channel(1);
    let collect = async {
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            events.push(event);
        }
        events
    };
    let answer = async {
        let sink = sink;
        // The reader outlives the answer, so it cannot be closed.
        let _ = ask(ctx, asked, payer, &sink).await;
    };
    tokio::join!(answer, collect).1
}

fn read(
    row: Row,
    places: [Option<usize>; 4],
    signals: domain::relevance::Signals,
    events: &[Event],
) -> Measured {
    let mut measured = Measured {
        places,
        relevance: relevance(signals),
        signals: (
            signals.best_sentences,
            signals.unknown_share,
            signals.unknown_name,
        ),
        outcome: String::new(),
        overlaps: Vec::new(),
        corrected: false,
        words: 0,
        passages: 0,
        timings_ms: HashMap::new(),
        row,
    };
    let mut cited: Vec<&str> = Vec::new();
    for event in events {
        match event {
            Event::Sentence(sentence) => {
                let quotes: Vec<String> =
                    sentence.citations.iter().map(|c| fold(&c.quote)).collect();
                let overlapping = |gold: &str| quotes.iter().any(|quote| overlap(quote, gold));
                measured.overlaps.push(
                    measured
                        .row
                        .gold
                        .iter()
                        .any(|gold| overlapping(&fold(&gold.quote))),
                );
                if let Some(correction) = &measured.row.correction {
                    let wanted = fold(&correction.quote);
                    measured.corrected |= quotes
                        .iter()
                        .any(|quote| quote.contains(&wanted) || wanted.contains(quote.as_str()));
                }
                measured.words += sentence.text.split_whitespace().count();
                cited.extend(sentence.citations.iter().map(|c| c.passage.as_str()));
            }
            Event::Done(done) => {
                done.outcome.clone_into(&mut measured.outcome);
                measured.timings_ms = done
                    .timings_ms
                    .iter()
                    .map(|(&stage, &ms)| (stage, ms))
                    .collect();
            }
            Event::Error(error) => error.code.clone_into(&mut measured.outcome),
            _ => {}
        }
    }
    cited.sort_unstable();
    cited.dedup();
    measured.passages = cited.len();
    measured
}

fn fold(text: &str) -> String {
    Folded::new(text).chars().iter().collect()
}

/// Whether two texts share a run of five words, or all of the shorter one.
fn overlap(a: &str, b: &str) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (
        a.split_whitespace().collect(),
        b.split_whitespace().collect(),
    );
    let run = 5.min(a.len()).min(b.len());
    run > 0
        && a.windows(run)
            .any(|words| b.windows(run).any(|other| words == other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_wants_a_run_of_words() {
        assert!(overlap(
            "it is the default of the server",
            "the default of the server"
        ));
        assert!(overlap("one two", "zero one two three"));
        assert!(!overlap(
            "the default of a server",
            "a server of the default"
        ));
        assert!(!overlap("", "a"));
    }
}
