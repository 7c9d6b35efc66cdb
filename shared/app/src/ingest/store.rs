//! Writes the new version aside and switches to it.
//!
//! What can fail here fails before the switch or after it, never between: the switch is one statement. Clearing away old
//! versions comes last, and when it fails the next run does it.

use adapters::postgres::store::{
    Carried, ChunkRow, Content, DocumentRow, Version, begin, current, discard as drop_outdated,
    index, prune_embeddings, switch as switch_to, write,
};
use adapters::postgres::{Client, store::StoreError};

use super::embed::Complete;
use super::report::{Outcome, Report, Stopwatch, Unreadable};
use super::{IngestContext, IngestError};

/// A version that is written and not yet seen.
pub(super) struct Stored {
    corpus: String,
    version: i64,
    replaces: Option<i64>,
    embedded: usize,
    unreadable: Vec<Unreadable>,
}

/// A version that answers.
pub(super) struct Switched {
    pub(super) version: Version,
    embedded: usize,
    unreadable: Vec<Unreadable>,
}

impl Switched {
    pub(super) fn report(self, mut clock: Stopwatch) -> Report {
        clock.lap("publish");
        Report {
            outcome: Outcome::Switched,
            version: Some(self.version.id),
            pages: self.version.documents,
            chunks: self.version.chunks,
            embedded: self.embedded,
            unreadable: self.unreadable,
            seconds: clock.laps(),
        }
    }
}

/// Writes the version.
pub(super) async fn store(
    ctx: &IngestContext,
    client: &mut Client,
    complete: Complete,
) -> Result<Stored, IngestError> {
    let Complete { changed, embedded } = complete;
    let mut chunks: Vec<ChunkRow> = Vec::new();
    let mut documents = Vec::new();
    for mut page in changed.pages {
        chunks.append(&mut page.chunks);
        documents.push((page.document, page.content_hash));
    }
    let rows: Vec<_> = documents
        .iter()
        .map(|(document, content_hash)| DocumentRow {
            document,
            content_hash: *content_hash,
        })
        .collect();
    let content = Content {
        documents: &rows,
        chunks: &chunks,
        carried: changed
            .current
            .filter(|_| !changed.carried.is_empty())
            .map(|from| Carried {
                from,
                documents: &changed.carried,
            }),
    };
    let version = begin(client, &changed.description).await?;
    write(client, version, &changed.description, &content).await?;
    index(
        client,
        version,
        &changed.description,
        ctx.limits.exact_vectors,
    )
    .await?;
    Ok(Stored {
        corpus: changed.description.corpus,
        version,
        replaces: changed.current,
        embedded,
        unreadable: changed.unreadable,
    })
}

/// Lets questions be answered from the version, then clears away what is older than the one before.
pub(super) async fn switch(
    ctx: &IngestContext,
    client: &mut Client,
    stored: Stored,
) -> Result<Switched, IngestError> {
    switch_to(client, &stored.corpus, stored.replaces, stored.version).await?;
    discard(ctx, client, &stored.corpus).await;
    if let Err(error) = prune_embeddings(client).await {
        ctx.progress.note(&format!("old embeddings stay: {error}"));
    }
    let version = current(client, &stored.corpus)
        .await?
        .filter(|version| version.id == stored.version)
        .ok_or(StoreError::Superseded {
            corpus: stored.corpus,
        })?;
    Ok(Switched {
        version,
        embedded: stored.embedded,
        unreadable: stored.unreadable,
    })
}

/// Drops versions nobody reads any more. They cost space and nothing else, so a failure is only told.
pub(super) async fn discard(ctx: &IngestContext, client: &Client, corpus: &str) {
    if let Err(error) = drop_outdated(client, corpus).await {
        ctx.progress
            .note(&format!("an old version stays until the next run: {error}"));
    }
}
