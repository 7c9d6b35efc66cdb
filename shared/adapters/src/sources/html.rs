//! Reads HTML: the pages DocBook makes (the PostgreSQL manual's) and ordinary ones.
//!
//! The page text is what a browser renders, navigation included; blocks are only what a reader came for. Generated ids
//! (`id-1.6.6.8`) change with every build and are never an anchor. Numbers and bullets of lists are drawn by the browser
//! and are no text of the page, so they are no text here either: an ordered list keeps its order and the bounds of its
//! items. [`super::page`] lays out what this walk reports.

use domain::document::BlockKind;
use scraper::node::Element;
use scraper::{ElementRef, Html, Node};

use super::page::{Laid, PageWriter, fold};

/// A page's title, text and sections; `fallback` names a page that names itself nowhere.
pub(crate) fn parse(html: &str, fallback: &str) -> (String, Laid) {
    let parsed = Html::parse_document(html);
    let root = parsed.root_element();
    let content = content_root(root);
    let docbook = is_docbook(root);
    let title = title(root, content, docbook).unwrap_or_else(|| fallback.to_owned());
    let mut walk = Walk {
        page: PageWriter::new(&title),
        content,
        docbook,
        in_content: false,
        pre: 0,
        depth: 0,
    };
    walk.page.mute();
    walk.element(root);
    walk.page.unmute();
    (title, walk.page.finish())
}

struct Walk<'a> {
    page: PageWriter,
    /// The element that holds the blocks.
    content: ElementRef<'a>,
    docbook: bool,
    in_content: bool,
    /// How many preformatted elements are open.
    pre: usize,
    /// How many elements are open.
    depth: usize,
}

/// Deeper than any page that people write.
const DEEPEST: usize = 200;

impl<'a> Walk<'a> {
    fn children(&mut self, element: ElementRef<'a>) {
        for child in element.children() {
            match child.value() {
                Node::Text(text) if self.pre > 0 => self.page.raw(text),
                Node::Text(text) => self.page.text(text),
                Node::Element(_) => {
                    if let Some(child) = ElementRef::wrap(child) {
                        self.element(child);
                    }
                }
                _ => {}
            }
        }
    }

    fn element(&mut self, element: ElementRef<'a>) {
        if self.depth == DEEPEST {
            // What is nested deeper is read as running text, so that no page can exhaust the stack.
            for text in element.text() {
                self.page.text(text);
            }
            return;
        }
        self.depth += 1;
        self.shallow_element(element);
        self.depth -= 1;
    }

    fn shallow_element(&mut self, element: ElementRef<'a>) {
        let value = element.value();
        if is_unrendered(value) || is_permalink(element) || is_footnote_mark(value) {
            return;
        }
        if element == self.content {
            self.in_content = true;
            self.page.unmute();
            self.children(element);
            self.page.mute();
            self.in_content = false;
        } else if !self.in_content {
            self.plain_element(element);
        } else if is_navigation(element) {
            self.muted(element);
        } else {
            self.content_element(element);
        }
    }

    /// Text of the page that is in no block.
    fn muted(&mut self, element: ElementRef<'a>) {
        self.page.mute();
        self.in_content = false;
        self.plain_element(element);
        self.in_content = true;
        self.page.unmute();
    }

    fn plain_element(&mut self, element: ElementRef<'a>) {
        match element.value().name() {
            "br" => self.line_break(),
            "pre" => self.preformatted(element),
            "tr" => self.row(element, BlockKind::TableRow),
            name if is_block(name) => self.bounded(element),
            _ => self.children(element),
        }
    }

    fn content_element(&mut self, element: ElementRef<'a>) {
        let value = element.value();
        if let Some(title) = docbook_title(element).filter(|_| self.docbook) {
            let depth = self.page.depth();
            self.page
                .enter(&text_of(title), stable_id(value).unwrap_or_default(), None);
            self.bounded(element);
            self.page.leave(depth);
            return;
        }
        if let Some(id) = stable_id(value) {
            if is_block(value.name()) {
                self.page.bound();
            }
            self.page.anchor(id);
        }
        match value.name() {
            "br" => self.line_break(),
            "pre" if self.page.in_row() => self.preformatted(element),
            "pre" => self.of_kind(BlockKind::Code, element, Self::preformatted),
            "dt" => self.of_kind(BlockKind::Term, element, Self::bounded),
            "dd" => self.of_kind(BlockKind::Prose, element, Self::bounded),
            "li" => {
                let kind = self.page.set_kind(BlockKind::Prose);
                self.page.start_item();
                self.children(element);
                self.page.end_item();
                self.page.set_kind(kind);
            }
            "table" => self.table(element),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(element),
            name if is_block(name) => self.bounded(element),
            _ => self.children(element),
        }
    }

    fn of_kind(
        &mut self,
        kind: BlockKind,
        element: ElementRef<'a>,
        walk: fn(&mut Self, ElementRef<'a>),
    ) {
        let before = self.page.set_kind(kind);
        walk(self, element);
        self.page.set_kind(before);
    }

    fn bounded(&mut self, element: ElementRef<'a>) {
        self.page.bound();
        self.children(element);
        self.page.bound();
    }

    fn preformatted(&mut self, element: ElementRef<'a>) {
        self.page.bound();
        self.pre += 1;
        self.children(element);
        self.pre -= 1;
        self.page.end_raw();
    }

    fn line_break(&mut self) {
        if self.pre > 0 {
            self.page.raw("\n");
        } else {
            self.page.line();
        }
    }

    fn heading(&mut self, element: ElementRef<'a>) {
        if self.page.in_row() {
            self.bounded(element);
        } else if !self.docbook {
            let level = element.value().name().as_bytes()[1] - b'0';
            let title = text_of(element);
            if !title.is_empty() {
                self.page
                    .enter(&title, heading_id(element).unwrap_or_default(), Some(level));
            }
            self.muted(element);
        } else if is_docbook_section_title(element) {
            self.muted(element);
        } else {
            // The title of a note or a warning belongs to its text.
            self.bounded(element);
        }
    }

    fn table(&mut self, table: ElementRef<'a>) {
        if self.page.in_row() || is_layout(table) {
            return self.bounded(table);
        }
        if has_class(table.value(), "simplelist") {
            return self.simple_list(table);
        }
        self.page.bound();
        let rows: Vec<ElementRef<'a>> = rows_of(table).collect();
        let caption = table
            .child_elements()
            .find(|child| child.value().name() == "caption");
        if let Some(caption) = caption {
            self.element(caption);
        }
        let header_rows = rows.iter().take_while(|row| is_header_row(**row)).count();
        // A table of nothing but heading cells has no header to repeat.
        let header_rows = if header_rows == rows.len() {
            0
        } else {
            header_rows
        };
        if header_rows > 0 {
            self.page.start_row(BlockKind::TableHeader);
            for row in &rows[..header_rows] {
                self.cells(*row);
                self.page.line();
            }
            self.page.end_row();
        }
        for row in &rows[header_rows..] {
            if in_footnotes(*row) {
                self.page.mute();
                self.row(*row, BlockKind::TableRow);
                self.page.unmute();
            } else {
                self.row(*row, BlockKind::TableRow);
            }
        }
        self.page.bound();
    }

    fn row(&mut self, row: ElementRef<'a>, kind: BlockKind) {
        if self.page.in_row() {
            self.page.bound();
            self.cells(row);
            self.page.bound();
            return;
        }
        self.page.start_row(kind);
        if let Some(id) = stable_id(row.value()) {
            self.page.anchor(id);
        }
        self.cells(row);
        self.page.end_row();
    }

    fn cells(&mut self, row: ElementRef<'a>) {
        let cells = row
            .child_elements()
            .filter(|cell| matches!(cell.value().name(), "td" | "th"));
        for (column, cell) in cells.enumerate() {
            if column > 0 {
                self.page.cell();
            }
            if let Some(id) = stable_id(cell.value()) {
                self.page.anchor(id);
            }
            self.children(cell);
        }
    }

    /// DocBook lays out some lists as a table; each of its cells is an item.
    fn simple_list(&mut self, table: ElementRef<'a>) {
        for row in rows_of(table) {
            let cells = row
                .child_elements()
                .filter(|cell| matches!(cell.value().name(), "td" | "th"));
            for (column, cell) in cells.enumerate() {
                self.page.start_item();
                if column > 0 {
                    self.page.cell();
                }
                self.children(cell);
                self.page.end_item();
            }
        }
    }
}

/// Where the blocks are: the page's main part if it names one.
fn content_root(root: ElementRef<'_>) -> ElementRef<'_> {
    let find = |wanted: fn(&Element) -> bool| {
        root.descendent_elements()
            .find(|element| wanted(element.value()))
    };
    find(|element| element.name() == "main" || element.attr("role") == Some("main"))
        .or_else(|| find(|element| element.name() == "article"))
        .or_else(|| find(|element| element.name() == "body"))
        .unwrap_or(root)
}

fn title(root: ElementRef<'_>, content: ElementRef<'_>, docbook: bool) -> Option<String> {
    let named = |text: String| (!text.is_empty()).then_some(text);
    content
        .descendent_elements()
        .find_map(|element| docbook_title(element).filter(|_| docbook))
        .or_else(|| {
            content
                .descendent_elements()
                .find(|element| element.value().name() == "h1")
        })
        .map(text_of)
        .and_then(named)
        .or_else(|| {
            root.descendent_elements()
                .find(|e| e.value().name() == "title")
                .map(text_of)
                .and_then(named)
        })
}

fn is_docbook(root: ElementRef<'_>) -> bool {
    root.descendent_elements().any(|element| {
        has_class(element.value(), "titlepage") || has_class(element.value(), "refnamediv")
    })
}

const DOCBOOK_SECTIONS: [&str; 22] = [
    "sect1",
    "sect2",
    "sect3",
    "sect4",
    "sect5",
    "section",
    "simplesect",
    "refentry",
    "refsect1",
    "refsect2",
    "refsect3",
    "refsection",
    "chapter",
    "appendix",
    "preface",
    "part",
    "book",
    "reference",
    "bibliography",
    "glossary",
    "index",
    "article",
];

/// The heading that names a DocBook section; `None` for any other element.
fn docbook_title(element: ElementRef<'_>) -> Option<ElementRef<'_>> {
    let value = element.value();
    if value.name() != "div"
        || !value
            .classes()
            .any(|class| DOCBOOK_SECTIONS.contains(&class))
    {
        return None;
    }
    let is_heading = |candidate: &ElementRef<'_>| is_heading(candidate.value().name());
    element
        .child_elements()
        .take(6)
        .find_map(|child| match child.value().name() {
            "div"
                if has_class(child.value(), "titlepage")
                    || has_class(child.value(), "refnamediv") =>
            {
                child.descendent_elements().find(is_heading)
            }
            _ => Some(child).filter(is_heading),
        })
}

/// Whether a heading on a DocBook page names a section (or a part of a reference page's first one).
fn is_docbook_section_title(heading: ElementRef<'_>) -> bool {
    heading
        .ancestors()
        .filter_map(ElementRef::wrap)
        .take(4)
        .any(|ancestor| {
            let value = ancestor.value();
            value
                .classes()
                .any(|class| matches!(class, "titlepage" | "refnamediv" | "refsynopsisdiv"))
        })
        || heading
            .parent()
            .and_then(ElementRef::wrap)
            .is_some_and(|parent| docbook_title(parent) == Some(heading))
}

fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}

/// The fragment identifier of an ordinary heading: its own, that of an anchor inside it, or that of the section it opens.
fn heading_id(heading: ElementRef<'_>) -> Option<&str> {
    let own = stable_id(heading.value());
    let inner = || {
        heading.descendent_elements().skip(1).find_map(|element| {
            stable_id(element.value()).or_else(|| {
                element
                    .attr("name")
                    .filter(|_| element.value().name() == "a")
            })
        })
    };
    let outer = || {
        let parent = heading.parent().and_then(ElementRef::wrap)?;
        let opens = parent.child_elements().next() == Some(heading);
        stable_id(parent.value())
            .filter(|_| opens && matches!(parent.value().name(), "section" | "div" | "article"))
    };
    own.or_else(inner).or_else(outer)
}

/// An element's id, unless a build generated it.
fn stable_id(element: &Element) -> Option<&str> {
    let id = element.id()?.trim();
    let generated = ["id-", "ftn.id-"].iter().any(|prefix| {
        id.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    (!id.is_empty() && !generated).then_some(id)
}

/// The folded text of a heading, without its permalink.
fn text_of(element: ElementRef<'_>) -> String {
    fn collect(element: ElementRef<'_>, text: &mut String) {
        for child in element.children() {
            if let Some(part) = child.value().as_text() {
                text.push_str(part);
            } else if let Some(inner) = ElementRef::wrap(child) {
                let value = inner.value();
                if value.name() == "br" {
                    text.push(' ');
                } else if !is_unrendered(value) && !is_permalink(inner) && !is_footnote_mark(value)
                {
                    collect(inner, text);
                }
            }
        }
    }
    let mut text = String::new();
    collect(element, &mut text);
    fold(&text)
}

fn rows_of(table: ElementRef<'_>) -> impl Iterator<Item = ElementRef<'_>> {
    table
        .child_elements()
        .flat_map(|child| -> Box<dyn Iterator<Item = ElementRef<'_>>> {
            match child.value().name() {
                "tr" => Box::new(std::iter::once(child)),
                "thead" | "tbody" | "tfoot" => Box::new(
                    child
                        .child_elements()
                        .filter(|row| row.value().name() == "tr"),
                ),
                _ => Box::new(std::iter::empty()),
            }
        })
}

fn is_header_row(row: ElementRef<'_>) -> bool {
    let in_head = row
        .parent()
        .and_then(ElementRef::wrap)
        .is_some_and(|parent| parent.value().name() == "thead");
    let mut cells = row
        .child_elements()
        .filter(|cell| matches!(cell.value().name(), "td" | "th"))
        .peekable();
    in_head || cells.peek().is_some() && cells.all(|cell| cell.value().name() == "th")
}

fn in_footnotes(row: ElementRef<'_>) -> bool {
    row.parent()
        .and_then(ElementRef::wrap)
        .is_some_and(|parent| has_class(parent.value(), "footnotes"))
}

fn has_class(element: &Element, class: &str) -> bool {
    element.classes().any(|candidate| candidate == class)
}

/// Elements whose text no browser shows as text of the page.
fn is_unrendered(element: &Element) -> bool {
    matches!(
        element.name(),
        "head"
            | "script"
            | "style"
            | "template"
            | "noscript"
            | "svg"
            | "iframe"
            | "object"
            | "audio"
            | "video"
            | "canvas"
            | "select"
            | "textarea"
            | "datalist"
    ) || element.attr("hidden").is_some()
        || element.attr("style").is_some_and(|style| {
            let style: String = style
                .chars()
                .filter(|c| !c.is_whitespace())
                .collect::<String>()
                .to_ascii_lowercase();
            style.contains("display:none") || style.contains("visibility:hidden")
        })
}

/// The `#` or `¶` that links a heading to itself, shown only under the pointer.
fn is_permalink(element: ElementRef<'_>) -> bool {
    let value = element.value();
    if value.name() != "a" || !value.attr("href").is_some_and(|href| href.starts_with('#')) {
        return false;
    }
    value.classes().any(|class| {
        matches!(
            class,
            "id_link" | "headerlink" | "anchor" | "anchor-link" | "permalink"
        )
    }) && element
        .text()
        .flat_map(str::chars)
        .filter(|c| c.is_alphanumeric())
        .count()
        == 0
        || matches!(
            element.text().collect::<String>().trim(),
            "#" | "¶" | "§" | "🔗"
        )
}

fn is_footnote_mark(element: &Element) -> bool {
    matches!(element.name(), "a" | "sup") && has_class(element, "footnote")
}

/// Parts of the page that help to move about, and the notes at its foot.
fn is_navigation(element: ElementRef<'_>) -> bool {
    const CLASSES: [&str; 5] = [
        "navheader",
        "navfooter",
        "toc",
        "footnotes",
        "list-of-tables",
    ];
    let value = element.value();
    let is_h1 = |inner: ElementRef<'_>| inner.value().name() == "h1";
    let top = || {
        element
            .parent()
            .and_then(ElementRef::wrap)
            .is_some_and(|parent| parent.value().name() == "body")
    };
    match value.name() {
        "nav" | "footer" | "form" | "button" => true,
        "header" | "aside" if top() => !element.descendent_elements().any(is_h1),
        _ => {
            matches!(
                value.attr("role"),
                Some("navigation" | "search" | "contentinfo" | "banner")
            ) || value.classes().any(|class| CLASSES.contains(&class))
        }
    }
}

/// Whether a table arranges the page rather than facts: no table of facts holds headings or tables.
fn is_layout(table: ElementRef<'_>) -> bool {
    matches!(table.attr("role"), Some("presentation" | "none"))
        || table
            .descendent_elements()
            .skip(1)
            .any(|e| is_heading(e.value().name()) || e.value().name() == "table")
}

fn is_block(name: &str) -> bool {
    is_heading(name)
        || matches!(
            name,
            "address"
                | "article"
                | "aside"
                | "blockquote"
                | "body"
                | "caption"
                | "center"
                | "dd"
                | "details"
                | "dialog"
                | "dir"
                | "div"
                | "dl"
                | "dt"
                | "fieldset"
                | "figcaption"
                | "figure"
                | "footer"
                | "form"
                | "header"
                | "hr"
                | "html"
                | "legend"
                | "li"
                | "main"
                | "menu"
                | "nav"
                | "ol"
                | "p"
                | "pre"
                | "section"
                | "summary"
                | "table"
                | "tbody"
                | "td"
                | "tfoot"
                | "th"
                | "thead"
                | "tr"
                | "ul"
        )
}
