//! What the gate let through of what was written, and why it kept the rest back.

use std::collections::BTreeMap;

use super::Metric;
use crate::record::Run;

pub(super) fn measure(run: &Run) -> Vec<Metric> {
    let shown: usize = run
        .questions
        .iter()
        .map(|asked| asked.events("sentence").count())
        .sum();
    let mut removed: BTreeMap<&str, usize> = BTreeMap::new();
    for event in run
        .questions
        .iter()
        .flat_map(|asked| asked.events("removed"))
    {
        *removed
            .entry(event["reason"].as_str().unwrap_or_default())
            .or_default() += 1;
    }
    let written = shown + removed.values().sum::<usize>();
    let mut metrics = vec![Metric::rate("gate.shown", shown, written)];
    metrics.extend(
        removed
            .into_iter()
            .map(|(reason, n)| Metric::rate(format!("gate.removed.{reason}"), n, written)),
    );
    metrics
}
