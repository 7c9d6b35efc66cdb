//! Who may ask how much a day, and what an answer costs whom: as transactions to be written and replies to be judged.
//!
//! Nothing here reads a clock or writes an item. A charge is one transaction over counters and a record of its own, so that
//! it happens whole or not at all; closing the record, as settled or refunded, is another, so that it happens once. Whoever
//! writes them ([`Transaction`]) hands the [`Reply`] back to be judged. A day is UTC's, fixed when a question is let in.

mod day;
mod fate;
mod limit;
mod refusals;
mod transaction;

pub use self::day::Day;
pub use self::fate::{Ending, Fate, Outcome};
pub use self::limit::{Counter, Counters, Limits, NETWORK_VISITORS, Refusal, Remaining};
pub use self::refusals::Refusals;
pub use self::transaction::{
    Account, Charge, ChargeRefused, Closed, CounterKey, Old, Reason, Reply, SHARDS, State,
    Transaction, Verdict, Write, abandon, charge, judge_charge, judge_close, refund, settle, shard,
};

#[cfg(test)]
mod model;
