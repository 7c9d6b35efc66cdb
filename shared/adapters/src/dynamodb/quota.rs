//! The day's counters and the records of charges: writes the transactions of [`domain::quota`] and hands back the replies.
//!
//! The SDK's own retries of transactions are off, so that each is counted and judged; a charge carries a token, and every
//! closing is conditional on the record, so that trying again is safe. What is not read or decided when the time is up is
//! [`QuotaError::Unavailable`], never a limit: whoever calls spends nothing then.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    AttributeValue, CancellationReason, KeysAndAttributes, Put,
    ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use domain::cost::Money;
use domain::quota::{
    Account, Charge, ChargeRefused, Closed, Counter, CounterKey, Counters, Day, Limits, Old,
    Reason, Refusal, Refusals, Remaining, Reply, SHARDS, State, Transaction, Verdict, Write,
    abandon, charge, judge_charge, judge_close, refund, settle, shard,
};
use thiserror::Error;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::item::{Item, count, difference, item, key, less, number, text, words};
use super::{DynamoError, PK, SK, TTL, Table, cause, once};

/// How long a read, a charge or its closing may take, tries and pauses and all: a visitor waits for it.
const PATIENCE: Duration = Duration::from_secs(3);
/// The longest first pause; each further one may be twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const LONGEST_PAUSE: Duration = Duration::from_millis(400);
/// Counters outlive the records that refund to them.
const COUNTER_DAYS: u64 = 3;
const RECORD_DAYS: u64 = 2;
const DAY_S: u64 = 86_400;

/// The counters of one deployment.
#[derive(Debug)]
pub struct Quota {
    table: Table,
    limits: Limits,
    refusals: Mutex<Refusals>,
}

/// Why a question is not let in.
#[derive(Debug, Error)]
pub enum QuotaError {
    /// A limit keeps it out.
    #[error("a limit is reached")]
    Limit(Refusal),
    /// Nothing may be spent on it: whether it is charged is not known.
    #[error("the counters cannot be used")]
    Unavailable(#[source] DynamoError),
}

/// What a sweep found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Records that nobody had closed.
    pub found: u64,
    /// Those given back.
    pub refunded: u64,
    /// Those that stand, for the visitor was refunded often enough.
    pub settled: u64,
    /// Those that are still open: they could not be read or closed, and the next sweep finds them again.
    pub failed: u64,
}

impl Quota {
    /// Counts in `table` within `limits`.
    #[must_use]
    pub fn new(table: Table, limits: Limits) -> Self {
        Self {
            table,
            limits,
            refusals: Mutex::default(),
        }
    }

    /// What a day allows.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Charges one question asked at `now_s` (seconds since 1970), which may cost `worst` at most. A request that was charged
    /// before is not charged again.
    ///
    /// # Errors
    /// [`QuotaError::Limit`] when it may not be asked today, [`QuotaError::Unavailable`] when nobody can say.
    pub async fn charge(
        &self,
        request_id: &str,
        account: Account,
        worst: Money,
        now_s: u64,
    ) -> Result<Charge, QuotaError> {
        let day = Day::at(now_s);
        if let Some(refusal) = self.refusals().recall(&account, day, now_s) {
            return Err(QuotaError::Limit(refusal));
        }
        // A flood at the limit is kept out by reading, which costs a fraction of a write.
        let counters = self.counters(&account, day).await;
        let counters = counters.map_err(QuotaError::Unavailable)?;
        if let Some(refusal) = counters.refuse(&account, &self.limits, worst) {
            return Err(self.refused(&account, day, refusal, now_s));
        }
        let asked = Charge {
            request_id: request_id.to_owned(),
            day,
            account,
            reserved: worst,
            charged_at: now_s,
        };
        let transaction = charge(&asked, &self.limits);
        let token = token();
        let decided = self
            .decide(&transaction, Some(&token), |reply| {
                judge_charge(&asked, &self.limits, reply)
            })
            .await;
        match decided.map_err(QuotaError::Unavailable)? {
            Ok(()) => Ok(asked),
            Err(ChargeRefused::Limit(refusal)) => {
                Err(self.refused(&asked.account, day, refusal, now_s))
            }
            Err(ChargeRefused::Another) => {
                let reason = "another handler answers this request, or did".to_owned();
                Err(QuotaError::Unavailable(DynamoError::Unavailable(reason)))
            }
        }
    }

    /// Lets a charge stand at the cost of `spent`, unless it was closed before. Returns how it is closed.
    ///
    /// # Errors
    /// When DynamoDB refuses or is away: the sweep closes it then.
    pub async fn settle(&self, charge: &Charge, spent: Money) -> Result<State, DynamoError> {
        let transaction = settle(charge, spent);
        match self.close(&transaction).await? {
            Closed::As(state) => Ok(state),
            Closed::RefundsSpent | Closed::Forgotten => self.forget(charge).await,
        }
    }

    /// Gives a charge back to the day it was made on, unless it was closed before; `spent` was spent all the same. Returns how
    /// it is closed: a visitor who was refunded as often as may be is charged.
    ///
    /// # Errors
    /// When DynamoDB refuses or is away: the sweep closes it then.
    pub async fn refund(&self, charge: &Charge, spent: Money) -> Result<State, DynamoError> {
        let transaction = refund(charge, &self.limits, spent);
        match self.close(&transaction).await? {
            Closed::As(state) => Ok(state),
            Closed::RefundsSpent => self.settle(charge, spent).await,
            Closed::Forgotten => self.forget(charge).await,
        }
    }

    /// Refunds the charges that were made before `before_s` (seconds since 1970) and never closed: their handlers are dead. What
    /// they spent nobody knows, so that all they reserved counts as spent.
    ///
    /// # Errors
    /// When the records cannot be searched; the next sweep goes on.
    pub async fn sweep(&self, before_s: u64) -> Result<Swept, DynamoError> {
        let mut swept = Swept::default();
        for shard in 0..SHARDS {
            for charge in self.open_charges(shard, before_s).await? {
                swept.found += 1;
                let closed = match charge {
                    Ok(charge) => self.refund(&charge, charge.reserved).await,
                    Err(error) => Err(error),
                };
                match closed {
                    Ok(State::Refunded) => swept.refunded += 1,
                    Ok(State::Settled | State::Open) => swept.settled += 1,
                    Err(error) => {
                        tracing::warn!("a charge stays open: {error}");
                        swept.failed += 1;
                    }
                }
            }
        }
        Ok(swept)
    }

    /// What is left of `day`.
    ///
    /// # Errors
    /// When DynamoDB refuses or is away.
    pub async fn remaining(&self, account: &Account, day: Day) -> Result<Remaining, DynamoError> {
        let counters = self.counters(account, day).await?;
        Ok(counters.remaining(account, &self.limits))
    }

    /// The counters of a visitor's day, in one call where it is answered in full.
    async fn counters(&self, account: &Account, day: Day) -> Result<Counters, DynamoError> {
        let keys = counter_keys(account, day);
        let items = timeout(PATIENCE, self.items(&keys))
            .await
            .map_err(|_| DynamoError::Unavailable("the counters were too slow".to_owned()))??;
        let found: HashMap<String, Counter> = items
            .into_iter()
            .filter_map(|item| Some((item.get(PK)?.as_s().ok()?.clone(), counter_of(&item))))
            .collect();
        let of = |key| found.get(&partition(key)).copied().unwrap_or_default();
        Ok(Counters {
            visitor: of(CounterKey::Visitor(day, &account.visitor)),
            network: account
                .network
                .as_ref()
                .map(|network| of(CounterKey::Network(day, network)))
                .unwrap_or_default(),
            global: of(CounterKey::Global(day)),
        })
    }

    /// The counters' items; those that a busy table left unread are asked for again, without end.
    async fn items(&self, counters: &[CounterKey<'_>]) -> Result<Vec<Item>, DynamoError> {
        let mut asked = KeysAndAttributes::builder()
            .consistent_read(true)
            .projection_expression("pk, questions, refunds, committed, reserved");
        for counter in counters {
            asked = asked.keys(key(&partition(*counter), COUNTER));
        }
        let asked = asked
            .build()
            .map_err(|error| DynamoError::Unavailable(error.to_string()))?;
        let mut unread = HashMap::from([(self.table.name.clone(), asked)]);
        let mut items = Vec::new();
        let mut longest = FIRST_PAUSE;
        loop {
            let request = self.table.client.batch_get_item();
            let reply = request.set_request_items(Some(unread)).send().await?;
            items.extend(reply.responses.unwrap_or_default().into_values().flatten());
            unread = reply.unprocessed_keys.unwrap_or_default();
            if unread.is_empty() {
                return Ok(items);
            }
            sleep(jittered(longest)).await;
            longest = (longest * 2).min(LONGEST_PAUSE);
        }
    }

    /// The records that nobody closed; one that is not readable is an error of its own.
    async fn open_charges(
        &self,
        shard: u8,
        before_s: u64,
    ) -> Result<Vec<Result<Charge, DynamoError>>, DynamoError> {
        let mut pages = self
            .table
            .client
            .query()
            .table_name(&self.table.name)
            .key_condition_expression("pk = :pk")
            .filter_expression("#state = :open and charged_at < :before")
            .expression_attribute_names("#state", STATE)
            .expression_attribute_values(":pk", text(&record_partition(shard)))
            .expression_attribute_values(":open", text(state_name(State::Open)))
            .expression_attribute_values(":before", number(before_s))
            .into_paginator()
            .items()
            .send();
        let mut charges = Vec::new();
        while let Some(item) = pages.next().await {
            let item = item?;
            let charge = charge_of(&item).ok_or_else(|| DynamoError::Malformed {
                key: record_partition(shard),
                reason: "it is no charge".to_owned(),
            });
            charges.push(charge);
        }
        Ok(charges)
    }

    async fn close(&self, transaction: &Transaction<'_>) -> Result<Closed, DynamoError> {
        self.decide(transaction, None, |reply| judge_close(transaction, reply))
            .await
    }

    /// Closes a record whose counters are gone, so that it is not found again.
    async fn forget(&self, charge: &Charge) -> Result<State, DynamoError> {
        match self.close(&abandon(charge)).await? {
            Closed::As(state) => Ok(state),
            Closed::RefundsSpent | Closed::Forgotten => Ok(State::Refunded),
        }
    }

    /// Sends a transaction until its reply decides, or the time is up.
    async fn decide<T>(
        &self,
        transaction: &Transaction<'_>,
        token: Option<&str>,
        judge: impl Fn(&Reply) -> Verdict<T>,
    ) -> Result<T, DynamoError> {
        let deadline = Instant::now() + PATIENCE;
        let mut longest = FIRST_PAUSE;
        let mut tries = 1;
        loop {
            let sent = timeout_at(deadline, self.send(transaction, token)).await;
            let (reply, cause) = sent.unwrap_or_else(|_| (Reply::Lost, "the time is up".into()));
            if let Verdict::Decided(decided) = judge(&reply) {
                if tries > 1 {
                    tracing::debug!(tries, "a quota transaction was tried again");
                }
                return Ok(decided);
            }
            let pause = jittered(longest);
            if Instant::now() + pause >= deadline {
                return Err(DynamoError::Unavailable(format!(
                    "not decided in {tries} tries: {cause}"
                )));
            }
            sleep(pause).await;
            longest = (longest * 2).min(LONGEST_PAUSE);
            tries += 1;
        }
    }

    /// Sends a transaction once; also returns what to say of it when it decides nothing.
    async fn send(&self, transaction: &Transaction<'_>, token: Option<&str>) -> (Reply, String) {
        let mut request = self.table.client.transact_write_items();
        for write in &transaction.writes {
            match written(&self.table.name, write) {
                Ok(item) => request = request.transact_items(item),
                Err(error) => return (Reply::Lost, error.to_string()),
            }
        }
        let sent = request
            .set_client_request_token(token.map(str::to_owned))
            .customize()
            .config_override(once())
            .send()
            .await;
        match sent {
            Ok(_) => (Reply::Written, String::new()),
            Err(error) => (reply(&error), cause(&error)),
        }
    }

    fn refused(&self, account: &Account, day: Day, refusal: Refusal, now_s: u64) -> QuotaError {
        self.refusals().remember(account, day, refusal, now_s);
        QuotaError::Limit(refusal)
    }

    fn refusals(&self) -> std::sync::MutexGuard<'_, Refusals> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn reply(error: &SdkError<TransactWriteItemsError>) -> Reply {
    let Some(service) = error.as_service_error() else {
        return Reply::Lost;
    };
    match service {
        TransactWriteItemsError::TransactionCanceledException(cancelled) => Reply::Cancelled(
            cancelled
                .cancellation_reasons()
                .iter()
                .map(reason)
                .collect(),
        ),
        TransactWriteItemsError::TransactionInProgressException(_)
        | TransactWriteItemsError::ProvisionedThroughputExceededException(_)
        | TransactWriteItemsError::RequestLimitExceeded(_) => Reply::Busy,
        other if other.code().is_some_and(|code| code.contains("Throttl")) => Reply::Busy,
        _ => Reply::Lost,
    }
}

fn reason(reason: &CancellationReason) -> Reason {
    match reason.code() {
        None | Some("None") => Reason::None,
        Some("ConditionalCheckFailed") => {
            Reason::Condition(reason.item().map_or(Old::Nothing, old))
        }
        Some(_) => Reason::Busy,
    }
}

fn old(item: &Item) -> Old {
    match item.get(STATE).and_then(|state| state.as_s().ok()) {
        Some(state) => state_of(state).map_or(Old::Nothing, Old::Record),
        None => Old::Counter(counter_of(item)),
    }
}

/// Half of `longest` to all of it: chance keeps those apart that met one another.
fn jittered(longest: Duration) -> Duration {
    longest.mul_f64(0.5 + fastrand::f64() / 2.0)
}

const COUNTER: &str = "counter";
const STATE: &str = "state";

fn written(
    table: &str,
    write: &Write<'_>,
) -> Result<TransactWriteItem, aws_sdk_dynamodb::error::BuildError> {
    let update = |pk: &str, sk: &str| {
        Update::builder()
            .table_name(table)
            .set_key(Some(key(pk, sk)))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
    };
    let update = match *write {
        Write::Take {
            counter,
            below,
            commit,
            most,
        } => {
            // An item that does not exist meets a limit too, unless the limit lets nobody in.
            let mut condition = match below {
                0 => "questions < :below".to_owned(),
                _ => "(attribute_not_exists(questions) or questions < :below)".to_owned(),
            };
            let mut update = update(&partition(counter), COUNTER)
                .expression_attribute_values(":one", number(1))
                .expression_attribute_values(":below", number(below))
                .expression_attribute_values(":ttl", number(counter_ttl(counter)))
                .expression_attribute_values(":commit", money(commit));
            if let Some(most) = most {
                let room = most.picodollars().checked_sub(commit.picodollars());
                condition += match room {
                    Some(_) => " and (attribute_not_exists(committed) or committed <= :room)",
                    None => " and committed < :room",
                };
                update =
                    update.expression_attribute_values(":room", number(room.unwrap_or_default()));
            }
            update
                .update_expression(
                    "set #ttl = :ttl add questions :one, committed :commit, reserved :commit",
                )
                .expression_attribute_names("#ttl", TTL)
                .condition_expression(condition)
        }
        Write::GiveBack {
            counter,
            refunds_below,
            reserved,
            spent,
        } => {
            let mut condition = "questions >= :one".to_owned();
            let mut update = update(&partition(counter), COUNTER)
                .expression_attribute_values(":one", number(1))
                .expression_attribute_values(":less", number(-1))
                .expression_attribute_values(":correction", difference(reserved, spent))
                .expression_attribute_values(":released", less(reserved));
            if let Some(most) = refunds_below {
                condition += match most {
                    0 => " and refunds < :most",
                    _ => " and (attribute_not_exists(refunds) or refunds < :most)",
                };
                update = update.expression_attribute_values(":most", number(most));
            }
            update
                .update_expression(
                    "add questions :less, refunds :one, committed :correction, reserved :released",
                )
                .condition_expression(condition)
        }
        Write::Correct {
            counter,
            reserved,
            spent,
        } => update(&partition(counter), COUNTER)
            .update_expression("add committed :correction, reserved :released")
            .expression_attribute_values(":correction", difference(reserved, spent))
            .expression_attribute_values(":released", less(reserved))
            .condition_expression("attribute_exists(questions)"),
        Write::Open(charge) => {
            return Ok(TransactWriteItem::builder()
                .put(put(table, charge)?)
                .build());
        }
        Write::Close { charge, to } => update(
            &record_partition(shard(&charge.request_id)),
            &charge.request_id,
        )
        .update_expression("set #state = :to")
        .condition_expression("#state = :open")
        .expression_attribute_names("#state", STATE)
        .expression_attribute_values(":to", text(state_name(to)))
        .expression_attribute_values(":open", text(state_name(State::Open))),
    };
    Ok(TransactWriteItem::builder().update(update.build()?).build())
}

fn put(table: &str, charge: &Charge) -> Result<Put, aws_sdk_dynamodb::error::BuildError> {
    let partition = record_partition(shard(&charge.request_id));
    let mut record = key(&partition, &charge.request_id);
    record.extend(item([
        (STATE, text(state_name(State::Open))),
        ("day", text(&charge.day.to_string())),
        ("visitor", text(&charge.account.visitor)),
        ("reserved", money(charge.reserved)),
        ("charged_at", number(charge.charged_at)),
        (TTL, number(charge.charged_at + RECORD_DAYS * DAY_S)),
    ]));
    if let Some(network) = &charge.account.network {
        record.insert("network".to_owned(), text(network));
    }
    Put::builder()
        .table_name(table)
        .set_item(Some(record))
        .condition_expression("attribute_not_exists(pk)")
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .build()
}

fn charge_of(item: &Item) -> Option<Charge> {
    Some(Charge {
        request_id: words(item, SK)?,
        day: Day::parse(&words(item, "day")?)?,
        account: Account {
            visitor: words(item, "visitor")?,
            network: words(item, "network"),
        },
        reserved: Money::from_picodollars(count(item, "reserved")?),
        charged_at: count(item, "charged_at")?,
    })
}

fn counter_of(item: &Item) -> Counter {
    Counter {
        questions: count(item, "questions").unwrap_or_default(),
        refunds: count(item, "refunds").unwrap_or_default(),
        committed: Money::from_picodollars(count(item, "committed").unwrap_or_default()),
        reserved: Money::from_picodollars(count(item, "reserved").unwrap_or_default()),
    }
}

fn counter_keys(account: &Account, day: Day) -> Vec<CounterKey<'_>> {
    let network = account.network.as_deref();
    [
        Some(CounterKey::Visitor(day, &account.visitor)),
        network.map(|network| CounterKey::Network(day, network)),
        Some(CounterKey::Global(day)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn partition(key: CounterKey<'_>) -> String {
    match key {
        CounterKey::Visitor(day, visitor) => format!("visitor#{day}#{visitor}"),
        CounterKey::Network(day, network) => format!("network#{day}#{network}"),
        CounterKey::Global(day) => format!("global#{day}"),
    }
}

fn record_partition(shard: u8) -> String {
    format!("charge#{shard}")
}

fn counter_ttl(key: CounterKey<'_>) -> u64 {
    let (CounterKey::Visitor(day, _) | CounterKey::Network(day, _) | CounterKey::Global(day)) = key;
    day.end() + COUNTER_DAYS * DAY_S
}

/// Makes sending a transaction again safe for ten minutes. One a call: another call under the same request id is told by the
/// record.
fn token() -> String {
    format!("{:032x}", fastrand::u128(..))
}

fn money(amount: Money) -> AttributeValue {
    number(amount.picodollars())
}

fn state_name(state: State) -> &'static str {
    match state {
        State::Open => "open",
        State::Settled => "settled",
        State::Refunded => "refunded",
    }
}

fn state_of(name: &str) -> Option<State> {
    [State::Open, State::Settled, State::Refunded]
        .into_iter()
        .find(|state| state_name(*state) == name)
}
