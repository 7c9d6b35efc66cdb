//! What is kept of each request, and how many a limit kept out, for `RECORD_DAYS`.
//!
//! A day is spread over partitions. DynamoDB removes what has expired some day; until then it is ignored here.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::cost::Money;
use domain::quota::{Day, SHARDS, shard};
use domain::usage::Record;

use super::item::{Item, count, counts, item, key, number, numbers, text, words};
use super::{DynamoError, SK, TTL, Table, once};

/// Keeps a record until `expires_s`, seconds since 1970.
///
/// # Errors
/// When DynamoDB refuses or is away.
pub async fn put_record(table: &Table, record: &Record, expires_s: u64) -> Result<(), DynamoError> {
    let partition = partition(record.day, shard(&record.request_id));
    let mut stored = key(&partition, &record.request_id);
    stored.extend(item([
        (TTL, number(expires_s)),
        ("question_hash", text(&record.question_hash)),
        ("question_chars", number(record.question_chars)),
        ("outcome", text(&record.outcome)),
        ("charged", AttributeValue::Bool(record.charged)),
        ("timings_ms", numbers(&record.timings_ms)),
        ("input_tokens", number(record.input_tokens)),
        ("output_tokens", number(record.output_tokens)),
        ("embedding_tokens", number(record.embedding_tokens)),
        ("verified", number(record.verified)),
        ("dropped", numbers(&record.dropped)),
        ("degraded", text(&record.degraded.join(","))),
        ("corpus_version", number(record.corpus_version)),
    ]));
    if let Some(cost) = record.cost {
        stored.insert("cost".to_owned(), number(cost.picodollars()));
    }
    let request = table.client.put_item().table_name(&table.name);
    request.set_item(Some(stored)).send().await?;
    Ok(())
}

/// Reads a day's records that have not expired at `now_s`.
///
/// # Errors
/// When DynamoDB refuses or is away.
pub async fn records(table: &Table, day: Day, now_s: u64) -> Result<Vec<Record>, DynamoError> {
    let mut records = Vec::new();
    for shard in 0..SHARDS {
        let mut pages = table
            .client
            .query()
            .table_name(&table.name)
            .key_condition_expression("pk = :pk")
            .filter_expression("#ttl > :now")
            .expression_attribute_names("#ttl", TTL)
            .expression_attribute_values(":pk", text(&partition(day, shard)))
            .expression_attribute_values(":now", number(now_s))
            .into_paginator()
            .items()
            .send();
        while let Some(item) = pages.next().await {
            records.extend(record_of(day, &item?));
        }
    }
    Ok(records)
}

/// Adds to the day's number of questions that were kept out, by reason.
///
/// # Errors
/// When DynamoDB refuses or is away.
pub async fn add_refusals(
    table: &Table,
    day: Day,
    refusals: &BTreeMap<&'static str, u64>,
    expires_s: u64,
) -> Result<(), DynamoError> {
    let mut added = Vec::new();
    let mut request = table
        .client
        .update_item()
        .table_name(&table.name)
        .set_key(Some(key(&refusals_of(day), REFUSALS)))
        .expression_attribute_names("#ttl", TTL)
        .expression_attribute_values(":ttl", number(expires_s));
    for (n, (reason, count)) in refusals.iter().enumerate() {
        added.push(format!("#r{n} :r{n}"));
        request = request
            .expression_attribute_names(format!("#r{n}"), format!("by_{reason}"))
            .expression_attribute_values(format!(":r{n}"), number(count));
    }
    let expression = format!("set #ttl = :ttl add {}", added.join(", "));
    let request = request.update_expression(expression).customize();
    request.config_override(once()).send().await?;
    Ok(())
}

/// The day's number of questions that were kept out, by reason, unless that has expired at `now_s`.
///
/// # Errors
/// When DynamoDB refuses or is away.
pub async fn refusals(
    table: &Table,
    day: Day,
    now_s: u64,
) -> Result<BTreeMap<String, u64>, DynamoError> {
    let request = table.client.get_item().table_name(&table.name);
    let reply = request
        .set_key(Some(key(&refusals_of(day), REFUSALS)))
        .send()
        .await?;
    let fresh = |item: &Item| count(item, TTL).is_some_and(|expires_s: u64| now_s < expires_s);
    let item = reply.item.filter(fresh).unwrap_or_default();
    let reasons = item.keys().filter_map(|name| {
        let reason = name.strip_prefix("by_")?;
        Some((reason.to_owned(), count(&item, name)?))
    });
    Ok(reasons.collect())
}

const REFUSALS: &str = "refusals";

fn partition(day: Day, shard: u8) -> String {
    format!("record#{day}#{shard}")
}

fn refusals_of(day: Day) -> String {
    format!("refusals#{day}")
}

fn record_of(day: Day, item: &Item) -> Option<Record> {
    let number = |name: &str| count(item, name).unwrap_or_default();
    Some(Record {
        request_id: words(item, SK)?,
        day,
        question_hash: words(item, "question_hash")?,
        question_chars: number("question_chars"),
        outcome: words(item, "outcome")?,
        charged: item.get("charged").and_then(|flag| flag.as_bool().ok()) == Some(&true),
        timings_ms: counts(item, "timings_ms"),
        input_tokens: number("input_tokens"),
        output_tokens: number("output_tokens"),
        embedding_tokens: number("embedding_tokens"),
        cost: count(item, "cost").map(Money::from_picodollars),
        verified: number("verified"),
        dropped: counts(item, "dropped"),
        degraded: words(item, "degraded")?
            .split(',')
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect(),
        corpus_version: count(item, "corpus_version").unwrap_or_default(),
    })
}
