//! Closes an answer's account before its last event is sent: the charge stands or is given back, and a record is kept.
//!
//! A failure here fails no answer. A charge that could not be closed is given back by the sweep, later; a record that could
//! not be written is missing.

use std::collections::BTreeMap;
use std::time::Duration;

use adapters::dynamodb::record::put_record;
use anyhow::Context as _;
use domain::cost::Money;
use domain::quota::{Charge, Fate, Outcome, State};
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
    /// Whoever runs the service, who took this much from the ledger.
    Operator(Money),
}

/// A visitor's question that was let in.
#[derive(Debug)]
pub struct Admission {
    /// What was charged.
    pub charge: Charge,
    /// Stands for the question in its record.
    pub question_hash: String,
}

/// What is left of an answer's time when its work is over is kept for its last event, of which this is half.
const PATIENCE: Duration = Duration::from_secs(1);

/// Closes the account of an answer that `ended`, and says what the visitor has left.
pub(super) async fn settle(
    ctx: &Context,
    payer: Payer,
    ended: &Result<Done, Stopped>,
    ask: &Ask,
    run: &Run<'_>,
) -> Quota {
    let closing = async {
        match &payer {
            Payer::Visitor(admission) => settle_visitor(ctx, admission, ended, ask, run).await,
            Payer::Operator(taken) => {
                let spent = run.cost().unwrap_or(*taken);
                let today = clock::today();
                let corrected = ctx.ledger.correct(today, *taken, spent).await;
                corrected
                    .context("correct the ledger")
                    .map(|()| Quota::default())
            }
        }
    };
    let closed = timeout(PATIENCE, closing).await;
    match closed.unwrap_or_else(|_| Err(anyhow::anyhow!("DynamoDB was too slow"))) {
        Ok(quota) => quota,
        Err(error) => {
            tracing::error!(
                question.id = run.request_id(),
                "failed to settle, the sweep will: {error:#}"
            );
            Quota::of(ctx.quota.limits(), None, clock::today())
        }
    }
}

async fn settle_visitor(
    ctx: &Context,
    admission: &Admission,
    ended: &Result<Done, Stopped>,
    ask: &Ask,
    run: &Run<'_>,
) -> anyhow::Result<Quota> {
    let charge = &admission.charge;
    let spent = run.cost().unwrap_or(charge.reserved);
    let fate = run.ending(outcome(ended)).fate();
    let closed = async {
        match fate {
            Fate::Stands => ctx.quota.settle(charge, spent).await,
            Fate::Refunded => ctx.quota.refund(charge, spent).await,
        }
    };
    let recorded = record(ctx, admission, fate, ended, ask, run);
    let (closed, recorded) = tokio::join!(closed, recorded);
    if let Err(error) = recorded {
        tracing::warn!(
            question.id = run.request_id(),
            "no record was kept: {error}"
        );
    }
    let state = closed.context("close the charge")?;
    tracing::debug!(
        question.id = run.request_id(),
        charge.stands = state == State::Settled,
        "settled"
    );
    let remaining = ctx.quota.remaining(&charge.account, clock::now_s()).await;
    if let Err(error) = &remaining {
        tracing::warn!(
            question.id = run.request_id(),
            "what is left is not told: {error}"
        );
    }
    Ok(Quota::of(
        ctx.quota.limits(),
        remaining.ok(),
        clock::today(),
    ))
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
    fate: Fate,
    ended: &Result<Done, Stopped>,
    ask: &Ask,
    run: &Run<'_>,
) -> Result<(), adapters::dynamodb::DynamoError> {
    let usage = run.usage();
    let (name, verified, version) = match ended {
        Ok(done) => (
            done.outcome,
            done.citations.verified as u64,
            done.corpus_version,
        ),
        Err(Stopped::Closed) => ("left", 0, 0),
        Err(Stopped::Failed(failure)) => (failure.code(), 0, 0),
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
        charged: fate == Fate::Stands,
        timings_ms: run
            .timings_ms()
            .into_iter()
            .map(|(stage, ms)| (stage.to_owned(), ms))
            .collect(),
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        embedding_tokens: usage.embedding_tokens,
        cost: run.cost(),
        verified,
        dropped,
        degraded: run.degraded().into_iter().map(str::to_owned).collect(),
        corpus_version: version,
    };
    put_record(&ctx.table, &record, ctx.record_expiry(record.day)).await
}
