//! The two pipelines, what they share, and nothing that touches the world by itself.
//!
//! `ask` answers one question and takes a [`context::Context`], the composition root; `admit` lets it in before, `suggest`
//! prepares answers with it, `documents` reads what a citation opens. `ingest` builds one corpus version and takes an
//! [`ingest::IngestContext`]. IO lives in `adapters`, rules in `domain`.

pub mod admit;
pub mod ask;
mod cache;
pub mod clock;
pub mod config;
pub mod context;
pub mod documents;
pub mod error;
pub mod ingest;
pub mod suggest;
pub mod telemetry;
