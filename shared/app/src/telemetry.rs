//! The log: JSON lines on Lambda, plain lines elsewhere, always on standard error.
//!
//! The rulebook, for whoever writes a line:
//! - Log once, where a thing is handled. The message reads alone (`failed to answer: embed question: timed out`); facts are
//!   dotted fields of the same name everywhere (`request.id`, `corpus.version`, `passages.n`, `duration_ms`).
//! - One line per answer at `info` from the pipeline, one per request from the HTTP edge. `warn` is for what was done without, `error` for
//!   failures of ours; a visitor's mistake is neither.
//! - Never question text, prompts, answers, keys, visitors' addresses or what stands for them. Lengths and counts instead.
//!   So libraries are held to warnings whatever the level (their finer lines hold query parameters and request bodies), the
//!   Lambda runtime is silent (it prints panic messages), and a panic is logged as its place alone.

use std::panic::PanicHookInfo;

use tracing_subscriber::EnvFilter;

use crate::config::LogLevel;

/// Starts the log. Later calls in the same process change nothing.
pub fn init(level: LogLevel) {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter(level))
        .with_writer(std::io::stderr);
    let started = if std::env::var_os("LAMBDA_TASK_ROOT").is_some() {
        builder.json().flatten_event(true).try_init()
    } else {
        builder.compact().with_target(false).try_init()
    };
    if started.is_ok() {
        std::panic::set_hook(Box::new(log_panic));
    }
}

/// What is written at `level`: of ours all of it, of libraries warnings, see the rulebook.
#[must_use]
pub fn filter(level: LogLevel) -> EnvFilter {
    let ours = ["ask", "ingest", "eval", "app", "adapters", "domain"];
    let directives: Vec<String> = std::iter::once("warn".to_owned())
        .chain(std::iter::once("lambda_runtime=off".to_owned()))
        .chain(ours.iter().map(|name| format!("{name}={}", level.name())))
        .collect();
    EnvFilter::new(directives.join(","))
}

/// A panic's message may quote the text it choked on, so only its place is written.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let place = panic
        .location()
        .map(ToString::to_string)
        .unwrap_or_default();
    tracing::error!(target: "app", "panicked at {place}");
}
