//! Measures answers against questions whose answers are known. `eval [DATASET…]` prints one table a part; the library does
//! the work. The deployed function answers the same questions as a Lambda.

#![recursion_limit = "256"]

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    eval::start(std::env::args().skip(1)).await
}
