//! The mode that is in force until somebody sets another, without a deployment.

use domain::mode::Mode;

use super::item::{item, key, text, words};
use super::{DynamoError, PK, SK, Table};

const KEY: &str = "mode";

/// Reads the stored mode; `None` while none was ever stored.
///
/// # Errors
/// When DynamoDB refuses or is away, or the item holds no mode.
pub async fn get_mode(table: &Table) -> Result<Option<Mode>, DynamoError> {
    let reply = table
        .client
        .get_item()
        .table_name(&table.name)
        .set_key(Some(key(KEY, KEY)))
        .consistent_read(true)
        .send()
        .await?;
    reply
        .item
        .map(|item| {
            words(&item, KEY)
                .and_then(|name| Mode::named(&name))
                .ok_or_else(|| DynamoError::Malformed {
                    key: KEY.to_owned(),
                    reason: "it holds no mode".to_owned(),
                })
        })
        .transpose()
}

/// Stores the mode.
///
/// # Errors
/// When DynamoDB refuses or is away.
pub async fn put_mode(table: &Table, mode: Mode) -> Result<(), DynamoError> {
    let item = item([(PK, text(KEY)), (SK, text(KEY)), (KEY, text(mode.name()))]);
    table
        .client
        .put_item()
        .table_name(&table.name)
        .set_item(Some(item))
        .send()
        .await?;
    Ok(())
}
