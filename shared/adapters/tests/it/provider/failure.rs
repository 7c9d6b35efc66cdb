//! Streams that fail, before their first text and after it.

use std::time::Duration;

use adapters::model::TokenUsage;
use adapters::provider::ProviderError;
use serde_json::json;
use testing::provider::openai::{chunk, delta, done, error, event, finish, usage};
use testing::{Reply, ScriptedProvider};

use super::{model, told, told_of};

/// The words of the error that a text ends in after `text`.
async fn check(reply: Reply, text: &str, expected: &str) -> ProviderError {
    let told = told_of(reply).await;
    let error = told.end.unwrap_err();
    assert_eq!(
        (told.text.as_str(), error.to_string().as_str()),
        (text, expected)
    );
    error
}

#[tokio::test]
async fn c069_an_error_instead_of_text_is_an_error() {
    let quota = || Reply::sse([error(&json!({ "message": "quota exceeded" })), done()]);
    check(
        quota(),
        "",
        "the provider failed for now: it told an error in the stream",
    )
    .await;
    // Nothing was seen, so that it is tried again, so often and no more.
    let server = ScriptedProvider::start(vec![quota(), quota(), quota()]).await;
    assert!(matches!(
        told(&model(&server)).await.end,
        Err(ProviderError::Transient { .. })
    ));
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn c069_an_error_in_the_stream_is_sorted_like_a_status() {
    for (told, expected) in [
        (
            json!({ "code": "insufficient_quota", "message": "pay" }),
            "the provider's account has no budget left: it told an error in the stream, insufficient_quota",
        ),
        (
            json!({ "code": 429, "message": "slow down" }),
            "the provider limits the rate of calls",
        ),
        (
            json!({ "type": "invalid_request_error" }),
            "the provider rejected the call: it told an error in the stream, invalid_request_error",
        ),
        (
            json!("overloaded"),
            "the provider failed for now: it told an error in the stream",
        ),
    ] {
        check(Reply::sse([error(&told)]), "", expected).await;
    }
    let bare = json!({ "object": "error", "message": "too long", "code": 400 });
    check(
        Reply::sse([event(&bare), done()]),
        "",
        "the provider rejected the call: it told an error in the stream, status 400",
    )
    .await;
}

#[tokio::test]
async fn c070_an_error_after_text_interrupts_it() {
    let frames = [
        chunk("The "),
        chunk("default "),
        chunk("is"),
        error(&json!({ "code": "server_error" })),
        done(),
    ];
    let error = check(
        Reply::sse(frames),
        "The default is",
        "the answer broke off: it told an error in the stream, server_error",
    )
    .await;
    assert!(matches!(error, ProviderError::Interrupted(_)));
}

#[tokio::test]
async fn c072_an_end_without_a_finish_is_an_interruption() {
    let frames = || Reply::sse(["The ", "default ", "is ", "1 ", "GB"].map(chunk));
    let ended = "the answer broke off: the stream ended too soon";
    let lost = "the answer broke off: the connection was lost";
    check(frames(), "The default is 1 GB", ended).await;
    check(frames().closing(), "The default is 1 GB", lost).await;
    let pause = Duration::from_millis(20);
    check(
        frames().wait(pause).resetting(),
        "The default is 1 GB",
        lost,
    )
    .await;
}

#[tokio::test]
async fn a_stream_without_anything_may_be_tried_again() {
    for reply in [
        Reply::sse::<&str>([]),
        Reply::sse([": keep-alive\n\n"]),
        Reply::sse([delta(&json!({ "role": "assistant" }))]),
    ] {
        check(
            reply,
            "",
            "the provider failed for now: the stream ended too soon",
        )
        .await;
    }
}

#[tokio::test]
async fn c075_a_refusal_is_neither_text_nor_empty() {
    let frames = || {
        Reply::sse([
            delta(&json!({ "role": "assistant", "content": null, "refusal": "I " })),
            delta(&json!({ "content": null, "refusal": "can't" })),
            finish("stop"),
            usage(9, 3),
            done(),
        ])
    };
    let error = check(frames(), "", "the model refused").await;
    assert_eq!(error.usage().map(|usage| usage.output), Some(3));
    let server = ScriptedProvider::start(vec![frames(), frames()]).await;
    told(&model(&server)).await.end.unwrap_err();
    assert_eq!(server.requests().len(), 1, "a refusal is not tried again");
    let after_text = [
        chunk("The default"),
        delta(&json!({ "refusal": "I can't" })),
        finish("stop"),
        done(),
    ];
    check(Reply::sse(after_text), "The default", "the model refused").await;
}

#[tokio::test]
async fn a_filter_withholds_all_or_the_rest() {
    let withheld = "the provider's filter withheld the answer";
    check(Reply::sse([finish("content_filter"), done()]), "", withheld).await;
    let error = check(
        Reply::sse([chunk("The "), finish("content_filter"), usage(9, 1), done()]),
        "The ",
        withheld,
    )
    .await;
    assert_eq!(error.usage().map(|usage| usage.input), Some(9));
}

#[tokio::test]
async fn c078_reasoning_that_leaves_no_text_is_paid_and_told() {
    let counts = json!({
        "prompt_tokens": 50,
        "completion_tokens": 200,
        "completion_tokens_details": { "reasoning_tokens": 199 },
    });
    let reply = Reply::sse([
        delta(&json!({ "role": "assistant", "content": "" })),
        finish("length"),
        event(&json!({ "choices": [], "usage": counts })),
        done(),
    ]);
    let server = ScriptedProvider::start(vec![reply]).await;
    let end = told(&model(&server)).await.end;
    let usage = TokenUsage {
        input: 50,
        cached_input: 0,
        output: 200,
        reasoning: 199,
    };
    assert_eq!(end, Err(ProviderError::Empty { usage: Some(usage) }));
    assert_eq!(server.requests().len(), 1, "it would only be paid twice");
}

#[tokio::test]
async fn a_stream_that_cannot_be_read_is_told_by_place_alone() {
    check(
        Reply::sse(["data: sk-tell-no-one\n\n"]),
        "",
        "the provider's reply cannot be used: it is not JSON of the agreed form at line 1 column 1",
    )
    .await;
    check(
        Reply::sse([chunk("The "), "data: {\"choices\":\n\n".to_owned()]),
        "The ",
        "the answer broke off: a part of it cannot be read",
    )
    .await;
    let mut broken = b"data: {\"choices\":\"".to_vec();
    broken.extend([0xff, 0xfe]);
    broken.extend(b"\"}\n\n");
    check(
        Reply::sse([broken]),
        "",
        "the provider's reply cannot be used: it is not a stream of events",
    )
    .await;
    let page = Reply::status(200, "<html>Sign in</html>").header("content-type", "text/html");
    check(
        page,
        "",
        "the provider's reply cannot be used: it is a web page",
    )
    .await;
    let error = Reply::json(&json!({ "error": { "code": "model_not_found" } }));
    check(
        error,
        "",
        "the provider rejected the call: it told an error in the stream, model_not_found",
    )
    .await;
}

#[tokio::test]
async fn a_stream_without_an_end_is_given_up() {
    let endless = format!("data: {}\n\n", "x".repeat(17 * 1024 * 1024));
    check(
        Reply::sse([endless]),
        "",
        "the provider's reply cannot be used: it is too long",
    )
    .await;
}
