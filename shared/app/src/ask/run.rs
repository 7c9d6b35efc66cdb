//! One question's book-keeping: the clock per stage, what was done without, the way to the visitor.
//!
//! It holds no text of question or answer, so nothing of them can reach the log from here.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use adapters::model::{Spent, TokenUsage};
use adapters::provider::{Phase, ProviderError};
use domain::cost::{Cost, Money, Usage, cost};
use domain::quota::{Ending, Outcome};
use tokio::time::Instant;

use super::Found;
use super::event::{self, Closed, ErrorEvent, Event, Progress, Sink};
use super::failure::Failure;
use super::judge::judged_score;
use super::rerank::Ranked;
use crate::context::Context;

/// The run of one question.
#[derive(Debug)]
pub(super) struct Run<'a> {
    request_id: &'a str,
    sink: &'a Sink,
    started: Instant,
    timings_ms: BTreeMap<&'static str, f64>,
    degraded: Vec<&'static str>,
    dropped: BTreeMap<&'static str, u64>,
    held: u64,
    writing: bool,
    usage: Usage,
    cost: Cost,
    calling: bool,
    uncounted: bool,
    found: Option<Found>,
}

impl<'a> Run<'a> {
    pub(super) fn start(request_id: &'a str, sink: &'a Sink) -> Self {
        Self {
            request_id,
            sink,
            started: Instant::now(),
            timings_ms: BTreeMap::new(),
            degraded: Vec::new(),
            dropped: BTreeMap::new(),
            held: 0,
            writing: false,
            usage: Usage::default(),
            cost: Cost::default(),
            calling: false,
            uncounted: false,
            found: None,
        }
    }

    pub(super) fn request_id(&self) -> &'a str {
        self.request_id
    }

    pub(super) fn sink(&self) -> &'a Sink {
        self.sink
    }

    /// Keeps what a search found.
    pub(super) fn found_by(&mut self, ranked: &Ranked) {
        self.found = Some(Found {
            arms: ranked.arms.clone(),
            passages: ranked
                .passages
                .iter()
                .map(|passage| passage.evidence.chunk)
                .collect(),
            relevance: judged_score(ranked),
            signals: ranked.signals,
        });
    }

    /// What a search found.
    pub(super) fn found(self) -> Option<Found> {
        self.found
    }

    pub(super) async fn send(&self, event: Event) -> Result<(), Closed> {
        self.sink.send(event).await
    }

    /// Notes that `stage` took until now since `since`, and tells the visitor.
    pub(super) async fn ended(
        &mut self,
        stage: &'static str,
        since: Instant,
    ) -> Result<(), Closed> {
        self.took(stage, since.elapsed()).await
    }

    /// The same for a stage that ran beside another.
    pub(super) async fn took(&mut self, stage: &'static str, time: Duration) -> Result<(), Closed> {
        let ms = milliseconds(time);
        self.timings_ms.insert(stage, ms);
        self.send(Event::Progress(Progress {
            stage,
            ms: Some(ms),
        }))
        .await
    }

    /// Tells the visitor that the database is being resumed.
    pub(super) async fn waking(&self) -> Result<(), Closed> {
        self.send(Event::Progress(Progress {
            stage: "waking",
            ms: None,
        }))
        .await
    }

    /// Notes a part that failed and is done without.
    pub(super) fn without(&mut self, part: &'static str, cause: &(dyn Error + 'static)) {
        tracing::warn!(
            question.id = self.request_id,
            part,
            error = chain(cause),
            "answering without a part"
        );
        if !self.degraded.contains(&part) {
            self.degraded.push(part);
        }
    }

    /// Notes that a model's first word is here: from now on its answer is paid for, whatever becomes of it.
    pub(super) fn began_writing(&mut self) {
        self.writing = true;
    }

    /// What decides whether the question counts, now that it ended with `outcome`.
    pub(super) fn ending(&self, outcome: Outcome) -> Ending {
        Ending {
            outcome,
            first_word: self.writing,
            paid: self.usage != Usage::default() || self.calling || self.uncounted,
            without_model: self.degraded.contains(&"generator"),
        }
    }

    /// What it cost; `None` when a model's price is not known, or when a call was left before it said what it used.
    pub(super) fn cost(&self) -> Option<Money> {
        self.cost
            .known()
            .filter(|_| !self.calling && !self.uncounted)
    }

    /// Citations and sentences that did not hold, by reason.
    pub(super) fn dropped_by_reason(&self) -> &BTreeMap<&'static str, u64> {
        &self.dropped
    }

    /// Counts a citation or a sentence that did not hold.
    pub(super) fn dropped(&mut self, reason: &'static str) {
        *self.dropped.entry(reason).or_default() += 1;
    }

    /// Counts citations that held.
    pub(super) fn held(&mut self, citations: usize) {
        self.held += citations as u64;
    }

    /// How many citations held, shown before whatever ended the answer.
    pub(super) fn citations_held(&self) -> u64 {
        self.held
    }

    /// Notes that a model's text broke off; what was shown of it stays.
    pub(super) fn broke_off(&self, cause: &(dyn Error + 'static)) {
        tracing::warn!(
            question.id = self.request_id,
            error = chain(cause),
            "the model's text broke off"
        );
    }

    /// Notes that a call is under way whose cost is known at its end alone.
    pub(super) fn calls(&mut self) {
        self.calling = true;
    }

    /// Counts what a model was used for.
    pub(super) fn spent(&mut self, ctx: &Context, model: &str, usage: Usage) {
        self.calling = false;
        self.cost = std::mem::take(&mut self.cost) + cost(&ctx.prices, model, &usage);
        self.usage = self.usage + usage;
    }

    /// Counts a chat call: as its provider counted, else reckoned from the lengths.
    pub(super) fn spent_on_chat(&mut self, ctx: &Context, model: &str, spent: Spent) {
        let usage = match spent.usage {
            Some(counted) => chat_usage(counted),
            None => Usage::estimated_chat(spent.prompt_chars, spent.text_chars),
        };
        self.spent(ctx, model, usage);
    }

    /// Counts a call that gave nothing but is paid for all the same, where the provider said so.
    pub(super) fn spent_on_failure(&mut self, ctx: &Context, model: &str, error: &ProviderError) {
        self.calling = false;
        match (error.usage(), error) {
            (Some(counted), _) => self.spent(ctx, model, chat_usage(counted)),
            (None, ProviderError::Timeout(Phase::Connect)) => {}
            // The provider may have read and written all the same.
            (None, ProviderError::Timeout(_)) => self.uncounted = true,
            (None, _) => {}
        }
    }

    pub(super) fn usage(&self) -> event::Usage {
        event::Usage {
            input_tokens: self.usage.input,
            output_tokens: self.usage.output,
            embedding_tokens: self.usage.embedding,
            estimated: self.usage.estimated,
        }
    }

    /// In US dollars; `None` when a model's price is not known.
    pub(super) fn cost_usd(&self) -> Option<f64> {
        self.cost().map(Money::as_usd)
    }

    pub(super) fn degraded(&self) -> Vec<&'static str> {
        self.degraded.clone()
    }

    pub(super) fn timings_ms(&self) -> BTreeMap<&'static str, f64> {
        let mut timings = self.timings_ms.clone();
        timings.insert("total", milliseconds(self.started.elapsed()));
        timings
    }

    /// Ends the stream with an `error`.
    pub(super) async fn fail(&self, failure: &Failure) -> Result<(), Closed> {
        tracing::error!(
            question.id = self.request_id,
            code = failure.code(),
            duration_ms = milliseconds(self.started.elapsed()),
            error = chain(failure),
            "failed to answer"
        );
        self.send(Event::Error(ErrorEvent {
            code: failure.code(),
            message: failure.message(),
            retry_after_s: failure.retry_after_s(),
            request_id: self.request_id.to_owned(),
        }))
        .await
    }
}

/// The count includes reasoning in what was written.
fn chat_usage(counted: TokenUsage) -> Usage {
    Usage::chat(counted.input, counted.cached_input, counted.output)
}

/// An error and what caused it, in one line.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut line = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        line.push_str(": ");
        line.push_str(&cause.to_string());
        next = cause.source();
    }
    line
}

/// To the hundredth: enough for people, and no false precision on the wire.
fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 100_000.0).round() / 100.0
}
