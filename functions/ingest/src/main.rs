//! Starts the ingest: as a Lambda handler where the Lambda runtime is, as a command otherwise. See the library.

// The AWS client and the runtime nest futures deeper than the compiler looks by itself.
#![recursion_limit = "256"]

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    ingest::start(std::env::args().skip(1)).await
}
