//! Cuts the documents into chunks and names every text that needs a vector by its hash.
//!
//! The same document gives the same chunks with the same ids. Nothing is embedded here; [`super::embed`] does that for
//! the texts the cache does not know.

use std::collections::BTreeMap;

use adapters::postgres::store::{ChunkRow, Hash, LAYOUT};
use domain::chunk::{Chunk, ChunkPolicy, chunk_document};
use domain::document::Document;
use domain::names::exact_names;
use domain::sentence::split;
use sha2::{Digest, Sha256};

use super::IngestError;
use super::load::Loaded;
use super::report::Unreadable;

/// A sentence model reads 256 tokens; more of a long listing would not be read and only cost time.
const SENTENCE_WORDS: usize = 200;

/// A name in a heading says what the passage is about; the same weight as headings' other terms have.
const HEADING_WEIGHT: u32 = 2;

/// Raised when the embedded texts change in a way the other parts of [`chunker`] do not tell.
const EMBEDDED_TEXTS: u32 = 3;

/// The corpus as cut.
pub(super) struct Chunked {
    pub(super) pages: Vec<Page>,
    pub(super) unreadable: Vec<Unreadable>,
    /// See [`chunker`].
    pub(super) chunker: String,
}

/// One document, ready but for its vectors.
pub(super) struct Page {
    pub(super) document: Document,
    pub(super) content_hash: Hash,
    pub(super) chunks: Vec<ChunkRow>,
    /// Everything of it that has a vector, by hash.
    pub(super) texts: BTreeMap<Hash, String>,
}

/// Fingerprint of how text is cut and indexed, stored with a version.
#[must_use]
pub fn chunker(policy: ChunkPolicy) -> String {
    format!(
        "{}/texts-{EMBEDDED_TEXTS}/layout-{LAYOUT}",
        policy.fingerprint()
    )
}

/// Cuts every document.
pub(super) async fn chunk(policy: ChunkPolicy, loaded: Loaded) -> Result<Chunked, IngestError> {
    let Loaded {
        documents,
        unreadable,
    } = loaded;
    let pages = tokio::task::spawn_blocking(move || {
        documents
            .into_iter()
            .map(|document| page(document, policy))
            .collect()
    })
    .await?;
    Ok(Chunked {
        pages,
        unreadable,
        chunker: chunker(policy),
    })
}

fn page(document: Document, policy: ChunkPolicy) -> Page {
    let mut texts = BTreeMap::new();
    let chunks = chunk_document(&document, &policy)
        .into_iter()
        .map(|chunk| row(&document, chunk, &mut texts))
        .collect();
    Page {
        content_hash: content_hash(&document),
        document,
        chunks,
        texts,
    }
}

fn row(document: &Document, chunk: Chunk, texts: &mut BTreeMap<Hash, String>) -> ChunkRow {
    let mut keep = |text: String| {
        let hash = Hash::from(Sha256::digest(text.as_bytes()));
        texts.entry(hash).or_insert(text);
        hash
    };
    let sentences = split(&chunk);
    let slice = Slicer::new(&chunk.text);
    let sentence_hashes = sentences
        .iter()
        .map(|sentence| keep(first_words(slice.scalars(sentence.start, sentence.end)).to_owned()))
        .collect();
    let heading_hash = keep(first_words(&chunk.heading.join(", ")).to_owned());
    let mut names = BTreeMap::new();
    for (text, weight) in [
        (&chunk.text, 1),
        (&chunk.heading.join("\n"), HEADING_WEIGHT),
    ] {
        for name in exact_names(text) {
            *names.entry(name.text).or_default() += weight;
        }
    }
    ChunkRow {
        id: chunk_id(&document.id, &chunk),
        document: document.id.clone(),
        metadata: document.metadata.clone(),
        chunk,
        sentences,
        sentence_hashes,
        heading_hash,
        names,
    }
}

/// The text up to the end of its [`SENTENCE_WORDS`]th word.
fn first_words(text: &str) -> &str {
    let end = text
        .split_whitespace()
        .nth(SENTENCE_WORDS - 1)
        // The word is a slice of the text, so its end is an offset into it.
        .map_or(text.len(), |word| {
            word.as_ptr() as usize - text.as_ptr() as usize + word.len()
        });
    &text[..end]
}

/// 63 bits of a hash of place and text: stable as long as both are, and never negative.
fn chunk_id(document: &str, chunk: &Chunk) -> i64 {
    let mut hash = Sha256::new();
    hash.update(document);
    hash.update([0]);
    hash.update(chunk.ordinal.to_be_bytes());
    hash.update(&chunk.text);
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize()[..8]);
    i64::from_be_bytes(first) & i64::MAX
}

fn content_hash(document: &Document) -> Hash {
    let mut hash = Sha256::new();
    // A document is strings, numbers and maps of strings, which always serialise.
    hash.update(serde_json::to_vec(document).unwrap_or_default());
    hash.finalize().into()
}

/// Slices of a text by scalars.
struct Slicer<'a> {
    text: &'a str,
    bytes: Vec<usize>,
}

impl<'a> Slicer<'a> {
    fn new(text: &'a str) -> Self {
        let bytes = text
            .char_indices()
            .map(|(byte, _)| byte)
            .chain([text.len()])
            .collect();
        Self { text, bytes }
    }

    fn scalars(&self, start: usize, end: usize) -> &'a str {
        let byte = |scalar: usize| self.bytes.get(scalar).copied().unwrap_or(self.text.len());
        &self.text[byte(start)..byte(end)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_long_texts_after_a_word() {
        assert_eq!(first_words("a b"), "a b");
        assert_eq!(first_words(""), "");
        let long = "wörd ".repeat(SENTENCE_WORDS + 50);
        assert_eq!(
            first_words(&long).split_whitespace().count(),
            SENTENCE_WORDS
        );
        let exact = "wörd ".repeat(SENTENCE_WORDS);
        assert_eq!(first_words(&exact), exact.trim_end());
    }

    #[test]
    fn slices_by_scalars() {
        let slice = Slicer::new("häuſer");
        assert_eq!(slice.scalars(1, 4), "äuſ");
        assert_eq!(slice.scalars(4, 99), "er");
    }
}
