//! A run as it is stored: everything the metrics are computed from, so that they can be computed again without asking anything.
//!
//! One JSON object a line: what was measured on, then each question with its places and its events, as they were sent.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::dataset::Row;
use crate::gate::Ruling;
use crate::judge::Ballot;

/// Number of the form. A reader refuses another one.
const FORM: u32 = 6;

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
    /// The datasets that were named; empty for all of the corpus's.
    pub(crate) part: String,
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
    /// What it was held against and what came of that; none before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ruling: Option<Ruling>,
    /// What each metric was in the runs before, the oldest first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) history: BTreeMap<String, Vec<Point>>,
}

/// A metric's value in an earlier run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    /// When that run was asked: RFC 3339, in UTC.
    pub(crate) at: String,
    /// The value.
    pub(crate) value: f64,
}

impl Head {
    pub(crate) fn new(corpus: &str, corpus_hash: String, writer: String) -> Self {
        Self {
            form: FORM,
            corpus: corpus.to_owned(),
            corpus_hash,
            writer,
            generator: String::new(),
            part: String::new(),
            embedder: String::new(),
            reranker: String::new(),
            asked_at: 0,
            judge: None,
            left_out: BTreeMap::new(),
            ruling: None,
            history: BTreeMap::new(),
        }
    }

    /// When it was asked: RFC 3339, in UTC.
    pub(crate) fn at(&self) -> String {
        let at = i64::try_from(self.asked_at)
            .ok()
            .and_then(|at| OffsetDateTime::from_unix_timestamp(at).ok());
        at.and_then(|at| at.format(&Rfc3339).ok())
            .unwrap_or_default()
    }

    /// What results are kept under: the title in `[a-z0-9.-]+`, as an address may hold it.
    pub(crate) fn slug(&self) -> String {
        slug(&self.title())
    }

    /// What floors, baselines and results know the run by: the corpus, the model that wrote, if one did, and what was asked, if
    /// not everything.
    pub(crate) fn title(&self) -> String {
        let title = title(&self.corpus, &self.generator);
        match self.part.as_str() {
            "" => title,
            part => format!("{title} on {part}"),
        }
    }
}

/// The title of whole runs on a corpus that this model writes, or with an empty name none.
pub(crate) fn title(corpus: &str, generator: &str) -> String {
    match generator {
        "" => corpus.to_owned(),
        model => format!("{corpus} by {model}"),
    }
}

/// What results of this title are kept under.
pub(crate) fn slug(title: &str) -> String {
    title
        .to_ascii_lowercase()
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '.' {
                c
            } else {
                '-'
            }
        })
        .collect::<String>()
        .trim_start_matches(['.', '-'])
        .to_owned()
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
    /// The relevance that was judged, by the sentences or by a remote reranker.
    pub(crate) relevance: f32,
    /// What the sentences' is made of.
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
    pub(crate) best_sentence: f32,
    pub(crate) agreement: f32,
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
    /// The run as it is stored.
    pub(crate) fn text(&self) -> anyhow::Result<String> {
        let mut text = serde_json::to_string(&self.head)?;
        for asked in &self.questions {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{}", serde_json::to_string(asked)?);
        }
        text.push('\n');
        Ok(text)
    }

    /// Reads what [`text`](Self::text) gave.
    ///
    /// # Errors
    /// It is none, or one of another form.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        let mut lines = text.lines();
        let head: Head = serde_json::from_str(lines.next().unwrap_or_default())
            .context("this is no stored run: line 1")?;
        if head.form != FORM {
            bail!("it is of form {}, and this build reads {FORM}", head.form);
        }
        let questions = lines
            .enumerate()
            .map(|(n, line)| serde_json::from_str(line).with_context(|| format!("line {}", n + 2)))
            .collect::<anyhow::Result<_>>()?;
        Ok(Self { head, questions })
    }
}
