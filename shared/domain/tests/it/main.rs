//! Measures of `domain` that need more than one module or a data set: the gate as its caller sees it, what it costs a good
//! model and how long it takes, and what the support lint catches.

#![expect(
    clippy::print_stdout,
    reason = "a measure is read by people, with its causes"
)]

mod gate_cost;
mod gate_holds;
mod gate_speed;
mod support;
