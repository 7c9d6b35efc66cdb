//! One question's book-keeping: the clock per stage, what was done without, the way to the visitor.
//!
//! It holds no text of question or answer, so nothing of them can reach the log from here.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use tokio::time::Instant;

use super::event::{Closed, ErrorEvent, Event, Progress, Sink};
use super::failure::Failure;

/// The run of one question.
#[derive(Debug)]
pub(super) struct Run<'a> {
    request_id: &'a str,
    sink: &'a Sink,
    started: Instant,
    timings_ms: BTreeMap<&'static str, f64>,
    degraded: Vec<&'static str>,
}

impl<'a> Run<'a> {
    pub(super) fn start(request_id: &'a str, sink: &'a Sink) -> Self {
        Self {
            request_id,
            sink,
            started: Instant::now(),
            timings_ms: BTreeMap::new(),
            degraded: Vec::new(),
        }
    }

    pub(super) fn request_id(&self) -> &'a str {
        self.request_id
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
