//! Where the passages that hold a gold quote came: recall@k, mean reciprocal rank and nDCG@10, by arm and after each step.
//!
//! A passage is relevant when it holds a gold quote, and all such passages are equally so (Järvelin and Kekäläinen 2002).

use super::{Metric, count};
use crate::record::{Asked, Run};

/// Orders of the passages, as [`Asked::gold_at`] has them.
pub(crate) const ARMS: [&str; 4] = ["vector", "keyword", "fused", "reranked"];
/// Each k of recall@k, the last the greatest.
pub(crate) const RECALL_AT: [usize; 4] = [1, 6, 20, 40];
const NDCG_AT: usize = 10;

pub(super) fn measure(run: &Run) -> Vec<Metric> {
    let asked = answerable(run);
    let mut metrics = Vec::new();
    for (arm, name) in ARMS.iter().enumerate() {
        let named = |what: &str| format!("retrieval.{name}.{what}");
        for k in RECALL_AT.into_iter().filter(|&k| k <= depth(run, arm)) {
            metrics.push(recall(run, arm, k));
        }
        let first = |asked: &&Asked| {
            asked.gold_at[arm]
                .first()
                .map_or(0.0, |&place| 1.0 / count(place))
        };
        metrics.push(Metric::mean(named("mrr"), asked.iter().map(first)));
        let ndcg = |asked: &&Asked| ndcg(&asked.gold_at[arm], asked.gold_passages);
        metrics.push(Metric::mean(named("ndcg@10"), asked.iter().map(ndcg)));
    }
    metrics
}

/// The share of answerable questions of which a relevant passage is among the first `k` of that arm.
pub(crate) fn recall(run: &Run, arm: usize, k: usize) -> Metric {
    let asked = answerable(run);
    let is_found = |asked: &&&Asked| asked.gold_at[arm].first().is_some_and(|&place| place <= k);
    let hits = asked.iter().filter(is_found).count();
    Metric::rate(
        format!("retrieval.{}.recall@{k}", ARMS[arm]),
        hits,
        asked.len(),
    )
}

/// How many passages of an arm there are to find something among: reranking keeps few.
pub(crate) fn depth(run: &Run, arm: usize) -> usize {
    let most = RECALL_AT.into_iter().max().unwrap_or_default();
    if ARMS[arm] != "reranked" {
        return most;
    }
    let kept = run.questions.iter().map(|asked| {
        let passages = asked.events("passages").last();
        passages.map_or(0, |data| data["passages"].as_array().map_or(0, Vec::len))
    });
    kept.max().unwrap_or_default().min(most)
}

fn answerable(run: &Run) -> Vec<&Asked> {
    run.questions
        .iter()
        .filter(|asked| asked.row.kind == "answerable")
        .collect()
}

fn ndcg(places: &[usize], relevant: usize) -> f64 {
    let gain = |place: usize| 1.0 / count(place + 1).log2();
    let found: f64 = places
        .iter()
        .filter(|&&place| place <= NDCG_AT)
        .map(|&place| gain(place))
        .sum();
    let best: f64 = (1..=relevant.min(NDCG_AT)).map(gain).sum();
    if best > 0.0 { found / best } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ndcg_is_one_for_the_best_order_and_less_below() {
        assert!((ndcg(&[1, 2], 2) - 1.0).abs() < 1e-12);
        assert!((ndcg(&[1], 1) - 1.0).abs() < 1e-12);
        assert!((ndcg(&[3], 1) - 0.5).abs() < 1e-12);
        assert_eq!((ndcg(&[11], 1), ndcg(&[], 0)), (0.0, 0.0));
    }
}
