//! Reads Markdown with front matter.
//!
//! Front matter is `key: value` lines between two `---` lines: `title` names the document, everything else is metadata.
//! The page is ours to render, so a list's numbers are part of its text, and headings get the anchors that readers of
//! Markdown expect (`## Notice period` is `#notice-period`). [`super::page`] lays out the result.

use std::collections::{BTreeMap, HashSet};

use domain::document::BlockKind;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::page::{Laid, PageWriter};

/// What a Markdown file says.
pub(crate) struct Markdown {
    /// Its title: the front matter's, else the first heading's, else the fallback.
    pub(crate) title: String,
    /// The front matter without the title.
    pub(crate) metadata: BTreeMap<String, String>,
    /// Its text.
    pub(crate) page: Laid,
}

/// Reads a file; `fallback` names one that names itself nowhere.
pub(crate) fn parse(text: &str, fallback: &str) -> Markdown {
    let (mut metadata, body) = front_matter(text);
    let events: Vec<Event<'_>> = Parser::new_ext(
        body,
        Options::ENABLE_TABLES | Options::ENABLE_HEADING_ATTRIBUTES,
    )
    .collect();
    let title = metadata
        .remove("title")
        .or_else(|| first_heading(&events))
        .unwrap_or_else(|| fallback.to_owned());
    let mut walk = Walk {
        page: PageWriter::new(&title),
        events: &events,
        lists: Vec::new(),
        slugs: HashSet::new(),
        code: false,
    };
    walk.run();
    Markdown {
        title,
        metadata,
        page: walk.page.finish(),
    }
}

/// The metadata before the text, and the text.
fn front_matter(text: &str) -> (BTreeMap<String, String>, &str) {
    let mut lines = text.split_inclusive('\n');
    let mut at = match lines.next() {
        Some(first) if first.trim_end() == "---" => first.len(),
        _ => return (BTreeMap::new(), text),
    };
    let mut metadata = BTreeMap::new();
    let mut last_key: Option<String> = None;
    for line in lines {
        at += line.len();
        let line = line.trim_end();
        if matches!(line, "---" | "...") {
            return (metadata, &text[at..]);
        }
        if let Some(value) = line.trim_start().strip_prefix("- ")
            && let Some(list) = last_key.as_ref().and_then(|key| metadata.get_mut(key))
        {
            let list: &mut String = list;
            if !list.is_empty() {
                list.push_str(", ");
            }
            list.push_str(unquote(value));
        } else if !line.starts_with('#')
            && let Some((key, value)) = line.split_once(':')
        {
            let value = value.trim();
            let value = value
                .strip_prefix('[')
                .and_then(|list| list.strip_suffix(']'))
                .unwrap_or(value);
            metadata.insert(key.trim().to_owned(), unquote(value).to_owned());
            last_key = Some(key.trim().to_owned());
        }
    }
    // Without a closing line it was a thematic break and no front matter.
    (BTreeMap::new(), text)
}

fn unquote(value: &str) -> &str {
    let value = value.trim();
    ['"', '\'']
        .iter()
        .find_map(|&quote| value.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(value)
}

fn first_heading(events: &[Event<'_>]) -> Option<String> {
    let start = events.iter().position(|event| {
        matches!(
            event,
            Event::Start(Tag::Heading {
                level: HeadingLevel::H1,
                ..
            })
        )
    })?;
    Some(heading_text(&events[start..])).filter(|title| !title.is_empty())
}

/// The text of the heading that starts `events`.
fn heading_text(events: &[Event<'_>]) -> String {
    let mut text = String::new();
    for event in events {
        match event {
            Event::End(TagEnd::Heading(_)) => break,
            Event::Text(part) | Event::Code(part) => text.push_str(part),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    super::page::fold(&text)
}

struct Walk<'a> {
    page: PageWriter,
    events: &'a [Event<'a>],
    /// The next number of each open list, `None` for one with bullets.
    lists: Vec<Option<u64>>,
    slugs: HashSet<String>,
    code: bool,
}

impl Walk<'_> {
    fn run(&mut self) {
        for (index, event) in self.events.iter().enumerate() {
            match event {
                Event::Start(tag) => self.start(tag, index),
                Event::End(tag) => self.end(*tag),
                Event::Text(text) if self.code => self.page.raw(text),
                Event::Text(text) | Event::Code(text) => self.page.text(text),
                Event::SoftBreak => self.page.text(" "),
                Event::HardBreak => self.page.line(),
                Event::Rule => self.page.bound(),
                Event::InlineHtml(html) if html.starts_with("<br") => self.page.line(),
                _ => {}
            }
        }
    }

    fn start(&mut self, tag: &Tag<'_>, index: usize) {
        match tag {
            Tag::Heading { level, id, .. } => {
                let title = heading_text(&self.events[index..]);
                let anchor = self.anchor(id.as_deref(), &title);
                if !title.is_empty() {
                    self.page.enter(&title, &anchor, Some(*level as u8));
                }
                self.page.mute();
            }
            Tag::CodeBlock(_) => {
                self.page.set_kind(BlockKind::Code);
                self.code = true;
            }
            Tag::List(first) => {
                self.page.bound();
                self.lists.push(*first);
            }
            Tag::Item => {
                self.page.start_item();
                if let Some(Some(number)) = self.lists.last_mut() {
                    self.page.text(&format!("{number}. "));
                    *number += 1;
                }
            }
            Tag::TableHead => self.page.start_row(BlockKind::TableHeader),
            Tag::TableRow => self.page.start_row(BlockKind::TableRow),
            // The number of an item stands before its first paragraph, on the same line.
            Tag::Paragraph
                if matches!(
                    self.events.get(index.wrapping_sub(1)),
                    Some(Event::Start(Tag::Item))
                ) => {}
            Tag::Paragraph | Tag::BlockQuote(_) | Tag::HtmlBlock | Tag::Table(_) => {
                self.page.bound()
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => self.page.unmute(),
            TagEnd::CodeBlock => {
                self.code = false;
                self.page.end_raw();
                self.page.set_kind(BlockKind::Prose);
            }
            TagEnd::List(_) => {
                self.page.bound();
                self.lists.pop();
            }
            TagEnd::Item => self.page.end_item(),
            TagEnd::TableHead | TagEnd::TableRow => self.page.end_row(),
            TagEnd::TableCell => self.page.cell(),
            TagEnd::Paragraph | TagEnd::BlockQuote(_) | TagEnd::HtmlBlock | TagEnd::Table => {
                self.page.bound()
            }
            _ => {}
        }
    }

    /// A heading's own identifier, else its words in lower case joined by dashes; never the same twice on a page.
    fn anchor(&mut self, id: Option<&str>, title: &str) -> String {
        let slug: String = match id {
            Some(id) => id.to_owned(),
            None => title
                .to_lowercase()
                .chars()
                .filter_map(|c| match c {
                    ' ' => Some('-'),
                    c if c.is_alphanumeric() || matches!(c, '-' | '_') => Some(c),
                    _ => None,
                })
                .collect(),
        };
        let unique = (1..).map(|n| format!("{slug}-{n}"));
        let anchor = std::iter::once(slug.clone())
            .chain(unique)
            .find(|anchor| !self.slugs.contains(anchor));
        let anchor = anchor.unwrap_or(slug);
        self.slugs.insert(anchor.clone());
        anchor
    }
}
