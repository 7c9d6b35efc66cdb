//! Charges, settlements, refunds and sweeps against the emulator, with a client whose calls go wrong.

use std::sync::Arc;
use std::time::{Duration, Instant};

use adapters::dynamodb::quota::{Quota, QuotaError, Swept};
use adapters::dynamodb::{PK, SK, Table, ensure_table};
use aws_sdk_dynamodb::types::AttributeValue;
use domain::cost::Money;
use domain::quota::{Account, Charge, Day, Limits, Refusal, Remaining, State, shard};

use super::faulty::{Fault, Faults, table};

/// Noon of a day.
const NOON: u64 = 1_796_083_200 + 12 * 3_600;
const DAY: u64 = 86_400;

const LIMITS: Limits = Limits {
    visitor: 3,
    global: 100,
    budget: None,
};

struct Counted {
    quota: Quota,
    table: Table,
    faults: Faults,
    _emulator: testing::DynamoDb,
}

async fn counting(limits: Limits) -> Counted {
    let emulator = testing::dynamodb().await;
    let (table, faults) = table(emulator.endpoint(), "sourced").await;
    ensure_table(&table).await.unwrap();
    Counted {
        quota: Quota::new(table.clone(), limits),
        table,
        faults,
        _emulator: emulator,
    }
}

fn visitor(key: &str) -> Account {
    Account {
        visitor: key.to_owned(),
        network: None,
    }
}

fn money(picodollars: u128) -> Money {
    Money::from_picodollars(picodollars)
}

impl Counted {
    async fn charge(&self, id: &str, key: &str, now: u64) -> Result<Charge, QuotaError> {
        self.quota.charge(id, visitor(key), money(10), now).await
    }

    async fn left(&self, key: &str, now: u64) -> u64 {
        self.remaining(key, now).await.visitor
    }

    async fn remaining(&self, key: &str, now: u64) -> Remaining {
        let day = Day::at(now);
        self.quota.remaining(&visitor(key), day).await.unwrap()
    }

    /// A number of an item, or nothing.
    async fn number(&self, pk: &str, attribute: &str) -> Option<i128> {
        let item = self
            .table
            .client()
            .get_item()
            .table_name(self.table.name())
            .key(PK, AttributeValue::S(pk.to_owned()))
            .key(SK, AttributeValue::S("counter".to_owned()))
            .consistent_read(true)
            .send()
            .await
            .unwrap()
            .item?;
        Some(item.get(attribute)?.as_n().unwrap().parse().unwrap())
    }

    async fn committed(&self) -> Option<i128> {
        self.number(&format!("global#{}", Day::at(NOON)), "committed")
            .await
    }
}

fn limit(result: Result<Charge, QuotaError>) -> Refusal {
    match result {
        Err(QuotaError::Limit(refusal)) => refusal,
        other => panic!("not a limit: {other:?}"),
    }
}

#[tokio::test]
async fn c200_c207_a_refused_visitor_costs_everybody_nothing() {
    let counted = counting(LIMITS).await;
    for n in 0..3 {
        counted.charge(&format!("a{n}"), "a", NOON).await.unwrap();
    }
    // The counter is read before anything is written, so that being refused costs no write.
    counted.faults.take("TransactWriteItems");
    assert_eq!(
        limit(counted.charge("a3", "a", NOON).await),
        Refusal::Visitor
    );
    assert_eq!(counted.faults.take("TransactWriteItems"), 0);
    assert_eq!(
        counted.remaining("a", NOON).await,
        Remaining {
            visitor: 0,
            global: 97
        }
    );
    let full = counting(Limits {
        global: 1,
        ..LIMITS
    })
    .await;
    full.charge("a", "a", NOON).await.unwrap();
    assert_eq!(limit(full.charge("b", "b", NOON).await), Refusal::Global);
    assert_eq!(
        full.left("b", NOON).await,
        3,
        "a visitor was charged for what everybody used up"
    );
}

#[tokio::test]
async fn c200_a_limit_met_by_the_write_is_told_apart() {
    // Read as it was before somebody else took the last question: many charge at once.
    for (limits, keys, expected) in [
        (
            Limits {
                visitor: 4,
                ..LIMITS
            },
            1,
            Refusal::Visitor,
        ),
        (
            Limits {
                global: 4,
                ..LIMITS
            },
            12,
            Refusal::Global,
        ),
        (
            Limits {
                budget: Some(money(49)),
                ..LIMITS
            },
            12,
            Refusal::Reserved,
        ),
    ] {
        let counted = Arc::new(counting(limits).await);
        let tasks: Vec<_> = (0..12)
            .map(|n| {
                let counted = Arc::clone(&counted);
                tokio::spawn(async move {
                    counted
                        .charge(&format!("r{n}"), &format!("v{}", n % keys), NOON)
                        .await
                })
            })
            .collect();
        let mut charged = 0;
        for task in tasks {
            match task.await.unwrap() {
                Ok(_) => charged += 1,
                refused => assert_eq!(limit(refused), expected),
            }
        }
        assert_eq!(charged, 4, "{limits:?}");
    }
}

#[tokio::test]
async fn c201_conflicts_and_throttling_are_tried_again_and_never_a_limit() {
    let counted = counting(LIMITS).await;
    counted.faults.next([
        Fault::Refused(
            "TransactionCanceledException",
            &["TransactionConflict", "None", "None"],
        ),
        Fault::Refused(
            "TransactionCanceledException",
            &["ThrottlingError", "None", "None"],
        ),
        Fault::Refused(
            "TransactionCanceledException",
            &["ConditionalCheckFailed", "TransactionConflict", "None"],
        ),
        Fault::Refused("ThrottlingException", &[]),
        Fault::Refused("ProvisionedThroughputExceededException", &[]),
        Fault::Refused("TransactionInProgressException", &[]),
        Fault::Refused("InternalServerError", &[]),
    ]);
    counted.charge("r", "a", NOON).await.unwrap();
    assert_eq!(counted.faults.take("TransactWriteItems"), 8);
    assert_eq!(counted.left("a", NOON).await, 2);
}

#[tokio::test]
async fn c201_contention_without_end_is_unavailable() {
    let counted = counting(LIMITS).await;
    let conflict = Fault::Refused(
        "TransactionCanceledException",
        &["ConditionalCheckFailed", "TransactionConflict", "None"],
    );
    counted.faults.next(vec![conflict; 100]);
    let begun = Instant::now();
    let refused = counted.charge("r", "a", NOON).await;
    assert!(
        matches!(refused, Err(QuotaError::Unavailable(_))),
        "{refused:?}"
    );
    assert!(begun.elapsed() < Duration::from_secs(5));
    // The items that conditions met hold keys of visitors, and errors are logged.
    let told = format!("{refused:?}");
    assert!(!told.contains("planted-key"), "{told}");
}

#[tokio::test]
async fn c203_a_lost_reply_charges_once() {
    let counted = counting(Limits {
        visitor: 1,
        ..LIMITS
    })
    .await;
    counted
        .faults
        .next([Fault::CallLost, Fault::ReplyLost, Fault::ReplyLost]);
    counted.charge("r", "a", NOON).await.unwrap();
    assert_eq!(
        counted
            .number(&format!("visitor#{}#a", Day::at(NOON)), "questions")
            .await,
        Some(1)
    );
    // A second handler of the request has a token of its own and meets the first one's record, also past midnight.
    let again = counting(LIMITS).await;
    let charge = again.charge("r", "a", NOON).await.unwrap();
    for settled in [false, true] {
        for now in [NOON + 1, NOON + DAY] {
            let second = again.charge("r", "a", now).await;
            assert!(
                matches!(second, Err(QuotaError::Unavailable(_))),
                "{settled} {now}: {second:?}"
            );
        }
        again.quota.settle(&charge, money(1)).await.unwrap();
    }
    assert_eq!(again.left("a", NOON).await, 2);
    assert_eq!(again.left("a", NOON + DAY).await, 3);
}

#[tokio::test]
async fn c204_a_refund_is_made_once() {
    let counted = counting(LIMITS).await;
    let charge = counted.charge("r", "a", NOON).await.unwrap();
    counted.charge("s", "a", NOON).await.unwrap();
    counted.faults.next([Fault::ReplyLost, Fault::CallLost]);
    for _ in 0..3 {
        assert_eq!(
            counted.quota.refund(&charge, money(4)).await.unwrap(),
            State::Refunded
        );
    }
    assert_eq!(
        counted.quota.settle(&charge, money(10)).await.unwrap(),
        State::Refunded
    );
    assert_eq!(
        counted.remaining("a", NOON).await,
        Remaining {
            visitor: 2,
            global: 99
        }
    );
    // What was spent before the failure is spent; the other question's ten are still reserved.
    assert_eq!(counted.committed().await, Some(14));
}

#[tokio::test]
async fn a_settlement_returns_what_was_reserved_and_not_spent() {
    let counted = counting(Limits {
        budget: Some(money(25)),
        ..LIMITS
    })
    .await;
    let charge = counted.charge("r", "a", NOON).await.unwrap();
    counted.charge("s", "b", NOON).await.unwrap();
    let kept_out = counted.charge("t", "c", NOON).await;
    assert_eq!(limit(kept_out), Refusal::Reserved, "nothing is spent yet");
    counted.faults.next([Fault::ReplyLost]);
    assert_eq!(
        counted.quota.settle(&charge, money(3)).await.unwrap(),
        State::Settled
    );
    assert_eq!(
        counted.quota.refund(&charge, money(3)).await.unwrap(),
        State::Settled
    );
    assert_eq!(counted.committed().await, Some(13));
    // The refusal is remembered for a moment, and then seen to be over.
    assert_eq!(
        limit(counted.charge("u", "c", NOON + 1).await),
        Refusal::Reserved
    );
    let last = counted.charge("v", "c", NOON + 60).await.unwrap();
    counted.quota.settle(&last, money(10)).await.unwrap();
    // Thirteen of twenty-five are spent, ten reserved.
    assert_eq!(
        limit(counted.charge("w", "d", NOON + 61).await),
        Refusal::Reserved
    );
    counted.quota.sweep(NOON + 120).await.unwrap();
    assert_eq!(
        limit(counted.charge("x", "d", NOON + 120).await),
        Refusal::Budget,
        "nobody knows what the dead one spent, so all of it counts"
    );
}

#[tokio::test]
async fn c205_c209_c210_each_day_counts_by_itself() {
    let counted = counting(Limits {
        visitor: 1,
        ..LIMITS
    })
    .await;
    let midnight = Day::at(NOON).end();
    let charge = counted.charge("r", "a", midnight - 2).await.unwrap();
    // Yesterday's item is still there and counts for nothing today.
    let (one, other) = tokio::join!(
        counted.charge("s", "a", midnight + 1),
        counted.charge("t", "b", midnight + 1)
    );
    assert!(one.is_ok() && other.is_ok());
    assert_eq!(
        limit(counted.charge("u", "a", midnight + 30 * 3_600 - DAY).await),
        Refusal::Visitor
    );
    counted.quota.refund(&charge, Money::ZERO).await.unwrap();
    assert_eq!(
        counted.left("a", midnight - 1).await,
        1,
        "the day that was charged"
    );
    assert_eq!(
        counted.left("a", midnight).await,
        0,
        "the day of the refund"
    );
}

#[tokio::test]
async fn c212_clocks_apart_at_midnight_each_keep_to_their_day() {
    let counted = counting(Limits {
        visitor: 2,
        ..LIMITS
    })
    .await;
    let midnight = Day::at(NOON).end();
    let mut charged = 0;
    for n in 0..6 {
        for now in [midnight - 45, midnight + 45] {
            charged += u64::from(
                counted
                    .charge(&format!("r{n}-{now}"), "a", now)
                    .await
                    .is_ok(),
            );
        }
    }
    // A limit for each of the two days, which is what a visitor who waits is given too.
    assert_eq!(charged, 4);
    assert_eq!(
        (
            counted.left("a", midnight - 1).await,
            counted.left("a", midnight).await
        ),
        (0, 0)
    );
}

#[tokio::test]
async fn c213_a_limit_of_nothing_lets_nobody_in() {
    for (limits, expected) in [
        (
            Limits {
                visitor: 0,
                ..LIMITS
            },
            Refusal::Visitor,
        ),
        (
            Limits {
                global: 0,
                ..LIMITS
            },
            Refusal::Global,
        ),
        (
            Limits {
                budget: Some(Money::ZERO),
                ..LIMITS
            },
            Refusal::Budget,
        ),
        (
            Limits {
                budget: Some(money(9)),
                ..LIMITS
            },
            Refusal::Budget,
        ),
    ] {
        let counted = counting(limits).await;
        assert_eq!(limit(counted.charge("r", "a", NOON).await), expected);
        assert_eq!(counted.faults.take("TransactWriteItems"), 0);
    }
}

#[tokio::test]
async fn c215_counters_that_are_away_charge_nobody_and_let_nobody_in() {
    let nowhere = Table::connect("sourced", Some("http://127.0.0.1:1")).await;
    let emulator = testing::dynamodb().await;
    let missing = Table::connect("missing", Some(emulator.endpoint())).await;
    for table in [nowhere, missing] {
        let quota = Quota::new(table, LIMITS);
        let refused = quota.charge("r", visitor("a"), money(1), NOON).await;
        assert!(
            matches!(refused, Err(QuotaError::Unavailable(_))),
            "{refused:?}"
        );
    }
    let counted = counting(LIMITS).await;
    counted
        .faults
        .next(vec![Fault::Refused("AccessDeniedException", &[]); 100]);
    let refused = counted.charge("r", "a", NOON).await;
    assert!(
        matches!(refused, Err(QuotaError::Unavailable(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn c216_refunds_have_an_end() {
    let counted = counting(LIMITS).await;
    for n in 0..6 {
        let charge = counted.charge(&format!("r{n}"), "a", NOON).await.unwrap();
        let expected = if n < 3 {
            State::Refunded
        } else {
            State::Settled
        };
        assert_eq!(
            counted.quota.refund(&charge, Money::ZERO).await.unwrap(),
            expected,
            "{n}"
        );
    }
    assert_eq!(
        limit(counted.charge("r6", "a", NOON).await),
        Refusal::Visitor
    );
}

#[tokio::test]
async fn a_network_stands_for_five_visitors() {
    let counted = counting(LIMITS).await;
    let mut charged = 0;
    for n in 0..20 {
        let account = Account {
            visitor: format!("v{n}"),
            network: Some("n".to_owned()),
        };
        match counted
            .quota
            .charge(&format!("r{n}"), account, money(1), NOON)
            .await
        {
            Ok(charge) if n == 0 => {
                counted.quota.refund(&charge, money(1)).await.unwrap();
            }
            Ok(_) => charged += 1,
            refused => assert_eq!(limit(refused), Refusal::Visitor),
        }
    }
    assert_eq!(charged, 15);
}

#[tokio::test]
async fn a_sweep_closes_what_dead_handlers_left_open() {
    let counted = counting(LIMITS).await;
    let settled = counted.charge("settled", "a", NOON).await.unwrap();
    counted.quota.settle(&settled, money(2)).await.unwrap();
    for n in 0..40 {
        counted
            .charge(&format!("dead{n}"), &format!("v{n}"), NOON)
            .await
            .unwrap();
    }
    counted.charge("alive", "b", NOON + 100).await.unwrap();
    counted.faults.next([Fault::ReplyLost, Fault::CallLost]);
    let found = counted.quota.sweep(NOON + 60).await.unwrap();
    assert_eq!(
        found,
        Swept {
            found: 40,
            refunded: 40,
            ..Swept::default()
        }
    );
    assert_eq!(
        counted.quota.sweep(NOON + 60).await.unwrap(),
        Swept::default()
    );
    assert_eq!(
        counted.remaining("b", NOON).await,
        Remaining {
            visitor: 2,
            global: 98
        }
    );
    // What the dead spent is not known, so all of theirs counts, and what the living one reserved.
    assert_eq!(counted.committed().await, Some(2 + 400 + 10));
}

#[tokio::test]
async fn a_sweep_goes_on_after_what_it_cannot_close() {
    let counted = counting(LIMITS).await;
    let charge = counted.charge("dead", "a", NOON).await.unwrap();
    let day = Day::at(NOON);
    for (id, fields) in [("a-broken", "x"), ("zz-broken", "y")] {
        let text = |value: &str| AttributeValue::S(value.to_owned());
        let put = counted.table.client().put_item();
        put.table_name(counted.table.name())
            .item(PK, text(&format!("charge#{}", shard(id))))
            .item(SK, text(id))
            .item("state", text("open"))
            .item("day", text(&day.to_string()))
            .item("visitor", text(fields))
            .item("charged_at", AttributeValue::N(NOON.to_string()))
            .send()
            .await
            .unwrap();
    }
    let found = counted.quota.sweep(NOON + 60).await.unwrap();
    let expected = Swept {
        found: 3,
        refunded: 1,
        settled: 0,
        failed: 2,
    };
    assert_eq!(found, expected);
    assert_eq!(
        counted.quota.refund(&charge, money(1)).await.unwrap(),
        State::Refunded
    );
}

#[tokio::test]
async fn c201_counters_that_a_busy_table_left_unread_are_read_again() {
    let counted = counting(LIMITS).await;
    counted.charge("r", "a", NOON).await.unwrap();
    counted.faults.take("BatchGetItem");
    counted.faults.next_reads([Fault::Unread, Fault::Unread]);
    counted.charge("s", "a", NOON).await.unwrap();
    assert_eq!(counted.faults.take("BatchGetItem"), 3);
    assert_eq!(counted.left("a", NOON).await, 1);
    counted.faults.next_reads(vec![Fault::Unread; 1_000]);
    let begun = Instant::now();
    let refused = counted.charge("t", "a", NOON).await;
    assert!(
        matches!(refused, Err(QuotaError::Unavailable(_))),
        "{refused:?}"
    );
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_record_whose_counters_are_gone_is_closed() {
    let counted = counting(LIMITS).await;
    let charge = counted.charge("r", "a", NOON).await.unwrap();
    let day = Day::at(NOON);
    for pk in [format!("visitor#{day}#a"), format!("global#{day}")] {
        let table = &counted.table;
        let key = |value: &str| AttributeValue::S(value.to_owned());
        let delete = table.client().delete_item().table_name(table.name());
        delete
            .key(PK, key(&pk))
            .key(SK, key("counter"))
            .send()
            .await
            .unwrap();
    }
    assert_eq!(
        counted.quota.refund(&charge, Money::ZERO).await.unwrap(),
        State::Refunded
    );
    assert_eq!(counted.committed().await, None, "a refund makes no counter");
    assert_eq!(
        counted.quota.sweep(NOON + DAY).await.unwrap(),
        Swept::default()
    );
}

#[tokio::test]
async fn a_flood_at_the_limit_costs_no_writes() {
    let counted = counting(Limits {
        visitor: 1,
        ..LIMITS
    })
    .await;
    counted.charge("r", "a", NOON).await.unwrap();
    counted.faults.take("TransactWriteItems");
    counted.faults.take("BatchGetItem");
    for n in 0..1_000 {
        // A hundred a second.
        let refused = counted.charge(&format!("f{n}"), "a", NOON + n / 100).await;
        assert_eq!(limit(refused), Refusal::Visitor);
    }
    assert_eq!(counted.faults.take("TransactWriteItems"), 0);
    assert_eq!(
        counted.faults.take("BatchGetItem"),
        2,
        "once in five seconds"
    );
}

/// Two hundred visitors at once, for as many questions as half of them may ask; then what one charge adds to a request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(
    clippy::print_stdout,
    reason = "what was measured is part of the result"
)]
async fn two_hundred_visitors_at_the_limit_are_counted_exactly() {
    let counted = Arc::new(
        counting(Limits {
            global: 300,
            ..LIMITS
        })
        .await,
    );
    // Every fifth transaction meets another one.
    let conflict = Fault::Refused(
        "TransactionCanceledException",
        &["None", "TransactionConflict", "None"],
    );
    counted.faults.next((0..200).map(|n| {
        if n % 5 == 0 {
            conflict.clone()
        } else {
            Fault::None
        }
    }));
    let asking: Vec<_> = (0..200)
        .map(|v| {
            let counted = Arc::clone(&counted);
            tokio::spawn(async move {
                let mut outcomes = Vec::new();
                for n in 0..2 {
                    let begun = Instant::now();
                    let charged = counted
                        .charge(&format!("r{v}-{n}"), &format!("v{v}"), NOON)
                        .await;
                    outcomes.push((charged, begun.elapsed()));
                }
                outcomes
            })
        })
        .collect();
    let (mut charged, mut refused) = (0, 0);
    for visitor in asking {
        for (outcome, _) in visitor.await.unwrap() {
            match outcome {
                Ok(_) => charged += 1,
                Err(QuotaError::Limit(Refusal::Global)) => refused += 1,
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!((charged, refused), (300, 100));
    assert_eq!(counted.remaining("v0", NOON).await.global, 0);
    let calls = counted.faults.take("TransactWriteItems");
    let mut alone = Vec::new();
    let quiet = counting(Limits {
        visitor: 1_000,
        global: 1_000,
        budget: None,
    })
    .await;
    for n in 0..200 {
        let begun = Instant::now();
        let charge = quiet.charge(&format!("q{n}"), "a", NOON).await.unwrap();
        let charging = begun.elapsed();
        let begun = Instant::now();
        quiet.quota.settle(&charge, Money::ZERO).await.unwrap();
        alone.push((charging, begun.elapsed()));
    }
    let ms = |of: fn(&(Duration, Duration)) -> Duration, percent: usize| {
        let mut times: Vec<Duration> = alone.iter().map(of).collect();
        times.sort();
        times[(times.len() * percent / 100).min(times.len() - 1)].as_secs_f64() * 1e3
    };
    println!(
        "300 charged and 100 refused of 400 asked by 200 at once, {calls} transactions; alone, a charge took p50 {:.1} ms, \
         p95 {:.1} ms, a settlement p50 {:.1} ms, p95 {:.1} ms",
        ms(|t| t.0, 50),
        ms(|t| t.0, 95),
        ms(|t| t.1, 50),
        ms(|t| t.1, 95)
    );
}
