//! Reads plain text: paragraphs between blank lines, the first line being the title.
//!
//! Nothing is guessed beyond what a reader sees at once: a line that begins with a bullet or a number is an item, a
//! paragraph indented throughout is a listing. Hard line breaks inside a paragraph are folded. [`super::page`] lays out
//! the result; [`super::jsonl`] reads the text of its lines this way too.

use domain::document::BlockKind;

use super::page::{Laid, PageWriter, fold};

/// Longer first lines are the beginning of the text rather than its title.
const TITLE_CHARS: usize = 120;

/// A text's title, page text and sections; `fallback` names a text whose first line is no title.
pub(crate) fn parse(text: &str, fallback: &str) -> (String, Laid) {
    let paragraphs = paragraphs(text);
    let first = paragraphs
        .first()
        .and_then(|paragraph| paragraph.first())
        .map(|line| fold(line))
        .unwrap_or_default();
    let named = !first.is_empty() && first.chars().count() <= TITLE_CHARS;
    let title = if named { first } else { fallback.to_owned() };
    // A title on a line of its own is a heading; one that runs on is the paragraph's first line as well.
    let heading = named && paragraphs.len() > 1 && paragraphs[0].len() == 1;
    let mut page = PageWriter::new(&title);
    if heading {
        page.mute();
        page.text(&title);
        page.unmute();
    }
    write_paragraphs(&paragraphs[usize::from(heading)..], &mut page);
    (title, page.finish())
}

/// The page text and sections of a body whose title is known.
pub(crate) fn parse_body(text: &str, title: &str) -> Laid {
    let mut page = PageWriter::new(title);
    write_paragraphs(&paragraphs(text), &mut page);
    page.finish()
}

fn paragraphs(text: &str) -> Vec<Vec<&str>> {
    let lines: Vec<&str> = text.lines().collect();
    lines
        .split(|line| line.trim().is_empty())
        .filter(|paragraph| !paragraph.is_empty())
        .map(<[&str]>::to_vec)
        .collect()
}

fn write_paragraphs(paragraphs: &[Vec<&str>], page: &mut PageWriter) {
    for paragraph in paragraphs {
        if paragraph
            .iter()
            .all(|line| line.starts_with("    ") || line.starts_with('\t'))
        {
            page.set_kind(BlockKind::Code);
            page.raw(&paragraph.join("\n"));
            page.end_raw();
            page.set_kind(BlockKind::Prose);
            continue;
        }
        page.bound();
        for line in paragraph {
            match item(line) {
                Some(Item::Bullet(text)) => {
                    page.start_item();
                    page.text(text);
                }
                // A number is part of the text: nobody else would show it.
                Some(Item::Numbered) => {
                    page.start_item();
                    page.text(line);
                }
                None => page.text(line),
            }
            page.text(" ");
        }
        page.end_item();
    }
}

enum Item<'a> {
    Bullet(&'a str),
    Numbered,
}

fn item(line: &str) -> Option<Item<'_>> {
    let line = line.trim_start();
    if let Some(text) = ["- ", "* ", "• "]
        .iter()
        .find_map(|bullet| line.strip_prefix(bullet))
    {
        return Some(Item::Bullet(text));
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = line.len() - rest.len();
    ((1..=3).contains(&digits) && (rest.starts_with(". ") || rest.starts_with(") ")))
        .then_some(Item::Numbered)
}

#[cfg(test)]
mod tests {
    use domain::document::BlockKind::{Code, ListItem, Prose};

    use super::parse;

    #[test]
    fn paragraphs_items_and_listings() {
        let text = "Opening hours\n\nThe desk is open\nfrom nine.\n\n- Monday\n- Tuesday,\n  but late\n\n1. Ring\n2. Wait\n\n    ls -l\n\n    cd\n";
        let (title, page) = parse(text, "hours");
        assert_eq!(title, "Opening hours");
        assert_eq!(page.sections.len(), 1);
        let blocks: Vec<_> = page.sections[0]
            .blocks
            .iter()
            .map(|block| (block.kind, block.text.as_str()))
            .collect();
        assert_eq!(
            blocks,
            [
                (Prose, "The desk is open from nine."),
                (ListItem, "Monday"),
                (ListItem, "Tuesday, but late"),
                (ListItem, "1. Ring"),
                (ListItem, "2. Wait"),
                (Code, "    ls -l"),
                (Code, "    cd"),
            ]
        );
    }

    #[test]
    fn a_text_of_one_line_keeps_it() {
        let (title, page) = parse("Only this.\n", "file");
        assert_eq!(title, "Only this.");
        assert_eq!(page.sections[0].blocks[0].text, "Only this.");
    }
}
