//! Closes an answer's account before its last event is sent: the charge stands or is given back, and a record is kept.
//!
//! A failure here fails no answer. A charge that could not be closed is given back by the sweep, later; a record that could
//! not be written is missing.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use adapters::dynamodb::DynamoError;
use adapters::dynamodb::record::put_record;
use anyhow::bail;
use domain::cost::Money;
use domain::quota::{Charge, Day, Fate, Outcome, Remaining, State};
use domain::usage::Record;
use tokio::time::timeout;

use super::event::{Done, Quota};
use super::failure::Stopped;
use super::question::Ask;
use super::run::Run;
use crate::clock;
use crate::context::Context;

/// Who pays for an answer.
#[derive(Debug)]
pub enum Payer {
    /// A visitor, who was let in.
    Visitor(Box<Admission>),
    /// Whoever runs the service.
    Operator(Taken),
}

/// What was taken from the operator's ledger for one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// The day it was taken from, and is given back to.
    pub day: Day,
    /// How much.
    pub amount: Money,
}

/// A visitor's question that was let in.
#[derive(Debug)]
pub struct Admission {
    /// What was charged.
    pub charge: Charge,
    /// Stands for the question in its record.
    pub question_hash: String,
}

/// An answer's work ends two seconds before its stream, for its last event to be sent. Closing an account may take most of
/// that; a charge that is not closed by then is the sweep's.
const CLOSING: Duration = Duration::from_millis(1_200);
/// What is only told or recorded is left out when it takes longer.
const TELLING: Duration = Duration::from_millis(400);

/// Closes the account of an answer that `ended`, and says what the visitor has left.
pub(super) async fn settle(
    ctx: &Context,
    payer: Payer,
    ended: &Result<Done, Stopped>,
    ask: &Ask,
    run: &Run<'_>,
) -> Quota {
    match payer {
        Payer::Visitor(admission) => settle_visitor(ctx, &admission, ended, ask, run).await,
        Payer::Operator(taken) => {
            settle_operator(ctx, taken, run).await;
            Quota::default()
        }
    }
}

async fn settle_operator(ctx: &Context, taken: Taken, run: &Run<'_>) {
    let Taken { day, amount } = taken;
    let spent = run.cost().unwrap_or(amount);
    if let Err(error) = in_time(CLOSING, ctx.ledger.correct(day, amount, spent)).await {
        tracing::warn!(
            question.id = run.request_id(),
            "the ledger keeps more than was spent: {error:#}"
        );
    }
}

async fn settle_visitor(
    ctx: &Context,
    admission: &Admission,
    ended: &Result<Done, Stopped>,
    ask: &Ask,
    run: &Run<'_>,
) -> Quota {
    let charge = &admission.charge;
    let spent = run.cost().unwrap_or(charge.reserved);
    let fate = run.ending(outcome(ended)).fate();
    let closed = in_time(CLOSING, async {
        match fate {
            Fate::Stands => ctx.quota.settle(charge, spent).await,
            Fate::Refunded => ctx.quota.refund(charge, spent).await,
        }
    })
    .await;
    let stands = match closed {
        Ok(state) => state == State::Settled,
        Err(error) => {
            tracing::error!(
                question.id = run.request_id(),
                "failed to close a charge, the sweep will: {error:#}"
            );
            fate == Fate::Stands
        }
    };
    tracing::debug!(
        question.id = run.request_id(),
        charge.stands = stands,
        "settled"
    );
    let recording = in_time(TELLING, record(ctx, admission, stands, ended, ask, run));
    let (recorded, left) = tokio::join!(recording, left(ctx, charge));
    if let Err(error) = recorded {
        tracing::warn!(
            question.id = run.request_id(),
            "no record was kept: {error:#}"
        );
    }
    Quota::of(ctx.quota.limits(), left, clock::today())
}

/// What is left of today; unknown after midnight, when the visitor's key is another.
async fn left(ctx: &Context, charge: &Charge) -> Option<Remaining> {
    if charge.day != clock::today() {
        return None;
    }
    let remaining = ctx.quota.remaining(&charge.account, charge.day);
    in_time(TELLING, remaining)
        .await
        .inspect_err(|error| tracing::warn!("what is left is not told: {error:#}"))
        .ok()
}

async fn in_time<T>(
    patience: Duration,
    call: impl Future<Output = Result<T, DynamoError>>,
) -> anyhow::Result<T> {
    match timeout(patience, call).await {
        Ok(ended) => Ok(ended?),
        Err(_) => bail!("DynamoDB was too slow"),
    }
}

fn outcome(ended: &Result<Done, Stopped>) -> Outcome {
    match ended {
        Ok(done) if done.outcome == "abstained" => Outcome::Abstained,
        Ok(_) => Outcome::Answered,
        Err(Stopped::Closed) => Outcome::Left,
        Err(Stopped::Failed(failure)) => failure.outcome(),
    }
}

async fn record(
    ctx: &Context,
    admission: &Admission,
    stands: bool,
    ended: &Result<Done, Stopped>,
    ask: &Ask,
    run: &Run<'_>,
) -> Result<(), DynamoError> {
    let usage = run.usage();
    let (name, version) = match ended {
        Ok(done) => (done.outcome, done.corpus_version),
        Err(Stopped::Closed) => ("left", 0),
        Err(Stopped::Failed(failure)) => (failure.code(), 0),
    };
    let owned = |(name, value): (&str, _)| (name.to_owned(), value);
    let dropped = run.dropped_by_reason();
    let dropped: BTreeMap<String, u64> =
        dropped.iter().map(|(&name, &n)| owned((name, n))).collect();
    let record = Record {
        request_id: ask.request_id.clone(),
        day: admission.charge.day,
        question_hash: admission.question_hash.clone(),
        question_chars: ask.question.as_str().chars().count() as u64,
        outcome: name.to_owned(),
        charged: stands,
        timings_ms: run
            .timings_ms()
            .into_iter()
            .map(|(stage, ms)| (stage.to_owned(), ms))
            .collect(),
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        embedding_tokens: usage.embedding_tokens,
        cost: run.cost(),
        verified: run.citations_held(),
        dropped,
        degraded: run.degraded().into_iter().map(str::to_owned).collect(),
        corpus_version: version,
    };
    put_record(&ctx.table, &record, ctx.record_expiry(record.day)).await
}
