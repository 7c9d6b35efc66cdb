//! The adapters against real parts: Postgres with pgvector, the DynamoDB emulator, a server of S3, and a provider that follows
//! a script.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod dynamodb;
mod postgres;
mod provider;
mod results;
