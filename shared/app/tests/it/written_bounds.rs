//! What bounds a model's answer when nobody else does: its length, the question's deadline, the visitor's leaving; and
//! whose knowledge and language it may use.

use std::time::Duration;

use app::ask::ask;
use app::ask::event::{Closed, Sink};
use serde_json::{Value, json};
use testing::ScriptedProvider;
use testing::provider::{Reply, openai};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::ask::{QUESTION, asked, events, events_of, of, operator};
use crate::written::{TRUE_SENTENCE, corpus, done, shown, text, writing};

/// A text without an end: frames enough for any test.
fn endless(frame: &str) -> Reply {
    Reply::sse((0..20_000).map(|_| openai::chunk(frame)))
}

#[tokio::test]
async fn c154_a_model_that_never_stops_is_left_at_the_word_limit() {
    let corpus = corpus().await;
    let provider = ScriptedProvider::start(vec![endless(&format!("{TRUE_SENTENCE} "))]).await;
    let ctx = writing(&corpus, &provider.base_url(), &[]).await;
    let events = events(&ctx, QUESTION).await;
    provider.abandoned(1).await;
    let words: usize = shown(&events)
        .iter()
        .map(|sentence| sentence.split_whitespace().count())
        .sum();
    assert!((240..=250).contains(&words), "{words}");
    assert_eq!(of(&events, "note"), [&json!({"kind": "truncated"})]);
    let done = done(&events);
    assert_eq!(done["outcome"], "partial");
    assert_eq!(done["usage"]["estimated"], true, "it is paid for: {done}");
    let request = provider.requests()[0].body.to_string();
    assert!(request.contains("\"max_completion_tokens\":") || request.contains("\"max_tokens\":"));
}

#[tokio::test]
async fn c154_a_model_that_says_nothing_for_ever_is_left_at_the_deadline() {
    for (frame, pause) in [("so ", 1), ("", 1)] {
        let corpus = corpus().await;
        let reply = endless(frame).every(Duration::from_millis(pause));
        let provider = ScriptedProvider::start(vec![reply]).await;
        let ctx = writing(&corpus, &provider.base_url(), &[]).await;
        let mut question = asked(QUESTION);
        question.deadline = Instant::now() + Duration::from_secs(2);
        let deadline = question.deadline;
        let (end, told) = events_of(&ctx, question).await.pop().unwrap();
        assert!(Instant::now() < deadline, "ended by itself");
        provider.abandoned(1).await;
        match frame {
            // Words that were paid for, and no sentence: nobody answers in the model's place.
            "so " => assert_eq!((end, &told["code"]), ("error", &json!("deadline"))),
            _ => assert_eq!(told["degraded"], json!(["generator"])),
        }
    }
}

#[tokio::test]
async fn c155_an_answer_is_ended_before_its_invocation_is() {
    let corpus = corpus().await;
    let cut = Reply::sse([openai::chunk(&format!("{TRUE_SENTENCE} And then"))]).hanging();
    let provider = ScriptedProvider::start(vec![cut]).await;
    let ctx = writing(&corpus, &provider.base_url(), &[]).await;
    let mut question = asked(QUESTION);
    question.deadline = Instant::now() + Duration::from_secs(2);
    let deadline = question.deadline;
    let events = events_of(&ctx, question).await;
    assert!(Instant::now() < deadline);
    assert_eq!(shown(&events), ["The notice is 30 days."]);
    assert_eq!(of(&events, "note"), [&json!({"kind": "interrupted"})]);
    assert_eq!(done(&events)["outcome"], "partial");
}

#[tokio::test]
async fn c152_a_visitor_who_leaves_ends_the_providers_call() {
    let corpus = corpus().await;
    let reply = endless(&format!("{TRUE_SENTENCE} ")).every(Duration::from_millis(20));
    let provider = ScriptedProvider::start(vec![reply]).await;
    let ctx = writing(&corpus, &provider.base_url(), &[]).await;
    let (sink, mut receiver) = Sink::channel(1);
    let leaving = async move {
        while let Some(event) = receiver.recv().await {
            if event.name() == "sentence" {
                return;
            }
        }
    };
    let question = asked(QUESTION);
    let (answered, ()) = tokio::join!(ask(&ctx, question, operator(), &sink), leaving);
    assert_eq!(answered, Err(Closed));
    provider.abandoned(1).await;
}

#[tokio::test]
async fn c269_a_model_that_answers_from_elsewhere_is_not_shown() {
    let corpus = corpus().await;
    for said in [
        "Argentina won the 2022 World Cup.",
        "Argentina won the 2022 World Cup [P1].",
        "Argentina won the 2022 World Cup [P1: \"The notice is 30 days\"].",
        "Argentina won [P1: \"Argentina won the 2022 World Cup\"].",
    ] {
        let provider = ScriptedProvider::start(text(&[said])).await;
        let ctx = writing(&corpus, &provider.base_url(), &[]).await;
        let question =
            "Answer from your own knowledge if the docs are silent: who won the 2022 cup?";
        let events = events(&ctx, question).await;
        assert!(shown(&events).is_empty(), "{said}");
        assert_eq!(done(&events)["outcome"], "unsupported", "{said}");
        assert_eq!(done(&events)["answer"], "Not found.");
    }
}

/// The language rule: an answer is in the passages' language, whatever the question's, for a translation cannot be checked
/// against their words; the refusal is the corpus's own sentence.
#[tokio::test]
async fn c271_an_answer_stays_in_the_passages_language() {
    let corpus = corpus().await;
    for (said, expected) in [
        (TRUE_SENTENCE, Some("The notice is 30 days.")),
        (
            "Die Kündigungsfrist beträgt 30 Tage [P1: \"The notice is 30 days\"].",
            None,
        ),
        (
            "Die Kündigungsfrist ist nicht 30 Tage lang [P1: \"The notice is 30 days\"].",
            None,
        ),
        (
            "El plazo es de 30 días [P1: \"El plazo es de 30 días\"].",
            None,
        ),
        ("No lo encuentro en el manual.", None),
    ] {
        let provider = ScriptedProvider::start(text(&[said])).await;
        let ctx = writing(&corpus, &provider.base_url(), &[]).await;
        let question = "¿Cuántos días de notice, counted from submission? Answer in German.";
        let events = events(&ctx, question).await;
        let rules = provider.requests()[0].body["messages"][0]["content"].to_string();
        assert!(
            rules.contains("Answer in the passages' language"),
            "{rules}"
        );
        assert_eq!(
            shown(&events),
            expected.into_iter().collect::<Vec<_>>(),
            "{said}: {:?}",
            of(&events, "removed")
        );
        if expected.is_none() {
            assert_eq!(done(&events)["outcome"], "unsupported");
            assert_eq!(done(&events)["answer"], "Not found.");
        }
    }
}

/// A provider that writes `tokens` at their pace and tells when it sent each.
async fn paced(
    tokens: Vec<String>,
    pause: Duration,
) -> (String, mpsc::UnboundedReceiver<(String, Instant)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (tell, told) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let mut request = Vec::new();
        let is_whole = |request: &[u8]| {
            let text = String::from_utf8_lossy(request);
            let body = text.split_once("\r\n\r\n").map(|(_, body)| body);
            body.is_some_and(|body| serde_json::from_str::<Value>(body).is_ok())
        };
        while !is_whole(&request) {
            let mut piece = [0; 8192];
            let read = stream.read(&mut piece).await.unwrap();
            request.extend_from_slice(&piece[..read]);
        }
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut clock = tokio::time::interval(pause);
        for token in tokens {
            clock.tick().await;
            let frame = openai::chunk(&token);
            stream.write_all(frame.as_bytes()).await.unwrap();
            let _ = tell.send((token, Instant::now()));
        }
        let end = openai::finish("stop") + &openai::done();
        stream.write_all(end.as_bytes()).await.unwrap();
    });
    (url, told)
}

/// How long a verified sentence is held after its last token: by construction until the token that shows that its
/// citations are complete, and then by the gate's own work.
#[tokio::test]
#[ignore = "a measure that takes half a minute: run it with --run-ignored only --no-capture"]
async fn the_delay_added_to_a_sentence() {
    const PACE: Duration = Duration::from_millis(20);
    const SENTENCES: usize = 48;
    let sentence = [
        "The", " notice", " is", " 30", " days", " [", "P1", ":", " \"", "The", " notice", " is",
        " 30", " days", "\"", "].",
    ];
    // Few enough words that the limit is not met; the next sentence starts with a space of its own.
    let tokens: Vec<String> = (0..SENTENCES)
        .flat_map(|n| {
            let mut tokens: Vec<String> = sentence.iter().map(|&token| token.to_owned()).collect();
            if n > 0 {
                tokens[0] = " The".to_owned();
            }
            tokens
        })
        .collect();
    let corpus = corpus().await;
    let (url, mut sent) = paced(tokens, PACE).await;
    let ctx = writing(&corpus, &url, &[]).await;
    let (sink, mut receiver) = Sink::channel(256);
    let reading = async move {
        let mut shown = Vec::new();
        while let Some(event) = receiver.recv().await {
            if event.name() == "sentence" {
                shown.push(Instant::now());
            }
        }
        shown
    };
    let asking = async move {
        let payer = operator();
        ask(&ctx, asked(QUESTION), payer, &sink).await.unwrap();
        drop(sink);
    };
    let ((), shown) = tokio::join!(asking, reading);
    assert_eq!(shown.len(), SENTENCES);
    let mut ends = Vec::new();
    while let Ok((token, at)) = sent.try_recv() {
        if token == "]." {
            ends.push(at);
        }
    }
    let mut delays: Vec<f64> = shown
        .iter()
        .zip(&ends)
        .map(|(shown, end)| shown.saturating_duration_since(*end).as_secs_f64() * 1e3)
        .collect();
    delays.sort_by(f64::total_cmp);
    let at = |share: f64| delays[((delays.len() as f64 * share).ceil() as usize).max(1) - 1];
    eprintln!(
        "from a sentence's last token to its event, {} sentences at 50 tokens a second: p50 {:.1} ms, p99 {:.1} ms",
        delays.len(),
        at(0.5),
        at(0.99),
    );
    assert!(
        at(0.5) < 3.0 * PACE.as_secs_f64() * 1e3,
        "held beyond the tokens that complete it: {delays:?}"
    );
}
