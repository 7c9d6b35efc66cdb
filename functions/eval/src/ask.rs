//! Asks every question of the very pipeline that visitors use, and records what came.

use adapters::postgres::retrieve::all_chunks;
use anyhow::{Context as _, bail};
use app::ask::event::Event;
use app::ask::question::{Ask, Question};
use app::ask::{Found, Recorded, recorded};
use app::context::Context;
use app::suggest::operator;
use domain::relevance::relevance;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::time::{Duration, Instant};

use crate::dataset::Row;
use crate::record::{Asked, Head, Run, Signals};
use crate::verdict::fold;

/// Longer than any question takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Of all rows, those whose words the corpus may have lost before a run says nothing any more.
const STALE_AT_MOST: f64 = 0.05;

/// Asks every row, one at a time.
///
/// # Errors
/// When the service cannot be reached, an answer ends with an error, or too many rows are stale.
pub(crate) async fn run(ctx: &Context, rows: Vec<Row>) -> anyhow::Result<Run> {
    let corpus = ctx.corpus().await.context("read the corpus item")?;
    let passages = passages(ctx).await?;
    let writer = ctx.edition(&corpus).writer;
    let mut head = Head::new(&corpus.name, passages.hash.clone(), writer);
    ctx.embedder.model().clone_into(&mut head.embedder);
    head.reranker = ctx.config.models.reranker.identity();
    let mut questions = Vec::new();
    let asked_for = rows.len();
    let mut stale = 0;
    for row in rows {
        let lost = row.quotes().find(|quote| !passages.hold(quote));
        if let Some(reason) = lost.map(|quote| format!("stale: no passage holds {quote:?}")) {
            stale += 1;
            head.left_out.insert(row.id, reason);
            continue;
        }
        match Question::parse(&row.question) {
            Ok(question) => questions.push(one(ctx, &passages, row, question).await?),
            Err(error) => {
                head.left_out.insert(row.id, format!("not taken: {error}"));
            }
        }
    }
    if stale as f64 > STALE_AT_MOST * asked_for as f64 {
        bail!(
            "{stale} of {asked_for} rows are stale, too many for the rest to say anything: {}",
            head.left_out.keys().cloned().collect::<Vec<_>>().join(", ")
        );
    }
    Ok(Run { head, questions })
}

/// The corpus's passages, as quotes are looked for in them.
struct Passages {
    folded: Vec<(i64, String)>,
    hash: String,
}

impl Passages {
    fn hold(&self, quote: &str) -> bool {
        let quote = fold(quote);
        self.folded.iter().any(|(_, text)| text.contains(&quote))
    }

    /// The passages that hold one of the quotes.
    fn holders(&self, quotes: &[String]) -> Vec<i64> {
        self.folded
            .iter()
            .filter(|(_, text)| quotes.iter().any(|quote| text.contains(quote)))
            .map(|(id, _)| *id)
            .collect()
    }
}

async fn passages(ctx: &Context) -> anyhow::Result<Passages> {
    let client = ctx.database().await?;
    let served = adapters::postgres::retrieve::served(&client, &ctx.config.corpus).await?;
    let version = served.context("no version of the corpus answers")?.version;
    let mut texts: Vec<(i64, String)> = all_chunks(&client, version)
        .await?
        .into_iter()
        .map(|(id, _, text)| (id, text))
        .collect();
    texts.sort();
    let mut digest = Sha256::new();
    for (_, text) in &texts {
        digest.update(text);
        digest.update([0]);
    }
    let hash = digest.finalize();
    Ok(Passages {
        folded: texts
            .into_iter()
            .map(|(id, text)| (id, fold(&text)))
            .collect(),
        hash: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
    })
}

async fn one(
    ctx: &Context,
    passages: &Passages,
    row: Row,
    question: Question,
) -> anyhow::Result<Asked> {
    let asked = Ask {
        question,
        filter: row.filter.clone(),
        draft: false,
        request_id: row.id.clone(),
        deadline: Instant::now() + PATIENCE,
    };
    let payer = operator(ctx).await.with_context(|| row.id.clone())?;
    let Recorded { events, found } = recorded(ctx, asked, payer).await;
    let events = on_the_wire(&events)?;
    if let Some((_, error)) = events.iter().find(|(name, _)| name == "error") {
        bail!("{}: the answer ended with {}", row.id, error["code"]);
    }
    let Found {
        arms,
        passages: reranked,
        signals,
    } = found.with_context(|| format!("{}: nothing was searched", row.id))?;
    let gold: Vec<String> = row.gold.iter().map(|gold| fold(&gold.quote)).collect();
    let holders = passages.holders(&gold);
    let gold_at = [&arms.vector, &arms.keyword, &arms.fused, &reranked].map(|order| {
        let places = order.iter().enumerate();
        places
            .filter(|(_, id)| holders.contains(id))
            .map(|(n, _)| n + 1)
            .collect()
    });
    Ok(Asked {
        gold_at,
        gold_passages: holders.len(),
        relevance: relevance(signals),
        signals: Signals {
            best_sentences: signals.best_sentences,
            unknown_share: signals.unknown_share,
            unknown_name: signals.unknown_name,
        },
        events,
        row,
    })
}

/// Every event, as it would be on the wire.
fn on_the_wire(events: &[Event]) -> anyhow::Result<Vec<(String, Value)>> {
    events
        .iter()
        .map(|event| {
            // By way of text: a score of 32 bits is to read as it was sent.
            let data = serde_json::from_str(&serde_json::to_string(event)?)?;
            Ok((event.name().to_owned(), data))
        })
        .collect()
}
