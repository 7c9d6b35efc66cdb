//! How long each stage took, and what the calls to models cost. Of the machine and the day, so no floor should be set on them.

use std::collections::BTreeMap;

use super::Metric;
use crate::record::Run;

pub(super) fn measure(run: &Run) -> Vec<Metric> {
    let mut stages: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut costs = Vec::new();
    for done in run.questions.iter().flat_map(|asked| asked.events("done")) {
        for (stage, ms) in done["timings_ms"].as_object().into_iter().flatten() {
            stages.entry(stage).or_default().extend(ms.as_f64());
        }
        costs.extend(done["cost_usd"].as_f64());
    }
    let mut metrics = Vec::new();
    for (stage, times) in stages {
        for percent in [50, 95] {
            let name = format!("latency.{stage}.p{percent}_ms");
            metrics.push(Metric::percentile(name, times.clone(), percent));
        }
    }
    metrics.push(Metric::mean("cost.usd_a_question", costs));
    metrics
}
