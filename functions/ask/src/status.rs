//! What the service says of itself. Made of the configuration and a few items in DynamoDB, so that it wakes no Postgres.

use app::ask::event::Quota;
use app::clock;
use app::context::Context;
use app::error::ApiError;
use domain::mode::Mode;
use domain::quota::Remaining;
use domain::visitor::Address;
use serde::Serialize;

/// The body of `GET /api/status`.
#[derive(Debug, Serialize)]
pub(crate) struct Status {
    mode: &'static str,
    corpus: CorpusStatus,
    providers: Providers,
    /// This visitor's; what is left is null when the counters cannot be read, and nothing while no questions are taken.
    quota: Quota,
}

#[derive(Debug, Serialize)]
struct CorpusStatus {
    name: String,
    title: String,
    /// The documentation's own version.
    version: String,
    /// Number of the stored version that answers, as in `done`.
    corpus_version: i64,
    licence: String,
    /// Where the documents are read; null when this service shows them itself.
    base_url: Option<String>,
    pages: u64,
    chunks: u64,
    built_at: String,
    embedding_model: String,
    dimensions: usize,
}

#[derive(Debug, Serialize)]
struct Providers {
    embedder: &'static str,
    reranker: &'static str,
    generator: &'static str,
}

/// The status as the visitor at `address` sees it.
///
/// # Errors
/// [`ApiError::Unavailable`] when the mode or the corpus item cannot be read.
pub(crate) async fn status(context: &Context, address: Address) -> Result<Status, ApiError> {
    let mode = context.mode().await?;
    let corpus = context.corpus().await?;
    let models = &context.config.models;
    Ok(Status {
        mode: mode.name(),
        corpus: CorpusStatus {
            name: corpus.name.clone(),
            title: corpus.title.clone(),
            version: corpus.label.clone(),
            corpus_version: corpus.version,
            licence: corpus.licence.clone(),
            base_url: corpus.base_url.clone(),
            pages: corpus.pages,
            chunks: corpus.chunks,
            built_at: corpus.built_at.clone(),
            embedding_model: corpus.embedding_model.clone(),
            dimensions: corpus.dimensions,
        },
        providers: Providers {
            embedder: models.embedder.name(),
            reranker: models.reranker.name(),
            generator: models.generator.name(),
        },
        quota: match mode {
            Mode::Live => left(context, address).await,
            Mode::ReadOnly | Mode::Off => nothing_left(context),
        },
    })
}

async fn left(context: &Context, address: Address) -> Quota {
    match app::admit::remaining(context, address).await {
        Ok(quota) => quota,
        Err(error) => {
            if let Some(cause) = error.cause() {
                tracing::warn!("the status is without a quota: {cause:#}");
            }
            Quota::of(context.quota.limits(), None, clock::today())
        }
    }
}

fn nothing_left(context: &Context) -> Quota {
    let nothing = Remaining {
        visitor: 0,
        global: 0,
    };
    Quota::of(context.quota.limits(), Some(nothing), clock::today())
}
