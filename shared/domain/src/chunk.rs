//! Cuts sections into chunks of a token budget on block bounds.
use serde::{Deserialize, Serialize};
use crate::document::BlockKind;

/// A passage to be: a run of a section's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// Position within the document, from 0.
    pub ordinal: usize,
    /// The section's heading path.
    pub heading: Vec<String>,
    /// The section's anchor; empty when there is none.
    pub anchor: String,
    /// At most [`ChunkPolicy::max_tokens`] `o200k_base` tokens.
    pub text: String,
    /// Where the chunk's first scalar (after a repeated table header) stands in the document's `page_text`.
    pub page_offset: usize,
    /// Exact `o200k_base` count of `text`.
    pub tokens: usize,
    /// Stable anchors inside the chunk, as (scalar offset into `text`, id), ascending.
    pub anchors: Vec<(usize, String)>,
    /// The blocks (or parts of blocks) that make up `text`, as scalar ranges, ascending and without overlap.
    pub spans: Vec<Span>,
}

/// A run of one kind within a chunk's text, `start..end` in Unicode scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// What it is.
    pub kind: BlockKind,
    /// First scalar.
    pub start: usize,
    /// One past the last scalar.
    pub end: usize,
}
