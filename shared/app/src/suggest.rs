//! Suggested questions: prepares their answers with the ordinary pipeline and serves them without it.
//!
//! Prepared once for each version of the corpus and each way of answering, and kept only when whole: answered, every citation
//! held, nothing done without. Serving one touches no model, no counter and no Postgres, and what was read once stays in the
//! process.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use adapters::dynamodb::DynamoError;
use adapters::dynamodb::corpus::{Corpus, get_corpus};
use adapters::dynamodb::prepared::{
    Prepared, Suggestion, Suggestions, get_prepared, get_suggestions, publish_suggestions,
    put_prepared,
};
use anyhow::{Context as _, anyhow, bail};
use domain::prepared::{Edition, QuestionKey};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::ask::event::{Closed, Done, Event, PreparedEvent, Quota, Sink, Usage};
use crate::ask::question::{Ask, Question};
use crate::ask::recorded;
use crate::ask::settle::{Payer, Taken};
use crate::cache::Cache;
use crate::clock;
use crate::context::Context;
use crate::error::ApiError;

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a list is believed. After an ingest the older one is shown this long at most.
const LIST_AGE: Duration = Duration::from_secs(30);

/// What a process has read of the suggestions, for one edition at a time.
#[derive(Default)]
pub(crate) struct Shelf(Mutex<Arc<Kept>>);

#[derive(Default)]
struct Kept {
    edition: String,
    list: Cache<Arc<Suggestions>>,
    answers: Mutex<HashMap<String, Arc<Prepared>>>,
}

/// The suggested questions of the version that answers now.
///
/// # Errors
/// [`ApiError::Unavailable`] when they cannot be read and were not read before.
pub async fn suggestions(ctx: &Context) -> Result<Arc<Suggestions>, ApiError> {
    let corpus = ctx.corpus().await?;
    list(ctx, &corpus).await
}

/// The prepared answer with this id.
///
/// # Errors
/// [`ApiError::NotFound`] when there is none, [`ApiError::Unavailable`] when that cannot be read.
pub async fn prepared(ctx: &Context, id: &str) -> Result<Arc<Prepared>, ApiError> {
    let corpus = ctx.corpus().await?;
    let known = list(ctx, &corpus).await?;
    if !known.prepared.iter().any(|suggestion| suggestion.id == id) {
        return Err(ApiError::NotFound);
    }
    answer(ctx, &ctx.edition(&corpus), id)
        .await?
        .ok_or(ApiError::NotFound)
}

/// The prepared answer to a question that was typed by hand, if it is a suggested one.
///
/// # Errors
/// [`ApiError::Unavailable`] when that cannot be read.
pub async fn recall(ctx: &Context, question: &Question) -> Result<Option<Arc<Prepared>>, ApiError> {
    let corpus = ctx.corpus().await?;
    let asked = QuestionKey::of(question.as_str());
    let id = asked.id();
    let known = list(ctx, &corpus).await?;
    let is_asked = |suggestion: &&Suggestion| {
        suggestion.id == id && QuestionKey::of(&suggestion.question) == asked
    };
    match known.prepared.iter().find(is_asked) {
        Some(_) => answer(ctx, &ctx.edition(&corpus), &id).await,
        None => Ok(None),
    }
}

/// Sends a prepared answer, under this request's id.
///
/// # Errors
/// [`Closed`] when nobody reads it.
pub async fn replay(
    ctx: &Context,
    prepared: &Prepared,
    request_id: &str,
    started: Instant,
    sink: &Sink,
) -> Result<(), Closed> {
    let events: Vec<(String, Value)> = serde_json::from_str(&prepared.events).unwrap_or_default();
    for (name, mut data) in events {
        let Some(name) = KEPT_EVENTS.into_iter().find(|known| *known == name) else {
            continue;
        };
        if name == "done" {
            data["request_id"] = json!(request_id);
            data["quota"] = json!(Quota::of(ctx.quota.limits(), None, clock::today()));
            let total = (started.elapsed().as_secs_f64() * 100_000.0).round() / 100.0;
            data["timings_ms"] = json!({ "total": total });
        }
        sink.send(Event::Prepared(PreparedEvent { name, data }))
            .await?;
    }
    Ok(())
}

/// The events that are kept of an answer.
const KEPT_EVENTS: [&str; 3] = ["passages", "sentence", "done"];

async fn list(ctx: &Context, corpus: &Corpus) -> Result<Arc<Suggestions>, ApiError> {
    let edition = ctx.edition(corpus);
    let read = async {
        let list = get_suggestions(&ctx.table, &edition).await?;
        Ok(Arc::new(list.unwrap_or_default()))
    };
    let kept = ctx.shelf.of(&edition);
    let list = kept.list.get("the list of suggestions", LIST_AGE, read);
    list.await
        .map_err(|error| unavailable(error, "read the suggestions"))
}

async fn answer(
    ctx: &Context,
    edition: &Edition,
    id: &str,
) -> Result<Option<Arc<Prepared>>, ApiError> {
    let kept = ctx.shelf.of(edition);
    if let Some(known) = kept.answers().get(id) {
        return Ok(Some(Arc::clone(known)));
    }
    let read = get_prepared(&ctx.table, edition, id).await;
    let read = read.map_err(|error| unavailable(error, "read a prepared answer"))?;
    Ok(read.map(|prepared| {
        let prepared = Arc::new(prepared);
        let mut answers = kept.answers();
        answers.insert(id.to_owned(), Arc::clone(&prepared));
        prepared
    }))
}

fn unavailable(error: DynamoError, what: &'static str) -> ApiError {
    ApiError::Unavailable(anyhow::Error::from(error).context(what))
}

impl Shelf {
    /// What is kept for `edition`; what was kept for another is let go.
    fn of(&self, edition: &Edition) -> Arc<Kept> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = edition.id();
        if kept.edition != id {
            *kept = Arc::new(Kept {
                edition: id,
                ..Kept::default()
            });
        }
        Arc::clone(&kept)
    }
}

impl Kept {
    fn answers(&self) -> MutexGuard<'_, HashMap<String, Arc<Prepared>>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What came of preparing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Preparation {
    /// Answers that are ready, those of an earlier run among them.
    pub ready: usize,
    /// Questions of the list, each once.
    pub listed: usize,
    /// Each question without a prepared answer, and why.
    pub left_out: Vec<(String, String)>,
}

impl fmt::Display for Preparation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "prepared {} of {} suggested answers",
            self.ready, self.listed
        )?;
        self.left_out
            .iter()
            .try_for_each(|(question, reason)| write!(f, "\nnot prepared: {question} ({reason})"))
    }
}

/// Prepares the answers to `questions` that are not prepared yet, as far as `deadline` lets it, and publishes the list.
///
/// # Errors
/// When the corpus or the table cannot be used. A question that cannot be answered is only left out.
pub async fn prepare(
    ctx: &Context,
    questions: &[String],
    deadline: Option<Instant>,
) -> anyhow::Result<Preparation> {
    let corpus = ctx.corpus().await.context("read the corpus item")?;
    let edition = ctx.edition(&corpus);
    let before = get_suggestions(&ctx.table, &edition).await?;
    let known = before.clone().unwrap_or_default();
    let mut list = Suggestions::default();
    let mut preparation = Preparation {
        listed: questions.len(),
        ..Preparation::default()
    };
    let mut seen = HashSet::new();
    for question in questions {
        let id = QuestionKey::of(question).id();
        if !seen.insert(id.clone()) {
            preparation.listed -= 1;
            continue;
        }
        let mut leave_out = |reason: &str| {
            let left = (question.clone(), reason.to_owned());
            preparation.left_out.push(left);
        };
        if known.unfit.contains(&id) {
            leave_out("its answer was not fit to be kept before");
            list.unfit.push(id);
            continue;
        }
        if !known.prepared.iter().any(|suggestion| suggestion.id == id) {
            match prepare_one(ctx, &edition, &id, question, deadline).await {
                Ok(()) => {}
                Err(Unfit::ForNow(reason)) => {
                    leave_out(&reason);
                    continue;
                }
                Err(Unfit::AsItIs(reason)) => {
                    leave_out(reason);
                    list.unfit.push(id);
                    continue;
                }
            }
        }
        list.prepared.push(Suggestion {
            id,
            question: question.clone(),
        });
    }
    if before.as_ref() != Some(&list) {
        // Publishing removes what other editions prepared: a run that was overtaken meanwhile leaves the newer one's alone.
        let now = get_corpus(&ctx.table, &corpus.name).await?;
        if now.is_none_or(|now| ctx.edition(&now) != edition) {
            bail!("another version answers since: its own run prepares its answers");
        }
        publish_suggestions(&ctx.table, &edition, &list).await?;
    }
    preparation.ready = list.prepared.len();
    Ok(preparation)
}

/// Why an answer is not kept.
#[derive(Debug, PartialEq)]
enum Unfit {
    /// It failed, and is asked again by the next run.
    ForNow(String),
    /// It was answered, and not well enough: an edition asks once.
    AsItIs(&'static str),
}

/// Asks one question and stores its answer.
async fn prepare_one(
    ctx: &Context,
    edition: &Edition,
    id: &str,
    question: &str,
    deadline: Option<Instant>,
) -> Result<(), Unfit> {
    let events = answered(ctx, edition.version, question, deadline).await?;
    let prepared = Prepared {
        question: question.to_owned(),
        events,
    };
    put_prepared(&ctx.table, edition, id, &prepared)
        .await
        .map_err(|error| Unfit::ForNow(error.to_string()))
}

/// Asks, and returns the events to be kept.
async fn answered(
    ctx: &Context,
    version: i64,
    question: &str,
    deadline: Option<Instant>,
) -> Result<String, Unfit> {
    let ends = Instant::now() + PATIENCE;
    if deadline.is_some_and(|deadline| deadline < ends) {
        return Err(Unfit::ForNow("no time was left for it".to_owned()));
    }
    let parsed = Question::parse(question).map_err(|error| Unfit::AsItIs(error.message()))?;
    let payer = operator(ctx).await;
    let payer = payer.map_err(|error| Unfit::ForNow(format!("{error:#}")))?;
    let asked = Ask {
        question: parsed,
        filter: std::collections::BTreeMap::new(),
        without: Vec::new(),
        draft: false,
        request_id: format!("suggestion-{}", QuestionKey::of(question).id()),
        deadline: ends,
    };
    keep(&recorded(ctx, asked, payer).await.events, version)
}

/// Takes from the ledger what one question may cost.
///
/// # Errors
/// When it is not there to be taken.
pub async fn operator(ctx: &Context) -> anyhow::Result<Payer> {
    let (day, amount) = (clock::today(), ctx.worst_case);
    ctx.ledger.take(day, amount).await?;
    Ok(Payer::Operator(Taken { day, amount }))
}

/// The events of a whole answer from this version of the corpus, as they are kept.
fn keep(events: &[Event], version: i64) -> Result<String, Unfit> {
    let done = match events.last() {
        Some(Event::Done(done)) => done,
        Some(Event::Error(error)) => {
            return Err(Unfit::ForNow(format!("it ended with {}", error.code)));
        }
        _ => return Err(Unfit::ForNow("it did not end".to_owned())),
    };
    if done.corpus_version != version {
        return Err(Unfit::ForNow("another version answered".to_owned()));
    }
    if let Some(part) = done.degraded.first() {
        return Err(Unfit::ForNow(format!("it was answered without the {part}")));
    }
    if done.outcome != "answered" {
        return Err(Unfit::AsItIs(done.outcome));
    }
    if done.citations.dropped > 0 || done.citations.verified == 0 || done.sentences == 0 {
        return Err(Unfit::AsItIs("a citation of it did not hold"));
    }
    // By way of text: a score of 32 bits is to read as it was sent.
    let wire = |event: &Event| serde_json::from_str(&serde_json::to_string(event)?);
    let last = Event::Done(Box::new(paid_for(done)));
    let kept: Result<Vec<(&str, Value)>, serde_json::Error> = events
        .iter()
        .filter(|event| matches!(event, Event::Passages { .. } | Event::Sentence(_)))
        .chain([&last])
        .map(|event| Ok((event.name(), wire(event)?)))
        .collect();
    kept.and_then(|kept| serde_json::to_string(&kept))
        .map_err(|error| Unfit::ForNow(anyhow!(error).to_string()))
}

/// What is served again costs nothing again.
fn paid_for(done: &Done) -> Done {
    Done {
        usage: Usage::default(),
        cost_usd: Some(0.0),
        ..done.clone()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::ask::event::{CitationCounts, ErrorEvent, Sentence};

    fn done(change: impl FnOnce(&mut Done)) -> Event {
        let mut done = Done {
            outcome: "answered",
            answer: "It is so.".into(),
            sentences: 1,
            citations: CitationCounts {
                verified: 1,
                dropped: 0,
            },
            removed: 0,
            nearest: None,
            usage: Usage {
                input_tokens: 7,
                ..Usage::default()
            },
            cost_usd: Some(0.1),
            degraded: Vec::new(),
            timings_ms: std::collections::BTreeMap::new(),
            quota: Quota::default(),
            corpus_version: 1,
            request_id: "r".into(),
        };
        change(&mut done);
        Event::Done(Box::new(done))
    }

    fn sentence() -> Event {
        Event::Sentence(Sentence {
            index: 0,
            text: "It is so.".into(),
            kind: "prose",
            citations: Vec::new(),
            dropped: Vec::new(),
        })
    }

    #[test]
    fn c221_only_whole_answers_are_kept() {
        let kept = keep(&[sentence(), done(|_| {})], 1).unwrap();
        assert!(
            kept.contains("\"cost_usd\":0.0") && kept.contains("\"input_tokens\":0"),
            "{kept}"
        );
        let error = Event::Error(ErrorEvent {
            code: "refused",
            message: "",
            retry_after_s: None,
            request_id: "r".into(),
        });
        for unfit in [
            done(|done| done.outcome = "partial"),
            done(|done| done.outcome = "abstained"),
            done(|done| done.outcome = "unsupported"),
            done(|done| done.degraded = vec!["generator"]),
            done(|done| done.citations.dropped = 1),
            done(|done| done.citations.verified = 0),
            done(|done| done.sentences = 0),
            done(|done| done.corpus_version = 2),
            error,
            sentence(),
        ] {
            assert!(keep(&[sentence(), unfit.clone()], 1).is_err(), "{unfit:?}");
        }
        assert!(keep(&[], 1).is_err());
    }
}
