//! Questions with known answers, one JSON object a line, and whether their answers still stand in the corpus.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use domain::prepared::QuestionKey;
use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};

/// Where datasets live; a file belongs to the corpus whose name it begins with.
const FOLDER: &str = "eval/datasets";

/// The same, for where there is no checkout.
static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../eval/datasets");

/// One question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// Stable id.
    pub(crate) id: String,
    /// `answerable`, `unanswerable` or `injection`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// Style of an answerable question, category of an unanswerable one.
    #[serde(default, alias = "category", alias = "class")]
    pub(crate) style: String,
    /// As a visitor asks it.
    pub(crate) question: String,
    /// Metadata that documents must have, as a visitor may ask for.
    #[serde(default)]
    pub(crate) filter: BTreeMap<String, String>,
    /// Documents that are hidden while it is asked: without them it has no answer.
    #[serde(default)]
    pub(crate) without: Vec<String>,
    /// Quotes that answer it, any of them.
    #[serde(default)]
    pub(crate) gold: Vec<Gold>,
    /// What a person would answer.
    #[serde(default)]
    pub(crate) reference_answer: Option<String>,
    /// For a false premise: the quote that corrects it.
    #[serde(default)]
    pub(crate) correction: Option<Gold>,
    /// For an injection: what obeying it would show.
    #[serde(default)]
    pub(crate) must_not_contain: Vec<String>,
    /// For an injection: the quote that answers the honest part of it.
    #[serde(default)]
    pub(crate) benign: Option<Gold>,
}

impl Row {
    /// What must stand in the corpus for the row to say anything.
    pub(crate) fn golds(&self) -> impl Iterator<Item = &Gold> {
        self.gold.iter().chain(&self.correction).chain(&self.benign)
    }

    /// Whether it should be answered, where that does not depend on the answer: a false premise may be corrected, and an
    /// injection is neither.
    pub(crate) fn should_be_answered(&self) -> Option<bool> {
        match (self.kind.as_str(), self.style.as_str()) {
            ("answerable", _) => Some(true),
            ("unanswerable", style) if style != "false_premise" => Some(false),
            _ => None,
        }
    }
}

/// Words of the corpus, and where they stand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gold {
    /// The document's id.
    #[serde(default)]
    pub(crate) page: String,
    /// The anchor of the section; empty where there is none.
    #[serde(default)]
    pub(crate) anchor: String,
    /// Verbatim.
    pub(crate) quote: String,
}

/// The datasets of a corpus in this checkout.
///
/// # Errors
/// There are none, or they cannot be read.
pub(crate) fn of_corpus(corpus: &str) -> anyhow::Result<Vec<Row>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(FOLDER)
        .with_context(|| format!("read {FOLDER}"))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| is_of(corpus, path))
        .collect();
    files.sort();
    if files.is_empty() {
        bail!("{FOLDER} has no file {corpus}*.jsonl: name a dataset");
    }
    read(&files)
}

/// The datasets of a corpus that this program was built with.
///
/// # Errors
/// There are none.
pub(crate) fn built_in(corpus: &str) -> anyhow::Result<Vec<Row>> {
    let mut files: Vec<_> = BUILT_IN
        .files()
        .filter(|file| is_of(corpus, file.path()))
        .collect();
    files.sort_by_key(|file| file.path());
    if files.is_empty() {
        bail!("this program was built without a dataset of {corpus}");
    }
    let mut rows = Vec::new();
    for file in files {
        let text = file.contents_utf8().context("it is not UTF-8");
        let found = text.and_then(parse);
        rows.extend(found.with_context(|| format!("read {}", file.path().display()))?);
    }
    Ok(rows)
}

/// `postgresql-17.jsonl` and `postgresql-17.slow.jsonl` are of `postgresql-17`, and neither of them is of `postgresql-1`.
fn is_of(corpus: &str, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix(corpus)
        .is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".jsonl"))
}

/// Refuses rows that would be counted twice.
pub(crate) fn check(rows: &[Row]) -> anyhow::Result<()> {
    let (mut ids, mut asked) = (HashSet::new(), HashMap::new());
    for row in rows {
        if !ids.insert(&row.id) {
            bail!("{} stands in the datasets twice", row.id);
        }
        let question = (QuestionKey::of(&row.question), &row.filter, &row.without);
        if let Some(other) = asked.insert(question, &row.id) {
            bail!("{} asks what {other} asks: a question counts once", row.id);
        }
    }
    Ok(())
}

/// The rows of files.
///
/// # Errors
/// One cannot be read; the message names it and the line.
pub(crate) fn read(files: &[PathBuf]) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).map_err(anyhow::Error::from);
        let found = text.and_then(|text| parse(&text));
        rows.extend(found.with_context(|| format!("read {}", file.display()))?);
    }
    Ok(rows)
}

fn parse(text: &str) -> anyhow::Result<Vec<Row>> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(n, line)| serde_json::from_str(line).with_context(|| format!("line {}", n + 1)))
        .collect()
}
