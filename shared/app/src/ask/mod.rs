//! Answers one question.

pub mod event;
pub mod question;

