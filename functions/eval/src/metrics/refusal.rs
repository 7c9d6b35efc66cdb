//! Whether the service says so when it does not know: refusals by category, and their precision and recall.
//!
//! A false premise is met by refusing it or by showing what corrects it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Metric;
use crate::record::{Asked, Run};
use crate::verdict::Verdict;

/// Answerable × answered, in questions. A service that refuses everything has its whole first row on the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outcomes {
    pub(crate) answerable: Split,
    pub(crate) unanswerable: Split,
}

/// Of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Split {
    pub(crate) answered: usize,
    pub(crate) refused: usize,
}

/// What a run came to.
pub(crate) fn outcomes(run: &Run) -> Outcomes {
    let split = |kind: &str| {
        let asked = run.questions.iter().filter(|asked| asked.row.kind == kind);
        let (answered, refused): (Vec<_>, Vec<_>) =
            asked.partition(|asked| Verdict::on(asked).answered);
        Split {
            answered: answered.len(),
            refused: refused.len(),
        }
    };
    Outcomes {
        answerable: split("answerable"),
        unanswerable: split("unanswerable"),
    }
}

pub(super) fn measure(run: &Run) -> Vec<Metric> {
    let judged: Vec<(&Asked, Verdict)> = run
        .questions
        .iter()
        .map(|asked| (asked, Verdict::on(asked)))
        .collect();
    let of = |kind: &'static str| {
        judged
            .iter()
            .filter(move |(asked, _)| asked.row.kind == kind)
    };
    let right = |asked: &Asked, verdict: &Verdict| verdict.is_right(&asked.row.kind);
    let refused_rightly = of("unanswerable")
        .filter(|(_, verdict)| !verdict.answered)
        .count();
    let refused_wrongly = of("answerable")
        .filter(|(_, verdict)| !verdict.answered)
        .count();
    let hits = of("unanswerable")
        .filter(|(asked, verdict)| right(asked, verdict))
        .count();
    let mut metrics = vec![
        Metric::rate("refusal.right", hits, of("unanswerable").count()),
        Metric::rate(
            "refusal.precision",
            refused_rightly,
            refused_rightly + refused_wrongly,
        ),
        Metric::rate(
            "refusal.recall",
            refused_rightly,
            of("unanswerable").count(),
        ),
    ];
    let mut categories: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (asked, verdict) in of("unanswerable") {
        let (hits, n) = categories.entry(&asked.row.style).or_default();
        *hits += usize::from(right(asked, verdict));
        *n += 1;
    }
    for (category, (hits, n)) in categories {
        metrics.push(Metric::rate(format!("refusal.right.{category}"), hits, n));
    }
    metrics
}
