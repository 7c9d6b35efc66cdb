//! Reads JSONL: one document a line, as `{"id", "title", "text", "url", "metadata"}`.
//!
//! `id` and `text` are required. A line that cannot be read is reported by its number and never stops the others. The
//! text is read as [`super::text`] reads a file.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// One line.
#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct Line {
    /// The document's id.
    pub(crate) id: String,
    /// Its title; the id when missing.
    pub(crate) title: Option<String>,
    /// Its text.
    pub(crate) text: String,
    /// Where people read it.
    pub(crate) url: Option<String>,
    /// Filterable facts.
    #[serde(default)]
    metadata: BTreeMap<String, Value>,
}

impl Line {
    /// Metadata as strings: numbers and truth values as they are written, lists joined by commas, nulls left out.
    pub(crate) fn metadata(&self) -> BTreeMap<String, String> {
        self.metadata
            .iter()
            .filter_map(|(key, value)| Some((key.clone(), as_string(value)?)))
            .collect()
    }
}

fn as_string(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(values) => Some(
            values
                .iter()
                .filter_map(as_string)
                .collect::<Vec<_>>()
                .join(", "),
        ),
        other => Some(other.to_string()),
    }
}

/// The lines of a file with their numbers, from 1; blank ones are left out.
pub(crate) fn parse(text: &str) -> impl Iterator<Item = (usize, Result<Line, serde_json::Error>)> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| (index + 1, serde_json::from_str(line)))
}
