//! What is published of a run: the JSON that `ask` serves under `api/evaluation` and that the page and the HTML report show.
//!
//! Made of a stored run alone: the same run gives the same bytes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dataset::Gold;
use crate::gate::Outcome;
use crate::metrics::refusal::Outcomes;
use crate::metrics::{self, Kind, faithfulness};
use crate::record::{Asked, Point, Run};
use crate::verdict::Verdict;

/// Questions a page: some hundred kilobytes, of the 6 MB that a reply may have.
pub(crate) const ROWS_A_PAGE: usize = 25;

/// All runs that are shown: `latest.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Latest {
    /// By title.
    pub(crate) runs: Vec<Summary>,
}

/// A run without its questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Summary {
    /// What its parts are kept under.
    pub(crate) slug: String,
    pub(crate) title: String,
    /// When it was asked: RFC 3339, in UTC.
    pub(crate) at: String,
    pub(crate) corpus: String,
    pub(crate) corpus_hash: String,
    pub(crate) writer: String,
    /// The model that wrote; empty for the passages' own sentences.
    pub(crate) generator: String,
    pub(crate) embedder: String,
    pub(crate) reranker: String,
    /// The model that judged.
    pub(crate) judge: Option<String>,
    /// How many were asked.
    pub(crate) questions: usize,
    pub(crate) outcome: Outcome,
    /// What the gate said, a line each.
    pub(crate) ruling: Vec<String>,
    /// What was measured with which models, and what was not.
    pub(crate) notes: Vec<String>,
    pub(crate) metrics: Vec<MetricShown>,
    pub(crate) outcomes: Outcomes,
    pub(crate) plots: Vec<PlotShown>,
    pub(crate) rows: Pages,
    /// Rows that were left out, and why.
    pub(crate) left_out: BTreeMap<String, String>,
}

/// A metric with what it is to be held against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MetricShown {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) n: usize,
    /// Of a rate.
    pub(crate) hits: Option<usize>,
    /// 95 %.
    pub(crate) interval: Option<(f64, f64)>,
    pub(crate) floor: Option<f64>,
    /// Earlier runs, the oldest first.
    pub(crate) history: Vec<Point>,
}

/// A plot's name and words; its lines are an object of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlotShown {
    pub(crate) name: String,
    pub(crate) title: String,
    /// What it shows, for who does not see it.
    pub(crate) alt: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pages {
    pub(crate) pages: usize,
    pub(crate) per_page: usize,
}

/// A page of questions.
#[derive(Debug, Serialize)]
pub(crate) struct Page<'a> {
    pub(crate) rows: &'a [RowShown],
}

/// A question with what was shown for it and what was expected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RowShown {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) style: String,
    pub(crate) question: String,
    pub(crate) right: bool,
    /// See [`Verdict::told`].
    pub(crate) what: &'static str,
    pub(crate) outcome: String,
    pub(crate) relevance: f32,
    pub(crate) refusal: Option<String>,
    pub(crate) answer: Vec<SentenceShown>,
    /// Why each of the sentences that were written and not shown was kept back.
    pub(crate) removed: Vec<String>,
    pub(crate) passages: Vec<PassageShown>,
    pub(crate) gold: Vec<Gold>,
    /// Pages that were hidden.
    pub(crate) without: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SentenceShown {
    pub(crate) text: String,
    pub(crate) kind: String,
    pub(crate) citations: Vec<CitationShown>,
    /// What a model judged of it.
    pub(crate) verdict: Option<VerdictShown>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CitationShown {
    pub(crate) passage: String,
    pub(crate) quote: String,
    pub(crate) url: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct VerdictShown {
    /// By the majority; none where there is no majority.
    pub(crate) supported: Option<bool>,
    pub(crate) votes: Vec<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PassageShown {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) heading: Vec<String>,
    pub(crate) url: String,
    pub(crate) text: String,
    pub(crate) score: f64,
}

/// The run without its questions; `plots` are those that are drawn of it.
pub(crate) fn summary(run: &Run, plots: Vec<PlotShown>) -> Summary {
    let head = &run.head;
    let ruling = head.ruling.as_ref();
    Summary {
        slug: head.slug(),
        title: head.title(),
        at: head.at(),
        corpus: head.corpus.clone(),
        corpus_hash: head.corpus_hash.clone(),
        writer: head.writer.clone(),
        generator: head.generator.clone(),
        embedder: head.embedder.clone(),
        reranker: head.reranker.clone(),
        judge: head.judge.as_ref().map(|judge| judge.model.clone()),
        questions: run.questions.len(),
        outcome: ruling.map_or(Outcome::CouldNotMeasure, |ruling| ruling.outcome),
        ruling: ruling
            .map(|ruling| ruling.text.lines().map(str::to_owned).collect())
            .unwrap_or_default(),
        notes: notes(run),
        metrics: metrics(run),
        outcomes: metrics::refusal::outcomes(run),
        plots,
        rows: Pages {
            pages: run.questions.len().div_ceil(ROWS_A_PAGE),
            per_page: ROWS_A_PAGE,
        },
        left_out: head.left_out.clone(),
    }
}

/// Every question, those first that were not answered as they should be.
pub(crate) fn rows(run: &Run) -> Vec<RowShown> {
    let mut rows: Vec<RowShown> = run.questions.iter().map(row).collect();
    rows.sort_by_key(|row| row.right);
    rows
}

fn notes(run: &Run) -> Vec<String> {
    let head = &run.head;
    let mut notes = vec![format!(
        "Asked one at a time of the pipeline that visitors use. {} embeds, the reranker is {}.",
        head.embedder, head.reranker
    )];
    notes.push(match head.generator.as_str() {
        "" => "Answers are the passages' own sentences, chosen without a language model. What holds by construction there, such as \
               quotes that stand in their passage, has to be measured anew where a model writes."
            .to_owned(),
        model => format!("{model} wrote the answers; questions may come out otherwise the next time by chance alone."),
    });
    match &head.judge {
        None => notes.push(
            "Not measured: whether a reader, or a judging model, finds that the passages support each sentence."
                .to_owned(),
        ),
        Some(judge) => {
            notes.push(format!(
                "{} judged whether the passages support each sentence, by the majority of three ballots with planted sentences among them.",
                judge.model
            ));
            notes.extend(judge.remark.clone());
            notes.extend(faithfulness::void(run).map(|why| format!("The judge is void: {why}.")));
        }
    }
    notes.push(
        "Not measured: how the service does under load. Times are those of the machine that asked."
            .to_owned(),
    );
    notes
}

fn metrics(run: &Run) -> Vec<MetricShown> {
    let head = &run.head;
    let floor = |name: &str| head.ruling.as_ref()?.floors.get(name).copied();
    metrics::of(run)
        .into_iter()
        .map(|metric| MetricShown {
            value: rounded(metric.value),
            n: metric.n(),
            hits: match metric.kind {
                Kind::Rate { hits, .. } => Some(hits),
                Kind::Mean { .. } | Kind::Plain { .. } => None,
            },
            interval: metric
                .interval()
                .map(|(low, high)| (rounded(low), rounded(high))),
            floor: floor(&metric.name),
            history: head.history.get(&metric.name).cloned().unwrap_or_default(),
            name: metric.name,
        })
        .collect()
}

/// To six places: short enough that a reader of the JSON gets this very number back.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn row(asked: &Asked) -> RowShown {
    let verdict = Verdict::on(asked);
    let votes = faithfulness::votes(asked);
    let judged = asked.ballots.iter().any(|ballot| ballot.verdicts().is_ok());
    let answer: Vec<SentenceShown> = asked
        .events("sentence")
        .zip(votes)
        .map(|(event, votes)| sentence(event, judged.then_some(votes)))
        .collect();
    let done = asked.events("done").last();
    let refusal = done.and_then(|done| done["answer"].as_str());
    RowShown {
        id: asked.row.id.clone(),
        kind: asked.row.kind.clone(),
        style: asked.row.style.clone(),
        question: asked.row.question.clone(),
        right: verdict.is_right(&asked.row.kind),
        what: verdict.told(asked),
        outcome: asked.outcome().to_owned(),
        relevance: asked.relevance,
        refusal: refusal.filter(|_| answer.is_empty()).map(str::to_owned),
        answer,
        removed: asked
            .events("removed")
            .map(|event| word(event, "reason"))
            .collect(),
        passages: asked
            .events("passages")
            .flat_map(|data| data["passages"].as_array().into_iter().flatten())
            .map(passage)
            .collect(),
        gold: asked.row.golds().cloned().collect(),
        without: asked.row.without.clone(),
    }
}

fn sentence(event: &Value, votes: Option<Vec<bool>>) -> SentenceShown {
    let citations = event["citations"].as_array().into_iter().flatten();
    SentenceShown {
        text: word(event, "text"),
        kind: word(event, "kind"),
        citations: citations
            .map(|citation| CitationShown {
                passage: word(citation, "passage"),
                quote: word(citation, "quote"),
                url: word(citation, "url"),
            })
            .collect(),
        verdict: votes.map(|votes| VerdictShown {
            supported: faithfulness::majority(&votes),
            votes: votes
                .into_iter()
                .map(|vote| if vote { "supported" } else { "unsupported" })
                .collect(),
        }),
    }
}

fn passage(data: &Value) -> PassageShown {
    let heading = data["heading"].as_array().into_iter().flatten();
    PassageShown {
        id: word(data, "id"),
        title: word(data, "title"),
        heading: heading
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        url: word(data, "url"),
        text: word(data, "text"),
        score: data["score"].as_f64().map(rounded).unwrap_or_default(),
    }
}

fn word(data: &Value, name: &str) -> String {
    data[name].as_str().unwrap_or_default().to_owned()
}
