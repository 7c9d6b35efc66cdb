//! The transactions of a charge's life, and what a reply to one means.
//!
//! A charge adds to its counters within their limits and opens a record, which must not exist; a refund takes back and a
//! settlement corrects the money, and either closes the record, which must be open. So whatever is lost, doubled or tried
//! again, each happens once: a transaction that meets its own earlier success is told by the record's old state.

use std::fmt;

use crate::cost::Money;

use super::Day;
use super::limit::{Counter, Limits, Refusal};

/// Partitions that the records are spread over, for the sweep to find them in.
pub const SHARDS: u8 = 16;

/// Who is charged, by keys that stand for them.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Account {
    /// The visitor.
    pub visitor: String,
    /// The network of addresses they share with others, where that has a limit of its own.
    pub network: Option<String>,
}

impl fmt::Debug for Account {
    /// Keys stand for people, so that they are not printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Account(…)")
    }
}

/// One question's charge, as its record holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// The request that is charged for: a question asked twice under one id is charged once.
    pub request_id: String,
    /// The day it counts on, and is refunded to.
    pub day: Day,
    /// Who is charged.
    pub account: Account,
    /// What the answer may cost at most.
    pub reserved: Money,
    /// When, in seconds since 1970.
    pub charged_at: u64,
}

/// Names a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CounterKey<'a> {
    /// A visitor's on a day.
    Visitor(Day, &'a str),
    /// A network's on a day.
    Network(Day, &'a str),
    /// Everybody's on a day.
    Global(Day),
}

/// What a charge's record says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// The answer is under way, or nobody could say how it ended.
    Open,
    /// It counts.
    Settled,
    /// It was given back.
    Refunded,
}

/// One write of a transaction, with the condition it is made under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write<'a> {
    /// Adds a question, if fewer than `below` are counted, and reserves money, if no more than `most` is then committed.
    Take {
        /// Which counter.
        counter: CounterKey<'a>,
        /// The limit.
        below: u64,
        /// What is reserved.
        commit: Money,
        /// The budget.
        most: Option<Money>,
    },
    /// Takes a question back, if one is counted and fewer than `refunds_below` were taken back; what was spent takes the place
    /// of what was reserved.
    GiveBack {
        /// Which counter.
        counter: CounterKey<'a>,
        /// Refunds allowed; `None` for any number.
        refunds_below: Option<u64>,
        /// What was reserved.
        reserved: Money,
        /// What was spent.
        spent: Money,
    },
    /// Lets what was spent take the place of what was reserved on a counter that exists.
    Correct {
        /// Which counter.
        counter: CounterKey<'a>,
        /// What was reserved.
        reserved: Money,
        /// What was spent.
        spent: Money,
    },
    /// Writes the record, if there is none.
    Open(&'a Charge),
    /// Changes an open record's state.
    Close {
        /// The charge.
        charge: &'a Charge,
        /// To what.
        to: State,
    },
}

/// Writes that are made all together or not at all. The record's comes last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction<'a> {
    /// In the order in which reasons are given.
    pub writes: Vec<Write<'a>>,
}

/// What came of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// It was written, now or before under the same token.
    Written,
    /// It was not, for these reasons, one a write.
    Cancelled(Vec<Reason>),
    /// It was not, this time.
    Busy,
    /// Nobody knows: the reply was lost, or the store is away.
    Lost,
}

/// Why one write of a transaction was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// For another write's sake.
    None,
    /// Its condition did not hold over this item.
    Condition(Old),
    /// Another transaction was at the item, or too many were.
    Busy,
}

/// An item as a failed condition found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Old {
    /// It does not exist, or was not told.
    Nothing,
    /// A counter.
    Counter(Counter),
    /// A charge's record.
    Record(State),
}

/// What a reply means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict<T> {
    /// This.
    Decided(T),
    /// The same transaction is to be sent again after a pause; when there is no time left it is not known.
    Again,
}

/// How a closing ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// The record has this state now; another's closing may have been first.
    As(State),
    /// The visitor was refunded as often as may be: the charge is to be settled.
    RefundsSpent,
    /// A counter is gone, as it is days later: the record is to be closed by itself.
    Forgotten,
}

/// Charges.
#[must_use]
pub fn charge<'a>(charge: &'a Charge, limits: &Limits) -> Transaction<'a> {
    let Charge { day, account, .. } = charge;
    let count = |counter, below| Write::Take {
        counter,
        below,
        commit: Money::ZERO,
        most: None,
    };
    let mut writes = vec![count(
        CounterKey::Visitor(*day, &account.visitor),
        limits.visitor,
    )];
    if let Some(network) = &account.network {
        writes.push(count(CounterKey::Network(*day, network), limits.network()));
    }
    writes.push(Write::Take {
        counter: CounterKey::Global(*day),
        below: limits.global,
        commit: charge.reserved,
        most: limits.budget,
    });
    writes.push(Write::Open(charge));
    Transaction { writes }
}

/// Lets a charge stand at the cost of `spent`.
#[must_use]
pub fn settle(charge: &Charge, spent: Money) -> Transaction<'_> {
    Transaction {
        writes: vec![
            Write::Correct {
                counter: CounterKey::Global(charge.day),
                reserved: charge.reserved,
                spent,
            },
            Write::Close {
                charge,
                to: State::Settled,
            },
        ],
    }
}

/// Gives a charge back to the day it was made on; `spent` was spent all the same.
#[must_use]
pub fn refund<'a>(charge: &'a Charge, limits: &Limits, spent: Money) -> Transaction<'a> {
    let Charge { day, account, .. } = charge;
    let give_back = |counter, refunds_below| Write::GiveBack {
        counter,
        refunds_below,
        reserved: Money::ZERO,
        spent: Money::ZERO,
    };
    let mut writes = vec![give_back(
        CounterKey::Visitor(*day, &account.visitor),
        Some(limits.refunds()),
    )];
    if let Some(network) = &account.network {
        writes.push(give_back(CounterKey::Network(*day, network), None));
    }
    writes.push(Write::GiveBack {
        counter: CounterKey::Global(*day),
        refunds_below: None,
        reserved: charge.reserved,
        spent,
    });
    writes.push(Write::Close {
        charge,
        to: State::Refunded,
    });
    Transaction { writes }
}

/// Closes a record whose counters are gone.
#[must_use]
pub fn abandon(charge: &Charge) -> Transaction<'_> {
    Transaction {
        writes: vec![Write::Close {
            charge,
            to: State::Refunded,
        }],
    }
}

/// Whether `charge` was charged, by the reply to its transaction.
#[must_use]
pub fn judge_charge(
    charge: &Charge,
    limits: &Limits,
    reply: &Reply,
) -> Verdict<Result<(), ChargeRefused>> {
    let Reply::Cancelled(reasons) = reply else {
        return match reply {
            Reply::Written => Verdict::Decided(Ok(())),
            _ => Verdict::Again,
        };
    };
    // Before all else: what is charged already may well have filled the counters.
    if let Some(Reason::Condition(old)) = reasons.last() {
        return match old {
            // One's own success is told by the token: this record is another handler's.
            Old::Record(_) => Verdict::Decided(Err(ChargeRefused::Another)),
            // That there is a record is all that is known.
            _ => Verdict::Again,
        };
    }
    // What is busy may be about to change what failed.
    if reasons.contains(&Reason::Busy) {
        return Verdict::Again;
    }
    let global = reasons.len().saturating_sub(2);
    let failed = reasons.iter().position(|reason| *reason != Reason::None);
    match failed {
        Some(at) if at < global => Verdict::Decided(Err(ChargeRefused::Limit(Refusal::Visitor))),
        Some(at) => {
            let counter = match reasons[at] {
                Reason::Condition(Old::Counter(counter)) => counter,
                _ => Counter::default(),
            };
            let refusal = counter
                .refuse_all(limits, charge.reserved)
                .unwrap_or(Refusal::Global);
            Verdict::Decided(Err(ChargeRefused::Limit(refusal)))
        }
        None => Verdict::Again,
    }
}

/// Why a charge was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargeRefused {
    /// A limit is reached.
    Limit(Refusal),
    /// Another handler answers this request, or did.
    Another,
}

/// How a settlement or a refund ended, by the reply to its transaction.
#[must_use]
pub fn judge_close(transaction: &Transaction<'_>, reply: &Reply) -> Verdict<Closed> {
    let Reply::Cancelled(reasons) = reply else {
        return match (reply, transaction.writes.last()) {
            (Reply::Written, Some(Write::Close { to, .. })) => Verdict::Decided(Closed::As(*to)),
            _ => Verdict::Again,
        };
    };
    if let Some(Reason::Condition(old)) = reasons.last() {
        return match old {
            Old::Record(state @ (State::Settled | State::Refunded)) => {
                Verdict::Decided(Closed::As(*state))
            }
            Old::Record(State::Open) => Verdict::Again,
            // The record is gone, days later.
            _ => Verdict::Decided(Closed::As(State::Refunded)),
        };
    }
    if reasons.contains(&Reason::Busy) {
        return Verdict::Again;
    }
    let failed = reasons.iter().zip(&transaction.writes);
    for (reason, write) in failed {
        let Reason::Condition(old) = reason else {
            continue;
        };
        return Verdict::Decided(match (write, old) {
            (
                Write::GiveBack {
                    refunds_below: Some(most),
                    ..
                },
                Old::Counter(counter),
            ) if counter.questions > 0 && counter.refunds >= *most => Closed::RefundsSpent,
            _ => Closed::Forgotten,
        });
    }
    Verdict::Again
}

/// The partition of a request's record.
#[must_use]
pub fn shard(request_id: &str) -> u8 {
    // FNV-1a: ids that differ in one digit are spread all the same.
    let hash = request_id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    (hash % u64::from(SHARDS)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        visitor: 3,
        global: 20,
        budget: Some(Money::from_picodollars(100)),
    };

    fn charged(network: Option<&str>) -> Charge {
        Charge {
            request_id: "r-1".into(),
            day: Day::at(0),
            account: Account {
                visitor: "v".into(),
                network: network.map(str::to_owned),
            },
            reserved: Money::from_picodollars(10),
            charged_at: 5,
        }
    }

    fn counter(questions: u64, refunds: u64, committed: u128) -> Reason {
        Reason::Condition(Old::Counter(Counter {
            questions,
            refunds,
            committed: Money::from_picodollars(committed),
            reserved: Money::ZERO,
        }))
    }

    #[test]
    fn c200_c201_c203_a_cancelled_charge_is_read_by_place() {
        use Reason::{Busy, Condition, None};
        let limit = |refusal| Verdict::Decided(Err(ChargeRefused::Limit(refusal)));
        let record = |state| Condition(Old::Record(state));
        let nothing = Condition(Old::Nothing);
        for (reasons, expected) in [
            (vec![counter(3, 0, 0), None, None], limit(Refusal::Visitor)),
            (vec![nothing.clone(), None, None], limit(Refusal::Visitor)),
            (vec![None, counter(20, 0, 0), None], limit(Refusal::Global)),
            (vec![None, counter(4, 0, 91), None], limit(Refusal::Budget)),
            (
                vec![counter(3, 0, 0), counter(20, 0, 0), None],
                limit(Refusal::Visitor),
            ),
            (
                vec![None, counter(15, 0, 0), None, None],
                limit(Refusal::Visitor),
            ),
            (
                vec![None, None, counter(20, 0, 0), None],
                limit(Refusal::Global),
            ),
            // Never shown as a limit.
            (vec![Busy, None, None], Verdict::Again),
            (vec![None, None, Busy], Verdict::Again),
            (vec![counter(3, 0, 0), Busy, None], Verdict::Again),
            (vec![None, None, None], Verdict::Again),
            (
                vec![counter(3, 0, 0), None, record(State::Open)],
                Verdict::Decided(Err(ChargeRefused::Another)),
            ),
            (
                vec![None, Busy, record(State::Settled)],
                Verdict::Decided(Err(ChargeRefused::Another)),
            ),
            (vec![None, None, nothing], Verdict::Again),
        ] {
            let found = judge_charge(
                &charged(Option::None),
                &LIMITS,
                &Reply::Cancelled(reasons.clone()),
            );
            assert_eq!(found, expected, "{reasons:?}");
        }
        for (reply, expected) in [
            (Reply::Written, Verdict::Decided(Ok(()))),
            (Reply::Busy, Verdict::Again),
            (Reply::Lost, Verdict::Again),
        ] {
            assert_eq!(
                judge_charge(&charged(Option::None), &LIMITS, &reply),
                expected
            );
        }
    }

    #[test]
    fn c204_a_charge_is_closed_once() {
        use Reason::{Busy, Condition, None};
        let charge = charged(Option::None);
        let spent = Money::from_picodollars(4);
        let (settling, refunding) = (settle(&charge, spent), refund(&charge, &LIMITS, spent));
        let record = |state| Condition(Old::Record(state));
        let closed = |state| Verdict::Decided(Closed::As(state));
        for (transaction, reply, expected) in [
            (&settling, Reply::Written, closed(State::Settled)),
            (&refunding, Reply::Written, closed(State::Refunded)),
            (&refunding, Reply::Lost, Verdict::Again),
            (
                &settling,
                Reply::Cancelled(vec![None, record(State::Refunded)]),
                closed(State::Refunded),
            ),
            (
                &refunding,
                Reply::Cancelled(vec![counter(0, 0, 0), None, record(State::Refunded)]),
                closed(State::Refunded),
            ),
            (
                &refunding,
                Reply::Cancelled(vec![None, Busy, None]),
                Verdict::Again,
            ),
            (
                &refunding,
                Reply::Cancelled(vec![counter(1, 3, 0), None, None]),
                Verdict::Decided(Closed::RefundsSpent),
            ),
            (
                &refunding,
                Reply::Cancelled(vec![counter(0, 3, 0), None, None]),
                Verdict::Decided(Closed::Forgotten),
            ),
            (
                &settling,
                Reply::Cancelled(vec![Condition(Old::Nothing), None]),
                Verdict::Decided(Closed::Forgotten),
            ),
        ] {
            assert_eq!(judge_close(transaction, &reply), expected, "{reply:?}");
        }
    }

    #[test]
    fn records_are_spread() {
        let mut of = [0_u32; SHARDS as usize];
        for n in 0..1_600 {
            of[usize::from(shard(&format!("5f0c4a2e-0000-4000-8000-{n:012}")))] += 1;
        }
        assert!(of.iter().all(|&count| (50..150).contains(&count)), "{of:?}");
    }

    #[test]
    fn an_account_is_not_printed() {
        let printed = format!("{:?}", charged(Some("network-key")));
        assert!(
            !printed.contains("network-key") && !printed.contains("\"v\""),
            "{printed}"
        );
    }
}
