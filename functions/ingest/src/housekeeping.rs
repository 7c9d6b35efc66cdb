//! What a scheduled run does beside building a version. Whatever fails here is said and tried again by the next run.

use std::sync::Arc;

use adapters::dynamodb::quota::Quota;
use adapters::sources::Manifest;
use anyhow::Context as _;
use app::clock;
use app::config::{Config, LimitsConfig};
use app::context::{Context, daily_limits};
use app::ingest::{IngestContext, Outcome, Report};
use tokio::time::Instant;

use crate::wire;

/// A handler is dead when its function's time-out is over twice.
const DEAD_AFTER_S: u64 = 120;

/// Gives back what dead handlers left charged; needs the table alone. Returns what there is to say.
pub(crate) async fn sweep(limits: &LimitsConfig) -> Option<String> {
    let swept = async {
        let quota = Quota::new(wire::table(limits).await?, daily_limits(limits));
        let before_s = clock::now_s().saturating_sub(DEAD_AFTER_S);
        anyhow::Ok(quota.sweep(before_s).await?)
    };
    match swept.await {
        Ok(swept) if swept.found == 0 => None,
        Ok(swept) => Some(format!(
            "closed {} of {} charges that were left open, {} of them given back",
            swept.found - swept.failed,
            swept.found,
            swept.refunded
        )),
        Err(error) => Some(format!("charges may be left open: {error:#}")),
    }
}

/// Prepares the suggested answers of a corpus that answers, as far as `deadline` lets it. Returns what there is to say.
pub(crate) async fn prepare(
    config: &Config,
    manifest: &Manifest,
    ingest: &IngestContext,
    report: &Report,
    deadline: Option<Instant>,
) -> Option<String> {
    if matches!(report.outcome, Outcome::Incomplete { .. }) {
        return None;
    }
    // Questions are answered from this corpus, whichever the service answers from.
    let config = Config {
        corpus: manifest.name.clone(),
        ..config.clone()
    };
    let prepared = async {
        let context = Context::with_embedder(config, Arc::clone(&ingest.embedder))
            .await
            .context("set up the pipeline that answers")?;
        app::suggest::prepare(&context, &manifest.suggestions, deadline).await
    };
    match prepared.await {
        Ok(preparation) if preparation.listed == 0 => None,
        Ok(preparation) => Some(preparation.to_string()),
        Err(error) => Some(format!("no answers were prepared: {error:#}")),
    }
}
