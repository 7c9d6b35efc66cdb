//! Embeddings: what is sent, where vectors are placed, and what is refused.

use adapters::model::{ModelError, checked, checked_with_usage};
use adapters::provider::{BatchLimits, OpenAiEmbedder, Width};
use serde_json::{Value, json};
use testing::provider::openai::embeddings;
use testing::{Reply, ScriptedProvider};

use super::provider;

fn embedder(server: &ScriptedProvider, width: Width, inputs: usize) -> OpenAiEmbedder {
    let limits = BatchLimits {
        inputs,
        ..BatchLimits::default()
    };
    OpenAiEmbedder::new(provider(server), "embedding-model", width, limits)
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// What two texts and this body of a success come to, for vectors of two values.
async fn reply(body: impl Into<Vec<u8>>) -> Result<Vec<Vec<f32>>, ModelError> {
    let server = ScriptedProvider::start(vec![Reply::status(200, body)]).await;
    let embedder = embedder(&server, Width::Native(2), 10);
    let vectors = checked(&embedder, &texts(&["a", "b"])).await;
    assert_eq!(server.requests().len(), 1);
    vectors
}

async fn check_refused(body: impl Into<Vec<u8>>, expected: &str) {
    match reply(body).await {
        Err(ModelError::InvalidVector { model, reason }) => {
            assert_eq!(
                (model.as_str(), reason.as_str()),
                ("embedding-model", expected)
            );
        }
        other => unreachable!("{other:?} instead of: {expected}"),
    }
}

fn data(entries: &Value) -> String {
    json!({ "data": entries }).to_string()
}

#[tokio::test]
async fn asks_as_the_interface_has_it() {
    let vectors = [vec![1.0, 0.0], vec![0.0, 2.0]];
    let replies = vec![
        Reply::json(&embeddings(&vectors)),
        Reply::json(&embeddings(&vectors)),
    ];
    let server = ScriptedProvider::start(replies).await;
    let embedded = checked_with_usage(
        &embedder(&server, Width::Native(2), 10),
        &texts(&["first", "second"]),
    )
    .await
    .unwrap();
    assert_eq!(embedded.vectors, [[1.0, 0.0], [0.0, 1.0]]);
    assert_eq!(embedded.usage.map(|usage| usage.input), Some(2));
    checked(
        &embedder(&server, Width::Requested(2), 10),
        &texts(&["a", "b"]),
    )
    .await
    .unwrap();
    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1/embeddings");
    assert_eq!(
        requests[0].body,
        json!({ "model": "embedding-model", "input": ["first", "second"], "encoding_format": "float" })
    );
    assert_eq!(requests[1].body["dimensions"], 2);
}

#[tokio::test]
async fn texts_go_out_in_batches_and_come_back_in_order() {
    let batch = |vectors: &[Vec<f32>]| Reply::json(&embeddings(vectors));
    let server = ScriptedProvider::start(vec![
        batch(&[vec![1.0, 0.0], vec![0.0, 1.0]]),
        Reply::status(503, ""),
        batch(&[vec![-1.0, 0.0], vec![0.0, -1.0]]),
        batch(&[vec![1.0, 0.0]]),
    ])
    .await;
    let embedder = embedder(&server, Width::Native(2), 2);
    let embedded = checked_with_usage(&embedder, &texts(&["a", "b", "c", "d", "e"]))
        .await
        .unwrap();
    assert_eq!(
        embedded.vectors,
        [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [1.0, 0.0]]
    );
    assert_eq!(embedded.usage.map(|usage| usage.input), Some(5));
    let sent: Vec<Value> = server
        .requests()
        .into_iter()
        .map(|request| request.body["input"].clone())
        .collect();
    assert_eq!(
        sent,
        [
            json!(["a", "b"]),
            json!(["c", "d"]),
            json!(["c", "d"]),
            json!(["e"])
        ]
    );
}

#[tokio::test]
async fn vectors_are_placed_by_their_index() {
    let swapped = data(&json!([
        { "index": 1, "embedding": [0.0, 1.0] },
        { "index": 0, "embedding": [1.0, 0.0] },
    ]));
    assert_eq!(reply(swapped).await.unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
}

#[tokio::test]
async fn vectors_that_have_no_place_are_refused() {
    let entry = |index: usize| json!({ "index": index, "embedding": [1.0, 0.0] });
    check_refused(data(&json!([entry(0)])), "no vector for 1 of 2 texts").await;
    check_refused(data(&json!([])), "no vector for 2 of 2 texts").await;
    check_refused(data(&json!([entry(0), entry(0)])), "two vectors for text 0").await;
    check_refused(
        data(&json!([entry(0), entry(2)])),
        "a vector for text 2 of 2",
    )
    .await;
}

#[tokio::test]
async fn c012_values_that_are_no_numbers_are_refused() {
    let body = |value: &str| {
        format!(
            r#"{{"data":[{{"index":0,"embedding":[1.0,{value}]}},{{"index":1,"embedding":[0.0,1.0]}}]}}"#
        )
    };
    check_refused(body("1e39"), "a value that is not a finite number").await;
    for value in ["NaN", "Infinity", "null", "1e999", "\"1\""] {
        match reply(body(value)).await {
            Err(ModelError::InvalidVector { reason, .. }) => assert!(
                reason.starts_with("it is not JSON of the agreed form at line 1"),
                "{value}: {reason}"
            ),
            other => unreachable!("{value}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn c010_c014_vectors_without_length_or_of_another_are_refused() {
    let two = |first: Value| {
        data(&json!([
            { "index": 0, "embedding": first },
            { "index": 1, "embedding": [0.0, 1.0] },
        ]))
    };
    check_refused(two(json!([0.0, 0.0])), "a norm of 0").await;
    check_refused(two(json!([1.0, 0.0, 0.0])), "3 dimensions instead of 2").await;
    check_refused(two(json!([])), "0 dimensions instead of 2").await;
}

#[tokio::test]
async fn failures_say_whether_waiting_helps() {
    for (reply, waiting_helps) in [
        (Reply::status(429, ""), true),
        (Reply::status(500, ""), true),
        (Reply::reset(), true),
        (Reply::status(200, "{").closing(), true),
        (Reply::status(401, ""), false),
        (Reply::status(402, ""), false),
    ] {
        let server = ScriptedProvider::start(vec![reply.clone(), reply.clone(), reply]).await;
        let embedder = embedder(&server, Width::Native(2), 10);
        let error = checked(&embedder, &texts(&["a"])).await.unwrap_err();
        assert_eq!(
            matches!(error, ModelError::Unavailable(_)),
            waiting_helps,
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn a_reply_far_too_long_is_not_kept() {
    let filler = " ".repeat(64 * 1024);
    check_refused(format!("{filler}{{}}"), "it is too long").await;
}

#[tokio::test]
async fn a_server_that_embeds_what_it_is_sent_keeps_its_script_for_the_rest() {
    let answer = Reply::sse(testing::provider::openai::answer(&["Yes."]));
    let server = ScriptedProvider::start_embedding(16, vec![answer]).await;
    let embedder = embedder(&server, Width::Native(16), 2);
    let sent = texts(&["write ahead", "log", "write ahead"]);
    let vectors = checked(&embedder, &sent).await.unwrap();
    assert_eq!(vectors[0], vectors[2]);
    assert_ne!(vectors[0], vectors[1]);
    assert_eq!(super::told(&super::model(&server)).await.text, "Yes.");
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn without_texts_nothing_is_asked() {
    let server = ScriptedProvider::start(Vec::new()).await;
    let vectors = checked(&embedder(&server, Width::Native(2), 10), &[]).await;
    assert!(vectors.unwrap().is_empty());
    assert!(server.requests().is_empty());
}
