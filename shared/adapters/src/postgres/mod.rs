//! Postgres: reaching it, its schema, and what is stored there. Corpus versions are written by [`store`] and read by
//! `retrieve`.
//!
//! SQL stands beside the function that runs it. Nothing here keeps session state that a transaction-mode pooler would
//! lose, except an ingest's lock, which has a second guard ([`store::switch`]).

pub mod connect;
pub mod document;
pub mod migrate;
pub mod retrieve;
pub mod store;

pub use tokio_postgres::Client;
