//! Runs in the store of results, as they are published.
//!
//! `latest.json` is written last, so that whoever reads it finds what it names; while a run is published, its parts may be
//! newer than what `latest.json` says of it.

use std::collections::BTreeMap;

use adapters::results::Results;
use anyhow::Context as _;
use serde::Deserialize;

use crate::html;
use crate::plot::{self, Plot};
use crate::publication::{self, Latest, Page, ROWS_A_PAGE, RowShown, Summary};
use crate::record::{Point, Run};

const LATEST: &str = "latest.json";

/// Of a metric's history, the values kept.
const KEPT: usize = 20;

/// Everything that is published of a run, made of the run alone.
pub(crate) struct Published {
    summary: Summary,
    rows: Vec<RowShown>,
    plots: Vec<Plot>,
    /// The report.
    pub(crate) html: String,
}

impl Published {
    /// What is published of `run`.
    ///
    /// # Errors
    /// When a plot cannot be drawn.
    pub(crate) fn of(run: &Run) -> anyhow::Result<Self> {
        let plots = plot::of(run)?;
        let shown = plots.iter().map(|plot| plot.shown.clone()).collect();
        let summary = publication::summary(run, shown);
        let rows = publication::rows(run);
        let html = html::render(&summary, &rows, &plots);
        Ok(Self {
            summary,
            rows,
            plots,
            html,
        })
    }
}

/// Where the last run of a title is kept.
pub(crate) fn run_of(slug: &str) -> String {
    format!("{slug}/run.jsonl")
}

/// Where the last calibration of a title is drawn. The next run takes it away, for it says nothing of that.
pub(crate) fn calibration_of(slug: &str) -> String {
    format!("{slug}/calibration.svg")
}

/// The last run of a title.
///
/// # Errors
/// There is none, or it cannot be read.
pub(crate) async fn last(results: &Results, slug: &str) -> anyhow::Result<Run> {
    let object = run_of(slug);
    let found = results
        .get(&object)
        .await?
        .with_context(|| format!("the results have no {object}: scripts/eval records one"))?;
    let text = String::from_utf8(found).with_context(|| format!("read {object}"))?;
    Run::parse(&text).with_context(|| format!("read {object}"))
}

/// Gives the run what its metrics were in the runs of its title before, also those that the last one has not.
///
/// # Errors
/// The results cannot be read.
pub(crate) async fn remember(results: &Results, run: &mut Run) -> anyhow::Result<()> {
    let slug = run.head.slug();
    let mut history = history(results, &slug).await?;
    let latest = latest(results).await?;
    let before = latest.runs.iter().find(|summary| summary.slug == slug);
    // The same run, judged since, is no run before.
    let before = before.filter(|summary| summary.at != run.head.at());
    for metric in before.iter().flat_map(|summary| &summary.metrics) {
        let points = history.entry(metric.name.clone()).or_default();
        points.extend(before.map(|summary| Point {
            at: summary.at.clone(),
            value: metric.value,
        }));
        points.drain(..points.len().saturating_sub(KEPT));
    }
    run.head.history = history;
    Ok(())
}

/// The history that the last run of a title was given. A run of another form has one as well.
async fn history(results: &Results, slug: &str) -> anyhow::Result<BTreeMap<String, Vec<Point>>> {
    #[derive(Default, Deserialize)]
    struct Head {
        #[serde(default)]
        history: BTreeMap<String, Vec<Point>>,
    }
    let stored = results.get(&run_of(slug)).await?.unwrap_or_default();
    let head = stored.split(|byte| *byte == b'\n').next();
    let head = head.and_then(|head| serde_json::from_slice::<Head>(head).ok());
    Ok(head.unwrap_or_default().history)
}

/// Writes everything of a run, in the place of the last one of its title.
///
/// # Errors
/// When the results cannot be written; those of before are then still named.
pub(crate) async fn publish(results: &Results, run: &Run) -> anyhow::Result<()> {
    let published = Published::of(run)?;
    let slug = &published.summary.slug;
    results.put(&run_of(slug), run.text()?).await?;
    for plot in &published.plots {
        let object = format!("{slug}/plots/{}.svg", plot.shown.name);
        results.put(&object, plot.svg.as_str()).await?;
    }
    let page = |n: usize| format!("{slug}/rows/{n}.json");
    for (rows, n) in published.rows.chunks(ROWS_A_PAGE).zip(1..) {
        let bytes = serde_json::to_vec(&Page { rows })?;
        results.put(&page(n), bytes).await?;
    }
    results
        .put(&format!("{slug}/run.html"), published.html.as_str())
        .await?;
    let pages = published.summary.rows.pages;
    // Read only now: another title may have been published meanwhile.
    let mut latest = latest(results).await?;
    let pages_before = latest.runs.iter().find(|run| run.slug == *slug);
    let pages_before = pages_before.map_or(0, |run| run.rows.pages);
    latest.runs.retain(|run| run.slug != *slug);
    latest.runs.push(published.summary.clone());
    latest.runs.sort_by(|a, b| a.title.cmp(&b.title));
    results.put(LATEST, serde_json::to_vec(&latest)?).await?;
    results.delete(&calibration_of(slug)).await?;
    // Of a run with fewer questions, the pages that nothing names any more.
    for n in pages + 1..=pages_before {
        results.delete(&page(n)).await?;
    }
    Ok(())
}

async fn latest(results: &Results) -> anyhow::Result<Latest> {
    match results.get(LATEST).await? {
        Some(bytes) => {
            serde_json::from_slice(&bytes).with_context(|| format!("read the results' {LATEST}"))
        }
        None => Ok(Latest::default()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::gate::Standard;
    use crate::record_run;
    use crate::report::tests::run;
    use crate::slice::tests::Folder;

    async fn json(results: &Results, object: &str) -> Value {
        let bytes = results.get(object).await.expect("a store");
        serde_json::from_slice(&bytes.expect("an object")).expect("JSON")
    }

    /// The run recorded at that second, on so many copies of its questions.
    async fn record(results: &Results, asked_at: u64, copies: usize) {
        let standard = Standard::parse("[docs]\n\"gate.shown\" = 0.5", "{}").expect("a standard");
        let mut run = run();
        run.head.asked_at = asked_at;
        run.questions = vec![run.questions; copies].concat();
        record_run(results, &standard, &mut run)
            .await
            .expect("recorded");
    }

    #[tokio::test]
    async fn what_is_published_is_the_run_with_its_floors_and_history() {
        let folder = Folder::of("publish");
        let results = folder.open();
        record(&results, 1_765_432_100, 12).await;
        record(&results, 1_765_432_200, 4).await;
        let latest = json(&results, LATEST).await;
        let shown = &latest["runs"][0];
        assert_eq!(latest["runs"].as_array().map(Vec::len), Some(1));
        assert_eq!(
            shown["rows"],
            serde_json::json!({"pages": 1, "per_page": 25})
        );
        assert_eq!(shown["outcome"], "passed", "{shown}");
        assert_eq!(shown["outcomes"]["answerable"]["refused"], 4);
        assert_eq!(shown["left_out"]["q9"], "stale: no passage holds \"x\"");
        let metrics = shown["metrics"].as_array().expect("metrics");
        let gate = metrics.iter().find(|metric| metric["name"] == "gate.shown");
        let gate = gate.expect("the metric");
        assert_eq!((&gate["floor"], &gate["n"]), (&0.5.into(), &16.into()));
        assert_eq!(gate["history"][0]["at"], "2025-12-11T05:48:20Z");
        assert_eq!(gate["history"].as_array().map(Vec::len), Some(1));
        // Failures first, and the pages of the longer run before are gone.
        let rows = json(&results, "docs/rows/1.json").await;
        let right: Vec<bool> = rows["rows"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|row| row["right"].as_bool())
            .collect();
        assert_eq!(right, [vec![false; 16], vec![true; 4]].concat());
        assert_eq!(
            results.get("docs/rows/2.json").await.expect("a store"),
            None
        );
        for plot in shown["plots"].as_array().expect("plots") {
            let object = format!("docs/plots/{}.svg", plot["name"].as_str().expect("a name"));
            let svg = results
                .get(&object)
                .await
                .expect("a store")
                .expect("a plot");
            let svg = String::from_utf8(svg).expect("text");
            assert!(svg.starts_with("<svg") && !svg.contains("style"), "{svg}");
        }
        let stored = last(&results, "docs").await.expect("a run");
        let html = results.get("docs/run.html").await.expect("a store");
        assert_eq!(
            html,
            Some(Published::of(&stored).expect("a report").html.into_bytes())
        );
    }

    #[tokio::test]
    async fn a_run_recorded_again_is_not_its_own_history() {
        let folder = Folder::of("again");
        let results = folder.open();
        for _ in 0..2 {
            record(&results, 1_765_432_100, 4).await;
        }
        let latest = json(&results, LATEST).await;
        let metrics = latest["runs"][0]["metrics"].as_array().expect("metrics");
        let none = serde_json::json!([]);
        assert!(metrics.iter().all(|metric| metric["history"] == none));
        let error = format!("{:#}", last(&results, "others").await.expect_err("no run"));
        assert!(error.contains("no others/run.jsonl"), "{error}");
    }

    #[tokio::test]
    async fn what_only_some_runs_have_keeps_its_history() {
        let folder = Folder::of("some");
        let results = folder.open();
        let standard = Standard::parse("", "{}").expect("a standard");
        let mut histories = Vec::new();
        // Asked, judged, asked, judged: only a judged run has the judge's metrics, here refusals.
        for (asked_at, with_refusals) in [(1, false), (1, true), (2, false), (2, true), (3, true)] {
            let mut run = run();
            run.head.asked_at = asked_at;
            if !with_refusals {
                run.questions.retain(|asked| asked.row.kind == "answerable");
            }
            record_run(&results, &standard, &mut run)
                .await
                .expect("recorded");
            let of = |name: &str| run.head.history.get(name).map_or(0, Vec::len);
            histories.push((of("answer.answered"), of("refusal.right")));
        }
        assert_eq!(histories, [(0, 0), (0, 0), (1, 1), (1, 1), (2, 2)]);
    }
}
