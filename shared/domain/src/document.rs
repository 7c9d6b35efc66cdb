//! A parsed source document: sections of blocks, whatever format they came from.
//!
//! Parsers in `adapters::sources` make these, [`crate::chunk`] cuts them. A document never holds text twice: a parent
//! section excludes its children's blocks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One document of a corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Unique within the corpus and stable across ingests: the page's file name (`runtime-config-wal.html`) or the path
    /// below the corpus folder without its extension (`policies/notice`).
    pub id: String,
    /// As shown to people: `19.5. Write Ahead Log`.
    pub title: String,
    /// Where people read it. Absolute for a corpus with a public base URL, `sources/ID` (relative to the service's root)
    /// otherwise.
    pub url: String,
    /// Filterable facts: front matter, JSONL metadata. All values are strings.
    pub metadata: BTreeMap<String, String>,
    /// The whole page as a browser renders it, navigation included: inline white space folded to one space, every block
    /// bound a `\n`, every table-cell bound a `\t`. Text fragments are made unique against this.
    pub page_text: String,
    /// In reading order.
    pub sections: Vec<Section>,
}

/// A run of blocks under one heading, without the blocks of its subsections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// From the page's title down to this section's own title.
    pub heading: Vec<String>,
    /// Fragment identifier of the section in its page, case kept; empty when the page gives none that is stable.
    pub anchor: String,
    /// Never empty of text; a section without blocks is context only and yields no chunk.
    pub blocks: Vec<Block>,
}

/// The smallest thing a chunk bound may fall between.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// What the block is.
    pub kind: BlockKind,
    /// Its text. Exactly `page_text[page_offset..]` for as many scalars: inline white space folded (kept in code), cells
    /// of a table row divided by `\t`, paragraphs inside one block by `\n`.
    pub text: String,
    /// A stable fragment identifier that starts at this block (`GUC-MAX-WAL-SIZE`), if there is one.
    pub anchor: Option<String>,
    /// Where the block starts in [`Document::page_text`], in Unicode scalars.
    pub page_offset: usize,
}

/// What a [`Block`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// A paragraph, a caption, an admonition's title.
    Prose,
    /// One item of a list, its number or bullet left out unless it is part of the text; nested items are own blocks.
    ListItem,
    /// The name a description follows: `max_wal_size (integer)`.
    Term,
    /// Preformatted text: a listing, a synopsis, output.
    Code,
    /// The header row of the table whose [`BlockKind::TableRow`]s follow.
    TableHeader,
    /// One row; never cut.
    TableRow,
}
