//! The corpus item: what the page, the status route and every refusal say about the corpus, written when a version is
//! switched to, so that none of them wakes Postgres.
//!
//! It describes Postgres's current version; should the two differ, the next ingest writes it again.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use super::{DynamoError, PK, SK, Table};

/// Number of the item's form. A reader refuses a higher one.
pub const SCHEMA: u32 = 1;

/// A corpus as it is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corpus {
    /// The manifest's name.
    pub name: String,
    /// As people call it.
    pub title: String,
    /// The documentation's own version.
    pub label: String,
    /// Licence line shown below the page.
    pub licence: String,
    /// What is said when nothing relevant was found.
    pub refusal: String,
    /// Where the documents are read; `None` when this service serves them itself.
    pub base_url: Option<String>,
    /// Number of the current version.
    pub version: i64,
    /// Number of documents.
    pub pages: u64,
    /// Number of chunks.
    pub chunks: u64,
    /// When the version was switched to, RFC 3339 in UTC.
    pub built_at: String,
    /// Identity of the model its vectors were made with.
    pub embedding_model: String,
    /// Length of its vectors.
    pub dimensions: usize,
}

/// Writes the item, replacing an older one.
///
/// # Errors
/// When DynamoDB refuses or is away.
pub async fn put_corpus(table: &Table, corpus: &Corpus) -> Result<(), DynamoError> {
    table
        .client
        .put_item()
        .table_name(&table.name)
        .set_item(Some(to_item(corpus)))
        .send()
        .await?;
    Ok(())
}

/// Reads the item of the corpus `name`, if it was ever switched to.
///
/// # Errors
/// When DynamoDB refuses or is away, or the item is of a form this build does not know.
pub async fn get_corpus(table: &Table, name: &str) -> Result<Option<Corpus>, DynamoError> {
    let reply = table
        .client
        .get_item()
        .table_name(&table.name)
        .key(PK, AttributeValue::S(key(name)))
        .key(SK, AttributeValue::S(SORT.to_owned()))
        .consistent_read(true)
        .send()
        .await?;
    reply
        .item
        .map(|item| {
            from_item(&item).map_err(|reason| DynamoError::Malformed {
                key: key(name),
                reason,
            })
        })
        .transpose()
}

const SORT: &str = "corpus";

fn key(name: &str) -> String {
    format!("corpus#{name}")
}

fn to_item(corpus: &Corpus) -> HashMap<String, AttributeValue> {
    let text = |value: &str| AttributeValue::S(value.to_owned());
    let number = |value: &dyn ToString| AttributeValue::N(value.to_string());
    let mut item: HashMap<String, AttributeValue> = [
        (PK, AttributeValue::S(key(&corpus.name))),
        (SK, text(SORT)),
        ("schema", number(&SCHEMA)),
        ("name", text(&corpus.name)),
        ("title", text(&corpus.title)),
        ("label", text(&corpus.label)),
        ("licence", text(&corpus.licence)),
        ("refusal", text(&corpus.refusal)),
        ("version", number(&corpus.version)),
        ("pages", number(&corpus.pages)),
        ("chunks", number(&corpus.chunks)),
        ("built_at", text(&corpus.built_at)),
        ("embedding_model", text(&corpus.embedding_model)),
        ("dimensions", number(&corpus.dimensions)),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    if let Some(base_url) = &corpus.base_url {
        item.insert("base_url".to_owned(), text(base_url));
    }
    item
}

fn from_item(item: &HashMap<String, AttributeValue>) -> Result<Corpus, String> {
    let text = |name: &str| -> Result<String, String> {
        item.get(name)
            .and_then(|value| value.as_s().ok())
            .cloned()
            .ok_or_else(|| format!("{name} is missing"))
    };
    let schema: u32 = number(item, "schema")?;
    if schema > SCHEMA {
        return Err(format!(
            "schema {schema} is newer than this build's {SCHEMA}"
        ));
    }
    Ok(Corpus {
        name: text("name")?,
        title: text("title")?,
        label: text("label")?,
        licence: text("licence")?,
        refusal: text("refusal")?,
        base_url: item
            .get("base_url")
            .and_then(|value| value.as_s().ok())
            .cloned(),
        version: number(item, "version")?,
        pages: number(item, "pages")?,
        chunks: number(item, "chunks")?,
        built_at: text("built_at")?,
        embedding_model: text("embedding_model")?,
        dimensions: number(item, "dimensions")?,
    })
}

fn number<N: std::str::FromStr>(
    item: &HashMap<String, AttributeValue>,
    name: &str,
) -> Result<N, String> {
    item.get(name)
        .and_then(|value| value.as_n().ok())
        .and_then(|value| value.parse().ok())
        .ok_or_else(|| format!("{name} is missing or no number"))
}
