//! A small corpus of one's own behind the function: Postgres, the emulator, and a model that follows a script.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use adapters::dynamodb::ledger::Ledger;
use adapters::dynamodb::{Table, ensure_table};
use adapters::sources::Manifest;
use app::config::{Config, Variables};
use app::context::Context;
use app::ingest::progress::for_stderr;
use app::ingest::{Expenses, IngestContext, IngestLimits, ingest};
use aws_sdk_dynamodb::types::AttributeValue;
use domain::cost::Prices;
use serde_json::json;
use testing::{DynamoDb, HashEmbedder, TestDatabase};

use crate::requests::{Reply, call, event_of, request};

/// One that the corpus answers.
pub(crate) const QUESTION: &str = "How many days of notice are counted from submission?";

pub(crate) const NOTICE: &str =
    "# Notice\n\nThe notice is 30 days, and the days are counted from submission.\n";

pub(crate) struct Small {
    pub(crate) database: TestDatabase,
    pub(crate) emulator: DynamoDb,
    manifest: Manifest,
    folder: PathBuf,
}

static NEXT: AtomicU32 = AtomicU32::new(0);

fn model() -> Arc<HashEmbedder> {
    Arc::new(HashEmbedder::new("hash", 64))
}

impl Small {
    pub(crate) async fn new() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("sourced-small-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let small = Self {
            database: TestDatabase::create().await,
            emulator: testing::dynamodb().await,
            manifest: Manifest {
                name: "handbook".into(),
                title: "The Handbook".into(),
                version: "1".into(),
                base_url: None,
                licence: "Ours".into(),
                text_search: "english".into(),
                refusal: "Not found.".into(),
                folder: folder.clone(),
                pages: None,
                suggestions: vec![QUESTION.into()],
            },
            folder,
        };
        ensure_table(&small.table().await).await.unwrap();
        small.ingest(NOTICE).await;
        small
    }

    pub(crate) async fn table(&self) -> Table {
        Table::connect("sourced", Some(self.emulator.endpoint())).await
    }

    /// Makes a new version whose one page is this.
    pub(crate) async fn ingest(&self, page: &str) {
        std::fs::write(self.folder.join("notice.md"), page).unwrap();
        let ctx = IngestContext {
            database: self.database.database_url(),
            table: self.table().await,
            embedder: model(),
            expenses: Expenses {
                ledger: Ledger::new(self.table().await, None),
                prices: Prices::default(),
            },
            progress: for_stderr(),
            limits: IngestLimits::default(),
        };
        ingest(&ctx, &self.manifest, None).await.unwrap();
    }

    /// Prepares the suggested answers, as an ingest does in the end.
    pub(crate) async fn prepare(&self) {
        let context = self.context(&[]).await;
        let prepared = app::suggest::prepare(&context, &self.manifest.suggestions, None).await;
        assert_eq!(prepared.unwrap().ready, 1);
    }

    /// What the function serves with, with these settings above the corpus's own.
    pub(crate) async fn context(&self, settings: &[(&str, &str)]) -> Arc<Context> {
        let own = [
            ("CORPUS", "handbook"),
            ("DATABASE_URL", self.database.url()),
            ("AWS_ENDPOINT_URL_DYNAMODB", self.emulator.endpoint()),
            ("HASH_SECRET", "a secret of the tests"),
            ("RELEVANCE_THRESHOLD", "0"),
        ];
        let settings: Variables = settings.iter().copied().collect();
        let config = Config::read(&settings.above(own.into_iter().collect())).unwrap();
        Arc::new(Context::with_embedder(config, model()).await.unwrap())
    }

    /// Every stored row, as text.
    pub(crate) async fn rows(&self) -> Vec<String> {
        let table = self.table().await;
        let mut rows = Vec::new();
        let mut pages = table
            .client()
            .scan()
            .table_name(table.name())
            .into_paginator()
            .items()
            .send();
        while let Some(item) = pages.next().await {
            let item = item.unwrap();
            rows.push(format!("{}: {}", item["pk"].as_s().unwrap(), row(&item)));
        }
        rows.sort();
        rows
    }
}

/// The same for the same row: a map's order is nobody's.
fn row(item: &std::collections::HashMap<String, AttributeValue>) -> String {
    let text = |value: &AttributeValue| match value {
        AttributeValue::M(map) => row(map),
        other => format!("{other:?}"),
    };
    let mut fields: Vec<String> = item
        .iter()
        .map(|(name, value)| format!("{name}: {}", text(value)))
        .collect();
    fields.sort();
    fields.join(", ")
}

static ASKED: AtomicU32 = AtomicU32::new(0);

/// Asks as the visitor at an address, with these headers beside the usual.
pub(crate) async fn ask_from(
    context: &Arc<Context>,
    source_ip: Option<&str>,
    headers: &[(&str, &str)],
    question: &str,
) -> Reply {
    let id = format!("r-{}", ASKED.fetch_add(1, Ordering::Relaxed));
    let headers: Vec<_> = [("content-type", "application/json")]
        .iter()
        .chain(headers)
        .copied()
        .collect();
    let body = json!({ "question": question }).to_string();
    let mut event = event_of("POST", "/api/ask", &headers, Some(&body), false);
    event["requestContext"]["http"]["sourceIp"] = json!(source_ip);
    call(context, request(&event, &id)).await
}
