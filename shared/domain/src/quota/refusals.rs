//! Remembers for a moment whom a limit keeps out, so that a flood costs neither reads nor writes.
//!
//! A refund elsewhere is seen when the moment has passed. It holds keys, never addresses, and so many of them at most.

use std::collections::HashMap;

use super::{Account, Day, Refusal};

/// Seconds a refusal is remembered.
const MEMORY_S: u64 = 5;
/// Visitors remembered at most; those beyond are read anew each time.
const MOST: usize = 4_096;

/// The refusals of the last few seconds.
#[derive(Debug, Default)]
pub struct Refusals {
    everybody: Option<(Day, Refusal, u64)>,
    visitors: HashMap<String, (Day, u64)>,
}

impl Refusals {
    /// Why `account` is kept out, if that was found out on this day a moment ago.
    #[must_use]
    pub fn recall(&self, account: &Account, day: Day, now_s: u64) -> Option<Refusal> {
        let fresh = |of: Day, until: u64| of == day && now_s < until;
        if let Some((of, refusal, until)) = self.everybody
            && fresh(of, until)
        {
            return Some(refusal);
        }
        self.visitors
            .get(&account.visitor)
            .filter(|(of, until)| fresh(*of, *until))
            .map(|_| Refusal::Visitor)
    }

    /// Remembers that `account` was kept out.
    pub fn remember(&mut self, account: &Account, day: Day, refusal: Refusal, now_s: u64) {
        let until = now_s.saturating_add(MEMORY_S);
        match refusal {
            Refusal::Global | Refusal::Budget | Refusal::Reserved => {
                self.everybody = Some((day, refusal, until))
            }
            Refusal::Visitor => {
                if self.visitors.len() >= MOST {
                    self.visitors.retain(|_, (_, until)| now_s < *until);
                }
                if self.visitors.len() < MOST {
                    self.visitors.insert(account.visitor.clone(), (day, until));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(visitor: &str) -> Account {
        Account {
            visitor: visitor.to_owned(),
            network: None,
        }
    }

    #[test]
    fn a_refusal_is_recalled_for_a_moment_on_its_day() {
        let (today, tomorrow) = (Day::at(0), Day::at(86_400));
        let mut refusals = Refusals::default();
        refusals.remember(&account("a"), today, Refusal::Visitor, 100);
        for (visitor, day, now, expected) in [
            ("a", today, 100, Some(Refusal::Visitor)),
            ("a", today, 104, Some(Refusal::Visitor)),
            ("a", today, 105, None),
            ("a", tomorrow, 101, None),
            ("b", today, 101, None),
        ] {
            assert_eq!(refusals.recall(&account(visitor), day, now), expected);
        }
        refusals.remember(&account("a"), today, Refusal::Budget, 200);
        assert_eq!(
            refusals.recall(&account("b"), today, 201),
            Some(Refusal::Budget)
        );
    }

    #[test]
    fn a_flood_of_visitors_fills_no_memory() {
        let day = Day::at(0);
        let mut refusals = Refusals::default();
        for n in 0..3 * MOST {
            refusals.remember(&account(&n.to_string()), day, Refusal::Visitor, 1);
        }
        assert_eq!(refusals.visitors.len(), MOST);
        refusals.remember(&account("late"), day, Refusal::Visitor, 1 + MEMORY_S);
        assert_eq!(refusals.visitors.len(), 1);
    }
}
