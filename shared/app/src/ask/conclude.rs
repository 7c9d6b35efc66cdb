//! Sums an answer up: the `done` event, but for what the visitor has left, and the one line the log keeps of it.

use std::collections::HashSet;

use super::event::{CitationCounts, Done, Nearest, Quota};
use super::failure::Stopped;
use super::judge::Abstained;
use super::rerank::{Ranked, link};
use super::run::Run;
use super::verify::Verified;

/// Headings a refusal names.
const NEAREST: usize = 3;

/// Ends a refusal.
pub(super) fn abstain(abstained: Abstained, run: &Run<'_>) -> Done {
    refusal(
        "abstained",
        &abstained.ranked,
        0,
        CitationCounts::default(),
        run,
    )
}

/// Ends an answer, or what is left of one.
pub(super) fn conclude(verified: Verified, run: &Run<'_>) -> Result<Done, Stopped> {
    let Verified {
        ranked,
        shown,
        removed,
        noted,
        broken,
        citations,
    } = verified;
    if shown.is_empty() {
        // That nothing came says nothing about the documentation.
        return match broken {
            Some(failure) => Err(failure.into()),
            None => Ok(refusal("unsupported", &ranked, removed, citations, run)),
        };
    }
    let outcome = if removed > 0 || noted {
        "partial"
    } else {
        "answered"
    };
    let mut done = done(outcome, shown.join(" "), &ranked, run);
    done.sentences = shown.len();
    done.removed = removed;
    done.citations = citations;
    Ok(logged(done))
}

fn refusal(
    outcome: &'static str,
    ranked: &Ranked,
    removed: usize,
    citations: CitationCounts,
    run: &Run<'_>,
) -> Done {
    let mut done = done(outcome, ranked.corpus.refusal.clone(), ranked, run);
    done.removed = removed;
    done.citations = CitationCounts {
        verified: 0,
        ..citations
    };
    done.nearest = Some(nearest(ranked));
    logged(done)
}

fn done(outcome: &'static str, answer: String, ranked: &Ranked, run: &Run<'_>) -> Done {
    Done {
        outcome,
        answer,
        sentences: 0,
        citations: CitationCounts::default(),
        removed: 0,
        nearest: None,
        usage: run.usage(),
        cost_usd: run.cost_usd(),
        degraded: run.degraded(),
        timings_ms: run.timings_ms(),
        quota: Quota::default(),
        corpus_version: ranked.served.version,
        request_id: run.request_id().to_owned(),
    }
}

/// The headings of the nearest passages, each once.
fn nearest(ranked: &Ranked) -> Vec<Nearest> {
    let mut seen = HashSet::new();
    ranked
        .passages
        .iter()
        .map(|scored| Nearest {
            heading: scored.evidence.heading.clone(),
            url: link(&scored.evidence.url, &scored.evidence.anchor),
        })
        .filter(|near| seen.insert(near.url.clone()))
        .take(NEAREST)
        .collect()
}

fn logged(done: Done) -> Done {
    tracing::info!(
        question.id = done.request_id,
        outcome = done.outcome,
        sentences.n = done.sentences,
        removed.n = done.removed,
        citations.verified = done.citations.verified,
        citations.dropped = done.citations.dropped,
        usage.input_tokens = done.usage.input_tokens,
        usage.output_tokens = done.usage.output_tokens,
        duration_ms = done.timings_ms.get("total").copied().unwrap_or_default(),
        corpus.version = done.corpus_version,
        degraded = done.degraded.join(","),
        "answered a question"
    );
    done
}
