//! Which calls are made again, when, and with what.

use std::time::Duration;

use adapters::provider::{ChatModel, Finish, Phase, ProviderError, RetryPolicy};
use testing::provider::openai::{answer, chunk, comment};
use testing::{Reply, ScriptedProvider};
use tokio::time::Instant;

use super::{at, model, retries, timeouts, told, told_by};

#[tokio::test]
async fn what_failed_before_the_first_text_is_tried_again() {
    for failing in [
        Reply::status(500, "boom"),
        Reply::status(503, ""),
        Reply::status(429, "slow down"),
        Reply::status(529, "{}"),
        Reply::reset(),
        Reply::sse([comment("wait")]).closing(),
        Reply::sse::<&str>([]),
    ] {
        let server = ScriptedProvider::start(vec![
            failing.clone(),
            failing,
            Reply::sse(answer(&["Yes."])),
        ])
        .await;
        let told = told(&model(&server)).await;
        assert_eq!((told.text.as_str(), told.end), ("Yes.", Ok(Finish::Stop)));
        let requests = server.requests();
        assert_eq!(requests.len(), 3);
        assert_eq!(requests[0].body, requests[2].body);
    }
}

#[tokio::test]
async fn tries_are_bounded() {
    let server = ScriptedProvider::start(vec![Reply::status(503, ""); 5]).await;
    told(&model(&server)).await.end.unwrap_err();
    assert_eq!(server.requests().len(), 3);
    assert_eq!(server.remaining(), 2);
}

#[tokio::test]
async fn c081_an_account_without_budget_is_not_asked_again() {
    let body = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    for reply in [
        Reply::status(429, body).header("retry-after", "1"),
        Reply::status(402, "Payment Required"),
    ] {
        let server = ScriptedProvider::start(vec![reply, Reply::sse(answer(&["No."]))]).await;
        let end = told(&model(&server)).await.end;
        assert!(
            matches!(end, Err(ProviderError::BudgetExhausted(_))),
            "{end:?}"
        );
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn c082_whatever_a_server_asks_the_wait_is_bounded() {
    for (header, told_after) in [
        ("2", Some(40)),
        ("-5", None),
        ("NaN", None),
        ("Infinity", None),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
        ("garbage", None),
        ("86400", Some(40)),
    ] {
        let limited = Reply::status(429, "").header("retry-after", header);
        let server = ScriptedProvider::start(vec![limited.clone(), limited.clone(), limited]).await;
        let begun = Instant::now();
        let end = told(&model(&server)).await.end;
        assert_eq!(
            end,
            Err(ProviderError::RateLimited {
                retry_after: told_after.map(Duration::from_millis)
            }),
            "{header}"
        );
        assert_eq!(server.requests().len(), 3, "{header}");
        // Two pauses of at most 40 ms; the rest is a slow machine.
        assert!(begun.elapsed() < Duration::from_secs(2), "{header}");
    }
}

#[tokio::test]
async fn c082_without_the_time_for_a_wait_there_is_none() {
    let policy = RetryPolicy {
        cap: Duration::from_secs(60),
        ..retries()
    };
    let limited = Reply::status(429, "").header("retry-after", "30");
    let server = ScriptedProvider::start(vec![limited, Reply::sse(answer(&["No."]))]).await;
    let model = ChatModel::new(at(&server.base_url(), timeouts(), policy), "some-model");
    let begun = Instant::now();
    let end = told_by(&model, begun + Duration::from_secs(5)).await.end;
    assert_eq!(
        end,
        Err(ProviderError::RateLimited {
            retry_after: Some(Duration::from_secs(30))
        })
    );
    assert_eq!(server.requests().len(), 1);
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn c083_what_breaks_off_is_not_begun_again() {
    let frames = ["The ", "default ", "is ", "1"].map(chunk);
    for broken in [
        Reply::sse(frames.clone())
            .wait(Duration::from_millis(20))
            .resetting(),
        Reply::sse(frames).closing(),
    ] {
        let server = ScriptedProvider::start(vec![broken, Reply::sse(answer(&["No."]))]).await;
        let told = told(&model(&server)).await;
        assert_eq!(told.text, "The default is 1");
        assert!(
            matches!(told.end, Err(ProviderError::Interrupted(_))),
            "{:?}",
            told.end
        );
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_is_away_is_told_of() {
    let server = ScriptedProvider::start(Vec::new()).await;
    let url = server.base_url();
    drop(server);
    // The port may take a moment to close; nothing is left to answer on it.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let model = ChatModel::new(at(&url, timeouts(), retries()), "some-model");
    let error = told(&model).await.end.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the provider failed for now: no connection could be made"
    );
    assert_ne!(error, ProviderError::Timeout(Phase::Connect));
}
