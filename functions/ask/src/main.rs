//! The `ask` function: wires configuration, log and context, then serves. What it serves is in the library beside it.

// The AWS client and the runtime nest futures deeper than the compiler looks by itself.
#![recursion_limit = "256"]

use std::process::ExitCode;
use std::sync::Arc;

use app::config::Config;
use app::context::Context;
use lambda_http::{run_with_streaming_response, service_fn};

#[tokio::main]
async fn main() -> ExitCode {
    let started = match Config::from_env() {
        Ok(config) => {
            app::telemetry::init(config.log_level);
            Context::new(config).await
        }
        Err(error) => {
            app::telemetry::init(app::config::LogLevel::Info);
            Err(error.into())
        }
    };
    let context = match started {
        Ok(context) => Arc::new(context),
        Err(error) => {
            tracing::error!("failed to start: {error:#}");
            return ExitCode::FAILURE;
        }
    };
    // The streaming runner also serves the short replies: one way out, so that one way is tested.
    let served = run_with_streaming_response(service_fn(|request| {
        ask::handle(Arc::clone(&context), request)
    }))
    .await;
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("failed to serve: {error}");
            ExitCode::FAILURE
        }
    }
}
