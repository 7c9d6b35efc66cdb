//! Reads the pages a manifest lists, each by itself: one that cannot be read is reported and stops no other.
//!
//! Formats and folders are [`adapters::sources`]' matter. What leaves here can be stored as it is.

use adapters::sources::{Manifest, SourceError, load as read};
use domain::document::Document;

use super::IngestError;
use super::report::Unreadable;

/// The corpus as read.
pub(super) struct Loaded {
    pub(super) documents: Vec<Document>,
    pub(super) unreadable: Vec<Unreadable>,
}

/// Reads every page.
pub(super) async fn load(manifest: &Manifest) -> Result<Loaded, IngestError> {
    let manifest = manifest.clone();
    let pages = tokio::task::spawn_blocking(move || read(&manifest)).await?;
    let mut loaded = Loaded {
        documents: Vec::new(),
        unreadable: Vec::new(),
    };
    for page in pages {
        match page.map_err(unreadable).and_then(storable) {
            Ok(document) => loaded.documents.push(document),
            Err(page) => loaded.unreadable.push(page),
        }
    }
    Ok(loaded)
}

fn unreadable(error: SourceError) -> Unreadable {
    Unreadable {
        page: error.page,
        document: error.document,
        reason: error.problem.to_string(),
    }
}

/// Postgres cannot hold the character NUL. Parsers leave none in a page's text; metadata may have some.
fn storable(mut document: Document) -> Result<Document, Unreadable> {
    let clean = |text: &str| text.replace('\0', "");
    if document.id.contains('\0') || document.url.contains('\0') {
        return Err(Unreadable {
            page: clean(&document.id),
            document: None,
            reason: "has a NUL character in its id or URL".to_owned(),
        });
    }
    if document.title.contains('\0') {
        document.title = clean(&document.title);
    }
    if document
        .metadata
        .iter()
        .any(|(key, value)| key.contains('\0') || value.contains('\0'))
    {
        document.metadata = document
            .metadata
            .iter()
            .map(|(key, value)| (clean(key), clean(value)))
            .collect();
    }
    Ok(document)
}
