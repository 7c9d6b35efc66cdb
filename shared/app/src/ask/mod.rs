//! Answers one question.

pub mod event;
