//! What a scheduled run does beside building a version. Whatever fails here is said and tried again by the next run.

use std::sync::Arc;

use adapters::sources::Manifest;
use anyhow::Context as _;
use app::clock;
use app::config::Config;
use app::context::Context;
use app::ingest::{IngestContext, Outcome, Report};
use tokio::time::Instant;

/// A handler is dead when its function's time-out is over twice.
const DEAD_AFTER_S: u64 = 120;

/// Gives back what dead handlers left charged, and prepares the suggested answers of a corpus that answers, as far as
/// `deadline` lets it. Returns what there is to say.
pub(crate) async fn keep_house(
    config: &Config,
    manifest: &Manifest,
    ingest: &IngestContext,
    report: &Report,
    deadline: Option<Instant>,
) -> Vec<String> {
    let mut notes = Vec::new();
    // Questions are answered from this corpus, whichever the service answers from.
    let config = Config {
        corpus: manifest.name.clone(),
        ..config.clone()
    };
    let context = Context::with_embedder(config, Arc::clone(&ingest.embedder)).await;
    let context = match context.context("set up the pipeline that answers") {
        Ok(context) => context,
        Err(error) => return vec![format!("no answers were prepared: {error:#}")],
    };
    let before_s = clock::now_s().saturating_sub(DEAD_AFTER_S);
    match context.quota.sweep(before_s).await {
        Ok(swept) if swept.found == 0 => {}
        Ok(swept) => notes.push(format!(
            "closed {} charges that were left open, {} of them given back",
            swept.found, swept.refunded
        )),
        Err(error) => notes.push(format!("charges may be left open: {error}")),
    }
    if !matches!(report.outcome, Outcome::Incomplete { .. }) && !manifest.suggestions.is_empty() {
        match app::suggest::prepare(&context, &manifest.suggestions, deadline).await {
            Ok(preparation) => notes.push(preparation.to_string()),
            Err(error) => notes.push(format!("no answers were prepared: {error:#}")),
        }
    }
    notes
}
