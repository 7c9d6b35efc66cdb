//! Where the passages that hold a gold quote came: recall@k, mean reciprocal rank and nDCG@10, by arm and after each step.
//!
//! A passage is relevant when it holds a gold quote, and all such passages are equally so (Järvelin and Kekäläinen 2002).

use super::{Metric, count};
use crate::record::{Asked, Run};

const ARMS: [&str; 4] = ["vector", "keyword", "fused", "reranked"];
const RECALL_AT: [usize; 4] = [1, 6, 20, 40];
const NDCG_AT: usize = 10;

pub(super) fn measure(run: &Run) -> Vec<Metric> {
    let asked: Vec<&Asked> = run
        .questions
        .iter()
        .filter(|asked| asked.row.kind == "answerable")
        .collect();
    let mut metrics = Vec::new();
    for (arm, name) in ARMS.iter().enumerate() {
        let named = |what: &str| format!("retrieval.{name}.{what}");
        for k in RECALL_AT {
            let hits = asked
                .iter()
                .filter(|asked| asked.gold_at[arm].first().is_some_and(|&place| place <= k))
                .count();
            metrics.push(Metric::rate(
                named(&format!("recall@{k}")),
                hits,
                asked.len(),
            ));
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
