//! A run as it is stored: everything the metrics are computed from, so that they can be computed again without asking anything.
//!
//! One JSON object a line: what was measured on, then each question with its places and its events, as they were sent.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dataset::Row;
use crate::judge::Ballot;

/// Number of the form. A reader refuses another one.
const FORM: u32 = 3;

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    pub(crate) head: Head,
    pub(crate) questions: Vec<Asked>,
}

/// What was measured, and on what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Head {
    form: u32,
    /// The corpus's name.
    pub(crate) corpus: String,
    /// SHA-256 over its passages, in hexadecimal.
    pub(crate) corpus_hash: String,
    /// Who searched, ordered and wrote, by which rules.
    pub(crate) writer: String,
    /// The model that wrote; empty for the passages' own sentences.
    pub(crate) generator: String,
    /// Identity of the model that embeds.
    pub(crate) embedder: String,
    /// What orders the passages found, and so what relevance is judged by.
    pub(crate) reranker: String,
    /// When it was asked: seconds since 1970.
    pub(crate) asked_at: u64,
    /// Who judged the answers, if anybody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) judge: Option<Judge>,
    /// Rows that were left out, and why.
    pub(crate) left_out: BTreeMap<String, String>,
}

impl Head {
    pub(crate) fn new(corpus: &str, corpus_hash: String, writer: String) -> Self {
        Self {
            form: FORM,
            corpus: corpus.to_owned(),
            corpus_hash,
            writer,
            generator: String::new(),
            embedder: String::new(),
            reranker: String::new(),
            asked_at: 0,
            judge: None,
            left_out: BTreeMap::new(),
        }
    }

    /// What floors and baselines know the run by: the corpus, and the model that wrote, if one did.
    pub(crate) fn title(&self) -> String {
        match self.generator.as_str() {
            "" => self.corpus.clone(),
            model => format!("{} by {model}", self.corpus),
        }
    }
}

/// A model that judged whether the passages support what was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Judge {
    /// Its name.
    pub(crate) model: String,
    /// Number of the rules it was given.
    pub(crate) rules: u32,
    /// Why its verdicts are to be read with care.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) remark: Option<String>,
}

/// One question, asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// The question and what is known of it.
    pub(crate) row: Row,
    /// Places of the passages that hold a gold quote, from 1 and in order: by vector, by keyword, fused, reranked.
    pub(crate) gold_at: [Vec<usize>; 4],
    /// Passages that hold a gold quote.
    pub(crate) gold_passages: usize,
    /// The relevance that was judged.
    pub(crate) relevance: f32,
    /// What it was judged by.
    pub(crate) signals: Signals,
    /// Every event with its data.
    pub(crate) events: Vec<(String, Value)>,
    /// What a judge said of the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ballots: Vec<Ballot>,
}

/// What relevance was judged by; see [`domain::relevance::Signals`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Signals {
    pub(crate) best_sentences: f32,
    pub(crate) unknown_share: f32,
    pub(crate) unknown_name: bool,
}

impl Asked {
    /// The data of every event of that name.
    pub(crate) fn events(&self, name: &str) -> impl Iterator<Item = &Value> {
        self.events
            .iter()
            .filter(move |(found, _)| found == name)
            .map(|(_, data)| data)
    }

    /// The outcome, or the code of the error it ended with.
    pub(crate) fn outcome(&self) -> &str {
        let last = self.events.last();
        last.and_then(|(_, data)| data["outcome"].as_str().or(data["code"].as_str()))
            .unwrap_or("none")
    }

    /// The quotes of each shown sentence.
    pub(crate) fn quotes(&self) -> Vec<Vec<&str>> {
        self.events("sentence")
            .map(|sentence| {
                let citations = sentence["citations"].as_array().into_iter().flatten();
                citations.filter_map(|c| c["quote"].as_str()).collect()
            })
            .collect()
    }
}

impl Run {
    /// Writes the run into `file`.
    pub(crate) fn write(&self, file: &Path) -> anyhow::Result<()> {
        let mut text = serde_json::to_string(&self.head)?;
        for asked in &self.questions {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{}", serde_json::to_string(asked)?);
        }
        text.push('\n');
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
        }
        fs::write(file, text).with_context(|| format!("write {}", file.display()))
    }

    /// Reads a run that [`write`](Self::write) wrote.
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let shown = file.display();
        let text = fs::read_to_string(file).with_context(|| format!("read {shown}"))?;
        let mut lines = text.lines();
        let head: Head = serde_json::from_str(lines.next().unwrap_or_default())
            .with_context(|| format!("{shown} is no stored run: line 1"))?;
        if head.form != FORM {
            bail!(
                "{shown} is of form {}, and this build reads {FORM}",
                head.form
            );
        }
        let questions = lines
            .enumerate()
            .map(|(n, line)| {
                serde_json::from_str(line).with_context(|| format!("{shown}: line {}", n + 2))
            })
            .collect::<anyhow::Result<_>>()?;
        Ok(Self { head, questions })
    }
}
