//! A plain HTTP client of a running service, which reads events as they arrive.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Method, Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

/// One event.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    /// The event's name.
    pub(crate) name: String,
    /// Its data.
    pub(crate) data: Value,
}

/// Where the service under test is, with its final slash.
pub(crate) fn service() -> String {
    root("SOURCED_TEST_URL")
}

/// Where the service is whose answers a scripted model writes.
pub(crate) fn writer() -> String {
    root("SOURCED_TEST_WRITER_URL")
}

/// Where that service looks for its model.
pub(crate) fn model_port() -> u16 {
    setting("SOURCED_TEST_MODEL_PORT").parse().unwrap()
}

fn root(variable: &str) -> String {
    format!("{}/", setting(variable).trim_end_matches('/'))
}

fn setting(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| {
        panic!("{variable} is not set: run scripts/test, which starts the services")
    })
}

/// Sends one request below the service's root, on a connection of its own.
pub(crate) async fn send(method: Method, path: &str, body: impl Into<Bytes>) -> Response<Incoming> {
    send_to(&service(), method, path, body).await
}

async fn send_to(
    root: &str,
    method: Method,
    path: &str,
    body: impl Into<Bytes>,
) -> Response<Incoming> {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let request = Request::builder()
        .method(method)
        .uri(format!("{root}{path}"))
        .header("content-type", "application/json")
        .body(Full::new(body.into()))
        .unwrap();
    tokio::time::timeout(Duration::from_secs(60), client.request(request))
        .await
        .expect("an answer within a minute")
        .unwrap()
}

/// Fetches a path whole.
pub(crate) async fn get(path: &str) -> (u16, String) {
    let response = send(Method::GET, path, "").await;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// Starts a question.
pub(crate) async fn ask(question: &str) -> Response<Incoming> {
    send(
        Method::POST,
        "api/ask",
        serde_json::json!({ "question": question }).to_string(),
    )
    .await
}

/// Starts a question to the service whose answers a model writes, and asks for its raw text too.
pub(crate) async fn ask_writer(question: &str) -> Response<Incoming> {
    let body = serde_json::json!({ "question": question, "draft": true });
    send_to(&writer(), Method::POST, "api/ask", body.to_string()).await
}

/// Reads events until the stream ends, or until there are `at_most`.
pub(crate) async fn events(response: &mut Response<Incoming>, at_most: usize) -> Vec<Sent> {
    let (mut sent, mut text) = (Vec::new(), Vec::new());
    while sent.len() < at_most {
        let Some(frame) = response.body_mut().frame().await else {
            break;
        };
        text.extend_from_slice(&frame.unwrap().into_data().unwrap_or_default());
        while let Some(end) = text.windows(2).position(|pair| pair == b"\n\n") {
            let event = String::from_utf8(text.drain(..end + 2).collect()).unwrap();
            let mut lines = event.trim_end().lines();
            let name = lines
                .next()
                .and_then(|line| line.strip_prefix("event: "))
                .expect("an event's name first")
                .to_owned();
            let data = lines
                .next()
                .and_then(|line| line.strip_prefix("data: "))
                .expect("one line of data");
            assert_eq!(lines.next(), None, "more than one line of data");
            sent.push(Sent {
                name,
                data: serde_json::from_str(data).unwrap(),
            });
        }
    }
    sent
}

/// Asks and reads to the end.
pub(crate) async fn answer(question: &str) -> (u16, Vec<Sent>) {
    let mut response = ask(question).await;
    let status = response.status().as_u16();
    let streams = response
        .headers()
        .get("content-type")
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let events = if streams {
        events(&mut response, usize::MAX).await
    } else {
        Vec::new()
    };
    (status, events)
}

/// The public questions of a type: `answerable`, `unanswerable` or `injection`.
pub(crate) fn questions(kind: &str) -> Vec<Value> {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../eval/datasets/postgresql-17.jsonl"
    );
    let rows: Vec<Value> = std::fs::read_to_string(file)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|row: &Value| row["type"] == kind)
        .collect();
    assert!(!rows.is_empty(), "no question is {kind}");
    rows
}
