//! Lays out a page as its rendered text and its blocks, together, for every format.
//!
//! One walk writes the text a browser would show and marks which runs of it are blocks, so a block's text is always
//! exactly the page's at its offset; nothing here ever writes the one without the other. White space is folded as it is
//! written: a run of it is one space, a block's bound one line break, a cell's bound one tab. The formats beside this
//! file drive it; [`domain::document`] says what comes out.

use domain::document::{Block, BlockKind, Section};

/// Writes one page.
pub(crate) struct PageWriter {
    text: String,
    /// Scalars in `text`.
    scalars: usize,
    pending: Pending,
    /// White space of preformatted text not known yet to be followed by anything.
    pending_raw: String,
    open: Option<OpenBlock>,
    contexts: Vec<Context>,
    sections: Vec<(usize, Section)>,
    next_context: usize,
    kind: BlockKind,
    item_begins: bool,
    row: Option<BlockKind>,
    /// Something of the row is written already.
    row_begun: bool,
    /// Something of the preformatted text is written already.
    raw_begun: bool,
    muted: usize,
    anchor: Option<String>,
}

/// White space owed before the next character, the strongest kind winning.
#[derive(Default)]
struct Pending {
    space: bool,
    line: bool,
    cells: usize,
}

struct OpenBlock {
    kind: BlockKind,
    anchor: Option<String>,
    byte: usize,
    offset: usize,
}

/// A section that is open while the walk is inside it.
struct Context {
    id: usize,
    title: String,
    anchor: String,
    /// For sections that a heading opens, its level; such a section ends at the next heading of its level or above.
    level: Option<u8>,
}

/// What was written.
pub(crate) struct Laid {
    /// See [`domain::document::Document::page_text`].
    pub(crate) page_text: String,
    /// See [`domain::document::Document::sections`].
    pub(crate) sections: Vec<Section>,
}

impl PageWriter {
    /// A page whose sections all lie below `title`.
    pub(crate) fn new(title: &str) -> Self {
        Self {
            text: String::new(),
            scalars: 0,
            pending: Pending::default(),
            pending_raw: String::new(),
            open: None,
            contexts: vec![Context {
                id: 0,
                title: fold(title),
                anchor: String::new(),
                level: None,
            }],
            sections: Vec::new(),
            next_context: 1,
            kind: BlockKind::Prose,
            item_begins: false,
            row: None,
            row_begun: false,
            raw_begun: false,
            muted: 0,
            anchor: None,
        }
    }

    /// Writes running text, folding its white space.
    pub(crate) fn text(&mut self, text: &str) {
        for c in text.chars() {
            if c.is_whitespace() {
                self.pending.space = true;
            } else if !is_invisible(c) {
                self.flush();
                self.push(c);
            }
        }
    }

    /// Writes preformatted text: its white space stays, but for blank lines before and white space after it.
    pub(crate) fn raw(&mut self, text: &str) {
        for c in text.chars() {
            if c.is_whitespace() {
                // A no-break space in a listing would break what people paste.
                self.pending_raw.push(if c == '\u{a0}' { ' ' } else { c });
            } else if !is_invisible(c) {
                self.flush_raw();
                self.push(c);
            }
        }
    }

    /// Ends preformatted text.
    pub(crate) fn end_raw(&mut self) {
        self.pending_raw.clear();
        self.raw_begun = false;
        self.bound();
    }

    /// The bound of a block: what is written next starts on a line of its own.
    pub(crate) fn bound(&mut self) {
        self.line();
        if self.row.is_none() {
            self.close();
        }
    }

    /// A line break inside a block.
    pub(crate) fn line(&mut self) {
        // The bound of a paragraph at a cell's start is the cell's.
        if self.pending.cells == 0 {
            self.pending.line = true;
        }
    }

    /// Starts a row; until [`Self::end_row`] all text belongs to it.
    pub(crate) fn start_row(&mut self, kind: BlockKind) {
        self.bound();
        self.row = Some(kind);
        self.row_begun = false;
    }

    /// The bound between two cells of a row.
    pub(crate) fn cell(&mut self) {
        self.pending.cells += 1;
        self.pending.line = false;
    }

    /// Ends the row.
    pub(crate) fn end_row(&mut self) {
        self.pending = Pending {
            line: true,
            ..Pending::default()
        };
        self.close();
        self.row = None;
    }

    /// Whether a row is open.
    pub(crate) fn in_row(&self) -> bool {
        self.row.is_some()
    }

    /// Blocks opened from here on are of this kind; returns the kind before.
    pub(crate) fn set_kind(&mut self, kind: BlockKind) -> BlockKind {
        self.bound();
        std::mem::replace(&mut self.kind, kind)
    }

    /// Starts a list's item: its first paragraph is one, the others are paragraphs.
    pub(crate) fn start_item(&mut self) {
        self.bound();
        self.item_begins = true;
    }

    /// Ends a list's item.
    pub(crate) fn end_item(&mut self) {
        self.bound();
        self.item_begins = false;
    }

    /// What is written until [`Self::unmute`] is on the page but in no block: navigation, headings.
    pub(crate) fn mute(&mut self) {
        self.bound();
        self.muted += 1;
    }

    /// Ends the innermost [`Self::mute`].
    pub(crate) fn unmute(&mut self) {
        self.bound();
        self.muted -= 1;
    }

    /// The next block starts at this fragment identifier. Ignored in the midst of a block.
    pub(crate) fn anchor(&mut self, id: &str) {
        if self.open.is_none() && self.muted == 0 {
            self.anchor = Some(id.to_owned());
        }
    }

    /// How many sections are open, for [`Self::leave`].
    pub(crate) fn depth(&self) -> usize {
        self.contexts.len()
    }

    /// Opens a section below the current one. With a level, sections that a heading of the same level or a lower one
    /// opened end first. The page's own title opens no section of its own but gives the page's its anchor.
    pub(crate) fn enter(&mut self, title: &str, anchor: &str, level: Option<u8>) {
        self.bound();
        self.anchor = None;
        if let Some(level) = level {
            while self
                .contexts
                .last()
                .is_some_and(|open| open.level.is_some_and(|open| open >= level))
            {
                self.contexts.pop();
            }
        }
        let title = fold(title);
        let id = self.next_context;
        self.next_context += 1;
        if let [page] = self.contexts.as_mut_slice()
            && page.title == title
        {
            page.id = id;
            anchor.clone_into(&mut page.anchor);
            return;
        }
        self.contexts.push(Context {
            id,
            title,
            anchor: anchor.to_owned(),
            level,
        });
    }

    /// Closes sections until `depth` are open.
    pub(crate) fn leave(&mut self, depth: usize) {
        self.bound();
        self.anchor = None;
        self.contexts.truncate(depth.max(1));
    }

    /// The page.
    pub(crate) fn finish(mut self) -> Laid {
        self.close();
        Laid {
            page_text: self.text,
            sections: self
                .sections
                .into_iter()
                .map(|(_, section)| section)
                .collect(),
        }
    }

    /// Writes the white space that is owed and makes sure that a block is open, unless muted.
    fn flush(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let cells_bound = pending.cells > 0 && (self.row.is_none() || self.row_begun);
        if !self.text.is_empty() {
            if cells_bound {
                (0..pending.cells).for_each(|_| self.push('\t'));
            } else if pending.line || pending.cells > 0 {
                self.push('\n');
            } else if pending.space {
                self.push(' ');
            }
        }
        self.row_begun = true;
        self.open_block();
    }

    fn flush_raw(&mut self) {
        let raw = std::mem::take(&mut self.pending_raw);
        if self.raw_begun {
            self.push_str(&raw);
        } else {
            self.raw_begun = true;
            self.flush();
            self.push_str(raw.rfind('\n').map_or(raw.as_str(), |at| &raw[at + 1..]));
        }
    }

    fn open_block(&mut self) {
        if self.open.is_some() || self.muted > 0 {
            return;
        }
        let kind = match self.row {
            Some(row) => row,
            None if self.kind == BlockKind::Prose && self.item_begins => BlockKind::ListItem,
            None => self.kind,
        };
        self.item_begins = false;
        let anchor = self.anchor.take();
        self.open = Some(OpenBlock {
            kind,
            anchor,
            byte: self.text.len(),
            offset: self.scalars,
        });
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let block = Block {
            kind: open.kind,
            text: self.text[open.byte..].to_owned(),
            anchor: open.anchor,
            page_offset: open.offset,
        };
        let context = self.contexts.last().map_or(0, |context| context.id);
        match self.sections.last_mut() {
            Some((id, section)) if *id == context => section.blocks.push(block),
            _ => self.sections.push((
                context,
                Section {
                    heading: self
                        .contexts
                        .iter()
                        .map(|context| context.title.clone())
                        .collect(),
                    anchor: self
                        .contexts
                        .last()
                        .map(|context| context.anchor.clone())
                        .unwrap_or_default(),
                    blocks: vec![block],
                },
            )),
        }
    }

    fn push(&mut self, c: char) {
        self.text.push(c);
        self.scalars += 1;
    }

    fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
        self.scalars += text.chars().count();
    }
}

/// Characters that take no room: they would only keep equal words apart. A NUL cannot even be stored.
fn is_invisible(c: char) -> bool {
    matches!(c, '\0' | '\u{ad}' | '\u{200b}' | '\u{feff}')
}

/// `text` with its white space folded and trimmed.
///
/// A no-break space counts as one: documentation puts it before numbers (`Section 28.5`), where people and models write
/// a plain one.
pub(crate) fn fold(text: &str) -> String {
    let visible: String = text.chars().filter(|&c| !is_invisible(c)).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}
