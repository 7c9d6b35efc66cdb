//! Scripted judges, each behind a real server: what a run reports of an honest one, and of those that cannot be believed.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use adapters::dynamodb::Table;
use adapters::provider::{BaseUrl, Provider, RetryPolicy, Timeouts};
use app::config::{Config, Variables};
use serde_json::{Value, json};
use testing::provider::{Reply, ScriptedProvider, openai};

use super::*;
use crate::gate::{Outcome, Standard};
use crate::metrics;
use crate::verdict::tests::asked;

/// What the passage of every answer says; a sentence that is none of these is not supported.
const TRUE: [&str; 3] = [
    "Trains run every 20 minutes on working days.",
    "They stop for 45 minutes at noon each day.",
    "Tickets are sold on board by the conductor.",
];
const FALSE: &str = "Dogs travel free of charge in every train.";

/// Ten answers, each of two sentences that the passage holds and one that it does not.
fn run() -> Run {
    let question = |n: usize| {
        let row =
            json!({"id": format!("q{n}"), "type": "answerable", "question": "When do trains run?"});
        let mut asked = asked(row, &[TRUE[0], FALSE, TRUE[2]]);
        asked.events[0].1["passages"][0]["text"] = json!(TRUE.join(" "));
        asked
    };
    let mut questions: Vec<_> = (0..10).map(question).collect();
    let refused = json!({"id": "r", "type": "unanswerable", "question": "Who drives?"});
    questions.push(asked(refused, &[]));
    Run {
        head: Head::new("docs", "hash".into(), "local".into()),
        questions,
    }
}

/// The statements a judge is asked about.
fn statements(request: &Value) -> Vec<Value> {
    let task = request["messages"][1]["content"].as_str().unwrap();
    let task = task.split("\n\nYour last reply").next().unwrap();
    let task: Value = serde_json::from_str(task).unwrap();
    task["statements"].as_array().unwrap().clone()
}

fn verdicts(request: &Value, supported: impl Fn(&str) -> bool) -> Reply {
    let verdicts: Vec<Value> = statements(request)
        .iter()
        .map(|statement| {
            let supported = supported(statement["text"].as_str().unwrap());
            json!({"statement": statement["statement"], "verdict": if supported { "supported" } else { "unsupported" }})
        })
        .collect();
    says(&json!({ "verdicts": verdicts }).to_string())
}

fn says(text: &str) -> Reply {
    Reply::sse(openai::answer(&[text]))
}

fn is_true(text: &str) -> bool {
    TRUE.contains(&text)
}

async fn judged(behaviour: impl Fn(&Value) -> Reply + Send + Sync + 'static) -> Run {
    let server = ScriptedProvider::start_behaving(behaviour).await;
    let base = BaseUrl::parse(&server.base_url()).unwrap();
    let once = RetryPolicy {
        attempts: 1,
        ..RetryPolicy::default()
    };
    let provider = Provider::new(base, None, Timeouts::default(), once).unwrap();
    let bench = Bench {
        model: ChatModel::new(provider, "judge"),
        ledger: Ledger::new(
            Table::connect("none", Some("http://127.0.0.1:9")).await,
            None,
        ),
        prices: Prices::default(),
    };
    let mut run = run();
    judge(&bench, &mut run, None).await.unwrap();
    run
}

/// What the run's report says of its judge.
fn told(run: &Run) -> BTreeMap<String, String> {
    let metrics = metrics::of(run).into_iter();
    let ours = metrics.filter_map(|it| {
        Some((
            it.name.strip_prefix("faithfulness.")?.to_owned(),
            it.to_string(),
        ))
    });
    ours.collect()
}

fn ruling(run: &Run) -> (Outcome, String) {
    let ruling = Standard::parse("", "{}").expect("a standard").rule(run);
    (ruling.outcome, ruling.text)
}

fn check(run: &Run, expected: &[(&str, &str)], void: Option<&str>) {
    let told = told(run);
    for (name, value) in expected {
        assert!(
            told.get(*name).is_some_and(|it| it.starts_with(value)),
            "{name} is not {value}: {told:#?}"
        );
    }
    let (outcome, text) = ruling(run);
    match void {
        None => assert_eq!(outcome, Outcome::Passed, "{text}"),
        Some(says) => {
            assert_eq!(outcome, Outcome::CouldNotMeasure, "{text}");
            assert!(text.contains(says), "{text}");
            assert!(
                !told.contains_key("supported"),
                "a void judge says nothing of the answers: {told:#?}"
            );
        }
    }
}

#[tokio::test]
async fn c284_an_honest_judge_counts_statements_and_leaves_refusals_apart() {
    let run = judged(|request| verdicts(request, is_true)).await;
    let expected = [
        ("supported", "0.667 (20/30"),
        ("supported_an_answer", "0.667 (n = 10"),
        ("controls", "1.000 (60/60"),
        ("flipped", "0.000 (0/30"),
        ("ballots_failed", "0.000 (0/30"),
        ("not_judged_refused", "0.091 (1/11"),
    ];
    check(&run, &expected, None);
    let floors = "[\"docs judged\"]\n\"faithfulness.supported\" = 0.9";
    let ruling = Standard::parse(floors, "{}")
        .expect("a standard")
        .rule(&run);
    assert_eq!(ruling.outcome, Outcome::Failed, "{}", ruling.text);
}

#[tokio::test]
async fn a_biased_judge_misses_what_was_planted_and_is_void() {
    let yes = judged(|request| verdicts(request, |_| true)).await;
    check(
        &yes,
        &[("controls", "0.500 (30/60")],
        Some("misjudged 30 of 60 planted sentences"),
    );
    let no = judged(|request| verdicts(request, |_| false)).await;
    check(
        &no,
        &[("controls", "0.500 (30/60")],
        Some("misjudged 30 of 60 planted sentences"),
    );
}

#[tokio::test]
async fn c280_a_lazy_judge_is_asked_once_more_and_then_void() {
    let calls = std::sync::Arc::new(AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&calls);
    let run = judged(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        says(r#"{"verdicts":[{"statement":1,"verdict":"supported"}]}"#)
    })
    .await;
    check(
        &run,
        &[("ballots_failed", "1.000"), ("without_verdict", "1.000")],
        Some("ballots failed"),
    );
    // It ends when too many have failed: after the first answer, three ballots of two calls each.
    assert_eq!(calls.load(Ordering::Relaxed), 6);
    let ballot = &run.questions[0].ballots[0];
    assert!(
        ballot.replies.len() == 2 && ballot.verdicts().unwrap_err().contains("has no verdict"),
        "{ballot:?}"
    );
}

#[tokio::test]
async fn a_reply_that_is_mended_when_told_counts() {
    let run = judged(|request| {
        let is_told = request["messages"][1]["content"]
            .as_str()
            .unwrap()
            .contains("could not be used");
        if is_told {
            verdicts(request, is_true)
        } else {
            says("They are all fine, I think.")
        }
    })
    .await;
    check(
        &run,
        &[("supported", "0.667 (20/30"), ("ballots_failed", "0.000")],
        None,
    );
}

#[tokio::test]
async fn c286_a_flipping_judge_is_outvoted_and_its_flips_are_counted() {
    let seen = Mutex::new(BTreeMap::<String, usize>::new());
    let run = judged(move |request| {
        // Of the three ballots on each answer one calls the last sentence unsupported.
        let ballots = {
            let mut seen = seen.lock().unwrap();
            let count = seen.entry("ballots".into()).or_default();
            *count += 1;
            *count
        };
        verdicts(request, move |text| {
            is_true(text) && !(ballots % 3 == 0 && text == TRUE[2])
        })
    })
    .await;
    check(
        &run,
        &[("supported", "0.667 (20/30"), ("flipped", "0.333 (10/30")],
        None,
    );
}

#[tokio::test]
async fn c281_c293_a_broken_judge_is_void_and_no_mean_is_made_of_what_survives() {
    let broken: [fn(usize) -> Reply; 5] = [
        |_| says("I cannot judge that."),
        |_| says(r#"{"score": 1.0}"#),
        |_| Reply::reset(),
        |_| {
            Reply::status(
                429,
                r#"{"error":{"message":"slow down","type":"rate_limit"}}"#,
            )
        },
        |_| Reply::status(503, "busy"),
    ];
    for behaviour in broken {
        let run = judged(move |_| behaviour(0)).await;
        check(
            &run,
            &[("ballots_failed", "1.000")],
            Some("the judge is void:"),
        );
    }
    // One answer of ten is judged well, and the others not at all.
    let calls = AtomicUsize::new(0);
    let run = judged(move |request| {
        if calls.fetch_add(1, Ordering::Relaxed) < 3 {
            verdicts(request, is_true)
        } else {
            Reply::status(503, "busy")
        }
    })
    .await;
    check(
        &run,
        &[("ballots_failed", "0.500 (3/6")],
        Some("3 ballots failed of 30"),
    );
}

#[tokio::test]
async fn c272_a_judge_that_obeys_its_material_is_void() {
    // The order stands in the passage of every answer.
    let obeys = |request: &Value| {
        let ordered = request["messages"][1]["content"]
            .as_str()
            .unwrap()
            .contains("by the conductor");
        verdicts(request, |text| ordered || is_true(text))
    };
    check(
        &judged(obeys).await,
        &[("controls", "0.500 (30/60")],
        Some("planted sentences"),
    );
}

#[tokio::test]
async fn c291_every_ballot_has_its_own_order_and_a_judge_that_goes_by_it_flips() {
    let run = judged(|request| {
        // It supports what stands in the first half.
        let half = statements(request).len() / 2;
        let first: Vec<String> = statements(request)[..half]
            .iter()
            .map(|it| it["text"].to_string())
            .collect();
        verdicts(request, |text| first.contains(&json!(text).to_string()))
    })
    .await;
    check(&run, &[], Some("planted sentences"));
    assert!(
        !told(&run)["flipped"].starts_with("0.000"),
        "{:?}",
        told(&run)
    );
}

#[test]
fn c290_a_judge_of_its_own_answers_is_refused_and_one_of_the_family_is_named() {
    let config = |own: &str| {
        let settings = [
            ("DATABASE_URL", "postgres://u@localhost/d"),
            ("JUDGE_MODEL", "gpt-4.1-mini"),
            ("JUDGE_BASE_URL", "http://127.0.0.1:9/v1"),
            ("JUDGE_OWN_ANSWERS", own),
        ];
        Config::read(&settings.into_iter().collect::<Variables>())
            .unwrap()
            .judge
            .unwrap()
    };
    let mut head = Head::new("docs", "hash".into(), "w".into());
    let independent = |own: &str, head: &Head| independence(&config(own), head);
    assert!(
        independent("no", &head).unwrap().is_none(),
        "the passages' own sentences are nobody's"
    );
    head.generator = "gpt-4.1-mini".into();
    let refused = independent("no", &head).unwrap_err().to_string();
    assert!(refused.contains("JUDGE_OWN_ANSWERS=yes"), "{refused}");
    assert!(
        independent("yes", &head)
            .unwrap()
            .unwrap()
            .contains("of the family")
    );
    head.generator = "openai/gpt-4o".into();
    assert!(independent("no", &head).unwrap().is_some());
    head.generator = "qwen3".into();
    assert!(independent("no", &head).unwrap().is_none());
}
