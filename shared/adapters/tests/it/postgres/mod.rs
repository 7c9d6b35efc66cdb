//! Schema and versions, in a database of each test's own.

mod migrate;
mod retrieve;
mod store;
