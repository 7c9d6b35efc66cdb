//! Shows a stored document as a page, for corpora that have no public address of their own. Pure.
//!
//! Links into it carry text fragments that were made against the document's page text, so the page shows exactly that text
//! and nothing beside it: blocks where they stand, what lies between them as headings. Everything is escaped; there is no
//! way for a document to bring markup, script or a link.

use std::collections::HashSet;
use std::fmt::Write;

use domain::document::{Block, BlockKind, Document, Section};

/// The whole page. Its address lies as many folders below the service's root as the document's id has segments.
pub(crate) fn render(document: &Document) -> String {
    let root = "../".repeat(document.id.split('/').count());
    let mut page = Page::default();
    let mut rest = Rest {
        text: &document.page_text,
        offset: 0,
    };
    for section in &document.sections {
        for (index, block) in section.blocks.iter().enumerate() {
            let before = rest.take_to(block.page_offset);
            page.between(before, section, index == 0);
            rest.skip(block.text.chars().count());
            page.block(block);
        }
    }
    page.close();
    page.lines(rest.text);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n\
         <link rel=\"icon\" href=\"{root}favicon.svg\" type=\"image/svg+xml\">\n\
         <link rel=\"stylesheet\" href=\"{root}assets/style.css\">\n</head>\n<body class=\"source\">\n<main>\n{}</main>\n</body>\n</html>\n",
        escape(&document.title),
        page.html
    )
}

/// The page for a document that is not there.
pub(crate) fn missing(id: &str) -> String {
    let root = "../".repeat(id.split('/').count());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Not found</title>\n\
         <link rel=\"stylesheet\" href=\"{root}assets/style.css\">\n</head>\n<body class=\"source\">\n<main>\n<h1>Not found</h1>\n\
         <p>This document is not part of the documentation any more.</p>\n</main>\n</body>\n</html>\n"
    )
}

/// What is left of the page text, and at which scalar it starts.
struct Rest<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Rest<'a> {
    fn take_to(&mut self, offset: usize) -> &'a str {
        self.skip(offset.saturating_sub(self.offset))
    }

    fn skip(&mut self, scalars: usize) -> &'a str {
        let byte = self
            .text
            .char_indices()
            .nth(scalars)
            .map_or(self.text.len(), |(byte, _)| byte);
        let (taken, left) = self.text.split_at(byte);
        self.text = left;
        self.offset += scalars;
        taken
    }
}

/// The element that consecutive blocks share.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    List,
    Table,
}

#[derive(Default)]
struct Page<'a> {
    html: String,
    open: Option<Group>,
    ids: HashSet<&'a str>,
    /// An anchor whose heading is not on the page: the next block carries it.
    owed: Option<&'a str>,
}

impl<'a> Page<'a> {
    /// What stands before a block of `section`: its headings, those of parents that hold no text, and whatever else.
    fn between(&mut self, text: &str, section: &'a Section, starts: bool) {
        if text.chars().any(|c| !c.is_whitespace()) {
            self.close();
        }
        let mut anchor = (starts && !section.anchor.is_empty()).then_some(section.anchor.as_str());
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match section
                .heading
                .iter()
                .rposition(|title| title == line.trim())
            {
                Some(depth) => {
                    let level = (depth + 1).min(6);
                    let own = depth + 1 == section.heading.len();
                    let id = self.id(if own { anchor.take() } else { None });
                    let _ = writeln!(self.html, "<h{level}{id}>{}</h{level}>", escape(line));
                }
                None => self.lines(line),
            }
        }
        self.owed = anchor;
    }

    fn block(&mut self, block: &'a Block) {
        let group = match block.kind {
            BlockKind::ListItem => Some(Group::List),
            BlockKind::TableHeader | BlockKind::TableRow => Some(Group::Table),
            BlockKind::Prose | BlockKind::Term | BlockKind::Code => None,
        };
        let new_table = block.kind == BlockKind::TableHeader;
        if self.open != group || new_table {
            self.close();
            self.html.push_str(match group {
                Some(Group::List) => "<ul>\n",
                Some(Group::Table) => "<table>\n",
                None => "",
            });
            self.open = group;
        }
        let owed = self.owed.take();
        let id = self.id(block.anchor.as_deref().or(owed));
        let text = escape(&block.text);
        let broken = text.replace('\n', "<br>");
        let _ = match block.kind {
            BlockKind::Prose => writeln!(self.html, "<p{id}>{broken}</p>"),
            BlockKind::Term => writeln!(self.html, "<p class=\"term\"{id}>{broken}</p>"),
            BlockKind::ListItem => writeln!(self.html, "<li{id}>{broken}</li>"),
            // The first line end after the tag is not part of the text.
            BlockKind::Code => writeln!(self.html, "<pre{id}>\n{text}</pre>"),
            BlockKind::TableHeader => writeln!(
                self.html,
                "<tr{id}><th>{}</th></tr>",
                broken.replace('\t', "</th><th>")
            ),
            BlockKind::TableRow => writeln!(
                self.html,
                "<tr{id}><td>{}</td></tr>",
                broken.replace('\t', "</td><td>")
            ),
        };
    }

    /// Text that is no block.
    fn lines(&mut self, text: &str) {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let _ = writeln!(self.html, "<p>{}</p>", escape(line));
        }
    }

    fn close(&mut self) {
        self.html.push_str(match self.open.take() {
            Some(Group::List) => "</ul>\n",
            Some(Group::Table) => "</table>\n",
            None => "",
        });
    }

    /// An `id` attribute; an identifier is given once, for a page with two would lead to the first.
    fn id(&mut self, anchor: Option<&'a str>) -> String {
        match anchor {
            Some(anchor) if self.ids.insert(anchor) => format!(" id=\"{}\"", escape(anchor)),
            _ => String::new(),
        }
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Kind, text and anchor.
    type Laid<'a> = (BlockKind, &'a str, Option<&'a str>);

    /// Lays blocks out as a parser would: each on its own line, below its headings.
    fn document(title: &str, sections: &[(&[&str], &str, &[Laid<'_>])]) -> Document {
        let mut page_text = String::new();
        let mut laid = Vec::new();
        let mut open: Vec<&str> = Vec::new();
        for (heading, anchor, blocks) in sections {
            let common = open
                .iter()
                .zip(*heading)
                .take_while(|(a, b)| a == b)
                .count();
            let shown = if common == heading.len() && open.len() == common {
                common.saturating_sub(1)
            } else {
                common
            };
            for title in &heading[shown..] {
                page_text.push_str(title);
                page_text.push('\n');
            }
            open = heading.to_vec();
            let mut section = Section {
                heading: heading.iter().map(ToString::to_string).collect(),
                anchor: (*anchor).to_owned(),
                blocks: Vec::new(),
            };
            for (kind, text, anchor) in *blocks {
                let page_offset = page_text.chars().count();
                page_text.push_str(text);
                page_text.push('\n');
                section.blocks.push(Block {
                    kind: *kind,
                    text: (*text).to_owned(),
                    anchor: anchor.map(str::to_owned),
                    page_offset,
                });
            }
            laid.push(section);
        }
        Document {
            id: "policies/notice".into(),
            title: title.into(),
            url: "sources/policies/notice".into(),
            metadata: BTreeMap::new(),
            page_text,
            sections: laid,
        }
    }

    fn body(document: &Document) -> String {
        let page = render(document);
        let (_, body) = page.split_once("<main>\n").expect("a main element");
        body.split("</main>").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn shows_headings_blocks_and_anchors() {
        let notice = document(
            "Notice",
            &[
                (
                    &["Notice"],
                    "notice",
                    &[(BlockKind::Prose, "Notice is 30 days.\nNot less.", None)],
                ),
                (
                    &["Notice", "Steps", "Who is told"],
                    "told",
                    &[
                        (BlockKind::ListItem, "the manager", Some("manager")),
                        (BlockKind::ListItem, "HR", None),
                        (BlockKind::Code, "\n  a < b\n\n  c", None),
                        (BlockKind::TableHeader, "Role\tDays", None),
                        (BlockKind::TableRow, "all\t30", None),
                        (BlockKind::Term, "max_wal_size", Some("GUC-MAX-WAL-SIZE")),
                    ],
                ),
            ],
        );
        insta::assert_snapshot!(body(&notice), @r#"
        <h1 id="notice">Notice</h1>
        <p>Notice is 30 days.<br>Not less.</p>
        <h2>Steps</h2>
        <h3 id="told">Who is told</h3>
        <ul>
        <li id="manager">the manager</li>
        <li>HR</li>
        </ul>
        <pre>

          a &lt; b

          c</pre>
        <table>
        <tr><th>Role</th><th>Days</th></tr>
        <tr><td>all</td><td>30</td></tr>
        </table>
        <p class="term" id="GUC-MAX-WAL-SIZE">max_wal_size</p>
        "#);
    }

    #[test]
    fn c262_a_document_brings_no_markup() {
        let hostile = "<script>alert(1)</script><img src=x onerror=\"alert(1)\">";
        let document = document(
            hostile,
            &[
                (
                    &[hostile],
                    "\"><script>",
                    &[(BlockKind::Prose, hostile, Some("'><b>"))],
                ),
                (
                    &[hostile, "[a](javascript:alert(1))"],
                    "",
                    &[(BlockKind::TableRow, "<td>\t</table>", None)],
                ),
            ],
        );
        let page = render(&document);
        for markup in ["<script", "<img", "<b>", "href=\"javascript"] {
            assert!(!page.contains(markup), "{markup} in {page}");
        }
    }

    #[test]
    fn what_is_on_the_page_is_the_page_text() {
        let document = document(
            "T",
            &[
                (&["T"], "", &[(BlockKind::Prose, "one & two", None)]),
                (&["T", "Same"], "a", &[(BlockKind::Prose, "three", None)]),
                (&["T", "Same"], "a", &[(BlockKind::Prose, "four", None)]),
            ],
        );
        let html = body(&document);
        assert_eq!(html.matches("id=\"a\"").count(), 1);
        let mut shown = String::new();
        let mut inside = false;
        for c in html.replace("&amp;", "&").chars() {
            match c {
                '<' => inside = true,
                '>' => inside = false,
                _ if !inside => shown.push(c),
                _ => {}
            }
        }
        assert_eq!(shown, document.page_text);
    }

    #[test]
    fn finds_its_style_from_where_it_stands() {
        let mut document = document("T", &[(&["T"], "", &[(BlockKind::Prose, "x", None)])]);
        assert!(render(&document).contains("href=\"../../assets/style.css\""));
        document.id = "a".into();
        assert!(render(&document).contains("href=\"../assets/style.css\""));
    }
}
