//! The provider adapters against a server that follows a script. Limits are short here, and everything is over in seconds.

mod embed;
mod failure;
mod rerank;
mod retry;
mod status;
mod stream;
mod timeout;

use std::time::Duration;

use adapters::model::Spent;
use adapters::provider::{
    ApiKey, BaseUrl, ChatEvent, ChatModel, ChatRequest, Finish, Provider, ProviderError,
    RetryPolicy, Timeouts,
};
use testing::{Reply, ScriptedProvider};
use tokio::time::Instant;

/// What no error may ever repeat.
const KEY: &str = "sk-tell-no-one";

/// Long enough for a reply that comes at once, short enough to wait for.
const SHORT: Duration = Duration::from_millis(400);

/// Longer than any wait that is meant to happen.
const LONG: Duration = Duration::from_secs(10);

fn timeouts() -> Timeouts {
    Timeouts {
        connect: LONG,
        first_token: LONG,
        idle: LONG,
    }
}

fn retries() -> RetryPolicy {
    RetryPolicy {
        attempts: 3,
        base: Duration::from_millis(4),
        cap: Duration::from_millis(40),
    }
}

fn at(url: &str, timeouts: Timeouts, retry: RetryPolicy) -> Provider {
    let base = BaseUrl::parse(url).unwrap();
    Provider::new(base, Some(ApiKey::new(KEY).unwrap()), timeouts, retry).unwrap()
}

fn provider(server: &ScriptedProvider) -> Provider {
    at(&server.base_url(), timeouts(), retries())
}

fn model(server: &ScriptedProvider) -> ChatModel {
    ChatModel::new(provider(server), "some-model")
}

fn request() -> ChatRequest {
    ChatRequest {
        system: "Answer from the passages.".to_owned(),
        user: "What is WAL?".to_owned(),
        max_output_tokens: 500,
        json: false,
    }
}

fn soon() -> Instant {
    Instant::now() + LONG
}

/// What came of a call.
#[derive(Debug, PartialEq)]
struct Told {
    text: String,
    end: Result<Finish, ProviderError>,
    spent: Spent,
}

/// All that `model` tells, to the end or the error.
async fn told(model: &ChatModel) -> Told {
    told_by(model, soon()).await
}

async fn told_by(model: &ChatModel, deadline: Instant) -> Told {
    let mut text = String::new();
    let mut stream = match model.start(&request(), deadline).await {
        Ok(stream) => stream,
        Err(error) => {
            let printed = format!("{error} {error:?}");
            assert!(
                !printed.contains(KEY) && !printed.contains("127.0.0.1"),
                "{printed}"
            );
            return Told {
                text,
                end: Err(error),
                spent: Spent::default(),
            };
        }
    };
    let mut end = None;
    while let Some(event) = stream.next().await {
        assert_eq!(end, None, "an event after the end");
        match event {
            Ok(ChatEvent::Text(more)) => {
                assert!(!more.is_empty());
                text += &more;
            }
            Ok(ChatEvent::Usage(usage)) => assert_eq!(Some(usage), stream.spent().usage),
            Ok(ChatEvent::Finished(finish)) => end = Some(Ok(finish)),
            Err(error) => end = Some(Err(error)),
        }
    }
    assert_eq!(stream.spent().text_chars, text.chars().count());
    Told {
        text,
        end: end.expect("a stream has an end"),
        spent: stream.spent(),
    }
}

/// What a model behind this one reply tells, with no second try.
async fn told_of(reply: Reply) -> Told {
    let server = ScriptedProvider::start(vec![reply]).await;
    let provider = at(&server.base_url(), timeouts(), RetryPolicy::never());
    let told = told(&ChatModel::new(provider, "some-model")).await;
    assert_eq!(server.requests().len(), 1);
    told
}
