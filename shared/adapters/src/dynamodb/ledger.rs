//! What the operator's own work may cost a day: ingest, evaluation and prepared answers, apart from what visitors may.
//!
//! What a call may cost is taken before it is made and corrected when it is over. A run that dies, or a reply that is lost,
//! leaves what was taken: the ledger errs to the dear side, never to the other.

use domain::cost::Money;
use domain::quota::Day;
use thiserror::Error;

use super::item::{difference, key, number};
use super::{DynamoError, TTL, Table, once};

/// The operator's ledger.
#[derive(Debug, Clone)]
pub struct Ledger {
    table: Table,
    ceiling: Option<Money>,
}

/// Why nothing may be spent.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The day's ceiling would be broken.
    #[error(
        "today's ${ceiling} for ingest, evaluation and prepared answers do not cover another ${wanted}"
    )]
    Spent {
        /// The ceiling.
        ceiling: Money,
        /// What was to be spent.
        wanted: Money,
    },
    /// Nobody can say.
    #[error(transparent)]
    Unavailable(#[from] DynamoError),
}

/// An entry outlives its day by so many days.
const KEPT_S: u64 = 3 * 86_400;

impl Ledger {
    /// A ledger in `table` with a ceiling a day; without one nothing is written.
    #[must_use]
    pub fn new(table: Table, ceiling: Option<Money>) -> Self {
        Self { table, ceiling }
    }

    /// Takes `amount`, if it is there to be taken.
    ///
    /// # Errors
    /// [`LedgerError`].
    pub async fn take(&self, day: Day, amount: Money) -> Result<(), LedgerError> {
        let Some(ceiling) = self.ceiling.filter(|_| amount > Money::ZERO) else {
            return Ok(());
        };
        let spent = || LedgerError::Spent {
            ceiling,
            wanted: amount,
        };
        let room = ceiling.picodollars().checked_sub(amount.picodollars());
        let room = room.ok_or_else(spent)?;
        let sent = self
            .table
            .client
            .update_item()
            .table_name(&self.table.name)
            .set_key(Some(key(&partition(day), SORT)))
            .update_expression("set #ttl = :ttl add committed :amount")
            .condition_expression("attribute_not_exists(committed) or committed <= :room")
            .expression_attribute_names("#ttl", TTL)
            .expression_attribute_values(":ttl", number(day.end() + KEPT_S))
            .expression_attribute_values(":amount", number(amount.picodollars()))
            .expression_attribute_values(":room", number(room))
            .customize()
            .config_override(once())
            .send()
            .await;
        match sent {
            Ok(_) => Ok(()),
            Err(error)
                if error
                    .as_service_error()
                    .is_some_and(|error| error.is_conditional_check_failed_exception()) =>
            {
                Err(spent())
            }
            Err(error) => Err(DynamoError::from(error).into()),
        }
    }

    /// Gives back what was taken and not `spent`.
    ///
    /// # Errors
    /// When DynamoDB refuses or is away; the day's entry is then too high.
    pub async fn correct(&self, day: Day, taken: Money, spent: Money) -> Result<(), DynamoError> {
        if self.ceiling.is_none() || taken == spent {
            return Ok(());
        }
        self.table
            .client
            .update_item()
            .table_name(&self.table.name)
            .set_key(Some(key(&partition(day), SORT)))
            .update_expression("add committed :correction")
            .condition_expression("attribute_exists(committed)")
            .expression_attribute_values(":correction", difference(taken, spent))
            .customize()
            .config_override(once())
            .send()
            .await?;
        Ok(())
    }
}

const SORT: &str = "ledger";

fn partition(day: Day) -> String {
    format!("ledger#{day}")
}
