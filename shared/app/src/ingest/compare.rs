//! Compares what was read with the version that answers now: is there anything to do, and what of it must stay.
//!
//! A page that cannot be read keeps its stored chunks, which only fit a version of the same model and chunker. Nothing is
//! written here.

use std::collections::{BTreeMap, HashSet};

use adapters::postgres::Client;
use adapters::postgres::store::{Description, Version, document_hashes};
use adapters::sources::Manifest;
use sha2::{Digest, Sha256};

use super::chunk::{Chunked, Page};
use super::report::{Outcome, Report, Stopwatch, Unreadable};
use super::{IngestContext, IngestError};

/// What the comparison came to.
pub(super) enum Compared {
    /// The current version is what would be built.
    Unchanged(Unchanged),
    /// A new version is due.
    Changed(Changed),
}

/// The current version stays.
pub(super) struct Unchanged {
    pub(super) version: Version,
    unreadable: Vec<Unreadable>,
}

impl Unchanged {
    pub(super) fn report(self, clock: Stopwatch) -> Report {
        Report {
            outcome: Outcome::Unchanged,
            version: Some(self.version.id),
            pages: self.version.documents,
            chunks: self.version.chunks,
            embedded: 0,
            unreadable: self.unreadable,
            seconds: clock.laps(),
        }
    }
}

/// A version to build.
pub(super) struct Changed {
    pub(super) description: Description,
    pub(super) pages: Vec<Page>,
    pub(super) carried: Vec<String>,
    pub(super) unreadable: Vec<Unreadable>,
    /// The version to replace.
    pub(super) current: Option<i64>,
}

/// Compares the corpus as cut with `current`.
pub(super) async fn compare(
    ctx: &IngestContext,
    client: &Client,
    manifest: &Manifest,
    current: Option<Version>,
    chunked: Chunked,
) -> Result<Compared, IngestError> {
    let Chunked {
        pages,
        unreadable,
        chunker,
    } = chunked;
    for page in &unreadable {
        ctx.progress.note(&format!("cannot read {page}"));
    }
    let kept = match &current {
        Some(version) if !unreadable.is_empty() => kept(
            document_hashes(client, version.id).await?,
            &pages,
            &unreadable,
        ),
        _ => BTreeMap::new(),
    };
    if pages.is_empty() && kept.is_empty() {
        return Err(IngestError::Empty {
            corpus: manifest.name.clone(),
            unreadable,
        });
    }
    let mut description = Description {
        corpus: manifest.name.clone(),
        title: manifest.title.clone(),
        label: manifest.version.clone(),
        text_search: manifest.text_search.clone(),
        embedding_model: ctx.embedder.model().to_owned(),
        dimensions: ctx.embedder.dimensions(),
        chunker,
        fingerprint: String::new(),
    };
    description.fingerprint = fingerprint(&description, &pages, &kept);
    match current {
        Some(version) if version.description == description => Ok(Compared::Unchanged(Unchanged {
            version,
            unreadable,
        })),
        Some(version) if !kept.is_empty() && !fits(&version.description, &description) => {
            Err(IngestError::Blocked { unreadable })
        }
        current => Ok(Compared::Changed(Changed {
            description,
            pages,
            carried: kept.into_keys().collect(),
            unreadable,
            current: current.map(|version| version.id),
        })),
    }
}

/// Which stored documents stay as they are: those whose page cannot be read. Where a page does not tell which documents
/// it would have given, every stored one that was not read is kept; the next whole run clears up.
fn kept(
    mut stored: BTreeMap<String, Vec<u8>>,
    pages: &[Page],
    unreadable: &[Unreadable],
) -> BTreeMap<String, Vec<u8>> {
    let named: HashSet<&str> = unreadable
        .iter()
        .filter_map(|page| page.document.as_deref())
        .collect();
    let all_named = unreadable.iter().all(|page| page.document.is_some());
    for page in pages {
        stored.remove(&page.document.id);
    }
    stored.retain(|id, _| !all_named || named.contains(id.as_str()));
    stored
}

/// Whether chunks and vectors of one version can stand in the other.
fn fits(old: &Description, new: &Description) -> bool {
    (&old.embedding_model, old.dimensions, &old.chunker)
        == (&new.embedding_model, new.dimensions, &new.chunker)
}

/// Of everything a version depends on. Parts are told apart by their lengths.
fn fingerprint(
    description: &Description,
    pages: &[Page],
    kept: &BTreeMap<String, Vec<u8>>,
) -> String {
    let mut documents: BTreeMap<&str, &[u8]> = kept
        .iter()
        .map(|(id, hash)| (id.as_str(), hash.as_slice()))
        .collect();
    documents.extend(
        pages
            .iter()
            .map(|page| (page.document.id.as_str(), page.content_hash.as_slice())),
    );
    let dimensions = description.dimensions.to_string();
    let parts = [
        &description.corpus,
        &description.title,
        &description.label,
        &description.text_search,
        &description.embedding_model,
        &dimensions,
        &description.chunker,
    ];
    let mut hash = Sha256::new();
    let mut update = |part: &[u8]| {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    };
    for part in parts {
        update(part.as_bytes());
    }
    for (id, content) in documents {
        update(id.as_bytes());
        update(content);
    }
    format!("{:x}", hash.finalize())
}
