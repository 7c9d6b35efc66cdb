//! Embeds the texts the cache does not know, page by page, and keeps each batch as soon as it is made.
//!
//! Known texts are never sent to the model again, whichever version or killed run they come from. Near the deadline no
//! further batch is begun.

use std::collections::HashSet;
use std::time::Duration;

use adapters::postgres::Client;
use adapters::postgres::store::{Hash, cache_key, keep_embeddings, known_embeddings};
use tokio::time::{Instant, timeout_at};

use super::chunk::Page;
use super::compare::Changed;
use super::report::{Outcome, Report, Stopwatch, Unreadable};
use super::{IngestContext, IngestError};

/// How far the embedding came.
pub(super) enum Embedded {
    /// Every text has its vector in the cache.
    Complete(Complete),
    /// The deadline was met first.
    Incomplete(Incomplete),
}

/// A version that only has to be stored.
pub(super) struct Complete {
    pub(super) changed: Changed,
    pub(super) embedded: usize,
}

/// What was done before the deadline.
pub(super) struct Incomplete {
    embedded: usize,
    remaining: usize,
    current: Option<i64>,
    pages: usize,
    chunks: usize,
    unreadable: Vec<Unreadable>,
}

impl Incomplete {
    pub(super) fn report(self, mut clock: Stopwatch) -> Report {
        clock.lap("embed");
        Report {
            outcome: Outcome::Incomplete {
                remaining: self.remaining,
            },
            version: self.current,
            pages: self.pages as u64,
            chunks: self.chunks as u64,
            embedded: self.embedded,
            unreadable: self.unreadable,
            seconds: clock.laps(),
        }
    }
}

/// Embeds what is new in `changed`.
pub(super) async fn embed(
    ctx: &IngestContext,
    client: &Client,
    changed: Changed,
    deadline: Option<Instant>,
) -> Result<Embedded, IngestError> {
    let key = cache_key(
        &changed.description.embedding_model,
        changed.description.dimensions,
    );
    let wanted: HashSet<Hash> = changed
        .pages
        .iter()
        .flat_map(|page| page.texts.keys().copied())
        .collect();
    let wanted: Vec<Hash> = wanted.into_iter().collect();
    let mut known = known_embeddings(client, &key, &wanted).await?;
    let total = wanted.len() - known.len();
    let mut budget = Budget::new(deadline);
    let mut embedded = 0;
    ctx.progress.embedding(total);
    for page in &changed.pages {
        let mut new = 0;
        for batch in batches(page, &known, ctx.limits.batch_texts) {
            let embedding = ctx.expenses.embed(&*ctx.embedder, &batch.texts);
            let Some(vectors) = budget.run(embedding).await else {
                ctx.progress.finished();
                return Ok(Embedded::Incomplete(Incomplete {
                    embedded,
                    remaining: total - embedded,
                    current: changed.current,
                    pages: changed.pages.len(),
                    chunks: changed.pages.iter().map(|page| page.chunks.len()).sum(),
                    unreadable: changed.unreadable,
                }));
            };
            let vectors = vectors?;
            keep_embeddings(client, &key, &batch.hashes, &vectors).await?;
            new += vectors.len();
            embedded += vectors.len();
            ctx.progress.embedded(vectors.len());
            known.extend(batch.hashes);
        }
        ctx.progress.page(&page.document.id, page.chunks.len(), new);
    }
    ctx.progress.finished();
    Ok(Embedded::Complete(Complete { changed, embedded }))
}

struct Batch {
    hashes: Vec<Hash>,
    texts: Vec<String>,
}

/// A page's unknown texts, those of similar length together: a batch costs what its longest text costs.
fn batches(page: &Page, known: &HashSet<Hash>, size: usize) -> Vec<Batch> {
    let mut new: Vec<_> = page
        .texts
        .iter()
        .filter(|(hash, _)| !known.contains(*hash))
        .collect();
    new.sort_by_key(|(_, text)| text.len());
    new.chunks(size.max(1))
        .map(|batch| Batch {
            hashes: batch.iter().map(|(hash, _)| **hash).collect(),
            texts: batch.iter().map(|(_, text)| (*text).clone()).collect(),
        })
        .collect()
}

/// The time left, in units of what one batch may take.
struct Budget {
    deadline: Option<Instant>,
    slowest: Duration,
}

impl Budget {
    fn new(deadline: Option<Instant>) -> Self {
        Self {
            deadline,
            slowest: Duration::ZERO,
        }
    }

    /// Runs one batch, or `None` when there is no time for it or it takes too long.
    async fn run<T>(&mut self, batch: impl Future<Output = T>) -> Option<T> {
        let started = Instant::now();
        let result = match self.deadline {
            None => batch.await,
            Some(deadline) if started + self.slowest >= deadline => return None,
            Some(deadline) => timeout_at(deadline, batch).await.ok()?,
        };
        self.slowest = self.slowest.max(started.elapsed());
        Some(result)
    }
}
