//! What a stranger meets: daily limits, modes, prepared answers, and counters that are away.

use std::sync::Arc;

use adapters::dynamodb::mode::put_mode;
use app::context::Context;
use domain::mode::Mode;
use serde_json::{Value, json};
use testing::ScriptedProvider;
use testing::provider::{Reply as Said, openai};

use crate::requests::{NO_DATABASE, Reply, call, event_of, get, request};
use crate::small::{NOTICE, QUESTION, Small, ask_from};

const OTHER: &str = "From when are the days counted?";
const HOME: Option<&str> = Some("192.0.2.1");

async fn ask(context: &Arc<Context>, question: &str) -> Reply {
    ask_from(context, HOME, &[], question).await
}

fn done(reply: &Reply) -> Value {
    let (_, done) = reply
        .body
        .split_once("event: done\ndata: ")
        .unwrap_or_else(|| panic!("{reply:?}"));
    serde_json::from_str(done.trim()).unwrap()
}

async fn left(context: &Arc<Context>) -> Value {
    get(context, "/api/status").await.json()["quota"].clone()
}

#[tokio::test]
async fn a_limit_says_when_to_come_back() {
    let small = Small::new().await;
    for (setting, code) in [
        ("VISITOR_DAILY_LIMIT", "visitor_quota"),
        ("GLOBAL_DAILY_LIMIT", "global_quota"),
    ] {
        let small = if code == "visitor_quota" {
            &small
        } else {
            &Small::new().await
        };
        let context = small
            .context(&[
                (setting, "2"),
                ("ALLOWED_ORIGIN", "https://docs.example.com"),
            ])
            .await;
        for left in [1, 0] {
            let reply = ask(&context, OTHER).await;
            let quota = &done(&reply)["quota"];
            let of = if code == "visitor_quota" {
                "visitor"
            } else {
                "global"
            };
            assert_eq!(quota[of], json!({"limit": 2, "remaining": left}), "{quota}");
        }
        let refused = ask(&context, OTHER).await;
        assert_eq!(
            (refused.status.as_u16(), refused.code().as_str()),
            (429, code)
        );
        let error = &refused.json()["error"];
        let seconds: u64 = refused.headers["retry-after"]
            .to_str()
            .unwrap()
            .parse()
            .unwrap();
        assert!(
            seconds <= 86_400 && error["retry_after_s"] == seconds,
            "{error}"
        );
        assert!(error["resets_at"].as_str().unwrap().ends_with("T00:00:00Z"));
        // C161: also where a limit answers.
        let origins: Vec<_> = refused
            .headers
            .get_all("access-control-allow-origin")
            .iter()
            .collect();
        assert_eq!(origins, ["https://docs.example.com"]);
    }
}

#[tokio::test]
async fn c166_c167_c169_who_counts_as_one_visitor() {
    let small = Small::new().await;
    let context = small.context(&[("VISITOR_DAILY_LIMIT", "3")]).await;
    let ask = |source_ip: Option<String>, forwarded: String| {
        let context = Arc::clone(&context);
        async move {
            let headers = [("x-forwarded-for", forwarded.as_str())];
            ask_from(&context, source_ip.as_deref(), &headers, OTHER)
                .await
                .status
                .as_u16()
        }
    };
    for (n, expected) in [200, 200, 200, 429, 429].into_iter().enumerate() {
        assert_eq!(
            ask(HOME.map(str::to_owned), format!("1.1.1.{n}")).await,
            expected,
            "spoofed {n}"
        );
    }
    for (source_ip, expected) in [
        ("2001:db8:1:2::1", 200),
        ("2001:DB8:1:2:0::2", 200),
        ("2001:0db8:0001:0002::ffff", 200),
        ("2001:db8:1:2::20", 429),
        ("2001:db8:1:3::1", 200),
        ("::ffff:192.0.2.1", 429),
    ] {
        assert_eq!(
            ask(Some(source_ip.to_owned()), "9.9.9.9".into()).await,
            expected,
            "{source_ip}"
        );
    }
    for (source_ip, expected) in [
        (None, 200),
        (Some(""), 200),
        (Some("unknown"), 200),
        (None, 429),
        (Some("x"), 429),
    ] {
        assert_eq!(
            ask(source_ip.map(str::to_owned), "8.8.8.8".into()).await,
            expected,
            "{source_ip:?}"
        );
    }
}

#[tokio::test]
async fn behind_a_proxy_of_our_own_its_word_counts() {
    let small = Small::new().await;
    let context = small
        .context(&[("VISITOR_DAILY_LIMIT", "1"), ("TRUSTED_HOPS", "1")])
        .await;
    for (forwarded, expected) in [
        ("6.6.6.6, 198.51.100.1", 200),
        ("7.7.7.7, 198.51.100.1", 429),
        ("198.51.100.2", 200),
    ] {
        let reply = ask_from(&context, HOME, &[("x-forwarded-for", forwarded)], OTHER).await;
        assert_eq!(reply.status, expected, "{forwarded}");
    }
}

#[tokio::test]
async fn c163_c216_what_asks_nothing_costs_nothing() {
    let small = Small::new().await;
    let context = small.context(&[]).await;
    let before = small.rows().await;
    let json = [
        ("content-type", "application/json"),
        ("origin", "https://a.example"),
    ];
    for n in 0..100 {
        let preflight = event_of("OPTIONS", "/api/ask", &json, None, false);
        assert_eq!(
            call(&context, request(&preflight, &format!("o-{n}")))
                .await
                .status,
            204
        );
    }
    let long = json!({ "question": "vacuum ".repeat(200_000) }).to_string();
    let deep = format!(
        "{{\"question\":{}1{}}}",
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    for (n, body) in [
        r#"{"question":""}"#,
        r#"{"question":"a","history":[1]}"#,
        &long,
        &deep,
        "x",
    ]
    .into_iter()
    .enumerate()
    {
        let asked = event_of("POST", "/api/ask", &json, Some(body), false);
        let reply = call(&context, request(&asked, &format!("m-{n}"))).await;
        assert!(matches!(reply.status.as_u16(), 400 | 413), "{reply:?}");
    }
    assert_eq!(small.rows().await, before);
    assert_eq!(
        left(&context).await["visitor"],
        json!({"limit": 20, "remaining": 20})
    );
}

#[tokio::test]
async fn c215_without_counters_nobody_is_let_in_and_no_model_is_asked() {
    let small = Small::new().await;
    small.prepare().await;
    let provider = ScriptedProvider::start(vec![Said::sse(openai::answer(&["x"]))]).await;
    let context = small
        .context(&[
            ("GENERATOR", "openai"),
            ("OPENAI_BASE_URL", &provider.base_url()),
            ("EMBEDDER", "local"),
            ("RERANKER", "local"),
        ])
        .await;
    // Known to this process before the table goes: the corpus, the mode and an answer that is prepared.
    let local = small.context(&[]).await;
    for context in [&context, &local] {
        assert_eq!(get(context, "/api/suggestions").await.status, 200);
    }
    assert_eq!(ask(&local, QUESTION).await.status, 200);
    let table = small.table().await;
    table
        .client()
        .delete_table()
        .table_name(table.name())
        .send()
        .await
        .unwrap();
    let refused = ask(&context, OTHER).await;
    assert_eq!(
        (refused.status.as_u16(), refused.code().as_str()),
        (503, "unavailable")
    );
    assert!(provider.requests().is_empty());
    let prepared = ask(&local, QUESTION).await;
    assert_eq!(done(&prepared)["outcome"], "answered");
    let status = get(&local, "/api/status").await.json();
    assert_eq!(
        status["quota"]["visitor"],
        json!({"limit": 20, "remaining": null})
    );
}

#[tokio::test]
async fn c222_modes_let_through_what_they_say() {
    let small = Small::new().await;
    small.prepare().await;
    let id = get(&small.context(&[]).await, "/api/suggestions")
        .await
        .json()[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let provider = ScriptedProvider::start(Vec::new()).await;
    for (mode, stored) in [
        (Mode::ReadOnly, true),
        (Mode::ReadOnly, false),
        (Mode::Off, true),
        (Mode::Off, false),
    ] {
        let forced = [("MODE", mode.name())];
        let mut settings = vec![
            ("DATABASE_URL", NO_DATABASE),
            ("EMBEDDER", "local"),
            ("RERANKER", "local"),
        ];
        if stored {
            put_mode(&small.table().await, mode).await.unwrap();
        } else {
            put_mode(&small.table().await, Mode::Live).await.unwrap();
            settings.extend(forced);
        }
        let before = small.rows().await;
        let context = small.context(&settings).await;
        let typed = ask(
            &context,
            " how many days of NOTICE are counted from submission ",
        )
        .await;
        let shown = get(&context, &format!("/api/suggestions/{id}")).await;
        let refused = ask(&context, OTHER).await;
        assert_eq!(refused.status, 503);
        match mode {
            Mode::ReadOnly => {
                assert_eq!(done(&typed)["outcome"], "answered");
                assert_eq!(done(&shown)["outcome"], "answered");
                assert_eq!(refused.code(), "read_only");
                let source = get(&context, "/sources/notice").await;
                assert_eq!(
                    (source.status.as_u16(), source.code().as_str()),
                    (503, "read_only")
                );
            }
            _ => {
                for reply in [
                    &typed,
                    &shown,
                    &refused,
                    &get(&context, "/sources/notice").await,
                ] {
                    assert_eq!((reply.status.as_u16(), reply.code().as_str()), (503, "off"));
                }
            }
        }
        // Nor does a model hear of it where one writes the answers.
        let server = provider.base_url();
        settings.extend([
            ("GENERATOR", "openai"),
            ("CHAT_MODEL", "scripted"),
            ("OPENAI_BASE_URL", server.as_str()),
        ]);
        let unheard = ask(&small.context(&settings).await, OTHER).await;
        assert_eq!(unheard.status, 503, "{unheard:?}");
        let status = get(&context, "/api/status").await.json();
        assert_eq!(status["mode"], mode.name());
        assert_eq!(status["quota"]["visitor"]["remaining"], 0);
        assert_eq!(get(&context, "/").await.status, 200);
        assert_eq!(small.rows().await, before, "a row was written");
    }
    assert!(provider.requests().is_empty());
}

#[tokio::test]
async fn reading_documents_is_bounded() {
    let small = Small::new().await;
    let context = small.context(&[]).await;
    for _ in 0..100 {
        let read = get(&context, "/sources/notice").await;
        assert_eq!(
            read.status, 200,
            "what was read is not read again: {read:?}"
        );
    }
    let mut refused = 0;
    for n in 0..130 {
        let read = get(&context, &format!("/sources/made-up-{n}")).await;
        match read.status.as_u16() {
            404 => {}
            503 => {
                assert_eq!(read.code(), "unavailable");
                refused += 1;
            }
            other => panic!("{other}: {read:?}"),
        }
    }
    // The minute may turn once meanwhile.
    assert!(
        (10..=71).contains(&refused),
        "{refused} of 130 were refused"
    );
}

#[tokio::test]
async fn c223_a_prepared_answer_is_like_another_and_costs_nothing() {
    let small = Small::new().await;
    let live = ask(&small.context(&[]).await, QUESTION).await;
    small.prepare().await;
    // A process that has not yet read that there are suggestions.
    let context = small.context(&[("DATABASE_URL", NO_DATABASE)]).await;
    let before = small.rows().await;
    let prepared = ask(&context, &QUESTION.to_uppercase()).await;
    let events = |reply: &Reply, name: &str| -> Vec<Value> {
        let frames = reply.body.split("\n\n").filter_map(|frame| {
            let data = frame.strip_prefix(&format!("event: {name}\ndata: "))?;
            Some(serde_json::from_str(data).unwrap())
        });
        frames.collect()
    };
    for name in ["passages", "sentence"] {
        assert_eq!(events(&live, name), events(&prepared, name), "{name}");
    }
    let (live, prepared) = (done(&live), done(&prepared));
    for field in [
        "outcome",
        "answer",
        "sentences",
        "citations",
        "removed",
        "degraded",
        "corpus_version",
    ] {
        assert_eq!(live[field], prepared[field], "{field}");
    }
    assert_eq!(prepared["cost_usd"], 0.0);
    assert_ne!(live["request_id"], prepared["request_id"]);
    assert!(prepared["timings_ms"]["total"].as_f64().unwrap() < 1_000.0);
    assert_eq!(small.rows().await, before, "it was counted");
}

#[tokio::test]
async fn c218_a_prepared_answer_is_never_of_another_edition() {
    let small = Small::new().await;
    small.prepare().await;
    let first = ask(&small.context(&[]).await, QUESTION).await;
    assert!(first.body.contains("30 days"));
    small.ingest(&NOTICE.replace("30", "45")).await;
    let context = small.context(&[]).await;
    assert_eq!(get(&context, "/api/suggestions").await.json(), json!([]));
    let asked = ask(&context, QUESTION).await;
    assert!(
        asked.body.contains("45 days") && !asked.body.contains("30 days"),
        "{asked:?}"
    );
    small.prepare().await;
    let prepared = ask(
        &small.context(&[("DATABASE_URL", NO_DATABASE)]).await,
        QUESTION,
    )
    .await;
    assert!(prepared.body.contains("45 days"), "{prepared:?}");
    let stored = small
        .rows()
        .await
        .iter()
        .filter(|row| row.starts_with("prepared#"))
        .count();
    assert_eq!(stored, 1, "the old one is gone");
    // Another way of answering is another edition.
    let other = small
        .context(&[("RERANKER", "none"), ("DATABASE_URL", NO_DATABASE)])
        .await;
    assert_eq!(get(&other, "/api/suggestions").await.json(), json!([]));
}

#[tokio::test]
async fn what_is_not_prepared_is_not_found() {
    let small = Small::new().await;
    small.prepare().await;
    let context = small.context(&[]).await;
    for id in ["0123456789abcdef", "x", "../mode"] {
        let reply = get(&context, &format!("/api/suggestions/{id}")).await;
        assert_eq!(
            (reply.status.as_u16(), reply.code().as_str()),
            (404, "not_found"),
            "{id}"
        );
    }
}
