//! What Sourced exists for, as plain functions over plain values: chunking, fusion, the citation grammar, verification,
//! relevance and the extractive answer.
//!
//! Nothing here does IO, reads a clock or the environment, or knows a database, a model provider or a cloud: what cannot
//! touch the world cannot fail because of it. Modules stand in the order text passes through them.

pub mod calibrate;
pub mod canary;
pub mod chunk;
pub mod citation;
pub mod cost;
pub mod document;
pub mod evidence;
pub mod extract;
pub mod fold;
pub mod fragment;
pub mod fuse;
pub mod gate;
pub mod marker;
pub mod mode;
pub mod names;
pub mod prepared;
pub mod quota;
pub mod quote;
pub mod relevance;
pub mod running_text;
pub mod scope;
pub mod sentence;
pub mod spelling;
pub mod support;
pub mod tokens;
pub mod usage;
pub mod visitor;
pub mod writing;
