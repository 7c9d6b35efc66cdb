//! citation
