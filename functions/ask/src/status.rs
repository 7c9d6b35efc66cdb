//! What the service says of itself. Made of the configuration and the corpus item alone, so it wakes no Postgres.

use adapters::dynamodb::corpus::Corpus;
use app::ask::event::Quota;
use app::config::Config;
use serde::Serialize;

/// The body of `GET /api/status`.
#[derive(Debug, Serialize)]
pub(crate) struct Status<'a> {
    mode: &'static str,
    corpus: CorpusStatus<'a>,
    providers: Providers,
    /// Nothing is counted yet: null limits are unlimited.
    quota: Quota,
}

#[derive(Debug, Serialize)]
struct CorpusStatus<'a> {
    name: &'a str,
    title: &'a str,
    /// The documentation's own version.
    version: &'a str,
    /// Number of the stored version that answers, as in `done`.
    corpus_version: i64,
    licence: &'a str,
    /// Where the documents are read; null when this service shows them itself.
    base_url: Option<&'a str>,
    pages: u64,
    chunks: u64,
    built_at: &'a str,
    embedding_model: &'a str,
    dimensions: usize,
}

#[derive(Debug, Serialize)]
struct Providers {
    embedder: &'static str,
    reranker: &'static str,
    generator: &'static str,
}

/// The status of a service with this configuration and corpus.
pub(crate) fn status<'a>(config: &Config, corpus: &'a Corpus) -> Status<'a> {
    Status {
        mode: config.mode().name(),
        corpus: CorpusStatus {
            name: &corpus.name,
            title: &corpus.title,
            version: &corpus.label,
            corpus_version: corpus.version,
            licence: &corpus.licence,
            base_url: corpus.base_url.as_deref(),
            pages: corpus.pages,
            chunks: corpus.chunks,
            built_at: &corpus.built_at,
            embedding_model: &corpus.embedding_model,
            dimensions: corpus.dimensions,
        },
        providers: Providers {
            embedder: config.models.embedder.name(),
            reranker: config.models.reranker.name(),
            generator: config.models.generator.name(),
        },
        quota: Quota::default(),
    }
}
