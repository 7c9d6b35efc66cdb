//! Each status, with a body that can be read and one that cannot.

use adapters::provider::{ChatModel, ProviderError, RetryPolicy};
use testing::{Reply, ScriptedProvider};

use super::{KEY, at, timeouts, told};

fn kind(error: &ProviderError) -> &'static str {
    match error {
        ProviderError::RateLimited { .. } => "rate limited",
        ProviderError::BudgetExhausted(_) => "budget exhausted",
        ProviderError::Transient { .. } => "transient",
        ProviderError::Permanent(_) => "permanent",
        ProviderError::Filtered { .. } => "filtered",
        _ => "something else",
    }
}

/// `status` with an error of this code, and with bodies nobody can read.
async fn check(status: u16, code: &str, legible: &str, illegible: &str) {
    let body = format!(
        r#"{{"error":{{"message":"{KEY} at 127.0.0.1 said no","type":"{code}","param":null,"code":"{code}"}}}}"#
    );
    let page = format!("<html>{KEY}</html>");
    let cut = &body[..body.len() / 2];
    let bodies = [
        (body.as_str(), legible),
        (page.as_str(), illegible),
        (cut, illegible),
        ("", illegible),
    ];
    let replies = bodies.map(|(body, _)| Reply::status(status, body)).to_vec();
    let server = ScriptedProvider::start(replies).await;
    let provider = at(&server.base_url(), timeouts(), RetryPolicy::never());
    let model = ChatModel::new(provider, "some-model");
    for (body, expected) in bodies {
        let error = told(&model).await.end.unwrap_err();
        assert_eq!(kind(&error), expected, "{status} {body}");
    }
}

#[tokio::test]
async fn status_400_is_permanent() {
    check(400, "invalid_request_error", "permanent", "permanent").await;
}

#[tokio::test]
async fn status_400_of_a_filter_is_filtered() {
    check(400, "content_filter", "filtered", "permanent").await;
}

#[tokio::test]
async fn status_401_is_permanent() {
    check(401, "invalid_api_key", "permanent", "permanent").await;
}

#[tokio::test]
async fn status_402_is_budget_exhausted() {
    check(
        402,
        "payment_required",
        "budget exhausted",
        "budget exhausted",
    )
    .await;
}

#[tokio::test]
async fn status_403_is_permanent() {
    check(403, "unsupported_country", "permanent", "permanent").await;
}

#[tokio::test]
async fn status_404_is_permanent() {
    check(404, "model_not_found", "permanent", "permanent").await;
}

#[tokio::test]
async fn status_408_is_transient() {
    check(408, "timeout", "transient", "transient").await;
}

#[tokio::test]
async fn status_413_is_permanent() {
    check(413, "too_large", "permanent", "permanent").await;
}

#[tokio::test]
async fn status_422_is_permanent() {
    check(422, "unprocessable", "permanent", "permanent").await;
}

#[tokio::test]
async fn status_429_is_rate_limited() {
    check(429, "rate_limit_exceeded", "rate limited", "rate limited").await;
}

#[tokio::test]
async fn c081_status_429_without_quota_is_budget_exhausted() {
    check(
        429,
        "insufficient_quota",
        "budget exhausted",
        "rate limited",
    )
    .await;
}

#[tokio::test]
async fn status_500_is_transient() {
    check(500, "server_error", "transient", "transient").await;
}

#[tokio::test]
async fn status_502_is_transient() {
    check(502, "bad_gateway", "transient", "transient").await;
}

#[tokio::test]
async fn status_503_is_transient() {
    check(503, "overloaded", "transient", "transient").await;
}

#[tokio::test]
async fn status_504_is_transient() {
    check(504, "timeout", "transient", "transient").await;
}

#[tokio::test]
async fn status_529_is_transient() {
    check(529, "overloaded_error", "transient", "transient").await;
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let target = ScriptedProvider::start(Vec::new()).await;
    let redirect = Reply::status(307, "").header("location", &target.base_url());
    let server = ScriptedProvider::start(vec![redirect]).await;
    let provider = at(&server.base_url(), timeouts(), RetryPolicy::never());
    let error = told(&ChatModel::new(provider, "some-model"))
        .await
        .end
        .unwrap_err();
    assert_eq!(kind(&error), "permanent");
    assert!(target.requests().is_empty());
}
