//! Reads a corpus from its files: a manifest says which, one parser a format turns each into documents.
//!
//! Every listed page has an entry in the result, in order: what cannot be read is named and never stops the others.
//! Nothing here is cut to size, embedded or stored. [`Manifest`] comes first, [`load`] second; `page` is what the parsers
//! share, [`domain::document`] what they make.

mod html;
mod jsonl;
mod manifest;
mod markdown;
mod page;
mod text;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use domain::document::Document;
use thiserror::Error;

pub use manifest::{Manifest, ManifestError};

use page::Laid;

/// The endings of readable files.
const ENDINGS: [&str; 7] = ["html", "htm", "md", "markdown", "txt", "jsonl", "ndjson"];

/// A page that gave no document.
#[derive(Debug, Error)]
#[error("{page}: {problem}")]
pub struct SourceError {
    /// The page as the manifest lists it; a line of a JSONL file as `FILE:LINE`.
    pub page: String,
    /// The id its document would have had, if the page's name tells.
    pub document: Option<String>,
    /// What is wrong.
    pub problem: SourceProblem,
}

/// What is wrong with a page.
#[derive(Debug, Error)]
pub enum SourceProblem {
    /// The file system does not give it.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// No parser knows the ending.
    #[error("is of no known format; there are .html, .md, .txt and .jsonl")]
    UnknownFormat,
    /// Its bytes are no UTF-8.
    #[error("is not UTF-8 (byte {0}); convert it, for example with iconv")]
    NotUtf8(usize),
    /// A line is not the JSON it should be.
    #[error("is not a document: {0}")]
    NotADocument(#[from] serde_json::Error),
    /// There is nothing to cite.
    #[error("holds no text")]
    Empty,
    /// A line's id could not stand in an address.
    #[error("has an id that cannot stand in an address: {0:?}")]
    BadId(String),
    /// A line's URL is none that a browser opens as a page.
    #[error("has a url that does not begin with http:// or https://: {0:?}")]
    BadUrl(String),
    /// Another page already has the id.
    #[error("has the same id as a page before it: {0:?}")]
    DuplicateId(String),
}

/// The documents of the corpus, or why there is none, for each of its pages in order.
#[must_use]
pub fn load(manifest: &Manifest) -> Vec<Result<Document, SourceError>> {
    let pages = match &manifest.pages {
        Some(pages) => pages.clone(),
        None => match list(&manifest.folder) {
            Ok(pages) => pages,
            Err(error) => {
                let page = manifest.folder.display().to_string();
                return vec![Err(SourceError {
                    page,
                    document: None,
                    problem: error.into(),
                })];
            }
        },
    };
    let mut seen = HashSet::new();
    pages
        .iter()
        .flat_map(|page| {
            let mut documents = load_page(manifest, page);
            refuse_duplicates(page, &mut documents, &mut seen);
            documents
        })
        .collect()
}

/// The readable files below `folder`, sorted; names that begin with a dot are left out.
fn list(folder: &Path) -> std::io::Result<Vec<String>> {
    fn walk(folder: &Path, prefix: &str, pages: &mut Vec<String>) -> std::io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            if name.starts_with('.') {
                continue;
            }
            if entry.path().is_dir() {
                // A link to a folder could lead back up.
                if !entry.file_type()?.is_symlink() {
                    walk(&entry.path(), &format!("{path}/"), pages)?;
                }
            } else if ENDINGS.contains(&ending(&name).as_str()) {
                pages.push(path);
            }
        }
        Ok(())
    }
    let mut pages = Vec::new();
    walk(folder, "", &mut pages)?;
    pages.sort();
    Ok(pages)
}

fn ending(page: &str) -> String {
    page.rsplit('/')
        .next()
        .and_then(|name| name.rsplit_once('.'))
        .map(|(_, ending)| ending.to_ascii_lowercase())
        .unwrap_or_default()
}

/// What an HTML page is called is its file name, links to it say so; other files lose their ending.
fn document_id(page: &str) -> String {
    match ending(page).as_str() {
        "html" | "htm" => page.to_owned(),
        _ => page
            .rsplit_once('.')
            .map_or(page, |(stem, _)| stem)
            .to_owned(),
    }
}

fn load_page(manifest: &Manifest, page: &str) -> Vec<Result<Document, SourceError>> {
    let id = document_id(page);
    let ending = ending(page);
    let lines = matches!(ending.as_str(), "jsonl" | "ndjson");
    let failed = |problem: SourceProblem| {
        let document = (!lines).then(|| id.clone());
        vec![Err(SourceError {
            page: page.to_owned(),
            document,
            problem,
        })]
    };
    if !ENDINGS.contains(&ending.as_str()) {
        return failed(SourceProblem::UnknownFormat);
    }
    let text = match read(&manifest.folder.join(page)) {
        Ok(text) => text,
        Err(problem) => return failed(problem),
    };
    if lines {
        return load_lines(manifest, page, &text);
    }
    let fallback = id.rsplit('/').next().unwrap_or(&id);
    let (title, metadata, laid) = match ending.as_str() {
        "html" | "htm" => {
            let (title, laid) = html::parse(&text, fallback);
            (title, BTreeMap::new(), laid)
        }
        "md" | "markdown" => {
            let markdown = markdown::parse(&text, fallback);
            (markdown.title, markdown.metadata, markdown.page)
        }
        _ => {
            let (title, laid) = text::parse(&text, fallback);
            (title, BTreeMap::new(), laid)
        }
    };
    let url = match &manifest.base_url {
        Some(base) => format!("{base}{}", encode_path(page)),
        None => own_url(&id),
    };
    match document(id.clone(), title, url, metadata, laid) {
        Some(document) => vec![Ok(document)],
        None => failed(SourceProblem::Empty),
    }
}

fn load_lines(manifest: &Manifest, page: &str, text: &str) -> Vec<Result<Document, SourceError>> {
    let mut documents = Vec::new();
    for (number, line) in jsonl::parse(text) {
        let failed = |document, problem| SourceError {
            page: format!("{page}:{number}"),
            document,
            problem,
        };
        documents.push(match line {
            Err(error) => Err(failed(None, error.into())),
            Ok(line) => {
                if let Some(problem) = address_problem(&line) {
                    documents.push(Err(failed(Some(line.id), problem)));
                    continue;
                }
                let title = line
                    .title
                    .as_deref()
                    .map(page::fold)
                    .filter(|title| !title.is_empty());
                let title = title.unwrap_or_else(|| line.id.clone());
                let laid = text::parse_body(&line.text.replace('\0', ""), &title);
                let url = line
                    .url
                    .clone()
                    .unwrap_or_else(|| match &manifest.base_url {
                        Some(base) => format!("{base}{}", encode_path(&line.id)),
                        None => own_url(&line.id),
                    });
                let metadata = line.metadata();
                let id = line.id;
                document(id.clone(), title, url, metadata, laid)
                    .ok_or_else(|| failed(Some(id), SourceProblem::Empty))
            }
        });
    }
    if documents.is_empty() {
        documents.push(Err(SourceError {
            page: page.to_owned(),
            document: None,
            problem: SourceProblem::Empty,
        }));
    }
    documents
}

/// A file's text. NUL characters, which no database stores, and a byte-order mark are left out.
fn read(path: &Path) -> Result<String, SourceProblem> {
    let text = String::from_utf8(std::fs::read(path)?)
        .map_err(|error| SourceProblem::NotUtf8(error.utf8_error().valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok(text.replace('\0', ""))
}

fn document(
    id: String,
    title: String,
    url: String,
    metadata: BTreeMap<String, String>,
    laid: Laid,
) -> Option<Document> {
    let Laid {
        page_text,
        sections,
    } = laid;
    // A page of nothing but links to others is whole, it only yields no chunk.
    (!page_text.is_empty()).then_some(Document {
        id,
        title,
        url,
        metadata,
        page_text,
        sections,
    })
}

fn refuse_duplicates(
    page: &str,
    documents: &mut [Result<Document, SourceError>],
    seen: &mut HashSet<String>,
) {
    for entry in documents {
        let Ok(document) = entry else { continue };
        if !seen.insert(document.id.clone()) {
            let id = document.id.clone();
            // The id is known, so that nothing else is carried over for its sake.
            *entry = Err(SourceError {
                page: page.to_owned(),
                document: Some(id.clone()),
                problem: SourceProblem::DuplicateId(id),
            });
        }
    }
}

/// What a line says of itself that becomes part of links.
fn address_problem(line: &jsonl::Line) -> Option<SourceProblem> {
    let segments_hold = line
        .id
        .split('/')
        .all(|segment| !matches!(segment, "" | "." | ".."));
    if !segments_hold {
        return Some(SourceProblem::BadId(line.id.clone()));
    }
    line.url
        .as_ref()
        .filter(|url| !(url.starts_with("https://") || url.starts_with("http://")))
        .map(|url| SourceProblem::BadUrl(url.clone()))
}

/// Where this service shows a document itself.
fn own_url(id: &str) -> String {
    format!("sources/{}", encode_path(id))
}

/// A path as it may stand in a URL.
fn encode_path(path: &str) -> String {
    let mut encoded = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests;
