//! Everything that touches the world: databases, models, corpus files, recorded results.
//!
//! An adapter is an error type sorted by what to do next, a few plain functions, and one real thing behind them. Rules
//! live in `domain`; which adapters are used is decided in `app`.

pub mod dynamodb;
#[cfg(feature = "local")]
pub mod local_model;
pub mod model;
pub mod postgres;
pub mod provider;
pub mod results;
pub mod sources;
mod tls;
