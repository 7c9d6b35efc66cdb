//! The adapters against real parts: Postgres with pgvector, and the DynamoDB emulator.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod dynamodb;
mod postgres;
