//! Whether a question counts, by how its answer ended. ARCHITECTURE.md has the same table in words.

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// With sentences, or with the refusal after none held: `answered`, `partial`, `unsupported`.
    Answered,
    /// Nothing relevant was found: `abstained`.
    Abstained,
    /// The model, or its provider's filter, declined: `refused`, `filtered`.
    Declined,
    /// It broke off: `provider`, `deadline`, `internal`.
    Failed,
    /// What the service stands on was away: `unavailable`.
    Unavailable,
    /// The visitor left.
    Left,
}

/// What of an answer's end decides whether it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ending {
    /// How it ended.
    pub outcome: Outcome,
    /// A model's first word came, shown or not.
    pub first_word: bool,
    /// A provider did something that it charges for.
    pub paid: bool,
    /// A model should have written, and failed before its first word.
    pub without_model: bool,
}

/// Whether a question counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fate {
    /// It does.
    Stands,
    /// It is given back.
    Refunded,
}

impl Ending {
    /// A visitor is charged for what was done at their wish, and not for what failed on our side.
    #[must_use]
    pub fn fate(self) -> Fate {
        let stands = match self.outcome {
            // Even after a failure: or whoever leaves early asks for nothing.
            Outcome::Left | Outcome::Declined => true,
            Outcome::Answered => !self.without_model,
            Outcome::Abstained => self.paid,
            Outcome::Failed => self.first_word,
            Outcome::Unavailable => false,
        };
        if stands { Fate::Stands } else { Fate::Refunded }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c217_every_ending_has_its_fate() {
        use Fate::{Refunded, Stands};
        use Outcome::{Abstained, Answered, Declined, Failed, Left, Unavailable};
        // By (first word, paid, without model), in the order of counting up.
        const TABLE: [(Outcome, [Fate; 8]); 6] = [
            (
                Answered,
                [
                    Stands, Refunded, Stands, Refunded, Stands, Refunded, Stands, Refunded,
                ],
            ),
            (
                Abstained,
                [
                    Refunded, Refunded, Stands, Stands, Refunded, Refunded, Stands, Stands,
                ],
            ),
            (Declined, [Stands; 8]),
            (
                Failed,
                [
                    Refunded, Refunded, Refunded, Refunded, Stands, Stands, Stands, Stands,
                ],
            ),
            (Unavailable, [Refunded; 8]),
            (Left, [Stands; 8]),
        ];
        for (outcome, fates) in TABLE {
            for (bits, expected) in fates.into_iter().enumerate() {
                let ending = Ending {
                    outcome,
                    first_word: bits & 4 != 0,
                    paid: bits & 2 != 0,
                    without_model: bits & 1 != 0,
                };
                assert_eq!(ending.fate(), expected, "{ending:?}");
            }
        }
    }
}
