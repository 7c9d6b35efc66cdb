//! Ingests of small corpora: what a run leaves, whatever ends it.

mod corpus;
mod interrupted;
mod runs;
