//! Suggested questions and their prepared answers, as events ready to be sent.
//!
//! The list of a corpus names the edition it was prepared for, and each answer lies under its own, so that nothing prepared
//! for another version of the corpus or another way of answering is found.

use aws_sdk_dynamodb::types::AttributeValue;
use domain::prepared::Edition;
use serde::{Deserialize, Serialize};

use super::item::{Item, item, key, text, words};
use super::{DynamoError, PK, SK, Table};

/// A question that visitors are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    /// Names its prepared answer.
    pub id: String,
    /// As the corpus's manifest has it.
    pub question: String,
}

/// What is suggested for an edition.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Suggestions {
    /// Questions whose answers are prepared, as they are shown.
    pub prepared: Vec<Suggestion>,
    /// Ids of questions whose answers were not fit to be kept, so that they are not asked again.
    pub unfit: Vec<String>,
}

/// A prepared answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// The question it answers.
    pub question: String,
    /// Its events as JSON: a list of pairs of a name and data.
    pub events: String,
}

/// DynamoDB takes items of up to 400 KB; a little is left for the rest of it.
const MOST_BYTES: usize = 390_000;

/// Keeps the answer to a suggested question.
///
/// # Errors
/// When it is larger than an item may be, or DynamoDB refuses or is away.
pub async fn put_prepared(
    table: &Table,
    edition: &Edition,
    id: &str,
    prepared: &Prepared,
) -> Result<(), DynamoError> {
    let sort = sort(edition, id);
    if prepared.events.len() + prepared.question.len() > MOST_BYTES {
        return Err(DynamoError::Malformed {
            key: sort,
            reason: "the answer is larger than an item may be".to_owned(),
        });
    }
    let mut stored = key(&answers(&edition.corpus), &sort);
    stored.extend(item([
        ("question", text(&prepared.question)),
        ("events", text(&prepared.events)),
    ]));
    put(table, stored).await
}

/// Reads the answer `id` of this edition.
///
/// # Errors
/// When DynamoDB refuses or is away.
pub async fn get_prepared(
    table: &Table,
    edition: &Edition,
    id: &str,
) -> Result<Option<Prepared>, DynamoError> {
    let found = get(table, &answers(&edition.corpus), &sort(edition, id)).await?;
    Ok(found.and_then(|item| {
        Some(Prepared {
            question: words(&item, "question")?,
            events: words(&item, "events")?,
        })
    }))
}

/// Publishes the list of an edition and removes the answers of every other one.
///
/// # Errors
/// When DynamoDB refuses or is away.
pub async fn publish_suggestions(
    table: &Table,
    edition: &Edition,
    suggestions: &Suggestions,
) -> Result<(), DynamoError> {
    let list = serde_json::to_string(suggestions)
        .map_err(|error| DynamoError::Unavailable(error.to_string()))?;
    let mut stored = key(&list_of(&edition.corpus), LIST);
    stored.extend(item([
        ("edition", text(&edition.id())),
        ("suggestions", text(&list)),
    ]));
    put(table, stored).await?;
    let keep: Vec<String> = suggestions
        .prepared
        .iter()
        .map(|suggestion| sort(edition, &suggestion.id))
        .collect();
    for sort in sorts(table, &answers(&edition.corpus)).await? {
        if !keep.contains(&sort) {
            table
                .client
                .delete_item()
                .table_name(&table.name)
                .set_key(Some(key(&answers(&edition.corpus), &sort)))
                .send()
                .await?;
        }
    }
    Ok(())
}

/// Reads the list of this edition; `None` when none was published for it.
///
/// # Errors
/// When DynamoDB refuses or is away, or the list is not readable.
pub async fn get_suggestions(
    table: &Table,
    edition: &Edition,
) -> Result<Option<Suggestions>, DynamoError> {
    let pk = list_of(&edition.corpus);
    let Some(item) = get(table, &pk, LIST).await? else {
        return Ok(None);
    };
    if words(&item, "edition").as_deref() != Some(&edition.id()) {
        return Ok(None);
    }
    let list = words(&item, "suggestions").unwrap_or_default();
    serde_json::from_str(&list)
        .map(Some)
        .map_err(|error| DynamoError::Malformed {
            key: pk,
            reason: error.to_string(),
        })
}

const LIST: &str = "suggestions";

fn list_of(corpus: &str) -> String {
    format!("suggestions#{corpus}")
}

fn answers(corpus: &str) -> String {
    format!("prepared#{corpus}")
}

fn sort(edition: &Edition, id: &str) -> String {
    format!("{}#{id}", edition.id())
}

async fn get(table: &Table, pk: &str, sk: &str) -> Result<Option<Item>, DynamoError> {
    let request = table.client.get_item().table_name(&table.name);
    Ok(request.set_key(Some(key(pk, sk))).send().await?.item)
}

async fn put(table: &Table, item: Item) -> Result<(), DynamoError> {
    let request = table.client.put_item().table_name(&table.name);
    request.set_item(Some(item)).send().await?;
    Ok(())
}

/// The sort keys of a partition.
async fn sorts(table: &Table, pk: &str) -> Result<Vec<String>, DynamoError> {
    let mut pages = table
        .client
        .query()
        .table_name(&table.name)
        .key_condition_expression("pk = :pk")
        .expression_attribute_values(":pk", AttributeValue::S(pk.to_owned()))
        .projection_expression(format!("{PK}, {SK}"))
        .into_paginator()
        .items()
        .send();
    let mut sorts = Vec::new();
    while let Some(item) = pages.next().await {
        sorts.extend(words(&item?, SK));
    }
    Ok(sorts)
}
