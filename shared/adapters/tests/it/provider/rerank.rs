//! Rerankers: a chat model's list, and a rerank server's scores.

use std::time::Duration;

use adapters::model::{RerankPassage, RerankUsage, Reranked, Reranker};
use adapters::provider::{
    ChatModel, ChatReranker, CohereReranker, Phase, ProviderError, RetryPolicy,
};
use serde_json::{Value, json};
use testing::provider::cohere::reranked;
use testing::provider::openai::{answer, chunk, done, finish, usage};
use testing::{Reply, ScriptedProvider};
use tokio::time::Instant;

use super::{SHORT, at, model, soon, timeouts};

fn passages(count: usize) -> Vec<RerankPassage> {
    (0..count)
        .map(|n| RerankPassage {
            heading: if n == 0 {
                String::new()
            } else {
                format!("Heading {n}")
            },
            text: format!("Text {n}"),
        })
        .collect()
}

fn order(reranked: &Reranked) -> Vec<(usize, Option<f32>)> {
    reranked
        .order
        .iter()
        .map(|placed| (placed.index, placed.score))
        .collect()
}

/// What three passages come to when the model writes `text`.
async fn chat(text: &str) -> Result<Reranked, ProviderError> {
    let server = ScriptedProvider::start(vec![Reply::sse(answer(&[text]))]).await;
    let result = ChatReranker::new(model(&server))
        .rerank("What is WAL?", &passages(3), soon())
        .await;
    assert_eq!(server.requests().len(), 1, "a list is not asked for twice");
    result
}

/// What three passages come to when a rerank server says this.
async fn cohere(body: &Value) -> Result<Reranked, ProviderError> {
    let server = ScriptedProvider::start(vec![Reply::json(body)]).await;
    let provider = at(&server.url(), timeouts(), RetryPolicy::never());
    CohereReranker::new(provider, "rerank-model")
        .rerank("What is WAL?", &passages(3), soon())
        .await
}

#[tokio::test]
async fn a_chat_model_orders_and_scores_in_one_call() {
    let list = r#"{"ranking":[{"passage":3,"relevance":0.9},{"passage":1,"relevance":0.4}]}"#;
    let (first, second) = list.split_at(25);
    let server = ScriptedProvider::start(vec![Reply::sse(answer(&[first, second]))]).await;
    let reranker = ChatReranker::new(model(&server));
    let result = reranker
        .rerank("What is WAL?", &passages(3), soon())
        .await
        .unwrap();
    assert_eq!(order(&result), [(2, Some(0.9)), (0, Some(0.4)), (1, None)]);
    let RerankUsage::Chat(spent) = result.usage else {
        unreachable!("a chat call is counted in tokens")
    };
    assert_eq!(spent.usage.map(|usage| usage.input), Some(100));
    assert_eq!(spent.text_chars, list.len());
    assert_eq!(reranker.model(), "some-model");
    let sent = &server.requests()[0].body;
    let user: Value =
        serde_json::from_str(sent["messages"][1]["content"].as_str().unwrap()).unwrap();
    assert_eq!(user["question"], "What is WAL?");
    assert_eq!(
        user["passages"][1],
        json!({ "passage": 2, "heading": "Heading 1", "text": "Text 1" })
    );
    assert_eq!(sent.get("response_format"), None);
}

#[tokio::test]
async fn a_model_that_can_be_held_to_json_is() {
    let list = r#"{"ranking":[{"passage":1,"relevance":1}]}"#;
    let server = ScriptedProvider::start(vec![Reply::sse(answer(&[list]))]).await;
    let model = ChatModel::new(super::provider(&server), "gpt-4o-mini");
    ChatReranker::new(model)
        .rerank("What is WAL?", &passages(1), soon())
        .await
        .unwrap();
    assert_eq!(
        server.requests()[0].body["response_format"],
        json!({ "type": "json_object" })
    );
}

#[tokio::test]
async fn c049_a_rerank_that_fails_brings_no_scores() {
    for reply in [
        Reply::status(500, ""),
        Reply::reset(),
        Reply::status(400, ""),
    ] {
        let replies = vec![reply.clone(), reply.clone(), reply];
        let server = ScriptedProvider::start(replies.clone()).await;
        let chat = ChatReranker::new(model(&server));
        assert!(chat.rerank("q", &passages(3), soon()).await.is_err());
        let server = ScriptedProvider::start(replies).await;
        let cohere = CohereReranker::new(super::provider(&server), "rerank-model");
        assert!(cohere.rerank("q", &passages(3), soon()).await.is_err());
    }
    // What was not scored is placed last, without a score.
    let partial = cohere(&reranked(&[(1, 0.7)])).await.unwrap();
    assert_eq!(order(&partial), [(1, Some(0.7)), (0, None), (2, None)]);
}

#[tokio::test]
async fn c051_indices_are_places_in_the_list_as_sent() {
    // 18 of 20 candidates are sent; the reply names the last of those.
    let sent = passages(18);
    let server =
        ScriptedProvider::start(vec![Reply::json(&reranked(&[(17, 0.8), (0, 0.1)]))]).await;
    let provider = at(&server.url(), timeouts(), RetryPolicy::never());
    let result = CohereReranker::new(provider, "rerank-model")
        .rerank("What is WAL?", &sent, soon())
        .await
        .unwrap();
    assert_eq!(order(&result)[..2], [(17, Some(0.8)), (0, Some(0.1))]);
    assert_eq!(sent[result.order[0].index].text, "Text 17");
    let mut every: Vec<usize> = result.order.iter().map(|placed| placed.index).collect();
    every.sort_unstable();
    assert_eq!(every, (0..18).collect::<Vec<_>>());
    let request = &server.requests()[0];
    assert_eq!(request.path, "/v2/rerank");
    assert_eq!(request.body["documents"].as_array().unwrap().len(), 18);
    assert_eq!(request.body["documents"][0], "Text 0");
    assert_eq!(request.body["documents"][17], "Heading 17\nText 17");
    assert_eq!(request.body["top_n"], 18);
    assert_eq!(request.body["query"], "What is WAL?");
    assert_eq!(request.body["model"], "rerank-model");

    let list = r#"{"ranking":[{"passage":18,"relevance":0.8}]}"#;
    let server = ScriptedProvider::start(vec![Reply::sse(answer(&[list]))]).await;
    let result = ChatReranker::new(model(&server))
        .rerank("What is WAL?", &sent, soon())
        .await
        .unwrap();
    assert_eq!(order(&result)[0], (17, Some(0.8)));
}

#[tokio::test]
async fn c054_a_list_in_a_fence_is_read() {
    let list = "```json\n{\"ranking\":[{\"passage\":2,\"relevance\":0.6}]}\n```";
    let result = chat(list).await.unwrap();
    assert_eq!(order(&result), [(1, Some(0.6)), (0, None), (2, None)]);
}

#[tokio::test]
async fn c054_prose_and_a_list_cut_short_are_errors_that_are_paid() {
    for text in [
        "None of these are relevant.",
        r#"{"ranking":[{"passage":2,"relevance":0.6},{"pass"#,
    ] {
        let error = chat(text).await.unwrap_err();
        assert!(matches!(error, ProviderError::Invalid { .. }), "{error:?}");
        assert_eq!(error.usage().map(|usage| usage.input), Some(100));
        assert!(!error.to_string().contains("relevan"), "{error}");
    }
    // Even a list that happens to be whole is not believed when the model was stopped.
    let frames = [
        chunk(r#"[{"passage":2,"relevance":0.6}]"#),
        finish("length"),
        usage(100, 64),
        done(),
    ];
    let server = ScriptedProvider::start(vec![Reply::sse(frames)]).await;
    let error = ChatReranker::new(model(&server))
        .rerank("What is WAL?", &passages(3), soon())
        .await
        .unwrap_err();
    assert!(matches!(error, ProviderError::Invalid { .. }), "{error:?}");
}

#[tokio::test]
async fn no_more_than_twenty_passages_are_judged_by_a_chat_model() {
    let list = r#"{"ranking":[{"passage":21,"relevance":1},{"passage":20,"relevance":0.5}]}"#;
    let server = ScriptedProvider::start(vec![Reply::sse(answer(&[list]))]).await;
    let result = ChatReranker::new(model(&server))
        .rerank("What is WAL?", &passages(22), soon())
        .await
        .unwrap();
    assert_eq!(order(&result)[..2], [(19, Some(0.5)), (0, None)]);
    assert_eq!(order(&result)[20..], [(20, None), (21, None)]);
}

#[tokio::test]
async fn other_servers_of_the_same_shape_are_read() {
    let expected = [(2, Some(0.75)), (0, Some(0.5)), (1, Some(0.25))];
    let scores = |name: &str| {
        json!([
            { "index": 2, name: 0.75, "document": { "text": "Text 2" } },
            { "index": 1, name: 0.25 },
            { "index": 0, name: 0.5 },
        ])
    };
    for body in [
        json!({ "model": "m", "object": "list", "results": scores("relevance_score"), "usage": { "total_tokens": 9 } }),
        json!({ "results": scores("score") }),
        scores("score"),
    ] {
        let result = cohere(&body).await.unwrap();
        assert_eq!(order(&result), expected, "{body}");
        assert_eq!(result.usage, RerankUsage::Searches(1));
    }
    let billed =
        json!({ "results": scores("score"), "meta": { "billed_units": { "search_units": 3 } } });
    assert_eq!(
        cohere(&billed).await.unwrap().usage,
        RerankUsage::Searches(3)
    );
}

#[tokio::test]
async fn raw_scores_become_probabilities() {
    let result = cohere(&reranked(&[(0, -3.0), (1, 2.0), (2, 0.0)]))
        .await
        .unwrap();
    let indices: Vec<usize> = result.order.iter().map(|placed| placed.index).collect();
    assert_eq!(indices, [1, 2, 0]);
    let scores: Vec<f32> = result
        .order
        .iter()
        .filter_map(|placed| placed.score)
        .collect();
    for (score, expected) in scores.iter().zip([0.8808, 0.5, 0.0474]) {
        assert!((score - expected).abs() < 1e-3, "{scores:?}");
    }
}

#[tokio::test]
async fn a_reply_that_scores_nothing_is_an_error() {
    for body in [
        json!({ "results": [] }),
        json!({ "results": [{ "index": 9, "relevance_score": 0.5 }] }),
        json!({ "results": [{ "index": 0, "relevance_score": null }] }),
        json!({ "message": "ok" }),
    ] {
        let error = cohere(&body).await.unwrap_err();
        assert!(matches!(error, ProviderError::Invalid { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn either_is_under_a_deadline() {
    let server =
        ScriptedProvider::start(vec![Reply::hang(), Reply::json(&json!([])).hanging()]).await;
    let rerankers: [Box<dyn Reranker>; 2] = [
        Box::new(ChatReranker::new(model(&server))),
        Box::new(CohereReranker::new(
            super::provider(&server),
            "rerank-model",
        )),
    ];
    for reranker in rerankers {
        let begun = Instant::now();
        let error = reranker
            .rerank("q", &passages(2), begun + SHORT)
            .await
            .unwrap_err();
        assert_eq!(error, ProviderError::Timeout(Phase::Deadline));
        assert!(begun.elapsed() < SHORT + Duration::from_secs(2));
    }
}

#[tokio::test]
async fn c055_without_candidates_nothing_is_asked() {
    let server = ScriptedProvider::start(Vec::new()).await;
    let chat = ChatReranker::new(model(&server));
    assert!(
        chat.rerank("q", &[], soon())
            .await
            .unwrap()
            .order
            .is_empty()
    );
    let cohere = CohereReranker::new(super::provider(&server), "rerank-model");
    assert!(
        cohere
            .rerank("q", &[], soon())
            .await
            .unwrap()
            .order
            .is_empty()
    );
    assert!(server.requests().is_empty());
}
