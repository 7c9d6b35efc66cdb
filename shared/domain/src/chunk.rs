//! Cuts sections into chunks of a token budget on block bounds.
//!
//! A section's text is its blocks joined by one `\n` each, whatever their kind; a chunk is a contiguous run of that text,
//! after a table's repeated header row where it continues one. So the chunks of a section, minus overlaps and repeated
//! headers, are the section again, word for word. No chunk is ever over the budget, empty, or a part of the one before
//! it. Sections come from [`crate::document`]; [`crate::sentence`] divides a chunk further.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::document::{Block, BlockKind, Document, Section};
use crate::sentence::prose_sentences;
use crate::tokens;

/// Raised whenever the same document and policy would give other chunks than before: stored chunks are then rebuilt.
const CHUNKER: &str = "1";

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
    /// Whether the text begins inside a sentence, which stands whole in the chunk before: an overlap that came to its limit.
    pub torn_head: bool,
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

/// How large chunks are, in `o200k_base` tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPolicy {
    min_tokens: usize,
    max_tokens: usize,
    overlap_tokens: usize,
}

/// Why a [`ChunkPolicy`] was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ChunkPolicyError {
    /// A chunk must hold at least one scalar, which can take several tokens.
    #[error("max_tokens is {0}, it must be at least {SMALLEST_MAX}")]
    MaxTooSmall(usize),
    /// Nothing could be between the two.
    #[error("min_tokens is {min}, it must be between 1 and max_tokens ({max})")]
    MinOutOfRange {
        /// The minimum asked for.
        min: usize,
        /// The maximum it has to respect.
        max: usize,
    },
    /// Chunks would never advance.
    #[error("overlap_tokens is {overlap}, it must be less than max_tokens ({max})")]
    OverlapTooLarge {
        /// The overlap asked for.
        overlap: usize,
        /// The maximum it has to stay below.
        max: usize,
    },
}

/// The smallest budget that any scalar fits with room to spare.
const SMALLEST_MAX: usize = 16;

impl ChunkPolicy {
    /// A policy, if chunks can be cut by it.
    ///
    /// # Errors
    ///
    /// The bound that makes it impossible.
    pub fn new(
        min_tokens: usize,
        max_tokens: usize,
        overlap_tokens: usize,
    ) -> Result<Self, ChunkPolicyError> {
        if max_tokens < SMALLEST_MAX {
            return Err(ChunkPolicyError::MaxTooSmall(max_tokens));
        }
        if min_tokens == 0 || min_tokens > max_tokens {
            return Err(ChunkPolicyError::MinOutOfRange {
                min: min_tokens,
                max: max_tokens,
            });
        }
        if overlap_tokens >= max_tokens {
            return Err(ChunkPolicyError::OverlapTooLarge {
                overlap: overlap_tokens,
                max: max_tokens,
            });
        }
        Ok(Self {
            min_tokens,
            max_tokens,
            overlap_tokens,
        })
    }

    /// The size chunks of a divided section should have at least.
    #[must_use]
    pub fn min_tokens(&self) -> usize {
        self.min_tokens
    }

    /// The size no chunk exceeds.
    #[must_use]
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// What neighbouring chunks of one section share at most.
    #[must_use]
    pub fn overlap_tokens(&self) -> usize {
        self.overlap_tokens
    }

    /// Equal fingerprints mean equal chunks of equal documents.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        format!(
            "blocks-{CHUNKER}/o200k_base/{}-{}+{}",
            self.min_tokens, self.max_tokens, self.overlap_tokens
        )
    }
}

impl Default for ChunkPolicy {
    /// 500 to 800 tokens with 80 of overlap.
    fn default() -> Self {
        Self {
            min_tokens: 500,
            max_tokens: 800,
            overlap_tokens: 80,
        }
    }
}

/// The chunks of `document` in reading order. A section that fits the budget is one chunk, a larger one several.
#[must_use]
pub fn chunk_document(document: &Document, policy: &ChunkPolicy) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    for section in &document.sections {
        chunk_section(section, policy, &mut chunks);
    }
    chunks
}

fn chunk_section(section: &Section, policy: &ChunkPolicy, chunks: &mut Vec<Chunk>) {
    let layout = Layout::new(section);
    if layout.text.is_empty() {
        return;
    }
    if tokens::count(&layout.text) <= policy.max_tokens {
        chunks.push(layout.chunk(
            &Cut {
                range: 0..layout.text.len(),
                header: None,
            },
            0,
            chunks.len(),
        ));
        return;
    }
    let pieces = layout.pieces(policy);
    let mut before = 0;
    for cut in layout.plan(&pieces, policy) {
        chunks.push(layout.chunk(&cut, before, chunks.len()));
        before = cut.range.end;
    }
}

/// A section's blocks laid out as one text.
struct Layout<'a> {
    section: &'a Section,
    text: String,
    /// In the order of `text`, white-space blocks left out.
    placed: Vec<Placed<'a>>,
}

struct Placed<'a> {
    block: &'a Block,
    range: Range<usize>,
    /// For a row, the index in `placed` of its table's header.
    header: Option<usize>,
}

/// A run of text that is not divided further: what lies between two places a chunk may end.
struct Piece {
    range: Range<usize>,
    /// Index of its block in [`Layout::placed`].
    block: usize,
    /// Tokens of the text from the end of the piece before it, so that a run's size is the sum.
    tokens: usize,
}

/// What one chunk holds.
#[derive(Clone)]
struct Cut {
    range: Range<usize>,
    /// The header row to repeat before it.
    header: Option<usize>,
}

impl<'a> Layout<'a> {
    fn new(section: &'a Section) -> Self {
        let mut text = String::new();
        let mut placed: Vec<Placed<'a>> = Vec::new();
        let mut header = None;
        for block in &section.blocks {
            if block.text.trim().is_empty() {
                continue;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            let start = text.len();
            text.push_str(&block.text);
            match block.kind {
                BlockKind::TableHeader => header = Some(placed.len()),
                BlockKind::TableRow => {}
                _ => header = None,
            }
            let header = header.filter(|_| block.kind == BlockKind::TableRow);
            placed.push(Placed {
                block,
                range: start..text.len(),
                header,
            });
        }
        Self {
            section,
            text,
            placed,
        }
    }

    /// The blocks, those over the budget divided.
    fn pieces(&self, policy: &ChunkPolicy) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut end = 0;
        for (block, placed) in self.placed.iter().enumerate() {
            let size = tokens::count(&self.text[end..placed.range.end]);
            if size <= policy.max_tokens {
                pieces.push(Piece {
                    range: placed.range.clone(),
                    block,
                    tokens: size,
                });
                end = placed.range.end;
                continue;
            }
            let mut parts = Vec::new();
            divide(
                &self.text,
                placed.range.clone(),
                levels(placed.block.kind),
                policy,
                &mut parts,
            );
            for range in parts {
                let size = tokens::count(&self.text[end..range.end]);
                end = range.end;
                pieces.push(Piece {
                    range,
                    block,
                    tokens: size,
                });
            }
        }
        pieces
    }

    /// Chooses where chunks end, so that they are even and ends fall where a reader would pause.
    fn plan(&self, pieces: &[Piece], policy: &ChunkPolicy) -> Vec<Cut> {
        let sums = prefix_sums(pieces);
        let total = sums[pieces.len()];
        let (max, overlap) = (policy.max_tokens, policy.overlap_tokens);
        // Each chunk but the first spends some of its budget on the overlap.
        let chunks = total.saturating_sub(overlap).div_ceil(max - overlap).max(1);
        let even = (total + (chunks - 1) * overlap) as f64 / chunks as f64;
        let even = even.clamp(policy.min_tokens as f64, max as f64);

        let headers: Vec<usize> = pieces
            .iter()
            .map(|piece| self.header_tokens(piece, policy))
            .collect();
        let mut best = vec![f64::INFINITY; pieces.len() + 1];
        let mut from = vec![0; pieces.len() + 1];
        best[0] = 0.0;
        for start in 0..pieces.len() {
            if best[start].is_infinite() {
                continue;
            }
            let header = headers[start];
            for end in start + 1..=pieces.len() {
                let own = sums[end] - sums[start];
                if own > max && end > start + 1 {
                    break;
                }
                let shared = if start == 0 { 0 } else { overlap };
                let size = (own + header + shared).min(max) as f64;
                let cost = best[start]
                    + uneven(size, even, policy)
                    + if end < pieces.len() {
                        self.reluctance(&pieces[end - 1], &pieces[end])
                    } else {
                        0.0
                    }
                    + if own + header > max && header > 0 {
                        DROPPED_HEADER
                    } else {
                        0.0
                    }
                    + squeezed(own + header, shared, max);
                if cost < best[end] {
                    best[end] = cost;
                    from[end] = start;
                }
            }
        }
        let mut bounds = vec![pieces.len()];
        while let Some(&end) = bounds.last().filter(|&&end| end > 0) {
            bounds.push(from[end]);
        }
        bounds.reverse();

        let mut cuts = Vec::new();
        for run in bounds.windows(2) {
            self.fit(pieces, run[0]..run[1], policy, &mut cuts);
        }
        cuts
    }

    /// Adds the cut for `run`, as much overlap and the header as the exact count leaves room for. Sizes of pieces only
    /// nearly add up, so a run that turns out too large is halved.
    fn fit(&self, pieces: &[Piece], run: Range<usize>, policy: &ChunkPolicy, cuts: &mut Vec<Cut>) {
        let own = pieces[run.start].range.start..pieces[run.end - 1].range.end;
        // An overlap reaching back to where the chunk before begins would repeat it whole.
        let floor = cuts.last().map(|cut| cut.range.start);
        let mut limit = policy.overlap_tokens;
        loop {
            let start = match floor {
                Some(floor) if limit > 0 => self.overlap_start(floor, own.start, limit),
                _ => own.start,
            };
            let header = self.header_to_repeat(start);
            let cut = Cut {
                range: start..own.end,
                header,
            };
            let size = tokens::count(&self.cut_text(&cut));
            if size <= policy.max_tokens {
                cuts.push(cut);
                return;
            }
            if start == own.start {
                break;
            }
            limit = limit.saturating_sub((size - policy.max_tokens).max(1));
        }
        let cut = Cut {
            range: own.clone(),
            header: None,
        };
        if tokens::count(&self.text[own]) <= policy.max_tokens {
            cuts.push(cut);
        } else if run.len() > 1 {
            let middle = run.start + run.len() / 2;
            self.fit(pieces, run.start..middle, policy, cuts);
            self.fit(pieces, middle..run.end, policy, cuts);
        } else {
            // A piece is within the budget by construction; its count with the separator before it may not be.
            let mut parts = Vec::new();
            divide(
                &self.text,
                cut.range,
                levels(BlockKind::Prose),
                policy,
                &mut parts,
            );
            cuts.extend(parts.into_iter().map(|range| Cut {
                range,
                header: None,
            }));
        }
    }

    /// Where an overlap of at most `limit` tokens before `end` begins: at a sentence, a row or a block if such a suffix
    /// comes near the limit, else at a word of running text. `end` itself when nothing whole is small enough.
    fn overlap_start(&self, floor: usize, end: usize, limit: usize) -> usize {
        let size = |start: usize| tokens::count(self.text[start..end].trim_end());
        let mut start = end;
        let mut blocked = false;
        for placed in self
            .placed
            .iter()
            .rev()
            .skip_while(|placed| placed.range.start >= end)
        {
            if placed.range.end <= floor {
                blocked = true;
                break;
            }
            let part = placed.range.start.max(floor)..placed.range.end.min(end);
            let running = matches!(placed.block.kind, BlockKind::Prose | BlockKind::ListItem);
            let units: Vec<usize> = if running {
                prose_sentences(&self.text[part.clone()])
                    .into_iter()
                    .map(|unit| part.start + unit.start)
                    .collect()
            } else {
                vec![part.start]
            };
            for unit in units.into_iter().rev() {
                if unit <= floor || size(unit) > limit {
                    blocked = true;
                    break;
                }
                start = unit;
            }
            if blocked {
                break;
            }
        }
        if !blocked || size(start) * 4 >= limit * 3 {
            return start;
        }
        self.overlap_word(floor, start, limit, size)
            .unwrap_or(start)
    }

    /// The first word of the running text before `start` from which the overlap is still within the limit.
    fn overlap_word(
        &self,
        floor: usize,
        start: usize,
        limit: usize,
        size: impl Fn(usize) -> usize,
    ) -> Option<usize> {
        let placed = self
            .placed
            .iter()
            .rev()
            .find(|placed| placed.range.start < start)?;
        if !matches!(placed.block.kind, BlockKind::Prose | BlockKind::ListItem) {
            return None;
        }
        let base = placed.range.start.max(floor);
        // A word takes at least a token, so no more than `limit` of them can matter.
        let mut words: Vec<usize> = word_starts(&self.text[base..start])
            .into_iter()
            .map(|at| base + at)
            .filter(|&at| at > floor)
            .rev()
            .take(limit)
            .collect();
        words.reverse();
        let within = words.partition_point(|&word| size(word) > limit);
        words.get(within).copied()
    }

    /// The header row a chunk that starts at `start` has to repeat.
    fn header_to_repeat(&self, start: usize) -> Option<usize> {
        let block = self
            .placed
            .partition_point(|placed| placed.range.end <= start);
        self.placed.get(block)?.header
    }

    fn header_tokens(&self, piece: &Piece, policy: &ChunkPolicy) -> usize {
        let Some(header) = self.placed[piece.block].header else {
            return 0;
        };
        (tokens::count(&self.placed[header].block.text) + 1).min(policy.max_tokens)
    }

    /// How unwelcome a chunk's end between two pieces is, on the scale of [`uneven`].
    fn reluctance(&self, before: &Piece, after: &Piece) -> f64 {
        let (kind, next) = (
            self.placed[before.block].block.kind,
            self.placed[after.block].block.kind,
        );
        if before.block == after.block {
            return match kind {
                BlockKind::TableRow => 16.0,
                BlockKind::Code => 6.0,
                // Sentences are a fair place, the middle of one is not.
                _ if self.text[before.range.clone()].ends_with(['.', '!', '?', ':', ')']) => 1.0,
                _ => 4.0,
            };
        }
        match (kind, next) {
            (BlockKind::Term | BlockKind::TableHeader, _) => 8.0,
            _ if self.text[before.range.clone()].ends_with(':') => 3.0,
            // A table belongs to its caption, a listing to the paragraph before it, a row to its table.
            (BlockKind::Prose, BlockKind::TableHeader) => 4.0,
            (BlockKind::Prose, BlockKind::Code) => 1.0,
            (_, BlockKind::TableRow) => 0.5,
            (_, BlockKind::Term) => 0.0,
            // `Note` and captions announce what follows.
            (BlockKind::Prose, _) if before.tokens <= 3 => 8.0,
            _ => 0.3,
        }
    }

    fn cut_text(&self, cut: &Cut) -> String {
        let own = &self.text[cut.range.clone()];
        match cut.header {
            Some(header) => format!("{}\n{own}", self.placed[header].block.text),
            None => own.to_owned(),
        }
    }

    /// The chunk of `cut`; `before` is where the one before it ends.
    fn chunk(&self, cut: &Cut, before: usize, ordinal: usize) -> Chunk {
        let text = self.cut_text(cut);
        let mut spans = Vec::new();
        let mut anchors = Vec::new();
        let mut at = 0;
        if let Some(header) = cut.header {
            let scalars = self.placed[header].block.text.chars().count();
            spans.push(Span {
                kind: BlockKind::TableHeader,
                start: 0,
                end: scalars,
            });
            at = scalars + 1;
        }
        let mut page_offset = None;
        let mut end = cut.range.start;
        for placed in &self.placed {
            let part = placed.range.start.max(cut.range.start)..placed.range.end.min(cut.range.end);
            if part.is_empty() {
                continue;
            }
            at += self.text[end..part.start].chars().count();
            let start = at;
            at += self.text[part.clone()].chars().count();
            end = part.end;
            spans.push(Span {
                kind: placed.block.kind,
                start,
                end: at,
            });
            page_offset.get_or_insert_with(|| {
                placed.block.page_offset + self.text[placed.range.start..part.start].chars().count()
            });
            if let Some(anchor) = placed
                .block
                .anchor
                .as_ref()
                .filter(|_| part.start == placed.range.start)
            {
                anchors.push((start, anchor.clone()));
            }
        }
        Chunk {
            ordinal,
            heading: self.section.heading.clone(),
            anchor: self.section.anchor.clone(),
            tokens: tokens::count(&text),
            text,
            page_offset: page_offset.unwrap_or_default(),
            anchors,
            torn_head: self.is_torn(cut.range.start, before),
            spans,
        }
    }

    /// Whether `start` lies inside a sentence of running text that ends by `before`.
    fn is_torn(&self, start: usize, before: usize) -> bool {
        self.placed
            .iter()
            .filter(|placed| {
                matches!(placed.block.kind, BlockKind::Prose | BlockKind::ListItem)
                    && placed.range.start < start
                    && start < placed.range.end
            })
            .flat_map(|placed| {
                prose_sentences(&self.text[placed.range.clone()])
                    .into_iter()
                    .map(|unit| placed.range.start + unit.start..placed.range.start + unit.end)
            })
            .any(|unit| unit.start < start && start < unit.end && unit.end <= before)
    }
}

/// The price of a chunk that continues a table without its header.
const DROPPED_HEADER: f64 = 10.0;

/// How far a chunk's size is from what it should be; a chunk below the minimum costs more than several odd ends.
fn uneven(size: f64, even: f64, policy: &ChunkPolicy) -> f64 {
    let scale = policy.max_tokens as f64 / 8.0;
    let off = (size - even) / scale;
    let missing = ((policy.min_tokens as f64 - size) / scale).max(0.0);
    off * off + 4.0 * missing * missing + missing
}

/// The price of an overlap there is not enough room for.
fn squeezed(own: usize, overlap: usize, max: usize) -> f64 {
    if overlap == 0 {
        return 0.0;
    }
    3.0 * (own + overlap).saturating_sub(max).min(overlap) as f64 / overlap as f64
}

fn prefix_sums(pieces: &[Piece]) -> Vec<usize> {
    let mut sum = 0;
    std::iter::once(0)
        .chain(pieces.iter().map(|piece| {
            sum += piece.tokens;
            sum
        }))
        .collect()
}

/// Ways to divide a text that is too large, from the kindest to the last resort.
#[derive(Clone, Copy)]
enum Level {
    Lines,
    Cells,
    Sentences,
    Words,
    Scalars,
}

fn levels(kind: BlockKind) -> &'static [Level] {
    match kind {
        BlockKind::Code => &[Level::Lines, Level::Words, Level::Scalars],
        BlockKind::TableRow | BlockKind::TableHeader => &[
            Level::Lines,
            Level::Cells,
            Level::Sentences,
            Level::Words,
            Level::Scalars,
        ],
        BlockKind::Prose | BlockKind::ListItem | BlockKind::Term => {
            &[Level::Lines, Level::Sentences, Level::Words, Level::Scalars]
        }
    }
}

/// Divides `range` at the kindest level that brings every part within the budget, going further down only for the parts
/// that are still too large. Parts leave out nothing but the white space between them.
fn divide(
    text: &str,
    range: Range<usize>,
    levels: &[Level],
    policy: &ChunkPolicy,
    parts: &mut Vec<Range<usize>>,
) {
    let Some((level, finer)) = levels.split_first() else {
        parts.push(range);
        return;
    };
    let piece = &text[range.clone()];
    let ranges = match level {
        Level::Lines => split_at(piece, '\n'),
        Level::Cells => split_at(piece, '\t'),
        Level::Sentences => prose_sentences(piece),
        Level::Words => groups_of_words(piece, policy),
        Level::Scalars => groups_of_scalars(piece, policy),
    };
    for part in ranges {
        let part = range.start + part.start..range.start + part.end;
        if tokens::count(&text[part.clone()]) < policy.max_tokens {
            parts.push(part);
        } else {
            divide(text, part, finer, policy, parts);
        }
    }
}

fn split_at(text: &str, separator: char) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut parts = Vec::new();
    for part in text.split(separator) {
        if !part.trim().is_empty() {
            parts.push(at..at + part.trim_end().len());
        }
        at += part.len() + separator.len_utf8();
    }
    parts
}

/// Words in groups small enough that chunks can still be evened out.
fn groups_of_words(text: &str, policy: &ChunkPolicy) -> Vec<Range<usize>> {
    let target = (policy.max_tokens / 20).max(1);
    let mut groups: Vec<(Range<usize>, usize)> = Vec::new();
    for start in word_starts(text) {
        let len = text[start..]
            .find(char::is_whitespace)
            .unwrap_or(text.len() - start);
        let size = tokens::count(&text[start..start + len]);
        match groups.last_mut() {
            Some((group, tokens)) if *tokens + size <= target => {
                group.end = start + len;
                *tokens += size;
            }
            _ => groups.push((start..start + len, size)),
        }
    }
    groups.into_iter().map(|(group, _)| group).collect()
}

/// Scalars in groups that fit the budget whatever they are: a scalar is at most four bytes, a byte at most a token.
fn groups_of_scalars(text: &str, policy: &ChunkPolicy) -> Vec<Range<usize>> {
    let group = (policy.max_tokens / 8).max(1);
    let mut starts: Vec<usize> = text
        .char_indices()
        .step_by(group)
        .map(|(at, _)| at)
        .collect();
    starts.push(text.len());
    starts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

fn word_starts(text: &str) -> Vec<usize> {
    let mut after_space = true;
    let mut starts = Vec::new();
    for (at, c) in text.char_indices() {
        if after_space && !c.is_whitespace() {
            starts.push(at);
        }
        after_space = c.is_whitespace();
    }
    starts
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{Chunk, ChunkPolicy, ChunkPolicyError, chunk_document};
    use crate::document::BlockKind::{self, Code, ListItem, Prose, TableHeader, TableRow, Term};
    use crate::document::{Block, Document, Section};
    use crate::tokens;

    type Blocks<'a> = &'a [(BlockKind, &'a str)];

    /// A document of sections, laid out as a parser would: one line break between blocks.
    fn document(sections: &[(&[&str], Blocks<'_>)]) -> Document {
        let mut page_text = String::new();
        let mut scalars = 0;
        let sections = sections
            .iter()
            .map(|(heading, blocks)| Section {
                heading: heading.iter().map(|&title| title.to_owned()).collect(),
                anchor: heading.last().unwrap().to_uppercase(),
                blocks: blocks
                    .iter()
                    .map(|(kind, text)| {
                        let block = Block {
                            kind: *kind,
                            text: (*text).to_owned(),
                            anchor: None,
                            page_offset: scalars,
                        };
                        page_text.push_str(text);
                        page_text.push('\n');
                        scalars += text.chars().count() + 1;
                        block
                    })
                    .collect(),
            })
            .collect();
        Document {
            id: "page".into(),
            title: "Page".into(),
            url: "page".into(),
            metadata: BTreeMap::new(),
            page_text,
            sections,
        }
    }

    fn chunks_of(blocks: &[(BlockKind, &str)]) -> Vec<Chunk> {
        let document = document(&[(&["Page"], blocks)]);
        let chunks = chunk_document(&document, &ChunkPolicy::default());
        check_invariants(&document, &chunks, &ChunkPolicy::default());
        chunks
    }

    /// The header row repeated before a chunk's own text, with its line break.
    fn repeated_header<'a>(chunk: &'a Chunk, page: &[char]) -> &'a str {
        let from_page: String = page
            .iter()
            .skip(chunk.page_offset)
            .take(chunk.text.chars().count())
            .collect();
        match chunk.spans.first() {
            Some(span) if span.kind == TableHeader && chunk.text != from_page => {
                let end: usize = chunk
                    .text
                    .chars()
                    .take(span.end + 1)
                    .map(char::len_utf8)
                    .sum();
                &chunk.text[..end]
            }
            _ => "",
        }
    }

    /// What holds for every chunk of every document.
    fn check_invariants(document: &Document, chunks: &[Chunk], policy: &ChunkPolicy) {
        let page: Vec<char> = document.page_text.chars().collect();
        let mut covered = vec![false; page.len()];
        let mut last_end = 0;
        for (ordinal, chunk) in chunks.iter().enumerate() {
            assert_eq!(chunk.ordinal, ordinal);
            assert_eq!(chunk.tokens, tokens::count(&chunk.text));
            assert!(
                chunk.tokens <= policy.max_tokens() && !chunk.text.trim().is_empty(),
                "{} tokens",
                chunk.tokens
            );
            // Blocks follow each other with one line break, on the page as in a section.
            let own = &chunk.text[repeated_header(chunk, &page).len()..];
            let end = chunk.page_offset + own.chars().count();
            assert_eq!(own, page[chunk.page_offset..end].iter().collect::<String>());
            assert!(end > last_end, "chunk {ordinal} says nothing new");
            last_end = end;
            covered[chunk.page_offset..end].fill(true);
            let scalars = chunk.text.chars().count();
            let mut at = 0;
            for span in &chunk.spans {
                assert!(span.start >= at && span.start < span.end && span.end <= scalars);
                at = span.end;
            }
        }
        for (at, scalar) in page.iter().enumerate() {
            assert!(
                covered[at] || scalar.is_whitespace(),
                "{scalar:?} at {at} is in no chunk"
            );
        }
    }

    /// How many tokens the end of `before` and the beginning of `after` share.
    fn shared_tokens(before: &Chunk, after: &Chunk) -> usize {
        let shared = before.page_offset + before.text.chars().count() - after.page_offset;
        tokens::count(&after.text.chars().take(shared).collect::<String>())
    }

    fn words(count: usize) -> String {
        (0..count)
            .map(|n| format!("{}{}", ["log", "page", "row", "lock"][n % 4], n))
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn sentences(count: usize) -> String {
        (0..count)
            .map(|n| format!("The server keeps page {n} of the log until nobody needs it."))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Running text of exactly `wanted` tokens.
    fn exactly(wanted: usize) -> String {
        let text = vec!["log"; wanted].join(" ");
        assert_eq!(tokens::count(&text), wanted);
        text
    }

    #[test]
    fn bad_policies_are_refused() {
        assert_eq!(ChunkPolicy::new(500, 800, 80), Ok(ChunkPolicy::default()));
        assert_eq!(
            ChunkPolicy::new(1, 0, 0),
            Err(ChunkPolicyError::MaxTooSmall(0))
        );
        assert_eq!(
            ChunkPolicy::new(0, 800, 80),
            Err(ChunkPolicyError::MinOutOfRange { min: 0, max: 800 })
        );
        assert_eq!(
            ChunkPolicy::new(900, 800, 80),
            Err(ChunkPolicyError::MinOutOfRange { min: 900, max: 800 })
        );
        assert_eq!(
            ChunkPolicy::new(500, 800, 800),
            Err(ChunkPolicyError::OverlapTooLarge {
                overlap: 800,
                max: 800
            })
        );
    }

    #[test]
    fn the_fingerprint_tells_policies_apart() {
        let other = ChunkPolicy::new(500, 800, 40).unwrap();
        assert_eq!(
            ChunkPolicy::default().fingerprint(),
            "blocks-1/o200k_base/500-800+80"
        );
        assert_ne!(ChunkPolicy::default().fingerprint(), other.fingerprint());
    }

    #[test]
    fn c231_a_parent_s_chunk_leaves_out_its_children() {
        let document = document(&[
            (&["Page"], &[(Prose, "Of the page.")]),
            (&["Page", "Child"], &[(Prose, "Of the child.")]),
            (
                &["Page", "Child", "Grandchild"],
                &[(Prose, "Of the grandchild.")],
            ),
        ]);
        let chunks = chunk_document(&document, &ChunkPolicy::default());
        let texts: Vec<_> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        assert_eq!(
            texts,
            ["Of the page.", "Of the child.", "Of the grandchild."]
        );
    }

    #[test]
    fn c238_every_chunk_keeps_the_heading_path() {
        let text = sentences(200);
        let document = document(&[(&["20.5. Log", "20.5.2. Checkpoints"], &[(Prose, &text)])]);
        let chunks = chunk_document(&document, &ChunkPolicy::default());
        assert!(chunks.len() > 2);
        for chunk in chunks {
            assert_eq!(chunk.heading, ["20.5. Log", "20.5.2. Checkpoints"]);
            assert_eq!(chunk.anchor, "20.5.2. CHECKPOINTS");
        }
    }

    #[test]
    fn c239_tables_are_cut_between_rows_and_repeat_their_header() {
        let header = "Key Word\tHere\tElsewhere";
        let rows: Vec<String> = (0..700)
            .map(|n| format!("WORD_{n}\tnon-reserved\treserved"))
            .collect();
        let mut blocks = vec![(Prose, "Which words are reserved."), (TableHeader, header)];
        blocks.extend(rows.iter().map(|row| (TableRow, row.as_str())));
        let chunks = chunks_of(&blocks);
        assert!(chunks.len() > 5);
        let mut seen = std::collections::BTreeSet::new();
        for (index, chunk) in chunks.iter().enumerate() {
            let lines: Vec<&str> = chunk.text.lines().collect();
            assert_eq!(
                lines.iter().filter(|line| **line == header).count(),
                1,
                "chunk {index}"
            );
            for line in lines.iter().filter(|line| line.starts_with("WORD_")) {
                assert!(line.ends_with("\treserved"), "row cut: {line}");
                seen.insert((*line).to_owned());
            }
            if index > 0 {
                assert_eq!(lines[0], header);
                assert_eq!(chunk.spans[0].kind, TableHeader);
                assert_eq!(
                    (chunk.spans[0].start, chunk.spans[0].end),
                    (0, header.chars().count())
                );
            }
        }
        assert_eq!(seen.len(), rows.len());
    }

    #[test]
    fn a_row_over_the_budget_is_cut_at_its_paragraphs() {
        let paragraph = sentences(20);
        let row = format!("name ( )\n{}", [paragraph.as_str(); 6].join("\n"));
        let chunks = chunks_of(&[
            (TableHeader, "Function"),
            (TableRow, "short ( )"),
            (TableRow, &row),
            (TableRow, "last ( )"),
        ]);
        assert!(chunks.len() > 2);
        for chunk in &chunks {
            assert!(chunk.text.starts_with("Function\n"));
            assert!(
                chunk.text.ends_with("it.") || chunk.text.ends_with("last ( )"),
                "cut inside a paragraph"
            );
        }
    }

    #[test]
    fn c242_sections_without_text_yield_nothing() {
        let document = document(&[
            (&["Page"], &[]),
            (&["Page", "Blank"], &[(Prose, " ")]),
            (&["Page", "Child"], &[(Prose, "Text.")]),
        ]);
        let chunks = chunk_document(&document, &ChunkPolicy::default());
        assert_eq!(chunks.len(), 1);
        assert_eq!(chunks[0].heading, ["Page", "Child"]);
    }

    #[test]
    fn c243_sizes() {
        for (tokens, expected) in [(30, 1), (800, 1), (801, 2)] {
            assert_eq!(
                chunks_of(&[(Prose, &exactly(tokens))]).len(),
                expected,
                "{tokens} tokens"
            );
        }
        for text in [exactly(5_000), sentences(400)] {
            let chunks = chunks_of(&[(Prose, &text)]);
            assert!(chunks.len() >= 7);
            for pair in chunks.windows(2) {
                let shared = shared_tokens(&pair[0], &pair[1]);
                assert!(
                    (60..=80).contains(&shared),
                    "neighbours share {shared} tokens"
                );
            }
            for chunk in &chunks {
                assert!(chunk.tokens >= 500, "{} tokens", chunk.tokens);
            }
        }
    }

    #[test]
    fn a_head_is_torn_where_its_sentence_stands_whole_before() {
        let torn = |text: &str| -> Vec<bool> {
            chunks_of(&[(Prose, text)])
                .iter()
                .map(|chunk| chunk.torn_head)
                .collect()
        };
        assert!(
            !torn(&sentences(400)).contains(&true),
            "overlaps of whole sentences"
        );
        let long = format!("The server {} ends.", "keeps its log and ".repeat(30));
        let found = torn(&vec![long; 20].join(" "));
        assert!(!found[0] && found[1..].contains(&true), "{found:?}");
        assert!(
            !torn(&exactly(5_000)).contains(&true),
            "a sentence that stands whole nowhere"
        );
    }

    #[test]
    fn chunks_of_a_divided_section_are_even_and_end_on_blocks() {
        let paragraphs: Vec<String> = (0..40)
            .map(|n| format!("{} Paragraph {n}.", sentences(4 + n % 3)))
            .collect();
        let blocks: Vec<_> = paragraphs
            .iter()
            .map(|text| (Prose, text.as_str()))
            .collect();
        let chunks = chunks_of(&blocks);
        for chunk in &chunks {
            assert!(chunk.tokens >= 500, "{} tokens", chunk.tokens);
            assert!(
                paragraphs
                    .iter()
                    .any(|paragraph| chunk.text.ends_with(paragraph.as_str()))
            );
        }
    }

    #[test]
    fn c244_hostile_texts_terminate() {
        let mut seed = 7_u32;
        let base64: String = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(
                b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
                    [(seed >> 26) as usize],
            )
        })
        .take(20_000)
        .collect();
        let early = format!("Short. {}", words(2_000));
        let tail = format!("{} The end.", exactly(800));
        for text in [
            &base64[..2_000],
            base64.as_str(),
            early.as_str(),
            tail.as_str(),
        ] {
            let chunks = chunks_of(&[(Prose, text)]);
            assert!(chunks.len() > 1);
            for pair in chunks.windows(2) {
                assert!(pair[1].page_offset > pair[0].page_offset);
                assert!(
                    !pair[0].text.ends_with(&pair[1].text),
                    "a chunk repeats the end of the one before it"
                );
            }
        }
        assert!(chunks_of(&[(Prose, &"\u{1F600}".repeat(3_000))]).len() > 1);
    }

    #[test]
    fn c246_special_tokens_are_cut_like_any_text() {
        let text = "Write <|endoftext|> or <|im_start|> into it. ".repeat(200);
        assert!(chunks_of(&[(Prose, text.trim())]).len() > 2);
    }

    #[test]
    fn c038_a_section_of_150_000_words_is_bounded() {
        let text = words(150_000);
        let chunks = chunks_of(&[(Prose, &text)]);
        assert!(chunks.iter().all(|chunk| chunk.text.len() < 20_000));
    }

    #[test]
    fn code_is_cut_only_when_it_alone_is_too_large() {
        let listing = |lines: usize| {
            (0..lines)
                .map(|n| format!("    value_{n} := {n};"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        let (small, large) = (listing(60), listing(400));
        let chunks = chunks_of(&[
            (Prose, &sentences(30)),
            (Code, &small),
            (Prose, &sentences(30)),
            (Code, &large),
        ]);
        assert!(
            chunks.iter().any(|chunk| chunk.text.contains(&small)),
            "a listing that fits was cut"
        );
        for line in large.lines() {
            assert!(
                chunks
                    .iter()
                    .any(|chunk| chunk.text.lines().any(|have| have == line)),
                "{line:?} was cut"
            );
        }
    }

    #[test]
    fn anchors_stand_where_their_blocks_begin() {
        let mut document = document(&[(
            &["Page"],
            &[
                (Prose, "Première."),
                (Term, "fsync"),
                (Prose, "What it does."),
            ],
        )]);
        document.sections[0].blocks[1].anchor = Some("GUC-FSYNC".to_owned());
        let chunks = chunk_document(&document, &ChunkPolicy::default());
        assert_eq!(chunks[0].anchors, [(10, "GUC-FSYNC".to_owned())]);
    }

    fn any_block() -> impl Strategy<Value = (BlockKind, String)> {
        let word = prop::sample::select(vec![
            "log",
            "Page",
            "e.g.",
            "it ends.",
            "é",
            "\u{1F600}",
            "<|endoftext|>",
            "max_wal_size",
            "0x7f",
            "QUJDRGVmZ2hpSktMTU5vcHFyc3R1",
        ]);
        let text = prop::collection::vec(word, 1..120).prop_map(|words| words.join(" "));
        let code = prop::collection::vec("[a-z(); ]{0,30}", 1..30)
            .prop_map(|lines| format!("x{}", lines.join("\n    ")).trim_end().to_owned());
        prop_oneof![
            4 => (prop::sample::select(vec![Prose, ListItem, Term]), text.clone()),
            1 => code.prop_map(|text| (Code, text)),
            3 => (prop::sample::select(vec![TableHeader, TableRow, TableRow, TableRow]), text.clone())
                .prop_map(|(kind, text)| (kind, text.replace("Page ", "Page\t").replace("it ends. ", "it ends.\n"))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn every_chunk_keeps_the_invariants(
            blocks in prop::collection::vec(any_block(), 1..40),
            max in 16_usize..300,
            overlap in 0_usize..100,
        ) {
            let policy = ChunkPolicy::new((max / 2).max(1), max, overlap.min(max / 4)).unwrap();
            let blocks: Vec<(BlockKind, &str)> = blocks.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
            let document = document(&[(&["Page"], &blocks)]);
            let chunks = chunk_document(&document, &policy);
            check_invariants(&document, &chunks, &policy);
            prop_assert_eq!(&chunks, &chunk_document(&document, &policy));
        }
    }
}
