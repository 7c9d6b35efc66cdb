//! Tells the parts that never wake Postgres which version answers: the corpus item in DynamoDB.
//!
//! It is written when it differs, also when nothing was rebuilt: that repairs a run that ended between the switch and
//! this.

use adapters::dynamodb::corpus::{Corpus, get_corpus, put_corpus};
use adapters::dynamodb::{DynamoError, Table};
use adapters::postgres::store::Version;
use adapters::sources::Manifest;

use super::{IngestContext, IngestError};

/// Writes the item of `version`.
pub(super) async fn publish(
    ctx: &IngestContext,
    manifest: &Manifest,
    version: &Version,
) -> Result<(), IngestError> {
    let corpus = Corpus {
        name: manifest.name.clone(),
        title: manifest.title.clone(),
        label: manifest.version.clone(),
        licence: manifest.licence.clone(),
        refusal: manifest.refusal.clone(),
        base_url: manifest.base_url.clone(),
        version: version.id,
        pages: version.documents,
        chunks: version.chunks,
        built_at: version.built_at.clone(),
        embedding_model: version.description.embedding_model.clone(),
        dimensions: version.description.dimensions,
    };
    write_if_different(&ctx.table, &corpus)
        .await
        .map_err(|source| IngestError::Publish {
            version: version.id,
            source,
        })
}

async fn write_if_different(table: &Table, corpus: &Corpus) -> Result<(), DynamoError> {
    // An item of another form is replaced too.
    let same = match get_corpus(table, &corpus.name).await {
        Ok(stored) => stored.as_ref() == Some(corpus),
        Err(DynamoError::Malformed { .. }) => false,
        Err(error) => return Err(error),
    };
    if same {
        return Ok(());
    }
    put_corpus(table, corpus).await
}
