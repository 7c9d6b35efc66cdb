//! Finds the sentences of a chunk: the unit that is scored, quoted and shown.
use serde::{Deserialize, Serialize};

/// One sentence, table row or code block of a chunk's text, `start..end` in Unicode scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// First scalar.
    pub start: usize,
    /// One past the last scalar.
    pub end: usize,
    /// How it may be shown.
    pub kind: SentenceKind,
}

/// How a [`Sentence`] may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SentenceKind {
    /// Running text.
    Prose,
    /// A whole preformatted block.
    Code,
    /// A table row.
    Row,
    /// A list item's or paragraph's name without a sentence of its own.
    Term,
}
