//! What a day allows, and what is left of it.

use crate::cost::Money;

use super::Account;

/// Visitors that one network of addresses may stand for.
pub const NETWORK_VISITORS: u64 = 5;

/// What a day allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Questions of one visitor; 0 lets nobody in.
    pub visitor: u64,
    /// Questions of all visitors; 0 lets nobody in.
    pub global: u64,
    /// What all visitors' answers may cost; `None` sets no limit.
    pub budget: Option<Money>,
}

impl Limits {
    /// Questions of one network.
    #[must_use]
    pub fn network(&self) -> u64 {
        self.visitor.saturating_mul(NETWORK_VISITORS)
    }

    /// Refunds of one visitor a day. Whoever provokes failures is charged for them from here on.
    #[must_use]
    pub fn refunds(&self) -> u64 {
        self.visitor
    }
}

/// One counter's state; a counter that does not exist yet counts nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counter {
    /// Questions charged and not refunded.
    pub questions: u64,
    /// Questions that were refunded.
    pub refunds: u64,
    /// What was spent, and what is reserved for answers under way.
    pub committed: Money,
    /// How much of that is reserved.
    pub reserved: Money,
}

/// The counters of one visitor's day, as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// The visitor's own.
    pub visitor: Counter,
    /// Its network's, where it has one.
    pub network: Counter,
    /// Everybody's.
    pub global: Counter,
}

/// The limit that keeps a question out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// This visitor's questions, or its network's.
    Visitor,
    /// Everybody's questions.
    Global,
    /// The money: what was spent leaves too little.
    Budget,
    /// The money, as long as answers under way hold what they may cost; most of it comes back within a minute.
    Reserved,
}

impl Counters {
    /// The limit that one more question at `worst` cost would break, if any: tested by reading, so that a flood at a limit
    /// costs no writes.
    #[must_use]
    pub fn refuse(&self, account: &Account, limits: &Limits, worst: Money) -> Option<Refusal> {
        let network_full = account.network.is_some() && self.network.questions >= limits.network();
        if self.visitor.questions >= limits.visitor || network_full {
            Some(Refusal::Visitor)
        } else {
            self.global.refuse_all(limits, worst)
        }
    }

    /// What is left.
    #[must_use]
    pub fn remaining(&self, account: &Account, limits: &Limits) -> Remaining {
        let left = |limit: u64, counter: Counter| limit.saturating_sub(counter.questions);
        let mut visitor = left(limits.visitor, self.visitor);
        if account.network.is_some() {
            visitor = visitor.min(left(limits.network(), self.network));
        }
        Remaining {
            visitor,
            global: left(limits.global, self.global),
        }
    }
}

impl Counter {
    /// The limit of everybody that one more question at `worst` cost would break, by everybody's counter.
    pub(super) fn refuse_all(&self, limits: &Limits, worst: Money) -> Option<Refusal> {
        if self.questions >= limits.global {
            return Some(Refusal::Global);
        }
        let budget = limits.budget?;
        if self.committed + worst <= budget {
            None
        } else if self.committed.saturating_sub(self.reserved) + worst <= budget {
            Some(Refusal::Reserved)
        } else {
            Some(Refusal::Budget)
        }
    }
}

/// Questions left today.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remaining {
    /// For this visitor.
    pub visitor: u64,
    /// For everybody.
    pub global: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        visitor: 3,
        global: 20,
        budget: Some(Money::from_picodollars(100)),
    };

    fn check(questions: [u64; 3], committed: u128, expected: Option<Refusal>) {
        let [visitor, network, global] = questions.map(|questions| Counter {
            questions,
            ..Counter::default()
        });
        let counters = Counters {
            visitor,
            network,
            global: Counter {
                committed: Money::from_picodollars(committed),
                ..global
            },
        };
        let account = Account {
            visitor: "v".into(),
            network: Some("n".into()),
        };
        let worst = Money::from_picodollars(10);
        assert_eq!(
            counters.refuse(&account, &LIMITS, worst),
            expected,
            "{questions:?} {committed}"
        );
    }

    #[test]
    fn the_last_question_is_let_in_and_the_next_is_not() {
        check([2, 14, 19], 90, None);
        check([3, 14, 19], 90, Some(Refusal::Visitor));
        check([2, 15, 19], 90, Some(Refusal::Visitor));
        check([2, 14, 20], 90, Some(Refusal::Global));
        check([2, 14, 19], 91, Some(Refusal::Budget));
        check([3, 15, 20], 91, Some(Refusal::Visitor));
    }

    #[test]
    fn money_that_is_only_reserved_keeps_nobody_out_for_the_day() {
        let check = |committed, reserved, expected| {
            let counter = Counter {
                committed: Money::from_picodollars(committed),
                reserved: Money::from_picodollars(reserved),
                ..Counter::default()
            };
            let found = counter.refuse_all(&LIMITS, Money::from_picodollars(10));
            assert_eq!(found, expected, "{committed} of it {reserved}");
        };
        check(90, 10, None);
        check(91, 1, Some(Refusal::Reserved));
        check(100, 100, Some(Refusal::Reserved));
        check(101, 10, Some(Refusal::Budget));
        check(91, 0, Some(Refusal::Budget));
    }

    #[test]
    fn c213_a_limit_of_nothing_lets_nobody_in_though_nothing_was_counted() {
        let account = Account {
            visitor: "v".into(),
            network: None,
        };
        for (visitor, global, budget, expected) in [
            (0, 20, None, Some(Refusal::Visitor)),
            (3, 0, None, Some(Refusal::Global)),
            (3, 20, Some(Money::ZERO), Some(Refusal::Budget)),
            (3, 20, None, None),
        ] {
            let limits = Limits {
                visitor,
                global,
                budget,
            };
            let worst = Money::from_picodollars(1);
            let found = Counters::default().refuse(&account, &limits, worst);
            assert_eq!(found, expected, "{limits:?}");
        }
    }

    #[test]
    fn a_network_leaves_its_visitors_what_it_has_left() {
        let counters = Counters {
            visitor: Counter::default(),
            network: Counter {
                questions: 14,
                ..Counter::default()
            },
            global: Counter::default(),
        };
        let of = |network: Option<&str>| Account {
            visitor: "v".into(),
            network: network.map(str::to_owned),
        };
        let left = |network| counters.remaining(&of(network), &LIMITS).visitor;
        assert_eq!((left(Some("n")), left(None)), (1, 3));
    }
}
