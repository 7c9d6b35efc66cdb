//! The gate as its caller sees it: what holds for every answer, what it costs a good model, how long it takes.

mod gate_cost;
mod gate_holds;
mod gate_speed;
