//! The Lambda edge: one scheduled invocation is one run, which ends before the function's time-out.
//!
//! An invocation that could not read some pages fails, so that its alarm rings, though a new version may be live. An
//! incomplete one succeeds: the next invocation goes on.

use std::time::{Duration, SystemTime};

use anyhow::bail;
use app::config::Config;
use app::ingest::Outcome;
use lambda_runtime::{LambdaEvent, service_fn};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{Run, configuration, housekeeping, run};

/// Kept free before the time-out for storing and switching, which no deadline interrupts.
const MARGIN: Duration = Duration::from_secs(60);

/// What an invocation may carry.
#[derive(Debug, Default, Deserialize)]
struct Request {
    /// A name or a path; the configured corpus otherwise.
    manifest: Option<String>,
    /// What to do instead of building a version.
    task: Option<Task>,
}

/// What a schedule of its own may do.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Task {
    /// Close the charges that dead handlers left open.
    Sweep,
}

/// Serves invocations until the process is ended.
pub(crate) async fn serve() -> anyhow::Result<()> {
    let config = configuration()?;
    lambda_runtime::run(service_fn(|event| handle(&config, event)))
        .await
        .map_err(|error| anyhow::anyhow!(error))
}

async fn handle(
    config: &Config,
    event: LambdaEvent<Value>,
) -> Result<Value, lambda_runtime::Error> {
    let reply = answer(config, event).await;
    reply.map_err(|error| {
        tracing::error!("failed to ingest: {error:#}");
        format!("{error:#}").into()
    })
}

async fn answer(config: &Config, event: LambdaEvent<Value>) -> anyhow::Result<Value> {
    // A schedule's own event has other fields, or is no object at all.
    let request: Request = serde_json::from_value(event.payload).unwrap_or_default();
    // A local runtime names a deadline that is past when the event comes: it says nothing.
    let deadline = event
        .context
        .deadline()
        .duration_since(SystemTime::now())
        .ok()
        .map(|left| Instant::now() + left.saturating_sub(MARGIN));
    let Run { report, notes } = match request.task {
        Some(Task::Sweep) => {
            let note = housekeeping::sweep(&config.limits).await;
            return Ok(json!({ "note": note }));
        }
        None => run(config, request.manifest.as_deref(), deadline).await,
    };
    for note in &notes {
        tracing::info!("{note}");
    }
    let report = report?;
    tracing::info!(
        corpus.version = report.version,
        pages.n = report.pages,
        chunks.n = report.chunks,
        texts.n = report.embedded,
        "ingested"
    );
    if report.exit_code() == 3 {
        bail!("{report}");
    }
    Ok(json!({
        "outcome": match report.outcome {
            Outcome::Unchanged => "unchanged",
            Outcome::Switched => "switched",
            Outcome::Incomplete { .. } => "incomplete",
        },
        "version": report.version,
        "pages": report.pages,
        "chunks": report.chunks,
        "embedded": report.embedded,
    }))
}
