//! A corpus in a folder, everything an ingest and a question need of it, and what readers see of it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use adapters::dynamodb::corpus::{Corpus, get_corpus};
use adapters::dynamodb::ledger::Ledger;
use adapters::dynamodb::{Table, ensure_table};
use adapters::model::Embedder;
use adapters::postgres::Client;
use adapters::sources::Manifest;
use app::config::Config;
use app::context::Context;
use app::ingest::progress::Progress;
use app::ingest::{Expenses, IngestContext, IngestError, IngestLimits, Report, ingest};
use domain::cost::Money;
use testing::{DynamoDb, HashEmbedder, TestDatabase};

pub(crate) struct TestCorpus {
    pub(crate) database: TestDatabase,
    pub(crate) emulator: DynamoDb,
    pub(crate) manifest: Manifest,
    pub(crate) notes: Arc<Notes>,
    folder: PathBuf,
}

/// Remembers what people would have been told.
#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<Vec<String>>);

impl Notes {
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Progress for Notes {
    fn embedding(&self, _: usize) {}
    fn embedded(&self, _: usize) {}
    fn page(&self, document: &str, _: usize, new: usize) {
        self.note(&format!("{document} {new}"));
    }
    fn finished(&self) {}
    fn note(&self, line: &str) {
        self.0.lock().unwrap().push(line.to_owned());
    }
}

static NEXT: AtomicU32 = AtomicU32::new(0);

impl TestCorpus {
    /// A folder of these Markdown pages, given as name and text.
    pub(crate) async fn new(pages: &[(&str, &str)]) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("sourced-corpus-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let emulator = testing::dynamodb().await;
        ensure_table(&table(&emulator).await).await.unwrap();
        let corpus = Self {
            database: TestDatabase::create().await,
            emulator,
            manifest: Manifest {
                name: "handbook".to_owned(),
                title: "The Handbook".to_owned(),
                version: "1".to_owned(),
                base_url: None,
                licence: "Ours".to_owned(),
                text_search: "english".to_owned(),
                refusal: "Not found.".to_owned(),
                folder: folder.clone(),
                pages: None,
                suggestions: Vec::new(),
            },
            notes: Arc::default(),
            folder,
        };
        for (name, text) in pages {
            corpus.put(name, text);
        }
        corpus
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        std::fs::write(self.folder.join(name), text).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.folder.join(name)).unwrap();
    }

    pub(crate) async fn context(&self, embedder: Arc<dyn Embedder>) -> IngestContext {
        IngestContext {
            database: self.database.database_url(),
            table: table(&self.emulator).await,
            embedder,
            expenses: self.expenses(None).await,
            progress: self.notes.clone(),
            limits: IngestLimits {
                batch_texts: 4,
                lock_wait: Duration::from_secs(30),
                ..IngestLimits::default()
            },
        }
    }

    /// What an ingest may cost, at a dollar a million tokens of the model that tests embed with.
    pub(crate) async fn expenses(&self, ceiling: Option<Money>) -> Expenses {
        let priced = "[models.hash]\nembedding = 1.0\n";
        Expenses {
            ledger: Ledger::new(table(&self.emulator).await, ceiling),
            prices: toml::from_str(priced).unwrap(),
        }
    }

    /// Ingests with an embedder that counts.
    pub(crate) async fn ingest(&self) -> Report {
        self.try_ingest(model()).await.unwrap()
    }

    pub(crate) async fn try_ingest(&self, embedder: HashEmbedder) -> Result<Report, IngestError> {
        let ctx = self.context(Arc::new(embedder)).await;
        ingest(&ctx, &self.manifest, None).await
    }

    /// What questions need, with these settings above the corpus's own.
    pub(crate) async fn asking(
        &self,
        embedder: Arc<dyn Embedder>,
        settings: &[(&str, &str)],
    ) -> Context {
        let folder = self.folder.to_str().unwrap();
        let own = [
            ("CORPUS", "handbook"),
            ("DATABASE_URL", self.database.url()),
            ("AWS_ENDPOINT_URL_DYNAMODB", self.emulator.endpoint()),
            ("USAGE_TABLE", "sourced"),
            ("MODEL_DIR", folder),
            ("HASH_SECRET", "a secret of the tests"),
        ];
        let variables = own
            .iter()
            .chain(settings)
            .map(|&(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Context::with_embedder(Config::read(&variables).unwrap(), embedder)
            .await
            .unwrap()
    }

    /// What is served of the corpus.
    pub(crate) async fn item(&self) -> Option<Corpus> {
        get_corpus(&table(&self.emulator).await, "handbook")
            .await
            .unwrap()
    }

    /// What a reader finds now.
    pub(crate) async fn read(&self) -> Snapshot {
        read(&self.database.connect().await).await
    }
}

impl Drop for TestCorpus {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The embedder of most tests.
pub(crate) fn model() -> HashEmbedder {
    HashEmbedder::new("hash", 16)
}

async fn table(emulator: &DynamoDb) -> Table {
    Table::connect("sourced", Some(emulator.endpoint())).await
}

/// One version as a reader finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) version: i64,
    /// Document and text of each chunk.
    pub(crate) chunks: Vec<(String, String)>,
    pub(crate) ids: Vec<i64>,
    /// Documents, words, sentences, terms and postings.
    pub(crate) counts: Vec<i64>,
}

/// Reads as a question does: the current version first, then that version.
pub(crate) async fn read(client: &Client) -> Snapshot {
    let version: i64 = client
        .query_one("select coalesce(max(current), 0) from corpora", &[])
        .await
        .unwrap()
        .get(0);
    let rows = client
        .query(
            "select document, text, id from chunks where version = $1 order by document, ordinal",
            &[&version],
        )
        .await
        .unwrap();
    let mut counts = Vec::new();
    for table in ["documents", "words", "sentences", "terms", "postings"] {
        let row = client
            .query_one(
                &format!("select count(*) from {table} where version = $1"),
                &[&version],
            )
            .await
            .unwrap();
        counts.push(row.get(0));
    }
    Snapshot {
        version,
        chunks: rows.iter().map(|row| (row.get(0), row.get(1))).collect(),
        ids: rows.iter().map(|row| row.get(2)).collect(),
        counts,
    }
}
