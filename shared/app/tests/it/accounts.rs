//! Who pays for which ending: the table of ARCHITECTURE.md, row by row, through the whole pipeline.

use std::sync::Arc;
use std::time::Duration;

use adapters::dynamodb::record::records;
use adapters::model::{Embedder, ModelError};
use app::admit::admit;
use app::ask::ask;
use app::ask::event::{Closed, Event, Sink};
use app::ask::question::Ask;
use app::ask::settle::Payer;
use app::clock;
use app::context::Context;
use domain::usage::Record;
use domain::visitor::Address;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use testing::ScriptedProvider;
use testing::provider::{Reply, openai};
use tokio::time::Instant;

use crate::ask::{ALWAYS, QUESTION, asked, model};
use crate::corpus::TestCorpus;
use crate::written::{TRUE_SENTENCE, corpus, text, writing};

const LIMIT: u64 = 20;

/// What one question came to.
struct Account {
    events: Vec<Event>,
    counted: u64,
    record: Record,
    left: bool,
}

impl Account {
    fn outcome(&self) -> &str {
        &self.record.outcome
    }

    fn last(&self) -> Value {
        serde_json::to_value(self.events.last().unwrap()).unwrap()
    }
}

/// Lets a visitor ask, who leaves after so many events if at all.
async fn account(ctx: &Context, question: Ask, leaves_after: Option<usize>) -> Account {
    let payer = admit(
        ctx,
        Address::Unknown,
        &question.question,
        &question.request_id,
    );
    let payer = payer.await.unwrap();
    let (sink, mut receiver) = Sink::channel(1);
    let reading = async {
        let mut events = Vec::new();
        while leaves_after != Some(events.len())
            && let Some(event) = receiver.recv().await
        {
            events.push(event);
        }
        drop(receiver);
        events
    };
    let answering = async {
        let sink = sink;
        ask(ctx, question, payer, &sink).await
    };
    let (ended, events) = tokio::join!(answering, reading);
    let now_s = clock::now_s();
    let remaining = app::admit::remaining(ctx, Address::Unknown).await.unwrap();
    let mut records = records(&ctx.table, clock::today(), now_s).await.unwrap();
    assert_eq!(records.len(), 1);
    let account = Account {
        events,
        counted: LIMIT - remaining.visitor.remaining.unwrap(),
        record: records.remove(0),
        left: ended == Err(Closed),
    };
    assert_eq!(account.record.charged, account.counted == 1);
    if let Some(Event::Done(done)) = account.events.last() {
        assert_eq!(
            done.quota.visitor.remaining, remaining.visitor.remaining,
            "what is told is what is left"
        );
    }
    let open = ctx.quota.sweep(now_s + 1_000).await.unwrap();
    assert_eq!(open.found, 0, "the charge was left open");
    account
}

/// Panics where a model would embed.
struct Panics;

impl Embedder for Panics {
    fn model(&self) -> &str {
        "hash"
    }

    fn dimensions(&self) -> usize {
        64
    }

    fn embed<'a>(&'a self, _: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        panic!("a fault of ours")
    }
}

async fn written_by(corpus: &TestCorpus, replies: Vec<Reply>) -> (Context, ScriptedProvider) {
    let provider = ScriptedProvider::start(replies).await;
    let ctx = writing(corpus, &provider.base_url(), &[]).await;
    (ctx, provider)
}

fn broken(text: &str) -> Vec<Reply> {
    vec![Reply::sse([openai::chunk(text)]).resetting()]
}

fn thrice(reply: Reply) -> Vec<Reply> {
    vec![reply; 3]
}

/// Each row: what happens, how it ends, whether it counts.
#[tokio::test]
#[expect(clippy::print_stdout, reason = "the table is part of the result")]
async fn c217_each_ending_is_charged_as_the_table_says() {
    let mut table = String::new();
    let mut row = |what: &str, account: &Account, outcome: &str, counts: bool| {
        assert_eq!(
            (account.outcome(), account.counted == 1),
            (outcome, counts),
            "{what}"
        );
        table += &format!(
            "{what:<64} {outcome:<12} {}\n",
            if counts { "counts" } else { "given back" }
        );
    };
    let models: [(&str, Vec<Reply>, &str, bool); 13] = [
        ("a model answers", text(&[TRUE_SENTENCE]), "answered", true),
        (
            "a model answers, and nothing holds",
            text(&["The moon is made of cheese."]),
            "unsupported",
            true,
        ),
        (
            "a model's text is cut at its limit",
            vec![Reply::sse([
                openai::chunk(&format!("{TRUE_SENTENCE} And")),
                openai::finish("length"),
                openai::done(),
            ])],
            "partial",
            true,
        ),
        (
            "a model refuses",
            vec![Reply::sse([
                openai::delta(&json!({"content": null, "refusal": "No"})),
                openai::finish("stop"),
                openai::done(),
            ])],
            "refused",
            true,
        ),
        (
            "a provider filters",
            vec![Reply::sse([
                openai::finish("content_filter"),
                openai::done(),
            ])],
            "filtered",
            true,
        ),
        (
            "a provider is down before the first word",
            thrice(Reply::status(500, "{}")),
            "answered",
            false,
        ),
        (
            "a provider's budget is spent",
            thrice(Reply::status(
                429,
                r#"{"error":{"code":"insufficient_quota"}}"#,
            )),
            "answered",
            false,
        ),
        (
            "a provider's key is wrong",
            thrice(Reply::status(401, "{}")),
            "answered",
            false,
        ),
        (
            "a provider says nothing",
            thrice(Reply::sse([openai::finish("stop"), openai::done()])),
            "answered",
            false,
        ),
        (
            "a model spends all on reasoning",
            thrice(Reply::sse([
                openai::finish("length"),
                openai::usage(10, 200),
                openai::done(),
            ])),
            "answered",
            false,
        ),
        (
            "a provider breaks off after a sentence",
            broken(&format!("{TRUE_SENTENCE} Half")),
            "partial",
            true,
        ),
        (
            "a provider breaks off before a sentence held",
            broken("Half a"),
            "provider",
            true,
        ),
        (
            "an error inside the stream, before the first word",
            thrice(Reply::sse([
                openai::error(&json!({"message": "x"})),
                openai::done(),
            ])),
            "answered",
            false,
        ),
    ];
    for (what, replies, outcome, counts) in models {
        let corpus = corpus().await;
        let (ctx, _provider) = written_by(&corpus, replies).await;
        row(
            what,
            &account(&ctx, asked(QUESTION), None).await,
            outcome,
            counts,
        );
    }

    let corpus = corpus().await;
    let local = |embedder: Arc<dyn Embedder>, settings: Vec<(&'static str, &'static str)>| {
        let corpus = &corpus;
        async move { corpus.asking(embedder, &settings).await }
    };
    let ctx = local(Arc::new(model()), vec![ALWAYS]).await;
    row(
        "the passages' own sentences answer",
        &account(&ctx, asked(QUESTION), None).await,
        "answered",
        true,
    );

    let corpus = self::corpus().await;
    let ctx = corpus.asking(Arc::new(model()), &[]).await;
    row(
        "nothing relevant, and nothing paid",
        &account(&ctx, asked("best sourdough recipe"), None).await,
        "abstained",
        false,
    );

    let corpus = self::corpus().await;
    let grades = r#"{"ranking":[{"passage":1,"relevance":0.1},{"passage":2,"relevance":0.0}]}"#;
    let provider = ScriptedProvider::start(text(&[grades])).await;
    let base_url = provider.base_url();
    let paid = [
        ("EMBEDDER", "local"),
        ("RERANKER", "chat"),
        ("GENERATOR", "extractive"),
        ("OPENAI_BASE_URL", base_url.as_str()),
    ];
    let ctx = corpus.asking(Arc::new(model()), &paid).await;
    row(
        "nothing relevant, by a model that was paid",
        &account(&ctx, asked(QUESTION), None).await,
        "abstained",
        true,
    );

    let corpus = self::corpus().await;
    let (ctx, _provider) = written_by(&corpus, text(&[TRUE_SENTENCE])).await;
    let late = Ask {
        deadline: Instant::now(),
        ..asked(QUESTION)
    };
    row(
        "the time is up before the first word",
        &account(&ctx, late, None).await,
        "deadline",
        false,
    );

    let corpus = self::corpus().await;
    let slow =
        Reply::sse((0..2_000).map(|_| openai::chunk("half "))).every(Duration::from_millis(50));
    let (ctx, _provider) = written_by(&corpus, vec![slow]).await;
    let short = Ask {
        deadline: Instant::now() + Duration::from_millis(1_500),
        ..asked(QUESTION)
    };
    row(
        "the time is up after the first word",
        &account(&ctx, short, None).await,
        "deadline",
        true,
    );

    let corpus = self::corpus().await;
    let ctx = corpus
        .asking(
            Arc::new(model()),
            &[("DATABASE_URL", "postgres://a:b@127.0.0.1:9/c")],
        )
        .await;
    row(
        "the database is away",
        &account(&ctx, asked(QUESTION), None).await,
        "unavailable",
        false,
    );

    let corpus = self::corpus().await;
    let ctx = corpus.asking(Arc::new(Panics), &[ALWAYS]).await;
    row(
        "a fault of ours",
        &account(&ctx, asked(QUESTION), None).await,
        "internal",
        false,
    );

    for (what, events) in [
        ("the visitor leaves at once", 0),
        ("the visitor leaves a model writing", 6),
    ] {
        let corpus = self::corpus().await;
        let endless = Reply::sse((0..2_000).map(|_| openai::chunk(&format!("{TRUE_SENTENCE} "))));
        let (ctx, _provider) =
            written_by(&corpus, vec![endless.every(Duration::from_millis(20))]).await;
        let left = account(&ctx, asked(QUESTION), Some(events)).await;
        assert!(left.left);
        row(what, &left, "left", true);
    }
    println!("{table}");
}

#[tokio::test]
async fn a_record_says_how_and_never_what() {
    let corpus = corpus().await;
    let (ctx, _provider) = written_by(
        &corpus,
        text(&[
            TRUE_SENTENCE,
            " It is 31 days [P1: \"no such words here\"].",
        ]),
    )
    .await;
    let account = account(&ctx, asked(QUESTION), None).await;
    let record = &account.record;
    assert_eq!(record.question_chars as usize, QUESTION.chars().count());
    assert_eq!(record.question_hash.len(), 32);
    assert_eq!(
        (record.verified, &record.dropped),
        (1, &[("quote_not_found".to_owned(), 1)].into())
    );
    assert!(record.timings_ms.contains_key("retrieve") && record.timings_ms.contains_key("total"));
    assert_eq!(account.last()["outcome"], "partial");
}

#[tokio::test]
async fn c203_one_request_is_charged_once_and_not_answered_again_when_it_is_over() {
    let corpus = corpus().await;
    let ctx = corpus.asking(Arc::new(model()), &[ALWAYS]).await;
    account(&ctx, asked(QUESTION), None).await;
    let question = asked(QUESTION).question;
    let again = admit(&ctx, Address::Unknown, &question, "r-1").await;
    assert_eq!(again.unwrap_err().code(), "unavailable");
    let left = app::admit::remaining(&ctx, Address::Unknown).await.unwrap();
    assert_eq!(left.visitor.remaining, Some(LIMIT - 1));
}

#[tokio::test]
async fn a_failure_to_record_or_to_settle_fails_no_answer() {
    let corpus = corpus().await;
    let ctx = corpus.asking(Arc::new(model()), &[ALWAYS]).await;
    let question = asked(QUESTION);
    let payer = admit(&ctx, Address::Unknown, &question.question, "r-1")
        .await
        .unwrap();
    // Known to this process before the table goes.
    ctx.corpus().await.unwrap();
    ctx.table
        .client()
        .delete_table()
        .table_name(ctx.table.name())
        .send()
        .await
        .unwrap();
    let (sink, mut receiver) = Sink::channel(256);
    ask(&ctx, question, payer, &sink).await.unwrap();
    drop(sink);
    let mut last = None;
    while let Some(event) = receiver.recv().await {
        last = Some(event);
    }
    let Some(Event::Done(done)) = last else {
        panic!("{last:?}");
    };
    assert_eq!(
        (done.outcome, done.quota.visitor.remaining),
        ("answered", None)
    );
}

#[tokio::test]
async fn a_budget_lets_in_what_it_can_pay_for_and_counts_what_was_spent() {
    let corpus = corpus().await;
    let prices = std::env::temp_dir().join(format!("sourced-prices-{}.toml", std::process::id()));
    std::fs::write(&prices, "[models.scripted]\ninput = 1.0\noutput = 2.0\n").unwrap();
    let answer = || {
        Reply::sse([
            openai::chunk(TRUE_SENTENCE),
            openai::finish("stop"),
            openai::usage(1_000, 100),
            openai::done(),
        ])
    };
    let provider = ScriptedProvider::start(vec![answer(), answer(), answer()]).await;
    // One question may cost 0.02 at most and costs 0.0012.
    let settings = [
        ("PRICES_FILE", prices.to_str().unwrap()),
        ("DAILY_BUDGET_USD", "0.0220"),
    ];
    let ctx = writing(&corpus, &provider.base_url(), &settings).await;
    assert_eq!(ctx.worst_case.to_string(), "0.02");
    let ask_one = |n: u32| {
        let ctx = &ctx;
        async move {
            let question = Ask {
                request_id: format!("r-{n}"),
                ..asked(QUESTION)
            };
            let payer = admit(
                ctx,
                Address::Unknown,
                &question.question,
                &question.request_id,
            )
            .await?;
            let (sink, mut receiver) = Sink::channel(256);
            ask(ctx, question, payer, &sink).await.unwrap();
            drop(sink);
            let mut cost = None;
            while let Some(event) = receiver.recv().await {
                if let Event::Done(done) = event {
                    cost = done.cost_usd;
                }
            }
            Ok::<_, app::error::ApiError>(cost)
        }
    };
    assert_eq!(ask_one(1).await.unwrap(), Some(0.0012));
    assert_eq!(
        ask_one(2).await.unwrap(),
        Some(0.0012),
        "what was reserved and not spent is given back"
    );
    let refused = ask_one(3).await.unwrap_err();
    assert_eq!((refused.code(), refused.status()), ("budget", 429));
    assert_eq!(provider.requests().len(), 2);
}

#[tokio::test]
async fn a_visitor_who_leaves_a_model_writing_is_reckoned_at_the_worst() {
    let corpus = corpus().await;
    let prices = std::env::temp_dir().join(format!("sourced-left-{}.toml", std::process::id()));
    std::fs::write(&prices, "[models.scripted]\ninput = 1.0\noutput = 2.0\n").unwrap();
    let endless = Reply::sse((0..2_000).map(|_| openai::chunk(&format!("{TRUE_SENTENCE} "))));
    let provider = ScriptedProvider::start(vec![endless.every(Duration::from_millis(20))]).await;
    let settings = [
        ("PRICES_FILE", prices.to_str().unwrap()),
        ("DAILY_BUDGET_USD", "0.0220"),
    ];
    let ctx = writing(&corpus, &provider.base_url(), &settings).await;
    let left = account(&ctx, asked(QUESTION), Some(8)).await;
    assert!(left.left && left.record.cost.is_none(), "{:?}", left.record);
    let question = asked(QUESTION).question;
    let next = admit(&ctx, Address::Unknown, &question, "r-2")
        .await
        .unwrap_err();
    assert_eq!(next.code(), "budget", "what was under way was given back");
}

#[tokio::test]
async fn an_ingest_stops_at_the_ceiling_and_goes_on_another_day() {
    let corpus = TestCorpus::new(&[crate::ask::NOTICE, crate::ask::EXPENSES]).await;
    let mut ctx = corpus.context(Arc::new(model())).await;
    // A batch of the test's four texts fits, and the next one does not.
    ctx.expenses = corpus
        .expenses(Some(domain::cost::Money::from_picodollars(150_000_000)))
        .await;
    let stopped = app::ingest::ingest(&ctx, &corpus.manifest, None).await;
    assert!(
        matches!(stopped, Err(app::ingest::IngestError::Expenses(_))),
        "{stopped:?}"
    );
    ctx.expenses = corpus.expenses(None).await;
    let report = app::ingest::ingest(&ctx, &corpus.manifest, None)
        .await
        .unwrap();
    assert!(report.embedded > 0, "{report}");
}

#[tokio::test]
async fn the_operator_has_a_ceiling_of_their_own() {
    let corpus = corpus().await;
    let prices = std::env::temp_dir().join(format!("sourced-ledger-{}.toml", std::process::id()));
    std::fs::write(&prices, "[models.scripted]\ninput = 1.0\noutput = 2.0\n").unwrap();
    let provider = ScriptedProvider::start(Vec::new()).await;
    let settings = [
        ("PRICES_FILE", prices.to_str().unwrap()),
        ("BATCH_DAILY_BUDGET_USD", "0.05"),
    ];
    let ctx = writing(&corpus, &provider.base_url(), &settings).await;
    let payer = app::suggest::operator(&ctx).await.unwrap();
    assert!(matches!(payer, Payer::Operator(taken) if taken.amount == ctx.worst_case));
    app::suggest::operator(&ctx).await.unwrap();
    let refused = app::suggest::operator(&ctx).await.unwrap_err().to_string();
    assert!(refused.contains("$0.05"), "{refused}");
    ctx.ledger
        .correct(clock::today(), ctx.worst_case, domain::cost::Money::ZERO)
        .await
        .unwrap();
    app::suggest::operator(&ctx).await.unwrap();
}
