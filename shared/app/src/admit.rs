//! Lets a visitor's question in and charges it, or says which limit keeps it out.
//!
//! Nothing is paid for before. When the counters cannot be used nobody is let in, for nobody could say what that costs. How
//! many were kept out is counted in the process and written now and then, so that a flood costs next to no writes.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use adapters::dynamodb::quota::QuotaError;
use adapters::dynamodb::record::add_refusals;
use anyhow::anyhow;
use domain::quota::{Account, Day, Refusal};
use domain::visitor::{Address, HashKey};

use crate::ask::event::Quota;
use crate::ask::question::Question;
use crate::ask::settle::{Admission, Payer};
use crate::clock;
use crate::context::Context;
use crate::error::{ApiError, DailyLimit, LimitOf};

/// Charges the visitor at `address` for `question`.
///
/// # Errors
/// [`ApiError::DailyLimit`]; [`ApiError::Busy`] when answers under way hold the rest of the money; [`ApiError::Unavailable`]
/// when the counters cannot be used.
pub async fn admit(
    ctx: &Context,
    address: Address,
    question: &Question,
    request_id: &str,
) -> Result<Payer, ApiError> {
    let now_s = clock::now_s();
    let day = Day::at(now_s);
    let key = hash_key(ctx)?;
    let account = key.account(day, address);
    let charged = ctx.quota.charge(request_id, account, ctx.worst_case, now_s);
    match charged.await {
        Ok(charge) => Ok(Payer::Visitor(Box::new(Admission {
            charge,
            question_hash: key.question(day, question.as_str()),
        }))),
        Err(QuotaError::Limit(refusal)) => {
            ctx.tally.note(ctx, day, refusal, now_s).await;
            let of = match refusal {
                Refusal::Visitor => LimitOf::Visitor,
                Refusal::Global => LimitOf::Everybody,
                Refusal::Budget => LimitOf::Money,
                Refusal::Reserved => return Err(ApiError::Busy),
            };
            Err(ApiError::DailyLimit(DailyLimit {
                of,
                resets_at: day.resets_at(),
                retry_after_s: day.seconds_left(now_s),
            }))
        }
        Err(QuotaError::Unavailable(error)) => Err(ApiError::Unavailable(
            anyhow::Error::from(error).context("charge a question"),
        )),
    }
}

/// What the visitor at `address` has left today.
///
/// # Errors
/// [`ApiError::Unavailable`] when the counters cannot be read.
pub async fn remaining(ctx: &Context, address: Address) -> Result<Quota, ApiError> {
    let day = clock::today();
    let account: Account = hash_key(ctx)?.account(day, address);
    let left = ctx.quota.remaining(&account, day).await;
    let left = left.map_err(|error| {
        ApiError::Unavailable(anyhow::Error::from(error).context("read what is left"))
    })?;
    Ok(Quota::of(ctx.quota.limits(), Some(left), day))
}

fn hash_key(ctx: &Context) -> Result<&HashKey, ApiError> {
    ctx.hash_key
        .as_ref()
        .ok_or_else(|| ApiError::Internal(anyhow!("HASH_SECRET is not set")))
}

/// Questions that were kept out and not written down yet.
#[derive(Debug, Default)]
pub struct Tally(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    written_s: u64,
    refusals: BTreeMap<&'static str, u64>,
}

/// Seconds between two writes. What is counted since the last is lost with the process.
const WRITE_EVERY_S: u64 = 10;

impl Tally {
    async fn note(&self, ctx: &Context, day: Day, refusal: Refusal, now_s: u64) {
        let Some((day, refusals)) = self.count(day, refusal, now_s) else {
            return;
        };
        if let Err(error) = add_refusals(&ctx.table, day, &refusals, ctx.record_expiry(day)).await {
            tracing::warn!("refusals were not counted: {error}");
        }
    }

    /// Counts one, and hands out what is to be written now.
    fn count(
        &self,
        day: Day,
        refusal: Refusal,
        now_s: u64,
    ) -> Option<(Day, BTreeMap<&'static str, u64>)> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = match refusal {
            Refusal::Visitor => "visitor",
            Refusal::Global => "global",
            Refusal::Budget => "budget",
            Refusal::Reserved => "reserved",
        };
        // What is left of yesterday is counted today rather than lost.
        *kept.refusals.entry(name).or_default() += 1;
        if now_s < kept.written_s + WRITE_EVERY_S {
            return None;
        }
        kept.written_s = now_s;
        Some((day, std::mem::take(&mut kept.refusals)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_refusals_is_written_now_and_then() {
        let tally = Tally::default();
        let day = Day::at(0);
        let mut written = Vec::new();
        for n in 0..1_000 {
            let now_s = 100 + n / 40;
            written.extend(tally.count(day, Refusal::Visitor, now_s));
        }
        let counts: Vec<u64> = written
            .iter()
            .map(|(_, refusals)| refusals["visitor"])
            .collect();
        assert_eq!(counts, [1, 400, 400], "at 100, 110 and 120 seconds");
    }
}
