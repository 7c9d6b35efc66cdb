//! Brings a database's schema up to date: the files of `migrations/`, in order, each once.
//!
//! A run is one transaction under a lock, so two at once are one after the other, and a failure leaves the schema as it
//! was. An applied file is immutable: its hash is recorded, and an edited one is refused.

use sha2::{Digest, Sha256};
use thiserror::Error;
use tokio_postgres::Client;

/// One file of `migrations/`.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// File name without extension; the order of names is the order of application.
    pub name: &'static str,
    /// Statements.
    pub sql: &'static str,
}

/// All of them, oldest first. The last one's number is the schema's.
pub const MIGRATIONS: &[Migration] = &[
    Migration {
        name: "0001_init",
        sql: include_str!("../../../../migrations/0001_init.sql"),
    },
    Migration {
        name: "0002_reader",
        sql: include_str!("../../../../migrations/0002_reader.sql"),
    },
    Migration {
        name: "0003_heading_vectors",
        sql: include_str!("../../../../migrations/0003_heading_vectors.sql"),
    },
];

/// Why the schema was left as it was.
#[derive(Debug, Error)]
pub enum MigrateError {
    /// A file that was applied earlier reads differently now.
    #[error(
        "migration {name} was applied before and has been edited since: restore it and add a new file"
    )]
    Edited {
        /// Which one.
        name: String,
    },
    /// The database was migrated by a newer build.
    #[error("the database knows migration {name}, this build does not: deploy a newer build")]
    Unknown {
        /// Which one.
        name: String,
    },
    /// The server refused a statement.
    #[error("apply migration {name}")]
    Failed {
        /// Which one.
        name: String,
        /// What the server said.
        #[source]
        source: tokio_postgres::Error,
    },
    /// The connection failed.
    #[error("migrate the database")]
    Database(#[from] tokio_postgres::Error),
}

/// Any constant will do: it only has to differ from other locks in the same database.
const LOCK: &str = "select pg_advisory_xact_lock(7022310187115201)";

const TABLE: &str = "
    create table if not exists schema_migrations (
        name text primary key,
        sha256 bytea not null,
        applied_at timestamptz not null default now()
    )";

const APPLIED: &str = "select name, sha256 from schema_migrations order by name";

const RECORD: &str = "insert into schema_migrations (name, sha256) values ($1, $2)";

/// Applies what is missing and answers the names of what it applied.
///
/// # Errors
/// [`MigrateError`]; nothing is applied then.
pub async fn migrate(client: &mut Client) -> Result<Vec<&'static str>, MigrateError> {
    apply(client, MIGRATIONS).await
}

/// [`migrate`] over a given list, which is how the rules are tested.
///
/// # Errors
/// As [`migrate`].
pub async fn apply(
    client: &mut Client,
    migrations: &[Migration],
) -> Result<Vec<&'static str>, MigrateError> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(LOCK).await?;
    transaction.batch_execute(TABLE).await?;
    let mut past = Vec::new();
    for row in transaction.query(APPLIED, &[]).await? {
        let (name, hash): (String, Vec<u8>) = (row.get(0), row.get(1));
        let Some(known) = migrations.iter().find(|known| known.name == name) else {
            return Err(MigrateError::Unknown { name });
        };
        if hash != sha256(known) {
            return Err(MigrateError::Edited { name });
        }
        past.push(name);
    }
    let mut applied = Vec::new();
    for migration in migrations {
        if past.iter().any(|name| name == migration.name) {
            continue;
        }
        transaction
            .batch_execute(migration.sql)
            .await
            .map_err(|source| MigrateError::Failed {
                name: migration.name.to_owned(),
                source,
            })?;
        transaction
            .execute(RECORD, &[&migration.name, &sha256(migration)])
            .await?;
        applied.push(migration.name);
    }
    transaction.commit().await?;
    Ok(applied)
}

fn sha256(migration: &Migration) -> Vec<u8> {
    Sha256::digest(migration.sql.as_bytes()).to_vec()
}
