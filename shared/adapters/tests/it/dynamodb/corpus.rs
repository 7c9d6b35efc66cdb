//! The corpus item, written to and read from the emulator.

use adapters::dynamodb::corpus::{Corpus, get_corpus, put_corpus};
use adapters::dynamodb::{DynamoError, PK, SK, Table, ensure_table};
use aws_sdk_dynamodb::types::AttributeValue;

fn corpus(base_url: Option<&str>) -> Corpus {
    Corpus {
        name: "docs".to_owned(),
        title: "The Docs".to_owned(),
        label: "17".to_owned(),
        licence: "Ours".to_owned(),
        refusal: "Not found.".to_owned(),
        base_url: base_url.map(str::to_owned),
        version: 3,
        pages: 35,
        chunks: 610,
        built_at: "2026-01-31T10:00:00Z".to_owned(),
        embedding_model: "m".to_owned(),
        dimensions: 384,
    }
}

#[tokio::test]
async fn keeps_a_corpus_and_replaces_it() {
    let emulator = testing::dynamodb().await;
    let table = Table::connect("sourced", Some(emulator.endpoint())).await;
    ensure_table(&table).await.unwrap();
    ensure_table(&table).await.unwrap();
    assert_eq!(get_corpus(&table, "docs").await.unwrap(), None);
    for corpus in [corpus(Some("https://docs.example/17/")), corpus(None)] {
        put_corpus(&table, &corpus).await.unwrap();
        assert_eq!(get_corpus(&table, "docs").await.unwrap(), Some(corpus));
    }
    assert_eq!(get_corpus(&table, "other").await.unwrap(), None);
}

#[tokio::test]
async fn refuses_an_item_of_a_newer_build() {
    let emulator = testing::dynamodb().await;
    let table = Table::connect("sourced", Some(emulator.endpoint())).await;
    ensure_table(&table).await.unwrap();
    table
        .client()
        .put_item()
        .table_name(table.name())
        .item(PK, AttributeValue::S("corpus#docs".to_owned()))
        .item(SK, AttributeValue::S("corpus".to_owned()))
        .item("schema", AttributeValue::N("99".to_owned()))
        .send()
        .await
        .unwrap();
    let error = get_corpus(&table, "docs").await.unwrap_err();
    assert!(
        matches!(&error, DynamoError::Malformed { key, reason } if key == "corpus#docs" && reason.contains("newer")),
        "{error}"
    );
}

#[tokio::test]
async fn a_table_that_is_away_is_told_within_seconds() {
    let emulator = testing::dynamodb().await;
    let missing = Table::connect("missing", Some(emulator.endpoint())).await;
    let nowhere = Table::connect("sourced", Some("http://127.0.0.1:1")).await;
    for table in [missing, nowhere] {
        let started = std::time::Instant::now();
        let error = get_corpus(&table, "docs").await.unwrap_err();
        assert!(matches!(error, DynamoError::Unavailable(_)), "{error}");
        assert!(started.elapsed().as_secs() < 10);
    }
}
