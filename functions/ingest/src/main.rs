//! Starts the ingest: as a Lambda handler where the Lambda runtime is, as a command otherwise. See the library.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    ingest::start(std::env::args().skip(1)).await
}
