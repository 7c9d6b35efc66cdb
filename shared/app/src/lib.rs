//! The two pipelines, what they share, and nothing that touches the world by itself.
//!
//! `ask` answers one question and takes a [`context::Context`], the composition root; `ingest` builds one corpus version
//! and takes an [`ingest::IngestContext`]. IO lives in `adapters`, rules in `domain`.

pub mod ask;
pub mod config;
pub mod context;
pub mod error;
pub mod ingest;
pub mod telemetry;
