//! Recorded results as they are served: from a folder, byte for byte.

use std::path::PathBuf;
use std::sync::Arc;

use app::context::Context;
use serde_json::json;

use crate::requests::{call, context, event, get};

const LATEST: &str = r#"{"runs":[{"slug":"pg-17","questions":2}]}"#;
const ROWS: &str = r#"{"rows":[{"id":"a-1","right":true}]}"#;
const PLOT: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>";

/// A folder with a published run, removed in the end.
struct Published(PathBuf);

impl Published {
    async fn new(name: &str) -> (Self, Arc<Context>) {
        let folder = format!("sourced-published-{}-{name}", std::process::id());
        let published = Self(std::env::temp_dir().join(folder));
        let context = context(&[("EVAL_RESULTS", published.0.to_str().unwrap())]).await;
        let results = context.results().unwrap();
        for (object, content) in [
            ("latest.json", LATEST),
            ("pg-17/rows/1.json", ROWS),
            ("pg-17/plots/recall.svg", PLOT),
        ] {
            results.put(object, content).await.unwrap();
        }
        (published, context)
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn a_published_run_is_served_as_it_was_written() {
    let (_published, context) = Published::new("whole").await;
    for (path, kind, body) in [
        ("/api/evaluation", "application/json; charset=utf-8", LATEST),
        (
            "/api/evaluation/pg-17/rows/1.json",
            "application/json; charset=utf-8",
            ROWS,
        ),
        (
            "/api/evaluation/pg-17/plots/recall.svg",
            "image/svg+xml",
            PLOT,
        ),
    ] {
        let reply = get(&context, path).await;
        assert_eq!(
            (reply.status.as_u16(), reply.body.as_str()),
            (200, body),
            "{path}"
        );
        assert_eq!(reply.headers["content-type"], kind);
        assert_eq!(reply.headers["cache-control"], "max-age=300");
        // A plot opened by itself runs nothing.
        let policy = reply.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"));
        let head = call(&context, event("HEAD", path, &[], None, false)).await;
        assert_eq!((head.status.as_u16(), head.body.as_str()), (200, ""));
        assert_eq!(head.headers, reply.headers);
    }
}

#[tokio::test]
async fn what_was_not_published_is_not_there() {
    let (published, context) = Published::new("absent").await;
    std::fs::write(published.0.join("secret.json"), "{}").unwrap();
    for path in [
        "/api/evaluation/pg-17/rows/2.json",
        "/api/evaluation/pg-16/rows/1.json",
        "/api/evaluation/pg-17/plots/mrr.svg",
        "/api/evaluation/latest.json/rows/1.json",
        "/api/evaluation/secret.json",
        "/api/evaluation/pg-17/rows/../../secret.json",
        "/api/evaluation/pg-17/plots/..%2F..%2Fsecret.svg",
    ] {
        let reply = get(&context, path).await;
        assert_eq!(
            (reply.status.as_u16(), reply.code().as_str()),
            (404, "not_found"),
            "{path}"
        );
        assert_eq!(reply.headers["cache-control"], "no-store");
    }
}

#[tokio::test]
async fn before_any_run_there_are_none() {
    let reply = get(&context(&[]).await, "/api/evaluation").await;
    assert_eq!(
        (reply.status.as_u16(), reply.json()),
        (200, json!({"runs": []}))
    );
    assert_eq!(reply.headers["cache-control"], "no-store");
}

#[tokio::test]
async fn a_store_that_is_away_is_unavailable_and_not_named() {
    // Port 9 discards: nothing listens there.
    let context = context(&[
        ("EVAL_RESULTS", "s3://results/eval"),
        ("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9"),
    ])
    .await;
    for path in ["/api/evaluation", "/api/evaluation/pg-17/rows/1.json"] {
        let reply = get(&context, path).await;
        assert_eq!(
            (reply.status.as_u16(), reply.code().as_str()),
            (503, "unavailable"),
            "{path}"
        );
        for secret in [
            "127.0.0.1",
            "s3://",
            "latest.json",
            "EVAL_RESULTS",
            "Connect",
        ] {
            assert!(!reply.body.contains(secret), "{secret} in {}", reply.body);
        }
        assert!(reply.body.contains("evaluation results"), "{}", reply.body);
    }
}

#[tokio::test]
async fn what_no_reply_can_hold_is_not_begun() {
    let (_published, context) = Published::new("large").await;
    let results = context.results().unwrap();
    results
        .put("pg-17/rows/2.json", vec![b' '; 5_500_001])
        .await
        .unwrap();
    let reply = get(&context, "/api/evaluation/pg-17/rows/2.json").await;
    assert_eq!(
        (reply.status.as_u16(), reply.code().as_str()),
        (503, "unavailable")
    );
}
