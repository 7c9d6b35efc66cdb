//! Nothing that a visitor wrote, was shown or comes from stands in a log line or a stored row; and the search for it finds it
//! where it does.

use std::io::Write;
use std::sync::{Arc, Mutex};

use adapters::dynamodb::{PK, SK};
use app::config::LogLevel;
use aws_sdk_dynamodb::types::AttributeValue;
use domain::quota::Day;
use domain::visitor::{Address, HashKey};
use testing::ScriptedProvider;
use testing::provider::{Reply as Said, openai};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::small::{Small, ask_from};

const ADDRESS: &str = "203.0.113.77";
const QUESTION: &str = "How many days of notice must a zebraquartz count from submission?";
const ANSWER: &str = "The notice is 30 days, says the marmaladefish";

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

/// What must not be found, by what it is.
fn planted(visitor_key: &str) -> Vec<(&'static str, String)> {
    [
        ("the question", "zebraquartz"),
        ("a word of the answer", "marmaladefish"),
        ("a word of the passage", "counted from submission"),
        ("the address", ADDRESS),
        ("the visitor's key", visitor_key),
        ("the provider's key", "sk-planted-key"),
        ("the secret", "a secret of the tests"),
    ]
    .map(|(what, text)| (what, text.to_owned()))
    .into()
}

fn found(place: &str, planted: &[(&'static str, String)]) -> Vec<&'static str> {
    planted
        .iter()
        .filter(|(_, text)| place.contains(text.as_str()))
        .map(|(what, _)| *what)
        .collect()
}

/// A log of what this thread writes under this filter.
fn logging(filter: EnvFilter) -> (Log, tracing::subscriber::DefaultGuard) {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(log.clone())
        .with_ansi(false)
        .finish();
    (log, tracing::subscriber::set_default(subscriber))
}

/// Asks twice, once in vain, and returns what was logged under this filter.
async fn asked(small: &Small, filter: EnvFilter) -> String {
    let (log, _held) = logging(filter);
    let said = format!(
        "The notice is 30 days [P1: \"The notice is 30 days\"]. {ANSWER} [P1: \"The notice is 30 days\"]."
    );
    let provider = ScriptedProvider::start(vec![
        Said::sse(openai::answer(&[&said])),
        Said::status(500, format!("{{\"error\":{{\"message\":\"{QUESTION}\"}}}}")),
        Said::status(500, "{}"),
        Said::status(500, "{}"),
    ])
    .await;
    let context = small
        .context(&[
            ("GENERATOR", "openai"),
            ("EMBEDDER", "local"),
            ("RERANKER", "local"),
            ("OPENAI_BASE_URL", &provider.base_url()),
            ("OPENAI_API_KEY", "sk-planted-key"),
        ])
        .await;
    for _ in 0..2 {
        let reply = ask_from(
            &context,
            Some(ADDRESS),
            &[("user-agent", "zebraquartz")],
            QUESTION,
        )
        .await;
        assert!(reply.body.contains("event: done"), "{reply:?}");
    }
    let refused = small.context(&[("VISITOR_DAILY_LIMIT", "0")]).await;
    assert_eq!(
        ask_from(&refused, Some(ADDRESS), &[], QUESTION)
            .await
            .status,
        429
    );
    let mistaken = ask_from(
        &context,
        Some(ADDRESS),
        &[],
        &format!("{QUESTION}{}", "a".repeat(1_000)),
    )
    .await;
    assert_eq!(mistaken.status, 400);
    assert_eq!(provider.requests().len(), 4);
    log.text()
}

#[tokio::test]
#[expect(
    clippy::print_stdout,
    reason = "where was searched is part of the result"
)]
async fn nothing_of_a_visitor_is_logged_or_kept() {
    let small = Small::new().await;
    let log = asked(&small, app::telemetry::filter(LogLevel::Trace)).await;
    let key = HashKey::new("a secret of the tests").unwrap();
    let today: Day = app::clock::today();
    let account = key.account(today, Address::of(Some(ADDRESS), &[], 0));
    let planted = planted(&account.visitor);
    let lines = log.lines().count();
    assert!(log.contains("responded") && lines > 4, "{log}");
    assert_eq!(found(&log, &planted), Vec::<&str>::new(), "{log}");
    let rows = small.rows().await;
    let mut kinds = std::collections::BTreeMap::<String, usize>::new();
    for row in &rows {
        let kind = row
            .split('#')
            .next()
            .unwrap_or(row)
            .split(':')
            .next()
            .unwrap_or_default();
        *kinds.entry(kind.to_owned()).or_default() += 1;
        // A counter and a charge are kept by visitor, days long; nothing else may be.
        let may_count = matches!(kind, "visitor" | "charge");
        let told: Vec<_> = found(row, &planted)
            .into_iter()
            .filter(|what| !(may_count && *what == "the visitor's key"))
            .collect();
        assert_eq!(told, Vec::<&str>::new(), "{row}");
    }
    assert_eq!(
        (kinds["record"], kinds["charge"], kinds["visitor"]),
        (2, 2, 1),
        "{kinds:?}"
    );
    println!(
        "searched {lines} log lines ({} bytes) and {} rows {kinds:?} for {} planted strings: none found",
        log.len(),
        rows.len(),
        planted.len()
    );

    // The same search where the redaction is broken: libraries speak as they like, a line of ours quotes a question, and a
    // record holds it.
    let open = asked(&small, EnvFilter::new("trace")).await;
    assert_eq!(
        found(&open, &planted),
        ["the visitor's key"],
        "as the SDK sends it"
    );
    let (log, _held) = logging(app::telemetry::filter(LogLevel::Trace));
    tracing::info!(target: "app", "asked {QUESTION} from {ADDRESS}");
    let leaked = found(&log.text(), &planted);
    assert_eq!(leaked, ["the question", "the address"]);
    let table = small.table().await;
    let text = |value: &str| AttributeValue::S(value.to_owned());
    let broken = table.client().put_item().table_name(table.name());
    let broken = broken
        .item(PK, text("record#today#0"))
        .item(SK, text("r"))
        .item("question", text(QUESTION));
    broken
        .item("visitor", text(&account.visitor))
        .send()
        .await
        .unwrap();
    let rows = small.rows().await.join("\n");
    assert!(found(&rows, &planted).contains(&"the question"));
    println!(
        "with the redaction broken the same search finds the visitor's key in libraries' lines, {leaked:?} in one of ours, and the question in a row"
    );
}
