//! The function by itself, called with the events a Function URL sends. The emulator and Postgres are real where a request
//! needs them, and at an address where nothing listens where it must not.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use adapters::dynamodb::corpus::{Corpus, put_corpus};
use adapters::dynamodb::ensure_table;
use app::config::{Config, Variables};
use app::context::Context;
use http_body_util::BodyExt;
use lambda_http::http::{HeaderMap, StatusCode};
use lambda_http::{Request, RequestExt};
use serde_json::{Value, json};
use testing::{HashEmbedder, TestDatabase, dynamodb};

/// Port 9 discards: nothing listens there, so whoever touches it fails at once.
pub(crate) const NO_DATABASE: &str = "postgres://someone:hunter2@127.0.0.1:9/nowhere";
const NO_DYNAMODB: &str = "http://127.0.0.1:9";

/// A context of these settings, above ones that reach nothing.
pub(crate) async fn context(settings: &[(&str, &str)]) -> Arc<Context> {
    let defaults = [
        ("DATABASE_URL", NO_DATABASE),
        ("HASH_SECRET", "a secret of the tests"),
        ("AWS_ENDPOINT_URL_DYNAMODB", NO_DYNAMODB),
        ("EVAL_RESULTS", "/nowhere/results"),
    ];
    let settings: Variables = settings.iter().copied().collect();
    let config = Config::read(&settings.above(defaults.into_iter().collect())).unwrap();
    Arc::new(
        Context::with_embedder(config, Arc::new(HashEmbedder::new("hash", 8)))
            .await
            .unwrap(),
    )
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap().to_owned()
    }
}

/// A Function URL's event, as Lambda hands it to the runtime.
pub(crate) fn event(
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&str>,
    base64: bool,
) -> Request {
    let event = event_of(method, path, headers, body, base64);
    request(&event, "request-1")
}

/// The request that an event becomes, under this id.
pub(crate) fn request(event: &Value, id: &str) -> Request {
    let mut lambda = lambda_http::Context::default();
    lambda.request_id = id.to_owned();
    lambda_http::request::from_str(&event.to_string())
        .unwrap()
        .with_lambda_context(lambda)
}

/// The event itself.
pub(crate) fn event_of(
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&str>,
    base64: bool,
) -> Value {
    let headers: BTreeMap<_, _> = headers
        .iter()
        .copied()
        .chain([("host", "abc.lambda-url.eu-west-1.on.aws")])
        .collect();
    json!({
        "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": "", "headers": headers,
        "requestContext": {
            "accountId": "anonymous", "apiId": "abc", "domainName": "abc.lambda-url.eu-west-1.on.aws", "domainPrefix": "abc",
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7", "userAgent": "test"},
            "requestId": "gateway-id", "routeKey": "$default", "stage": "$default",
            "time": "01/Jan/2026:00:00:00 +0000", "timeEpoch": 1_767_225_600_000_u64,
        },
        "body": body, "isBase64Encoded": base64,
    })
}

pub(crate) async fn call(context: &Arc<Context>, request: Request) -> Reply {
    let response = ask::handle(Arc::clone(context), request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = tokio::time::timeout(Duration::from_secs(20), body.collect())
        .await
        .expect("a body that ends")
        .unwrap();
    Reply {
        status: parts.status,
        headers: parts.headers,
        body: String::from_utf8(body.to_bytes().to_vec()).unwrap(),
    }
}

pub(crate) async fn get(context: &Arc<Context>, path: &str) -> Reply {
    call(context, event("GET", path, &[], None, false)).await
}

async fn post(context: &Arc<Context>, body: &str) -> Reply {
    call(
        context,
        event(
            "POST",
            "/api/ask",
            &[("content-type", "application/json")],
            Some(body),
            false,
        ),
    )
    .await
}

fn corpus() -> Corpus {
    Corpus {
        name: "postgresql-17".into(),
        title: "PostgreSQL".into(),
        label: "17".into(),
        licence: "PostgreSQL Licence".into(),
        refusal: "I couldn't find this in the PostgreSQL docs.".into(),
        base_url: None,
        version: 7,
        pages: 35,
        chunks: 610,
        built_at: "2026-01-01T00:00:00Z".into(),
        embedding_model: "all-MiniLM-L6-v2".into(),
        dimensions: 384,
    }
}

/// A context whose corpus item is written, and the emulator that holds it.
async fn served(settings: &[(&str, &str)]) -> Arc<Context> {
    let emulator = dynamodb().await;
    let mut all = vec![("AWS_ENDPOINT_URL_DYNAMODB", emulator.endpoint())];
    all.extend_from_slice(settings);
    let context = context(&all).await;
    ensure_table(&context.table).await.unwrap();
    put_corpus(&context.table, &corpus()).await.unwrap();
    context
}

#[tokio::test]
async fn c150_pages_need_nothing_and_are_whole() {
    let context = context(&[]).await;
    for (path, kind, holds) in [
        ("/", "text/html", "<!doctype html>"),
        ("", "text/html", "<!doctype html>"),
        ("/how-it-works", "text/html", "<!doctype html>"),
        ("/evaluation", "text/html", "<!doctype html>"),
        ("/privacy", "text/html", "<!doctype html>"),
        ("/robots.txt", "text/plain", "User-agent"),
        ("/favicon.svg", "image/svg+xml", "<svg"),
        ("/assets/style.css", "text/css", "{"),
        ("/assets/page.js", "text/javascript", "import"),
        ("/api/evaluation", "application/json", "{\"runs\":[]}"),
    ] {
        let reply = get(&context, path).await;
        assert_eq!(reply.status, 200, "{path}");
        assert!(
            reply.headers["content-type"]
                .to_str()
                .unwrap()
                .starts_with(kind),
            "{path}"
        );
        assert!(reply.body.contains(holds), "{path}");
    }
}

#[tokio::test]
async fn every_reply_is_guarded() {
    let context = served(&[("ALLOWED_ORIGIN", "https://docs.example.com")]).await;
    let json = [
        ("content-type", "application/json"),
        ("origin", "https://elsewhere.example"),
    ];
    for request in [
        event("GET", "/", &json, None, false),
        event("HEAD", "/", &json, None, false),
        event("GET", "/api/status", &json, None, false),
        event("GET", "/nothing", &json, None, false),
        event("DELETE", "/api/ask", &json, None, false),
        event("OPTIONS", "/api/ask", &json, None, false),
        event("POST", "/api/ask", &json, Some("{}"), false),
        event(
            "POST",
            "/api/ask",
            &json,
            Some("{\"question\":\"why?\"}"),
            false,
        ),
        event("GET", "/how-it-works/", &json, None, false),
    ] {
        let shown = format!("{} {}", request.method(), request.uri().path());
        let reply = call(&context, request).await;
        for (name, holds) in [
            ("content-security-policy", "default-src 'none'"),
            ("content-security-policy", "frame-ancestors 'none'"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("strict-transport-security", "max-age="),
        ] {
            assert!(
                reply.headers[name].to_str().unwrap().contains(holds),
                "{shown}: {name}"
            );
        }
        assert!(
            !reply.headers["content-security-policy"]
                .to_str()
                .unwrap()
                .contains("unsafe")
        );
        let origins: Vec<_> = reply
            .headers
            .get_all("access-control-allow-origin")
            .iter()
            .collect();
        assert_eq!(origins, ["https://docs.example.com"], "{shown}");
        assert!(!reply.headers.contains_key("content-length"), "{shown}");
    }
}

#[tokio::test]
async fn without_an_allowed_origin_no_page_elsewhere_may_call() {
    let context = context(&[]).await;
    for method in ["GET", "OPTIONS"] {
        let reply = call(
            &context,
            event(
                method,
                "/",
                &[("origin", "https://elsewhere.example")],
                None,
                false,
            ),
        )
        .await;
        assert!(
            reply
                .headers
                .keys()
                .all(|name| !name.as_str().starts_with("access-control")),
            "{method}"
        );
    }
}

#[tokio::test]
async fn c151_empty_replies_end_at_once() {
    let context = context(&[("ALLOWED_ORIGIN", "*")]).await;
    let preflight = call(
        &context,
        event(
            "OPTIONS",
            "/api/ask",
            &[("origin", "https://a.example")],
            None,
            false,
        ),
    )
    .await;
    assert_eq!(
        (preflight.status.as_u16(), preflight.body.as_str()),
        (204, "")
    );
    assert_eq!(
        preflight.headers["access-control-allow-methods"],
        "GET, POST, OPTIONS"
    );
    let page = get(&context, "/").await;
    let head = call(&context, event("HEAD", "/", &[], None, false)).await;
    assert_eq!((head.status.as_u16(), head.body.as_str()), (200, ""));
    assert_eq!(head.headers, page.headers);
    let tag = page.headers["etag"].to_str().unwrap();
    let again = call(
        &context,
        event("GET", "/", &[("if-none-match", tag)], None, false),
    )
    .await;
    assert_eq!((again.status.as_u16(), again.body.as_str()), (304, ""));
    let moved = get(&context, "/privacy/").await;
    assert_eq!(
        (moved.status.as_u16(), &moved.headers["location"]),
        (308, &"../privacy".parse().unwrap())
    );
}

#[tokio::test]
async fn every_mistake_has_its_reply() {
    let context = served(&[]).await;
    let long = json!({ "question": "a".repeat(1_001) }).to_string();
    let large = json!({ "question": "vacuum ".repeat(200_000) }).to_string();
    let json = [("content-type", "application/json")];
    let mut shown = String::new();
    for (name, request) in [
        (
            "no question",
            event(
                "POST",
                "/api/ask",
                &json,
                Some(r#"{"question":" "}"#),
                false,
            ),
        ),
        (
            "control characters",
            event(
                "POST",
                "/api/ask",
                &json,
                Some(r#"{"question":"\u0000\u0007"}"#),
                false,
            ),
        ),
        (
            "too long",
            event("POST", "/api/ask", &json, Some(&long), false),
        ),
        (
            "no JSON",
            event("POST", "/api/ask", &json, Some("question=why"), false),
        ),
        ("no body", event("POST", "/api/ask", &json, None, false)),
        (
            "too large",
            event("POST", "/api/ask", &json, Some(&large), false),
        ),
        (
            "another type",
            event(
                "POST",
                "/api/ask",
                &[("content-type", "text/plain")],
                Some("why?"),
                false,
            ),
        ),
        ("another method", event("GET", "/api/ask", &[], None, false)),
        ("another page", event("GET", "/nothing", &[], None, false)),
        (
            "no such suggestion",
            event("GET", "/api/suggestions/1", &[], None, false),
        ),
    ] {
        let reply = call(&context, request).await;
        assert_eq!(
            reply.headers["content-type"],
            "application/json; charset=utf-8"
        );
        let allow = reply
            .headers
            .get("allow")
            .map(|allow| format!(" (allow: {})", allow.to_str().unwrap()));
        shown.push_str(&format!(
            "{name}: {}{} {}\n",
            reply.status.as_u16(),
            allow.unwrap_or_default(),
            reply.body
        ));
    }
    insta::assert_snapshot!(shown);
}

#[tokio::test]
async fn the_mode_is_kept() {
    for (mode, code) in [("read-only", "read_only"), ("off", "off")] {
        let context = served(&[("MODE", mode)]).await;
        let reply = post(&context, r#"{"question":"why?"}"#).await;
        assert_eq!((reply.status.as_u16(), reply.code().as_str()), (503, code));
        assert_eq!(get(&context, "/").await.status, 200);
        assert_eq!(get(&context, "/api/status").await.json()["mode"], mode);
    }
}

#[tokio::test]
async fn the_status_wakes_no_postgres() {
    let reply = get(&served(&[]).await, "/api/status").await;
    assert_eq!(reply.status, 200);
    let mut status = reply.json();
    let resets_at = status["quota"]["resets_at"].take();
    assert!(resets_at.as_str().unwrap().ends_with("T00:00:00Z"));
    insta::assert_json_snapshot!(status);
}

#[tokio::test]
async fn without_a_corpus_the_service_says_so() {
    let emulator = dynamodb().await;
    let context = context(&[("AWS_ENDPOINT_URL_DYNAMODB", emulator.endpoint())]).await;
    ensure_table(&context.table).await.unwrap();
    for reply in [
        get(&context, "/api/status").await,
        post(&context, r#"{"question":"why?"}"#).await,
    ] {
        assert_eq!(
            (reply.status.as_u16(), reply.code().as_str()),
            (503, "unavailable")
        );
    }
}

#[tokio::test]
async fn c273_no_cause_reaches_a_visitor() {
    let context = served(&[]).await;
    let source = get(&context, "/sources/runtime-config-wal.html").await;
    assert_eq!(
        (source.status.as_u16(), source.code().as_str()),
        (503, "unavailable")
    );
    let answer = post(&context, r#"{"question":"What is max_wal_size?"}"#).await;
    assert!(answer.body.contains("event: error"), "{}", answer.body);
    let unreachable = get(&self::context(&[]).await, "/api/status").await;
    assert_eq!(
        (unreachable.status.as_u16(), unreachable.code().as_str()),
        (503, "unavailable")
    );
    for reply in [source, answer, unreachable] {
        assert!(reply.body.contains("request-1"), "{}", reply.body);
        for secret in [
            "127.0.0.1",
            "hunter2",
            "someone",
            "nowhere",
            "refused",
            "select",
            "postgres://",
            ".rs",
        ] {
            assert!(!reply.body.contains(secret), "{secret} in {}", reply.body);
        }
    }
}

#[tokio::test]
async fn c158_nothing_a_visitor_wrote_is_in_a_header() {
    let context = served(&[]).await;
    let question = r#"{"question":"Wörter\r\nx-injected: märchen"}"#;
    for reply in [
        post(&context, question).await,
        get(&context, "/m%C3%A4rchen%0d%0ax-injected:1").await,
        get(&context, "/sources/märchen/").await,
        get(&context, "/sources/m%C3%A4rchen%0d%0ax-injected:1/").await,
    ] {
        assert!(!reply.headers.contains_key("x-injected"));
        for value in reply.headers.values() {
            let value = value.to_str().expect("plain ASCII");
            assert!(
                !value.contains("rchen") || value == "../m%C3%A4rchen",
                "{value}"
            );
        }
    }
}

#[tokio::test]
async fn a_base64_body_is_read() {
    let context = served(&[]).await;
    // {"question":" "}
    let json = [("content-type", "application/json")];
    let reply = call(
        &context,
        event(
            "POST",
            "/api/ask",
            &json,
            Some("eyJxdWVzdGlvbiI6IiAifQ=="),
            true,
        ),
    )
    .await;
    assert_eq!(reply.code(), "invalid_question");
}

#[tokio::test]
async fn c274_refusing_costs_neither_time_nor_memory() {
    let context = served(&[]).await;
    let history = format!(
        r#"{{"question":"why?","history":[{}0]}}"#,
        r#"{"role":"user"},"#.repeat(300_000)
    );
    let deep = format!(
        r#"{{"question":{}{}}}"#,
        "[".repeat(7_000),
        "]".repeat(7_000)
    );
    let wide = format!(
        r#"{{"question":"why?",{}"z":0}}"#,
        (0..900)
            .map(|n| format!("\"field{n}\":0,"))
            .collect::<String>()
    );
    for (body, code) in [
        (history, "too_large"),
        (deep, "invalid_request"),
        (wide, "invalid_request"),
    ] {
        let json = [("content-type", "application/json")];
        let requests: Vec<_> = (0..10)
            .map(|_| event("POST", "/api/ask", &json, Some(&body), false))
            .collect();
        let before = resident_kib();
        for request in requests {
            let started = std::time::Instant::now();
            assert_eq!(call(&context, request).await.code(), code);
            assert!(
                started.elapsed() < Duration::from_millis(500),
                "{code} took {:?}",
                started.elapsed()
            );
        }
        let grown = resident_kib().saturating_sub(before);
        assert!(grown < 4_096, "{code}: {grown} KiB");
    }
}

/// Memory this process has in use.
fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn a_stored_document_is_shown() {
    let database = TestDatabase::create().await;
    let client = database.connect().await;
    let sections = json!([
        {"heading": ["Notice"], "anchor": "notice", "blocks": [
            {"kind": "prose", "text": "Notice is <30> days.", "anchor": null, "page_offset": 7}]},
    ]);
    client
        .batch_execute(&format!(
            "insert into corpora (name) values ('postgresql-17');
             insert into versions (corpus, state, title, label, ts_config, embedding_model, dimensions, chunker, fingerprint)
             values ('postgresql-17', 'ready', 'Handbook', '1', 'english', 'hash', 8, 'c', 'f');
             update corpora set current = (select id from versions);
             create table d1 partition of documents default;
             insert into documents (version, id, title, url, metadata, page_text, sections, content_hash)
             select id, 'policies/notice', 'Notice', 'sources/policies/notice', '{{\"department\":\"HR\"}}',
                 E'Notice\\nNotice is <30> days.', '{sections}', '\\x00' from versions;"
        ))
        .await
        .unwrap();
    let context = served(&[("DATABASE_URL", database.url())]).await;
    for path in ["/sources/policies/notice", "/sources/policies%2Fnotice"] {
        let reply = get(&context, path).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert!(
            reply
                .body
                .contains("<h1 id=\"notice\">Notice</h1>\n<p>Notice is &lt;30&gt; days.</p>"),
            "{}",
            reply.body
        );
    }
    let missing = get(&context, "/sources/policies/leave").await;
    assert_eq!(missing.status, 404);
    assert!(
        missing.body.contains("Not found")
            && missing.headers["content-type"]
                .to_str()
                .unwrap()
                .starts_with("text/html")
    );
}
