//! Turns the configuration into what the pipeline works with: manifest, database, table, model.
//!
//! Whatever is missing here fails before anything is read or embedded, with the name of the setting.

use std::path::Path;

use adapters::dynamodb::{Table, ensure_table};
use adapters::postgres::connect::{DatabaseUrl, connect};
use adapters::postgres::migrate as schema;
use adapters::sources::Manifest;
use anyhow::Context as _;
use app::config::{Config, LimitsConfig};
use app::ingest::{Expenses, IngestContext, IngestLimits, progress};

/// Where a manifest's bare name is looked up, below the working directory.
const CORPUS_FOLDER: &str = "corpus";

/// The manifest called `name`.
pub(crate) fn manifest(name: &str) -> anyhow::Result<Manifest> {
    Ok(Manifest::resolve(name, Path::new(CORPUS_FOLDER))?)
}

/// What an ingest works with.
pub(crate) async fn context(config: &Config) -> anyhow::Result<IngestContext> {
    let table = table(&config.limits).await?;
    Ok(IngestContext {
        database: database(config)?,
        expenses: Expenses {
            ledger: app::context::ledger(&config.limits, table.clone()),
            prices: app::context::prices(config)?,
        },
        table,
        embedder: app::context::embedder(&config.models)?,
        progress: progress::for_stderr(),
        limits: IngestLimits::default(),
    })
}

/// Applies the migrations that are missing and answers their names.
pub(crate) async fn migrate(config: &Config) -> anyhow::Result<Vec<&'static str>> {
    let mut client = connect(&database(config)?).await?;
    Ok(schema::migrate(&mut client).await?)
}

fn database(config: &Config) -> anyhow::Result<DatabaseUrl> {
    let database = &config.database;
    DatabaseUrl::parse(database.direct_url.expose(), database.ca_file.as_deref())
        .context("DATABASE_DIRECT_URL, or DATABASE_URL in its place")
}

/// The table of items.
pub(crate) async fn table(limits: &LimitsConfig) -> anyhow::Result<Table> {
    let endpoint = limits.dynamodb_endpoint.as_deref();
    let table = Table::connect(&limits.usage_table, endpoint).await;
    // A deployment's table comes with its stack; an endpoint of one's own is an emulator, which starts empty.
    if endpoint.is_some() {
        ensure_table(&table)
            .await
            .context("create the local table")?;
    }
    Ok(table)
}
