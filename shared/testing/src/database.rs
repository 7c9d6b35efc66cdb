//! A migrated database for one test, cloned from a template in a fraction of a second and dropped with the test.
//!
//! The server is `TEST_DATABASE_URL`'s, whose role may create databases. The template is built once per set of migrations.

use std::sync::atomic::{AtomicU32, Ordering};

use adapters::postgres::Client;
use adapters::postgres::connect::{DatabaseUrl, connect};
use adapters::postgres::migrate::{MIGRATIONS, migrate};
use sha2::{Digest, Sha256};

/// A database that nobody else uses.
#[derive(Debug)]
pub struct TestDatabase {
    server: DatabaseUrl,
    url: String,
    name: String,
}

static NEXT: AtomicU32 = AtomicU32::new(0);

impl TestDatabase {
    /// A database with all migrations applied.
    ///
    /// # Panics
    /// Without a usable `TEST_DATABASE_URL`.
    pub async fn create() -> Self {
        let server = server();
        let template = template(&server).await;
        Self::clone_of(&template).await
    }

    /// A database without any table.
    ///
    /// # Panics
    /// Without a usable `TEST_DATABASE_URL`.
    pub async fn empty() -> Self {
        Self::clone_of("template0").await
    }

    async fn clone_of(template: &str) -> Self {
        let server = server();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("sourced_test_{}_{number}", std::process::id());
        let client = open(&server).await;
        run(
            &client,
            &format!("drop database if exists {name} with (force)"),
        )
        .await;
        run(
            &client,
            &format!("create database {name} template {template}"),
        )
        .await;
        Self {
            url: url_of(&name),
            server,
            name,
        }
    }

    /// Its URL, for programs.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its URL as connections take it.
    #[must_use]
    pub fn database_url(&self) -> DatabaseUrl {
        self.server.with_database(&self.name)
    }

    /// A new connection to it.
    ///
    /// # Panics
    /// When the server is gone.
    pub async fn connect(&self) -> Client {
        open(&self.database_url()).await
    }
}

impl Drop for TestDatabase {
    /// As well as it can: a database left behind harms nobody.
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // The test's own runtime may be ending, so the last statement has one to itself.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(async {
                let client = connect(&server).await?;
                client
                    .batch_execute(&format!("drop database if exists {name} with (force)"))
                    .await?;
                anyhow::Ok(())
            })
        });
        let _ = dropping.join();
    }
}

/// The name of the migrated template, built first if it is missing.
async fn template(server: &DatabaseUrl) -> String {
    let mut hash = Sha256::new();
    for migration in MIGRATIONS {
        hash.update(migration.name);
        hash.update(migration.sql);
    }
    let name = format!("sourced_template_{:x}", hash.finalize())[..40].to_owned();
    let client = open(server).await;
    // Tests run in many processes: one builds, the others wait.
    run(&client, "select pg_advisory_lock(7022310187115203)").await;
    let complete: bool = client
        .query_one(
            "select exists (select from pg_database where datname = $1 and datistemplate)",
            &[&name],
        )
        .await
        .expect("look for the template database")
        .get(0);
    if !complete {
        // Without the mark it was left half-made by a killed run.
        run(
            &client,
            &format!("drop database if exists {name} with (force)"),
        )
        .await;
        run(
            &client,
            &format!("create database {name} template template0"),
        )
        .await;
        let mut inside = open(&server.with_database(&name)).await;
        migrate(&mut inside)
            .await
            .expect("migrate the template database");
        drop(inside);
        run(&client, &format!("alter database {name} is_template true")).await;
    }
    run(&client, "select pg_advisory_unlock(7022310187115203)").await;
    name
}

fn server() -> DatabaseUrl {
    DatabaseUrl::parse(&server_url(), None).expect("TEST_DATABASE_URL")
}

#[expect(clippy::panic, reason = "a test without its database has failed")]
fn server_url() -> String {
    std::env::var("TEST_DATABASE_URL")
        .unwrap_or_else(|_| panic!("no test database: run scripts/test, or set TEST_DATABASE_URL"))
}

/// The server's URL with the database replaced.
fn url_of(database: &str) -> String {
    let url = server_url();
    let (base, query) = url
        .split_once('?')
        .map_or((url.as_str(), None), |(base, query)| (base, Some(query)));
    let authority = base.find("://").map_or(0, |at| at + 3);
    let end = base[authority..]
        .find('/')
        .map_or(base.len(), |at| authority + at);
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}/{database}{query}", &base[..end])
}

async fn open(url: &DatabaseUrl) -> Client {
    connect(url)
        .await
        .expect("connect to TEST_DATABASE_URL's server")
}

async fn run(client: &Client, statement: &str) {
    client
        .batch_execute(statement)
        .await
        .unwrap_or_else(|error| panic_with(statement, &error));
}

#[expect(clippy::panic, reason = "a test without its database has failed")]
fn panic_with(statement: &str, error: &tokio_postgres::Error) {
    panic!("{statement}: {error:?}")
}
