//! Looks after a running service: its mode, and what a day's questions came to.

use adapters::dynamodb::mode::{get_mode, put_mode};
use adapters::dynamodb::record::{records, refusals};
use app::clock;
use app::config::LimitsConfig;
use domain::mode::Mode;
use domain::quota::Day;
use domain::usage::Summary;

use crate::wire;

/// Stores the mode, or says which is in force.
pub(crate) async fn mode(limits: &LimitsConfig, mode: Option<Mode>) -> anyhow::Result<String> {
    let table = wire::table(limits).await?;
    if let Some(mode) = mode {
        put_mode(&table, mode).await?;
    }
    let stored = get_mode(&table).await?.unwrap_or(Mode::Live);
    Ok(match limits.mode {
        Some(forced) if forced != stored => format!(
            "{} is stored, but MODE forces {}",
            stored.name(),
            forced.name()
        ),
        _ => stored.name().to_owned(),
    })
}

/// Sums up a day, today's by itself.
pub(crate) async fn usage(limits: &LimitsConfig, day: Option<Day>) -> anyhow::Result<String> {
    let table = wire::table(limits).await?;
    let day = day.unwrap_or_else(clock::today);
    let now_s = clock::now_s();
    let records = records(&table, day, now_s).await?;
    let refusals = refusals(&table, day, now_s).await?;
    let summary = Summary::of(day, &records, refusals).to_string();
    Ok(summary.trim_end().to_owned())
}
