//! Builds one corpus version: manifest → load → chunk → compare → embed → store → switch → publish.
//!
//! Until the switch nobody sees anything of it, and whatever ends a run before leaves the old version whole. Embeddings
//! are kept as they are made, so the next run goes on where this one ended. Each stage is a module with one function of
//! its name; [`adapters::postgres::store`] holds the statements.

mod chunk;
mod compare;
mod embed;
mod expenses;
mod load;
pub mod progress;
mod publish;
mod report;
mod store;

use std::sync::Arc;
use std::time::Duration;

use adapters::dynamodb::ledger::LedgerError;
use adapters::dynamodb::{DynamoError, Table};
use adapters::model::{Embedder, ModelError};
use adapters::postgres::connect::{ConnectError, DatabaseUrl, connect};
use adapters::postgres::store::{EXACT_VECTORS, StoreError};
use adapters::postgres::{Client, store as versions};
use adapters::sources::Manifest;
use domain::chunk::ChunkPolicy;
use thiserror::Error;
use tokio::time::Instant;

pub use self::chunk::chunker;
pub use self::expenses::Expenses;
pub use self::report::{Outcome, Report, Unreadable};

use self::compare::Compared;
use self::embed::Embedded;
use self::progress::Progress;
use self::report::Stopwatch;

/// What an ingest works with.
pub struct IngestContext {
    /// A direct connection's URL: a lock is held over the whole run.
    pub database: DatabaseUrl,
    /// Where the corpus item is written.
    pub table: Table,
    /// Makes the vectors.
    pub embedder: Arc<dyn Embedder>,
    /// What they may cost.
    pub expenses: Expenses,
    /// Told how far the run is.
    pub progress: Arc<dyn Progress>,
    /// Sizes and waits.
    pub limits: IngestLimits,
}

/// Sizes and waits of an ingest.
#[derive(Debug, Clone, Copy)]
pub struct IngestLimits {
    /// How chunks are cut.
    pub chunks: ChunkPolicy,
    /// Texts embedded and kept at once: what a kill can lose, against what a model does well in one go.
    pub batch_texts: usize,
    /// How long another run of the same corpus is waited for.
    pub lock_wait: Duration,
    /// From this many vectors on they are indexed.
    pub exact_vectors: i64,
}

impl Default for IngestLimits {
    fn default() -> Self {
        Self {
            chunks: ChunkPolicy::default(),
            batch_texts: 256,
            lock_wait: Duration::from_secs(10),
            exact_vectors: EXACT_VECTORS,
        }
    }
}

/// Why a run ended without a new version, or without telling of it. The old version answers on in every case.
#[derive(Debug, Error)]
pub enum IngestError {
    /// The database is not reachable.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// Another run holds the corpus, or the database refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model gave nothing usable. What it gave before is kept.
    #[error("embed the corpus")]
    Model(#[from] ModelError),
    /// The operator's ledger does not cover it. What was embedded before is kept.
    #[error("embed the corpus")]
    Expenses(#[from] LedgerError),
    /// There is not one page to build a version from.
    #[error("{corpus} has no readable page: {}", first(.unreadable))]
    Empty {
        /// Which corpus.
        corpus: String,
        /// What was wrong with each page.
        unreadable: Vec<Unreadable>,
    },
    /// Pages cannot be read and their stored chunks do not fit the new version.
    #[error("the model or the chunker changed and {} cannot be read, so nothing was switched", first(.unreadable))]
    Blocked {
        /// What was wrong with each page.
        unreadable: Vec<Unreadable>,
    },
    /// The version is live but its item was not written. The next run writes it.
    #[error("version {version} is live, but its item was not written; run the ingest again")]
    Publish {
        /// Which version.
        version: i64,
        /// Why.
        #[source]
        source: DynamoError,
    },
    /// A stage panicked.
    #[error("prepare the pages")]
    Panicked(#[from] tokio::task::JoinError),
}

fn first(unreadable: &[Unreadable]) -> String {
    match unreadable {
        [] => "none is listed".to_owned(),
        [page] => page.to_string(),
        [page, rest @ ..] => format!("{page} (and {} more)", rest.len()),
    }
}

/// Brings the corpus of `manifest` up to date, or as far as `deadline` lets it.
///
/// # Errors
/// [`IngestError`]; the version that answered before answers on.
pub async fn ingest(
    ctx: &IngestContext,
    manifest: &Manifest,
    deadline: Option<Instant>,
) -> Result<Report, IngestError> {
    let mut clock = Stopwatch::start();
    let mut client = open(ctx, manifest).await?;
    let current = versions::current(&client, &manifest.name).await?;

    let loaded = load::load(manifest).await?;
    clock.lap("load");
    let chunked = chunk::chunk(ctx.limits.chunks, loaded).await?;
    clock.lap("chunk");
    let changed = match compare::compare(ctx, &client, manifest, current, chunked).await? {
        Compared::Unchanged(current) => {
            publish::publish(ctx, manifest, &current.version).await?;
            return Ok(current.report(clock));
        }
        Compared::Changed(changed) => changed,
    };
    let complete = match embed::embed(ctx, &client, changed, deadline).await? {
        Embedded::Incomplete(incomplete) => return Ok(incomplete.report(clock)),
        Embedded::Complete(complete) => complete,
    };
    clock.lap("embed");
    let stored = store::store(ctx, &mut client, complete).await?;
    clock.lap("store");
    let switched = store::switch(ctx, &mut client, stored).await?;
    clock.lap("switch");
    publish::publish(ctx, manifest, &switched.version).await?;
    Ok(switched.report(clock))
}

/// Takes the corpus and clears away what an earlier run may have left.
async fn open(ctx: &IngestContext, manifest: &Manifest) -> Result<Client, IngestError> {
    let client = connect(&ctx.database).await?;
    versions::lock(&client, &manifest.name, ctx.limits.lock_wait).await?;
    versions::check_text_search(&client, &manifest.text_search).await?;
    store::discard(ctx, &client, &manifest.name).await;
    Ok(client)
}
