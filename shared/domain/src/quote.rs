//! quote
