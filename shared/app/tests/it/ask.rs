//! Questions to a small corpus: what is answered when a part fails, what is refused, and what a visitor is told.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use adapters::model::{Embedder, ModelError};
use app::ask::ask;
use app::ask::event::{Closed, Sink};
use app::ask::question::{Ask, Question};
use app::ask::settle::{Payer, Taken};
use app::clock;
use app::context::Context;
use domain::cost::Money;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use testing::HashEmbedder;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use crate::corpus::TestCorpus;

pub(crate) const QUESTION: &str = "How many days of notice are counted from submission?";

pub(crate) const NOTICE: (&str, &str) = (
    "notice.md",
    "# Notice\n\nThe notice is 30 days, and the days are counted from submission.\n",
);
pub(crate) const EXPENSES: (&str, &str) = (
    "expenses.md",
    "# Expenses\n\nKeep every receipt of a journey. Claims are paid within two weeks.\n\n## Travel\n\nTrains come before planes.\n",
);
pub(crate) const CANTEEN: (&str, &str) = (
    "canteen.md",
    "# Canteen\n\nThe canteen bakes bread each morning. Lunch is served from noon.\n",
);

/// Always answers, however far the words are.
pub(crate) const ALWAYS: (&str, &str) = ("RELEVANCE_THRESHOLD", "0");

pub(crate) fn model() -> HashEmbedder {
    HashEmbedder::new("hash", 64)
}

pub(crate) async fn ingested(pages: &[(&str, &str)]) -> TestCorpus {
    let corpus = TestCorpus::new(pages).await;
    corpus.try_ingest(model()).await.unwrap();
    corpus
}

/// Whoever runs the service, with nothing taken from their ledger.
pub(crate) fn operator() -> Payer {
    Payer::Operator(Taken {
        day: clock::today(),
        amount: Money::ZERO,
    })
}

/// What was sent, each event as its name and its data on the wire.
pub(crate) async fn events(ctx: &Context, question: &str) -> Vec<(&'static str, Value)> {
    events_of(ctx, asked(question)).await
}

pub(crate) async fn events_of(ctx: &Context, question: Ask) -> Vec<(&'static str, Value)> {
    let (sink, mut receiver) = Sink::channel(256);
    ask(ctx, question, operator(), &sink).await.unwrap();
    drop(sink);
    let mut sent = Vec::new();
    while let Some(event) = receiver.recv().await {
        sent.push((event.name(), serde_json::to_value(&event).unwrap()));
    }
    let last = |name: &str| matches!(name, "done" | "error");
    assert_eq!(sent.iter().filter(|(name, _)| last(name)).count(), 1);
    assert!(last(sent.last().unwrap().0), "{sent:?}");
    sent
}

pub(crate) fn asked(question: &str) -> Ask {
    Ask {
        question: Question::parse(question).unwrap(),
        filter: BTreeMap::new(),
        without: Vec::new(),
        draft: false,
        request_id: "r-1".to_owned(),
        deadline: Instant::now() + Duration::from_secs(30),
    }
}

pub(crate) fn of<'a>(events: &'a [(&str, Value)], name: &str) -> Vec<&'a Value> {
    events
        .iter()
        .filter(|(sent, _)| *sent == name)
        .map(|(_, data)| data)
        .collect()
}

pub(crate) fn passages<'a>(events: &'a [(&str, Value)]) -> &'a [Value] {
    of(events, "passages")[0]["passages"].as_array().unwrap()
}

/// A model whose replies to questions go wrong.
struct Replies(fn() -> Result<Vec<Vec<f32>>, ModelError>);

impl Embedder for Replies {
    fn model(&self) -> &str {
        "hash"
    }

    fn dimensions(&self) -> usize {
        64
    }

    fn embed<'a>(&'a self, _: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        Box::pin(async { (self.0)() })
    }
}

async fn answered_without_vectors(reply: fn() -> Result<Vec<Vec<f32>>, ModelError>) {
    let corpus = ingested(&[EXPENSES, NOTICE, CANTEEN]).await;
    let ctx = corpus.asking(Arc::new(Replies(reply)), &[]).await;
    let events = events(&ctx, QUESTION).await;
    let done = of(&events, "done")[0];
    assert_eq!(done["outcome"], "answered", "{done}");
    assert_eq!(done["degraded"], json!(["vector"]));
    assert!(
        done["answer"].as_str().unwrap().contains("30 days"),
        "{done}"
    );
    assert_eq!(passages(&events)[0]["title"], "Notice");
}

#[tokio::test]
async fn c010_a_zero_vector_leaves_the_keyword_arm() {
    answered_without_vectors(|| Ok(vec![vec![0.0; 64]])).await;
}

#[tokio::test]
async fn c012_values_that_are_no_numbers_leave_the_keyword_arm() {
    answered_without_vectors(|| Ok(vec![vec![f32::NAN; 64]])).await;
}

#[tokio::test]
async fn c014_a_vector_of_another_length_leaves_the_keyword_arm() {
    answered_without_vectors(|| Ok(vec![vec![1.0; 24]])).await;
}

#[tokio::test]
async fn c046_a_model_that_is_down_leaves_the_keyword_arm() {
    answered_without_vectors(|| Err(ModelError::Unavailable("down".into()))).await;
}

#[tokio::test]
async fn c046_a_question_without_terms_is_searched_by_vector() {
    let corpus = ingested(&[EXPENSES, NOTICE, CANTEEN]).await;
    let ctx = corpus.asking(Arc::new(model()), &[ALWAYS]).await;
    let events = events(&ctx, "How do I do this?").await;
    assert_eq!(passages(&events).len(), 4);
    assert_eq!(of(&events, "done")[0]["degraded"], json!([]));
}

/// Vectors of two models compare without an error, and rank without a meaning.
#[tokio::test]
async fn c013_c014_vectors_of_another_model_are_never_compared() {
    let corpus = ingested(&[NOTICE]).await;
    for other in [
        HashEmbedder::new("other", 64),
        HashEmbedder::new("hash", 24),
    ] {
        let ctx = corpus.asking(Arc::new(other), &[ALWAYS]).await;
        let events = events(&ctx, QUESTION).await;
        let error = of(&events, "error")[0];
        assert_eq!(error["code"], "unavailable");
        assert_eq!(
            error["message"],
            "The documentation is being prepared anew. Please try again later."
        );
        assert!(of(&events, "passages").is_empty());
    }
}

#[tokio::test]
async fn c040_a_question_in_another_language_is_no_error() {
    let corpus = ingested(&[NOTICE, EXPENSES, CANTEEN]).await;
    let ctx = corpus.asking(Arc::new(model()), &[]).await;
    for question in [
        "离职需要提前多少天通知？",
        "¿Cómo se hornea el pan de masa madre?",
    ] {
        let events = events(&ctx, question).await;
        let done = of(&events, "done")[0];
        assert_eq!(done["outcome"], "abstained", "{question}: {done}");
        assert_eq!(done["degraded"], json!([]));
    }
}

#[tokio::test]
async fn c045_copies_do_not_fill_the_places() {
    let copies: Vec<(String, &str)> = (1..=8)
        .map(|n| (format!("copy-{n}.md"), NOTICE.1))
        .collect();
    let mut pages: Vec<(&str, &str)> = copies
        .iter()
        .map(|(name, text)| (name.as_str(), *text))
        .collect();
    let other = (
        "manager.md",
        "# Manager\n\nA manager may shorten the notice by ten days after submission.\n",
    );
    pages.push(other);
    let corpus = ingested(&pages).await;
    let ctx = corpus.asking(Arc::new(model()), &[ALWAYS]).await;
    let events = events(&ctx, QUESTION).await;
    let found = passages(&events);
    let titles: Vec<&str> = found.iter().map(|p| p["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Notice", "Manager"]);
    for sentence in of(&events, "sentence") {
        for citation in sentence["citations"].as_array().unwrap() {
            let passage = found
                .iter()
                .find(|passage| passage["id"] == citation["passage"])
                .unwrap();
            let page = |url: &Value| url.as_str().unwrap().split('#').next().unwrap().to_owned();
            assert_eq!(page(&citation["url"]), page(&passage["url"]));
            assert!(
                passage["text"]
                    .as_str()
                    .unwrap()
                    .contains(citation["quote"].as_str().unwrap())
            );
        }
    }
}

/// Neighbours of a split section share 80 tokens; what stands in both is said once.
#[tokio::test]
async fn c045_what_two_chunks_share_is_said_once() {
    let section: String = (0..60)
        .map(|n| {
            format!(
                "Rule {n} says that the notice in department {n} has {n} days counted from submission to the \
                 office of department {n}. "
            )
        })
        .collect();
    let corpus = ingested(&[("rules.md", &format!("# Rules\n\n{section}\n"))]).await;
    assert!(corpus.read().await.chunks.len() > 1);
    let ctx = corpus.asking(Arc::new(model()), &[ALWAYS]).await;
    let events = events(&ctx, "How many days of notice has department 29?").await;
    let mut said: Vec<&str> = of(&events, "sentence")
        .iter()
        .map(|sentence| sentence["text"].as_str().unwrap())
        .collect();
    let count = said.len();
    said.sort_unstable();
    said.dedup();
    assert!(count > 0 && said.len() == count, "{events:?}");
}

/// A place in a list says nothing about relevance, so refusing does not depend on who ordered it.
#[tokio::test]
async fn c048_what_the_corpus_does_not_cover_is_refused_by_every_order() {
    let corpus = ingested(&[NOTICE, EXPENSES, CANTEEN]).await;
    let down: Arc<dyn Embedder> = Arc::new(Replies(|| Err(ModelError::Unavailable("down".into()))));
    for (embedder, reranker) in [
        (Arc::new(model()) as Arc<dyn Embedder>, "local"),
        (Arc::new(model()), "none"),
        (down, "local"),
    ] {
        let ctx = corpus.asking(embedder, &[("RERANKER", reranker)]).await;
        let events = events(&ctx, "best sourdough recipe").await;
        let done = of(&events, "done")[0];
        assert_eq!(done["outcome"], "abstained", "{reranker}: {done}");
        assert_eq!(done["answer"], "Not found.");
        assert!(of(&events, "sentence").is_empty());
    }
}

#[tokio::test]
async fn without_a_reranker_the_fused_order_stands_and_no_score_is_made_up() {
    let corpus = ingested(&[NOTICE, EXPENSES, CANTEEN]).await;
    let ctx = corpus
        .asking(Arc::new(model()), &[("RERANKER", "none"), ALWAYS])
        .await;
    let found = app::ask::recorded(&ctx, asked(QUESTION), operator())
        .await
        .found
        .unwrap();
    assert_eq!(found.passages, found.arms.fused);
    let events = events(&ctx, QUESTION).await;
    assert!(passages(&events).iter().all(|p| p["score"].is_null()));
    assert_eq!(of(&events, "done")[0]["outcome"], "answered");
}

#[tokio::test]
async fn a_hidden_document_is_not_searched() {
    let corpus = ingested(&[NOTICE, EXPENSES]).await;
    let ctx = corpus.asking(Arc::new(model()), &[ALWAYS]).await;
    let titles = |events: &[(&'static str, Value)]| -> Vec<String> {
        let passages = passages(events);
        let titles = passages.iter().map(|p| p["title"].as_str().unwrap());
        titles.map(str::to_owned).collect()
    };
    let seen = titles(&events(&ctx, QUESTION).await);
    assert!(
        seen.iter().any(|title| title.contains("Notice")),
        "{seen:?}"
    );
    let mut question = asked(QUESTION);
    question.without = vec!["notice".to_owned()];
    let seen = titles(&events_of(&ctx, question).await);
    assert!(
        !seen.is_empty() && seen.iter().all(|title| !title.contains("Notice")),
        "{seen:?}"
    );
}

#[tokio::test]
async fn c055_a_filter_that_nothing_meets_is_a_refusal() {
    let corpus = ingested(&[NOTICE, EXPENSES]).await;
    let ctx = corpus.asking(Arc::new(model()), &[ALWAYS]).await;
    let mut question = asked(QUESTION);
    question.filter = BTreeMap::from([("department".to_owned(), "none".to_owned())]);
    let events = events_of(&ctx, question).await;
    assert!(passages(&events).is_empty());
    let done = of(&events, "done")[0];
    assert_eq!(done["outcome"], "abstained");
    assert_eq!(done["nearest"], json!([]));
}

#[tokio::test]
async fn c273_what_fails_is_told_in_fixed_words() {
    let corpus = ingested(&[NOTICE]).await;
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().port()
    };
    let nowhere = format!("postgres://visitor:hunter2@127.0.0.1:{closed}/sourced");
    let unreachable = corpus
        .asking(Arc::new(model()), &[("DATABASE_URL", &nowhere)])
        .await;
    let broken = corpus.asking(Arc::new(model()), &[]).await;
    corpus
        .database
        .connect()
        .await
        .batch_execute("drop table postings cascade; drop table sentences cascade")
        .await
        .unwrap();
    for ctx in [unreachable, broken] {
        let events = events(&ctx, QUESTION).await;
        let error = of(&events, "error")[0];
        assert_eq!(
            error,
            &json!({
                "code": "unavailable",
                "message": "The documentation cannot be searched right now. Please try again in a moment.",
                "retry_after_s": 5,
                "request_id": "r-1",
            })
        );
    }
}

#[tokio::test]
async fn a_database_that_takes_its_time_is_announced() {
    let corpus = ingested(&[NOTICE, EXPENSES]).await;
    let server = corpus.database.url().to_owned();
    let address = server
        .split('@')
        .nth(1)
        .unwrap()
        .split('/')
        .next()
        .unwrap()
        .to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let slow = server.replace(&address, &listener.local_addr().unwrap().to_string());
    tokio::spawn(async move {
        let (mut visitor, _) = listener.accept().await.unwrap();
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        let mut database = TcpStream::connect(&address).await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut visitor, &mut database).await;
    });
    let ctx = corpus
        .asking(Arc::new(model()), &[("DATABASE_URL", &slow), ALWAYS])
        .await;
    let first = events(&ctx, QUESTION).await;
    assert_eq!(first[0], ("progress", json!({"stage": "waking"})));
    assert_eq!(of(&first, "done")[0]["outcome"], "answered");
    let second = events(&ctx, QUESTION).await;
    assert!(
        of(&second, "progress")
            .iter()
            .all(|p| p["stage"] != "waking"),
        "{second:?}"
    );
}

#[tokio::test]
async fn a_deadline_ends_the_stream_properly() {
    let corpus = ingested(&[NOTICE]).await;
    let ctx = corpus.asking(Arc::new(model()), &[]).await;
    let mut question = asked(QUESTION);
    question.deadline = Instant::now();
    let events = events_of(&ctx, question).await;
    assert_eq!(of(&events, "error")[0]["code"], "deadline");
}

#[tokio::test]
async fn a_visitor_who_left_ends_the_work() {
    let corpus = ingested(&[NOTICE]).await;
    let ctx = corpus.asking(Arc::new(model()), &[]).await;
    let (sink, receiver) = Sink::channel(1);
    drop(receiver);
    let payer = operator();
    assert_eq!(ask(&ctx, asked(QUESTION), payer, &sink).await, Err(Closed));
}

/// Passages before sentences, stages as they end, one `done`: the order that a page may rely on.
#[tokio::test]
async fn events_come_in_order() {
    let corpus = ingested(&[NOTICE, EXPENSES]).await;
    let ctx = corpus.asking(Arc::new(model()), &[ALWAYS]).await;
    let events = events(&ctx, QUESTION).await;
    let order: Vec<String> = events
        .iter()
        .map(
            |(name, data)| match data.get("stage").and_then(Value::as_str) {
                Some(stage) => format!("{name} {stage}"),
                None => (*name).to_owned(),
            },
        )
        .collect();
    let mut expected = vec![
        "progress open",
        "progress embed",
        "progress retrieve",
        "progress rerank",
        "passages",
    ];
    expected.push("progress generate");
    expected.extend(of(&events, "sentence").iter().map(|_| "sentence"));
    expected.extend(["progress verify", "done"]);
    assert_eq!(order, expected);
}
