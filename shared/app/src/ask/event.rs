//! What a visitor is sent, event by event: the wire form of the HTTP contract, and the sink it is written to.
//!
//! The last event of a stream is exactly one [`Event::Done`] or [`Event::Error`]. A sink that nobody reads any more
//! answers [`Closed`], which ends the work quietly.

use std::collections::BTreeMap;

use domain::quota::{Day, Limits, Remaining};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc;

/// One event of an answer's stream; `name` and `data` are its wire form.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Event {
    /// A stage ended, or the database is being woken.
    Progress(Progress),
    /// The passages the answer may cite.
    Passages {
        /// At most six.
        passages: Vec<Passage>,
    },
    /// A model's raw text as it is written, unverified; only for those who asked for it.
    Draft {
        /// More of it.
        text: String,
    },
    /// A verified sentence.
    Sentence(Sentence),
    /// A sentence that did not hold; its text is never sent.
    Removed {
        /// Position in the answer as written.
        index: usize,
        /// `no_citation`, `quote_not_found`, …
        reason: &'static str,
    },
    /// A fixed remark about the answer.
    Note {
        /// `not_covered`, `truncated` or `interrupted`.
        kind: &'static str,
    },
    /// The end of an answer or of a refusal.
    Done(Box<Done>),
    /// The end of a failure.
    Error(ErrorEvent),
    /// An event of a prepared answer, as it was sent when that was made.
    Prepared(PreparedEvent),
}

impl Event {
    /// The SSE event name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Progress(_) => "progress",
            Self::Passages { .. } => "passages",
            Self::Draft { .. } => "draft",
            Self::Sentence(_) => "sentence",
            Self::Removed { .. } => "removed",
            Self::Note { .. } => "note",
            Self::Done(_) => "done",
            Self::Error(_) => "error",
            Self::Prepared(event) => event.name,
        }
    }
}

/// An event in its wire form.
#[derive(Debug, Clone, Serialize)]
pub struct PreparedEvent {
    /// The SSE event name.
    #[serde(skip)]
    pub name: &'static str,
    /// Its data.
    #[serde(flatten)]
    pub data: Value,
}

/// `progress`: the stage that ended and how long it took; `ms` is absent while `waking`.
#[derive(Debug, Clone, Serialize)]
pub struct Progress {
    /// `embed`, `retrieve`, `rerank`, … or `waking`.
    pub stage: &'static str,
    /// Milliseconds the stage took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
}

/// One of the passages sent as evidence.
#[derive(Debug, Clone, Serialize)]
pub struct Passage {
    /// `P1` to `P6`, best first.
    pub id: String,
    /// The document's title.
    pub title: String,
    /// Heading path below the title.
    pub heading: Vec<String>,
    /// Opens the source at the passage's anchor.
    pub url: String,
    /// The anchor alone; empty when the source has none there.
    pub anchor: String,
    /// The passage as stored; quotes and offsets refer to it.
    pub text: String,
    /// The document's metadata.
    pub metadata: BTreeMap<String, String>,
    /// The reranker's score, 0 to 1; null when the reranker was skipped.
    pub score: Option<f32>,
}

/// `sentence`: shown text with the citations that hold it up.
#[derive(Debug, Clone, Serialize)]
pub struct Sentence {
    /// Position in the answer as written, from 0.
    pub index: usize,
    /// What is shown, without citation marks.
    pub text: String,
    /// `prose` or `code`.
    pub kind: &'static str,
    /// At least one.
    pub citations: Vec<Citation>,
    /// Citations that did not hold.
    pub dropped: Vec<Dropped>,
}

/// A verified citation as sent.
#[derive(Debug, Clone, Serialize)]
pub struct Citation {
    /// `P2`.
    pub passage: String,
    /// The words as they stand in the passage.
    pub quote: String,
    /// First Unicode scalar of the quote in the passage's text.
    pub start: usize,
    /// One past its last scalar.
    pub end: usize,
    /// Opens the source at the words: anchor and text fragment.
    pub url: String,
}

/// A citation that was dropped from a sentence that is still shown.
#[derive(Debug, Clone, Serialize)]
pub struct Dropped {
    /// What the answer claimed to cite.
    pub passage: String,
    /// Why it does not hold.
    pub reason: &'static str,
}

/// `done`: how it ended.
#[derive(Debug, Clone, Serialize)]
pub struct Done {
    /// `answered`, `partial`, `abstained` or `unsupported`.
    pub outcome: &'static str,
    /// The shown sentences joined, or the corpus's refusal sentence.
    pub answer: String,
    /// Number of sentences shown.
    pub sentences: usize,
    /// How many citations held.
    pub citations: CitationCounts,
    /// Number of sentences removed.
    pub removed: usize,
    /// For a refusal: up to three headings that were near. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Vec<Nearest>>,
    /// Tokens used by model providers; all zero when everything ran locally.
    pub usage: Usage,
    /// Cost of provider calls in US dollars; null when a model's price is not known.
    pub cost_usd: Option<f64>,
    /// Parts that failed and were done without: `generator`, `vector`, `keyword`, `reranker`.
    pub degraded: Vec<&'static str>,
    /// Milliseconds per stage and `total`.
    pub timings_ms: BTreeMap<&'static str, f64>,
    /// What may be asked today, and what of that is left.
    pub quota: Quota,
    /// The corpus version that answered.
    pub corpus_version: i64,
    /// Lambda's request id.
    pub request_id: String,
}

/// Citations of the whole answer.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct CitationCounts {
    /// Found in the passages they name.
    pub verified: usize,
    /// Not found.
    pub dropped: usize,
}

/// A heading near a question that was not answered.
#[derive(Debug, Clone, Serialize)]
pub struct Nearest {
    /// Title and heading path.
    pub heading: Vec<String>,
    /// Opens the source there.
    pub url: String,
}

/// Provider tokens.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Usage {
    /// Prompt tokens.
    pub input_tokens: u64,
    /// Completion tokens, reasoning included.
    pub output_tokens: u64,
    /// Embedding tokens.
    pub embedding_tokens: u64,
    /// Whether a provider gave no count, so that some of it is estimated from lengths.
    pub estimated: bool,
}

/// Limits and what remains of them. `None` is not known: the counters were not read, or the operator asks, whom no limit
/// concerns.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Quota {
    /// This visitor's.
    pub visitor: Allowance,
    /// All visitors' together.
    pub global: Allowance,
    /// RFC 3339 instant of the next reset.
    pub resets_at: Option<String>,
}

impl Quota {
    /// What `limits` allow on `day`, and what of that is left, where it is known.
    #[must_use]
    pub fn of(limits: &Limits, left: Option<Remaining>, day: Day) -> Self {
        let allowance = |limit, remaining| Allowance {
            limit: Some(limit),
            remaining,
        };
        Self {
            visitor: allowance(limits.visitor, left.map(|left| left.visitor)),
            global: allowance(limits.global, left.map(|left| left.global)),
            resets_at: Some(day.resets_at()),
        }
    }
}

/// One limit.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Allowance {
    /// Questions a day.
    pub limit: Option<u64>,
    /// Still to be asked today.
    pub remaining: Option<u64>,
}

/// `error`: a failure after the stream began.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorEvent {
    /// `provider`, `refused`, `filtered`, `deadline`, `unavailable` or `internal`.
    pub code: &'static str,
    /// A fixed sentence for people; never an underlying error's text.
    pub message: &'static str,
    /// When it is worth trying again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u64>,
    /// Lambda's request id.
    pub request_id: String,
}

/// Nobody reads the stream any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// Where events go: the HTTP body, or a recording.
#[derive(Debug, Clone)]
pub struct Sink(mpsc::Sender<Event>);

impl Sink {
    /// A sink and the receiver that reads it, holding up to `capacity` events unread.
    #[must_use]
    pub fn channel(capacity: usize) -> (Self, mpsc::Receiver<Event>) {
        let (sender, receiver) = mpsc::channel(capacity);
        (Self(sender), receiver)
    }

    /// Sends one event, waiting while the reader is behind.
    ///
    /// # Errors
    /// [`Closed`] when the reader is gone.
    pub async fn send(&self, event: Event) -> Result<(), Closed> {
        self.0.send(event).await.map_err(|_| Closed)
    }

    /// Waits until nobody reads any more.
    pub async fn closed(&self) {
        self.0.closed().await;
    }
}
