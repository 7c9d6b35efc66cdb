//! Real parts for tests: a migrated Postgres database of one's own, a DynamoDB emulator, a model provider that follows a
//! script, and an embedder that counts.
//!
//! A dev-dependency only. What a test needs and does not find is a failure that says how to get it, never a skip.

mod database;
mod dynamodb;
mod embedder;
pub mod provider;

pub use database::TestDatabase;
pub use dynamodb::{DynamoDb, dynamodb, serve_dynamodb};
pub use embedder::HashEmbedder;
pub use provider::{Recorded, Reply, ScriptedProvider};
