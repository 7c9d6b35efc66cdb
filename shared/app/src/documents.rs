//! Stored documents, for those who follow a citation: all that reaches Postgres without a question that was let in.
//!
//! Nobody is counted for reading, so what a process reads is bounded: what was read stays for a while, and only so many
//! documents are read a minute.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adapters::postgres::document::get_document;
use domain::document::Document;

use crate::clock;
use crate::context::Context;
use crate::error::ApiError;

/// Documents that a process keeps; the longest page of a manual is some hundred kilobytes.
const KEPT: usize = 16;
/// Reads a minute, of each process: more than a person opens, and nothing to keep a database awake for.
const READS_A_MINUTE: u32 = 60;

/// What a process has read, of one version of the corpus at a time.
#[derive(Debug, Default)]
pub(crate) struct Documents(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    version: i64,
    /// The latest last. Ids without a document are not kept: anybody can make them up.
    documents: VecDeque<Arc<Document>>,
    /// Minutes since 1970, and the reads in this one.
    minute: u64,
    reads: u32,
}

/// The stored document with this id in the current version.
///
/// # Errors
/// [`ApiError::Busy`] when this process has read enough for now, [`ApiError::Unavailable`] when the corpus or the database
/// cannot be read.
pub async fn document(ctx: &Context, id: &str) -> Result<Option<Arc<Document>>, ApiError> {
    let corpus = ctx.corpus().await?;
    if let Some(known) = ctx.documents.of(corpus.version).known(id) {
        return Ok(Some(known));
    }
    if !ctx.documents.of(corpus.version).may_read(clock::now_s()) {
        return Err(ApiError::Busy);
    }
    let unavailable =
        |error: anyhow::Error| ApiError::Unavailable(error.context("read a document"));
    let client = ctx
        .database()
        .await
        .map_err(|error| unavailable(error.into()))?;
    let read = get_document(&client, &corpus.name, id)
        .await
        .map_err(|error| unavailable(error.into()))?;
    Ok(read.map(|document| ctx.documents.of(corpus.version).keep(document)))
}

impl Documents {
    /// What is kept for `version`; what was kept for another is let go.
    fn of(&self, version: i64) -> MutexGuard<'_, Kept> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.version != version {
            kept.version = version;
            kept.documents.clear();
        }
        kept
    }
}

impl Kept {
    fn known(&self, id: &str) -> Option<Arc<Document>> {
        let mut kept = self.documents.iter();
        kept.find(|document| document.id == id).map(Arc::clone)
    }

    fn may_read(&mut self, now_s: u64) -> bool {
        let minute = now_s / 60;
        if self.minute != minute {
            (self.minute, self.reads) = (minute, 0);
        }
        self.reads += 1;
        self.reads <= READS_A_MINUTE
    }

    fn keep(&mut self, document: Document) -> Arc<Document> {
        if self.documents.len() == KEPT {
            self.documents.pop_front();
        }
        let document = Arc::new(document);
        self.documents.push_back(Arc::clone(&document));
        document
    }
}
