//! Each wait and its limit.

use std::time::Duration;

use adapters::provider::{ChatModel, Finish, Phase, ProviderError, Timeouts};
use testing::provider::openai::{answer, chunk, comment, delta, done, finish};
use testing::{Reply, ScriptedProvider};
use tokio::time::Instant;

use super::{LONG, SHORT, Told, at, retries, soon, timeouts, told_by};

/// What comes of `reply` within these limits, in how long.
async fn within(timeouts: Timeouts, deadline: Duration, reply: Reply) -> (Told, Duration) {
    let server = ScriptedProvider::start(vec![reply, Reply::sse(answer(&["No."]))]).await;
    let model = ChatModel::new(at(&server.base_url(), timeouts, retries()), "some-model");
    let begun = Instant::now();
    let told = told_by(&model, begun + deadline).await;
    assert_eq!(server.requests().len(), 1, "a limit is not met twice");
    (told, begun.elapsed())
}

async fn check(timeouts: Timeouts, deadline: Duration, reply: Reply, text: &str, phase: Phase) {
    let (told, took) = within(timeouts, deadline, reply).await;
    assert_eq!(
        (told.text.as_str(), told.end),
        (text, Err(ProviderError::Timeout(phase)))
    );
    assert!(took >= SHORT && took < 8 * SHORT, "{took:?}");
}

fn first_token() -> Timeouts {
    Timeouts {
        first_token: SHORT,
        ..timeouts()
    }
}

fn idle() -> Timeouts {
    Timeouts {
        idle: SHORT,
        ..timeouts()
    }
}

#[tokio::test]
async fn a_connection_that_does_not_come_about() {
    // The server waits for a request in the clear, the client for its part of TLS.
    let server = ScriptedProvider::start(Vec::new()).await;
    let url = server.base_url().replace("http://", "https://");
    let timeouts = Timeouts {
        connect: SHORT / 5,
        ..timeouts()
    };
    let model = ChatModel::new(at(&url, timeouts, retries()), "some-model");
    let end = told_by(&model, soon()).await.end;
    assert_eq!(end, Err(ProviderError::Timeout(Phase::Connect)));
}

#[tokio::test]
async fn no_reply_at_all() {
    check(first_token(), LONG, Reply::hang(), "", Phase::FirstToken).await;
}

#[tokio::test]
async fn a_reply_without_text() {
    let reply = Reply::sse([delta(&serde_json::json!({ "content": "" }))]).hanging();
    check(first_token(), LONG, reply, "", Phase::FirstToken).await;
}

#[tokio::test]
async fn silence_before_text() {
    check(
        idle(),
        LONG,
        Reply::sse([comment("wait")]).hanging(),
        "",
        Phase::Idle,
    )
    .await;
}

#[tokio::test]
async fn silence_inside_text() {
    check(
        idle(),
        LONG,
        Reply::sse([chunk("The ")]).hanging(),
        "The ",
        Phase::Idle,
    )
    .await;
}

#[tokio::test]
async fn the_deadline_before_text() {
    check(timeouts(), SHORT, Reply::hang(), "", Phase::Deadline).await;
}

#[tokio::test]
async fn the_deadline_inside_text() {
    let reply = Reply::sse([chunk("The ")]).hanging();
    check(timeouts(), SHORT, reply, "The ", Phase::Deadline).await;
}

#[tokio::test]
async fn an_error_whose_body_does_not_come_is_sorted_by_its_status() {
    let reply = Reply::status(400, r#"{"error":"#).hanging();
    let (told, took) = within(idle(), LONG, reply).await;
    assert!(
        matches!(told.end, Err(ProviderError::Permanent(_))),
        "{:?}",
        told.end
    );
    assert!(took < 8 * SHORT, "{took:?}");
}

#[tokio::test]
async fn c064_comments_keep_a_stream_alive_and_are_no_text() {
    let pause = SHORT / 3;
    let comments = vec![comment("keep-alive"); 9];
    // Three times the idle limit passes before the first text.
    let reply = Reply::sse(comments.clone())
        .every(pause)
        .then(chunk("Yes."))
        .then(done());
    let (told, took) = within(idle(), LONG, reply).await;
    assert_eq!((told.text.as_str(), told.end), ("Yes.", Ok(Finish::Stop)));
    assert!(took > 2 * SHORT, "{took:?}");
    let reply = Reply::sse(comments).every(pause).then(chunk("Yes."));
    check(first_token(), LONG, reply, "", Phase::FirstToken).await;
}

#[tokio::test]
async fn c085_a_healthy_stream_may_take_longer_than_any_limit() {
    let limits = Timeouts {
        connect: SHORT,
        first_token: SHORT,
        idle: SHORT,
    };
    let frames: Vec<String> = (0..40).map(|_| chunk("x")).collect();
    let reply = Reply::sse(frames)
        .every(SHORT / 8)
        .then(finish("stop"))
        .then(done());
    let (told, took) = within(limits, LONG, reply).await;
    assert_eq!(
        (told.text.as_str(), told.end),
        ("x".repeat(40).as_str(), Ok(Finish::Stop))
    );
    assert!(took > 4 * SHORT, "{took:?}");
}

#[tokio::test]
async fn usage_that_does_not_come_does_not_hold_up_a_text_that_is_whole() {
    let reply = Reply::sse([chunk("Yes."), finish("stop")]).hanging();
    let (told, _) = within(idle(), LONG, reply).await;
    assert_eq!((told.text.as_str(), told.end), ("Yes.", Ok(Finish::Stop)));
}
