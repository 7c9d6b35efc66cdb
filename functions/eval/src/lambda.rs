//! The Lambda edge: one invocation is one slice of a run of the configured corpus. The one that asks the last question
//! records the run.

use std::time::{Duration, SystemTime};

use app::config::Config;
use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::gate::Standard;
use crate::slice::Slice;
use crate::{ask, dataset, record_run};

/// Kept free before the time-out: for the question that is asked when the time is up, and for recording.
const MARGIN: Duration = Duration::from_secs(120);

/// Serves invocations until the process is ended.
pub(crate) async fn serve() -> anyhow::Result<()> {
    let config = Config::from_env()?;
    app::telemetry::init(config.log_level);
    lambda_runtime::run(service_fn(|event| handle(&config, event)))
        .await
        .map_err(|error| anyhow::anyhow!(error))
}

async fn handle(
    config: &Config,
    event: LambdaEvent<Value>,
) -> Result<Value, lambda_runtime::Error> {
    // A local runtime names a deadline that is past when the event comes: it says nothing.
    let left = event.context.deadline().duration_since(SystemTime::now());
    let until = left
        .ok()
        .map(|left| Instant::now() + left.saturating_sub(MARGIN));
    let reply = slice(config, until).await;
    reply.map_err(|error| {
        tracing::error!("failed to evaluate: {error:#}");
        format!("{error:#}").into()
    })
}

/// What it replies while questions are left, or of the run it recorded.
async fn slice(config: &Config, until: Option<Instant>) -> anyhow::Result<Value> {
    let rows = dataset::built_in(&config.corpus)?;
    let context = app::context::Context::new(config.clone()).await?;
    match ask::run(&context, rows, until).await? {
        Slice::Part { done, of } => {
            tracing::info!(questions.n = done, questions.of = of, "asked a slice");
            Ok(json!({ "finished": false, "done": done, "of": of }))
        }
        Slice::Whole(mut run) => {
            let results = context.results()?;
            let ruling = record_run(&results, &Standard::built_in()?, &mut run).await?;
            tracing::info!(questions.n = run.questions.len(), "recorded a run");
            Ok(json!({
                "finished": true,
                "run": run.head.slug(),
                "outcome": ruling.outcome,
                "ruling": ruling.text.lines().collect::<Vec<_>>(),
            }))
        }
    }
}
