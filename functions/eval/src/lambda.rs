//! The Lambda edge: one invocation is one slice of a run of the configured corpus. The one that asks the last question
//! records the run.

use std::time::{Duration, SystemTime};

use app::config::Config;
use app::context::Context;
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
    let context = Context::new(config).await?;
    lambda_runtime::run(service_fn(|event| handle(&context, event)))
        .await
        .map_err(|error| anyhow::anyhow!(error))
}

async fn handle(
    context: &Context,
    event: LambdaEvent<Value>,
) -> Result<Value, lambda_runtime::Error> {
    // A local runtime names a deadline that is past when the event comes: it says nothing.
    let left = event.context.deadline().duration_since(SystemTime::now());
    let until = left
        .ok()
        .map(|left| Instant::now() + left.saturating_sub(MARGIN));
    let reply = slice(context, until).await;
    reply.map_err(|error| {
        tracing::error!("failed to evaluate: {error:#}");
        format!("{error:#}").into()
    })
}

/// What it replies while questions are left, or of the run it recorded.
async fn slice(context: &Context, until: Option<Instant>) -> anyhow::Result<Value> {
    let rows = dataset::built_in(&context.config.corpus)?;
    match ask::run(context, rows, "", until).await? {
        (Slice::Part { done, of }, _) => {
            tracing::info!(questions.n = done, questions.of = of, "asked a slice");
            Ok(json!({ "finished": false, "done": done, "of": of }))
        }
        (Slice::Whole(mut run), checkpoint) => {
            let results = context.results()?;
            let ruling = record_run(&results, &Standard::built_in()?, &mut run).await?;
            checkpoint.forget().await?;
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
