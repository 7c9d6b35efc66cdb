//! The pipelines against real parts: Postgres with pgvector, the DynamoDB emulator, files in a folder.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod accounts;
mod ask;
mod corpus;
mod ingest;
mod written;
mod written_bounds;
