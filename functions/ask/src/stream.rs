//! Turns one answer into a body of server-sent events that ends by itself, whatever happens while it is made.
//!
//! The work lives inside the body and goes on while somebody reads. When the visitor leaves, it is told so by its sink and
//! finishes beside the runtime what must not be left open, which is the question's charge. The last event is exactly one
//! `done` or `error`: a panic, a deadline and an answer that forgot its end become an `error` here. The events themselves
//! are `app::ask::event`.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use app::ask::event::{Closed, ErrorEvent, Event, Sink};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http_body::Frame;
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::respond::Body;

/// One event waits unread and no more, so that each is on its way before the next is made.
const EVENTS_WAITING: usize = 1;

/// What the stream needs to know of its request.
#[derive(Debug, Clone)]
pub(crate) struct Answering {
    /// Lambda's request id.
    pub(crate) request_id: String,
    /// The route's name, for the request's summary.
    pub(crate) route: &'static str,
    /// When the stream must have ended.
    pub(crate) deadline: Instant,
    /// When the request came.
    pub(crate) started: Instant,
    /// The service's root, which relative links are completed with where it is known.
    pub(crate) root: Option<String>,
}

/// The body of an answer: `answer` is given the sink its events go to.
pub(crate) fn events<F, W>(answering: Answering, answer: F) -> Body
where
    F: FnOnce(Sink) -> W,
    W: Future<Output = Result<(), Closed>> + Send + 'static,
{
    let (sink, events) = Sink::channel(EVENTS_WAITING);
    let work = AssertUnwindSafe(tokio::time::timeout_at(answering.deadline, answer(sink)));
    let work = work.catch_unwind().map(|ended| match ended {
        Ok(Ok(Ok(()) | Err(Closed))) => Ended::Itself,
        Ok(Err(_)) => Ended::Deadline,
        Err(_) => Ended::Panic,
    });
    EventBody {
        answering,
        work: Some(work.boxed()),
        ended: Ended::Itself,
        events,
        sent: 0,
        last: None,
    }
    .boxed_unsync()
}

/// How the work came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Itself,
    Deadline,
    Panic,
}

struct EventBody {
    answering: Answering,
    /// `None` once it has ended.
    work: Option<BoxFuture<'static, Ended>>,
    ended: Ended,
    events: mpsc::Receiver<Event>,
    sent: usize,
    /// The outcome or error code of the last event, once that is sent.
    last: Option<&'static str>,
}

impl http_body::Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let body = self.get_mut();
        let event = ready!(body.poll_event(cx));
        Poll::Ready(event.map(|event| Ok(Frame::data(body.write(event)))))
    }
}

impl EventBody {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        loop {
            if let Some(work) = &mut self.work
                && let Poll::Ready(ended) = work.poll_unpin(cx)
            {
                self.ended = ended;
                // With the work goes its sink, so that the events come to an end as well.
                self.work = None;
            }
            match ready!(self.events.poll_recv(cx)) {
                Some(_) if self.last.is_some() => {
                    tracing::error!(
                        request.id = self.answering.request_id,
                        "an event followed the last one and was left out"
                    );
                }
                None if self.last.is_some() => return Poll::Ready(None),
                Some(event) => return Poll::Ready(Some(event)),
                None => return Poll::Ready(Some(self.failure())),
            }
        }
    }

    /// The end of a stream whose answer did not write one.
    fn failure(&self) -> Event {
        let (code, message) = match self.ended {
            Ended::Deadline => ("deadline", "The answer took too long. Please try again."),
            Ended::Panic | Ended::Itself => {
                tracing::error!(
                    request.id = self.answering.request_id,
                    "failed to answer: {:?}",
                    self.ended
                );
                (
                    "internal",
                    "Something went wrong on our side. Please try again.",
                )
            }
        };
        Event::Error(ErrorEvent {
            code,
            message,
            retry_after_s: None,
            request_id: self.answering.request_id.clone(),
        })
    }

    fn write(&mut self, mut event: Event) -> Bytes {
        if let Some(root) = &self.answering.root {
            complete_links(&mut event, root);
        }
        self.last = match &event {
            Event::Done(done) => Some(done.outcome),
            Event::Error(error) => Some(error.code),
            Event::Prepared(event) if event.name == "done" => Some("prepared"),
            _ => None,
        };
        self.sent += 1;
        // Maps with text keys, finite numbers and text: nothing that JSON lacks.
        let data = serde_json::to_string(&event).unwrap_or_else(|_| "null".into());
        Bytes::from(format!("event: {}\ndata: {data}\n\n", event.name()))
    }
}

impl Drop for EventBody {
    /// The request's summary, also when the visitor left before the end; what the work still has to settle then goes on.
    fn drop(&mut self) {
        self.events.close();
        if let (Some(work), Ok(runtime)) = (self.work.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
        tracing::info!(
            request.id = self.answering.request_id,
            request.route = self.answering.route,
            response.status = 200,
            answer.outcome = self.last.unwrap_or("left"),
            events.n = self.sent,
            duration_ms = self.answering.started.elapsed().as_millis(),
            "answered"
        );
    }
}

/// Puts the service's root before links that are relative to it.
fn complete_links(event: &mut Event, root: &str) {
    let complete = |url: &mut String| {
        if !url.contains("://") {
            url.insert_str(0, root);
        }
    };
    match event {
        Event::Passages { passages } => passages
            .iter_mut()
            .for_each(|passage| complete(&mut passage.url)),
        Event::Sentence(sentence) => sentence
            .citations
            .iter_mut()
            .for_each(|citation| complete(&mut citation.url)),
        Event::Done(done) => done
            .nearest
            .iter_mut()
            .flatten()
            .for_each(|nearest| complete(&mut nearest.url)),
        Event::Prepared(event) => complete_stored_links(&mut event.data, &complete),
        Event::Progress(_)
        | Event::Draft { .. }
        | Event::Removed { .. }
        | Event::Note { .. }
        | Event::Error(_) => {}
    }
}

/// The same where an event is kept as JSON: every `url` in it.
fn complete_stored_links(data: &mut Value, complete: &impl Fn(&mut String)) {
    match data {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(url) if name == "url" => complete(url),
                    other => complete_stored_links(other, complete),
                }
            }
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| complete_stored_links(value, complete)),
        _ => {}
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use std::time::Duration;

    use app::ask::event::{Citation, Progress, Sentence};

    use super::*;

    fn progress(stage: &'static str) -> Event {
        Event::Progress(Progress {
            stage,
            ms: Some(1.5),
        })
    }

    fn failed(code: &'static str) -> Event {
        Event::Error(ErrorEvent {
            code,
            message: "A fixed sentence.",
            retry_after_s: None,
            request_id: "r-1".into(),
        })
    }

    fn answering() -> Answering {
        let started = Instant::now();
        Answering {
            request_id: "r-1".into(),
            route: "api/ask",
            deadline: started + Duration::from_secs(10),
            started,
            root: None,
        }
    }

    async fn text(body: Body) -> String {
        String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn an_event_is_a_name_and_one_line_of_data() {
        let body = events(answering(), |sink| async move {
            sink.send(progress("embed")).await?;
            sink.send(failed("provider")).await
        });
        insta::assert_snapshot!(text(body).await, @r#"
        event: progress
        data: {"stage":"embed","ms":1.5}

        event: error
        data: {"code":"provider","message":"A fixed sentence.","request_id":"r-1"}
        "#);
    }

    #[tokio::test]
    async fn c159_an_event_leaves_before_the_next_is_made() {
        let (go_on, wait) = tokio::sync::oneshot::channel::<()>();
        let mut body = events(answering(), |sink| async move {
            sink.send(progress("embed")).await?;
            wait.await.unwrap();
            sink.send(failed("provider")).await
        });
        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(first.starts_with(b"event: progress"));
        go_on.send(()).unwrap();
        assert!(text(body).await.starts_with("event: error"));
    }

    #[tokio::test]
    async fn a_panic_becomes_the_last_event() {
        let body = events(answering(), |sink| async move {
            sink.send(progress("embed")).await?;
            panic!("question text in a panic message")
        });
        let text = text(body).await;
        assert!(
            text.contains("\"code\":\"internal\"") && text.ends_with("\n\n"),
            "{text}"
        );
        assert_eq!(text.matches("event: ").count(), 2);
        assert!(!text.contains("panic message"));
    }

    #[tokio::test]
    async fn an_answer_without_an_end_is_given_one() {
        assert!(
            text(events(answering(), |_| async { Ok(()) }))
                .await
                .contains("\"code\":\"internal\"")
        );
        assert!(
            text(events(answering(), |_| async { Err(Closed) }))
                .await
                .contains("\"code\":\"internal\"")
        );
    }

    #[tokio::test]
    async fn nothing_follows_the_last_event() {
        let body = events(answering(), |sink| async move {
            sink.send(failed("provider")).await?;
            sink.send(progress("embed")).await?;
            sink.send(failed("internal")).await
        });
        assert_eq!(text(body).await.matches("event: ").count(), 1);
    }

    #[tokio::test]
    async fn the_stream_ends_at_its_deadline() {
        let deadline = Instant::now() + Duration::from_millis(50);
        let answering = Answering {
            deadline,
            ..answering()
        };
        let body = events(answering, |sink| async move {
            sink.send(progress("embed")).await?;
            std::future::pending().await
        });
        assert!(text(body).await.contains("\"code\":\"deadline\""));
        assert!(Instant::now() >= deadline);
    }

    #[tokio::test]
    async fn c152_a_visitor_who_leaves_ends_the_work() {
        let (held, dropped) = tokio::sync::oneshot::channel::<()>();
        let mut body = events(answering(), |sink| async move {
            let _held = held;
            loop {
                sink.send(progress("embed")).await?;
            }
        });
        for _ in 0..3 {
            body.frame().await.unwrap().unwrap();
        }
        drop(body);
        assert!(dropped.await.is_err(), "the work goes on");
    }

    #[tokio::test]
    async fn c152_what_must_be_settled_is_settled_after_a_visitor_left() {
        let (settle, settled) = tokio::sync::oneshot::channel();
        let mut body = events(answering(), |sink| async move {
            sink.send(progress("embed")).await?;
            sink.closed().await;
            tokio::task::yield_now().await;
            settle.send("the charge").unwrap();
            Err(Closed)
        });
        body.frame().await.unwrap().unwrap();
        drop(body);
        assert_eq!(settled.await, Ok("the charge"));
    }

    #[tokio::test]
    async fn relative_links_are_completed_where_the_root_is_known() {
        let sentence = |url: &str| {
            Event::Sentence(Sentence {
                index: 0,
                text: "It is so.".into(),
                kind: "prose",
                citations: vec![Citation {
                    passage: "P1".into(),
                    quote: "so".into(),
                    start: 0,
                    end: 2,
                    url: url.into(),
                }],
                dropped: Vec::new(),
            })
        };
        for (root, url, expected) in [
            (
                Some("https://x.example/"),
                "sources/a#b",
                "https://x.example/sources/a#b",
            ),
            (
                Some("https://x.example/"),
                "https://docs.example/a#b",
                "https://docs.example/a#b",
            ),
            (None, "sources/a#b", "sources/a#b"),
        ] {
            let answering = Answering {
                root: root.map(str::to_owned),
                ..answering()
            };
            let event = sentence(url);
            let body = events(answering, |sink| async move { sink.send(event).await });
            assert!(
                text(body)
                    .await
                    .contains(&format!("\"url\":\"{expected}\"")),
                "{expected}"
            );
        }
    }
}
