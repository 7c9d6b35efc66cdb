//! Ingests of small corpora: what a run leaves, whatever ends it.

mod interrupted;
mod runs;
