//! Asks every question of the very pipeline that visitors use, and records what came.

use adapters::dynamodb::prepared::{Suggestions, get_suggestions};
use adapters::postgres::retrieve::{Chunk, all_chunks, served};
use anyhow::{Context as _, bail};
use app::ask::event::Event;
use app::ask::prompt::mentions;
use app::ask::question::{Ask, Question};
use app::ask::{Found, Recorded, recorded};
use app::config::{Config, Generator};
use app::context::Context;
use app::suggest::operator;
use domain::prepared::QuestionKey;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::time::{Duration, Instant};

use crate::dataset::{self, Gold, Row};
use crate::record::{Asked, Head, Signals};
use crate::slice::{self, Checkpoint, One, Slice};
use crate::verdict::fold;

/// Longer than any question takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks the rows, one at a time; `part` names them where they are not all of the corpus's. Nothing is served from what was prepared before.
///
/// # Errors
/// When the service cannot be reached, a row is asked twice, a question is one that the service was shown before, an answer ends with an error, or
/// too many rows are stale or were answered without a part of the pipeline.
pub(crate) async fn run(
    ctx: &Context,
    rows: Vec<Row>,
    part: &str,
    until: Option<Instant>,
) -> anyhow::Result<(Slice, Checkpoint)> {
    dataset::check(&rows)?;
    let corpus = ctx.corpus().await.context("read the corpus item")?;
    let suggested = get_suggestions(&ctx.table, &ctx.edition(&corpus)).await?;
    unseen(&suggested.unwrap_or_default(), &rows)?;
    let passages = Passages::read(ctx).await?;
    let writer = ctx.edition(&corpus).writer;
    let mut head = Head::new(&corpus.name, passages.hash.clone(), writer);
    ctx.embedder.model().clone_into(&mut head.embedder);
    head.reranker = ctx.config.models.reranker.identity();
    generator(&ctx.config).clone_into(&mut head.generator);
    part.clone_into(&mut head.part);
    head.asked_at = app::clock::now_s();
    let checkpoint = Checkpoint::of(ctx.results()?, &head, &rows)?;
    let asked = slice::ask(&checkpoint, head, rows, until, async |row| {
        if let Some(stale) = passages.lack(&row) {
            return Ok(One::LeftOut(stale));
        }
        match Question::parse(&row.question) {
            Ok(question) => one(ctx, &passages, row, question).await,
            Err(error) => Ok(One::LeftOut(format!("not taken: {error}"))),
        }
    });
    Ok((asked.await?, checkpoint))
}

/// The model that is configured to write; empty for the passages' own sentences.
pub(crate) fn generator(config: &Config) -> &str {
    match &config.models.generator {
        Generator::OpenAi(remote) => &remote.model,
        Generator::Extractive => "",
    }
}

/// Refuses questions that the service was shown: in the prompt, or as suggestions.
fn unseen(suggested: &Suggestions, rows: &[Row]) -> anyhow::Result<()> {
    let is_shown = |row: &&Row| {
        let key = QuestionKey::of(&row.question);
        let id = key.id();
        let mut prepared = suggested.prepared.iter();
        suggested.unfit.contains(&id)
            || prepared.any(|suggestion| suggestion.id == id)
            || mentions(key.as_str())
    };
    let shown: Vec<&str> = rows
        .iter()
        .filter(is_shown)
        .map(|row| row.id.as_str())
        .collect();
    if !shown.is_empty() {
        bail!(
            "the suggestions or the prompt hold the question of {}: what was shown before measures nothing",
            shown.join(", ")
        );
    }
    Ok(())
}

/// The corpus's passages, as quotes are looked for in them.
struct Passages {
    chunks: Vec<Chunk>,
    hash: String,
}

impl Passages {
    async fn read(ctx: &Context) -> anyhow::Result<Self> {
        let client = ctx.database().await?;
        let served = served(&client, &ctx.config.corpus).await?;
        let version = served.context("no version of the corpus answers")?.version;
        let mut chunks = all_chunks(&client, version).await?;
        chunks.sort_by_key(|chunk| chunk.id);
        let mut digest = Sha256::new();
        for chunk in &mut chunks {
            digest.update(&chunk.text);
            digest.update([0]);
            chunk.text = fold(&chunk.text);
        }
        let hash = digest.finalize();
        Ok(Self {
            chunks,
            hash: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }

    /// What the corpus does not hold of what the row is judged by.
    fn lack(&self, row: &Row) -> Option<String> {
        row.golds().find_map(|gold| self.lack_of(gold)).or_else(|| {
            let gone = row
                .without
                .iter()
                .find(|page| self.of(page).next().is_none());
            gone.map(|page| format!("stale: there is no page {page} to hide"))
        })
    }

    fn lack_of(&self, gold: &Gold) -> Option<String> {
        let Gold {
            page,
            anchor,
            quote,
        } = gold;
        let folded = fold(quote);
        if self.of(page).next().is_none() {
            Some(format!("stale: there is no page {page}"))
        } else if !self.of(page).any(|chunk| chunk.text.contains(&folded)) {
            Some(format!("stale: no passage of {page} holds {quote:?}"))
        } else if !anchor.is_empty()
            && !is_counted(anchor)
            && !self.of(page).any(|chunk| chunk.anchors.contains(anchor))
        {
            Some(format!("stale: {page} has no anchor {anchor}"))
        } else {
            None
        }
    }

    fn of(&self, page: &str) -> impl Iterator<Item = &Chunk> {
        self.chunks
            .iter()
            .filter(move |chunk| chunk.document == page)
    }

    /// The passages that hold one of the quotes, wherever they stand.
    fn holders(&self, quotes: &[String]) -> Vec<i64> {
        self.chunks
            .iter()
            .filter(|chunk| quotes.iter().any(|quote| chunk.text.contains(quote)))
            .map(|chunk| chunk.id)
            .collect()
    }
}

/// DocBook counts elements that have no id of their own; as such a number changes with any edit before it, sources leave it
/// out.
fn is_counted(anchor: &str) -> bool {
    anchor.starts_with("id-")
}

async fn one(
    ctx: &Context,
    passages: &Passages,
    row: Row,
    question: Question,
) -> anyhow::Result<One> {
    let asked = Ask {
        question,
        filter: row.filter.clone(),
        without: row.without.clone(),
        // What a model wrote is part of the record.
        draft: true,
        request_id: row.id.clone(),
        deadline: Instant::now() + PATIENCE,
    };
    let payer = operator(ctx).await.with_context(|| row.id.clone())?;
    let Recorded { events, found } = recorded(ctx, asked, payer).await;
    let events = on_the_wire(&events)?;
    if let Some((_, error)) = events.iter().find(|(name, _)| name == "error") {
        bail!("{}: the answer ended with {}", row.id, error["code"]);
    }
    let degraded = events
        .last()
        .and_then(|(_, done)| done["degraded"][0].as_str());
    if let Some(part) = degraded {
        return Ok(One::Degraded(format!("answered without the {part}")));
    }
    let Found {
        arms,
        passages: reranked,
        relevance,
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
    Ok(One::Asked(Box::new(Asked {
        gold_at,
        gold_passages: holders.len(),
        relevance,
        signals: Signals {
            best_sentence: signals.best_sentence,
            agreement: signals.agreement,
            unknown_share: signals.unknown_share,
            unknown_name: signals.unknown_name,
        },
        events,
        ballots: Vec::new(),
        row,
    })))
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

#[cfg(test)]
mod tests {
    use adapters::dynamodb::prepared::Suggestion;
    use serde_json::json;

    use super::*;

    fn row(value: Value) -> Row {
        serde_json::from_value(value).expect("a row")
    }

    #[test]
    fn c294_a_question_that_was_suggested_or_stands_in_the_prompt_measures_nothing() {
        let asks =
            |question: &str| row(json!({"id": "q1", "type": "answerable", "question": question}));
        let id = |question: &str| QuestionKey::of(question).id();
        let suggested = Suggestions {
            prepared: vec![Suggestion {
                id: id("How do trains run?"),
                question: "How do trains run?".into(),
            }],
            unfit: vec![id("Do planes fly?")],
        };
        assert!(unseen(&suggested, &[asks("When do trains run?")]).is_ok());
        for shown in [
            "  how do TRAINS run?",
            "Do planes fly?",
            "The default is 1 GB",
        ] {
            let error = unseen(&suggested, &[asks("Where?"), asks(shown)]).expect_err(shown);
            assert!(format!("{error}").contains("question of q1"), "{error}");
        }
    }

    #[test]
    fn c295_a_gold_quote_or_anchor_that_moved_is_stale_and_named() {
        let passages = Passages {
            chunks: vec![Chunk {
                id: 1,
                document: "trains.html".into(),
                text: fold("Trains run every 20 minutes."),
                anchors: vec!["TIMES".into()],
            }],
            hash: String::new(),
        };
        let lack = |page: &str, anchor: &str, quote: &str| {
            let gold = json!({"page": page, "anchor": anchor, "quote": quote});
            let asked = json!({"id": "q", "type": "answerable", "question": "?", "gold": [gold]});
            passages.lack(&row(asked))
        };
        assert_eq!(lack("trains.html", "TIMES", "every  20 minutes"), None);
        assert_eq!(lack("trains.html", "id-1.2.3", "Trains run"), None);
        for (page, anchor, quote, says) in [
            ("planes.html", "", "Trains run", "no page planes.html"),
            (
                "trains.html",
                "TIMES",
                "every 30 minutes",
                "no passage of trains.html",
            ),
            ("trains.html", "PRICES", "Trains run", "no anchor PRICES"),
        ] {
            let stale = lack(page, anchor, quote).expect("stale");
            assert!(
                stale.starts_with("stale: ") && stale.contains(says),
                "{stale}"
            );
        }
        let hidden =
            json!({"id": "q", "type": "unanswerable", "question": "?", "without": ["planes.html"]});
        let stale = passages.lack(&row(hidden)).expect("stale");
        assert!(stale.contains("no page planes.html to hide"), "{stale}");
    }
}
