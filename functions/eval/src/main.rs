//! Starts the evaluation: as a Lambda handler where the Lambda runtime is, as a command otherwise. See the library.

#![recursion_limit = "256"]

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    eval::start(std::env::args().skip(1)).await
}
