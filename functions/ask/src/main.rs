//! The `ask` function: wires configuration, log and context, then serves. What it serves is in the library beside it.

// The AWS client and the runtime nest futures deeper than the compiler looks by itself.
#![recursion_limit = "256"]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use app::config::Config;
use app::context::Context;
use lambda_http::{run_with_streaming_response, service_fn};

#[tokio::main]
async fn main() -> ExitCode {
    let started = match Config::from_env().and_then(Config::for_visitors) {
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
    serve(context).await
}

/// A visitor who left before the reply can take the runtime's connection along, which ends the runner. The process is
/// still sound, so it goes on; a runtime that is gone for good fails this often within a moment.
const FAILURES_IN_A_ROW: u32 = 50;
/// A runner that lasted this long was serving.
const SERVING: Duration = Duration::from_secs(1);

/// The streaming runner also serves the short replies: one way out, so that one way is tested.
async fn serve(context: Arc<Context>) -> ExitCode {
    let mut failures = 0;
    loop {
        let began = Instant::now();
        let handler = service_fn(|request| ask::handle(Arc::clone(&context), request));
        let Err(error) = run_with_streaming_response(handler).await else {
            return ExitCode::SUCCESS;
        };
        failures = if began.elapsed() < SERVING {
            failures + 1
        } else {
            1
        };
        if failures == FAILURES_IN_A_ROW {
            tracing::error!("failed to serve: {error}");
            return ExitCode::FAILURE;
        }
        tracing::debug!("the runner ended and starts again: {error}");
    }
}
