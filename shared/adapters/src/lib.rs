//! .
pub mod sources;
