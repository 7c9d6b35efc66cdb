//! Measures of `domain` that need more than one module or a data set.

#![expect(
    clippy::print_stdout,
    reason = "a measure is read by people, with its causes"
)]

mod support;
