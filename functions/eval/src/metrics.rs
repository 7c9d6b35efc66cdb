//! What a run is worth, number by number. Each metric has a name that floors and baselines know it by.
//!
//! Pure and deterministic: the same run gives the same numbers.

mod answer;
mod injection;
mod latency;
mod refusal;
mod retrieval;

use crate::record::Run;

/// One number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Metric {
    /// `group.what`, such as `retrieval.reranked.recall@6`.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: f64,
    /// How it is to be read.
    pub(crate) kind: Kind,
}

/// How a number is to be read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// A share of so many, with the number of hits.
    Rate {
        /// Hits.
        hits: usize,
        /// Of how many.
        n: usize,
    },
    /// A mean over so many questions.
    Mean {
        /// How many.
        n: usize,
    },
    /// A plain number, such as a median.
    Plain {
        /// Over how many.
        n: usize,
    },
}

impl Metric {
    fn rate(name: impl Into<String>, hits: usize, n: usize) -> Self {
        Self {
            name: name.into(),
            value: share(hits, n),
            kind: Kind::Rate { hits, n },
        }
    }

    fn mean(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        Self {
            name: name.into(),
            // From 0 on: the sum of nothing would be -0.
            value: values.iter().fold(0.0, |sum, value| sum + value) / count(values.len().max(1)),
            kind: Kind::Mean { n: values.len() },
        }
    }

    /// The nearest-rank percentile.
    fn percentile(name: impl Into<String>, mut values: Vec<f64>, percent: usize) -> Self {
        values.sort_by(f64::total_cmp);
        let rank = (values.len() * percent).div_ceil(100).max(1);
        Self {
            name: name.into(),
            value: values.get(rank - 1).copied().unwrap_or_default(),
            kind: Kind::Plain { n: values.len() },
        }
    }

    /// The 95 % interval of a rate (Wilson 1927).
    pub(crate) fn interval(&self) -> Option<(f64, f64)> {
        match self.kind {
            Kind::Rate { hits, n } => Some(wilson(hits, n)),
            Kind::Mean { .. } | Kind::Plain { .. } => None,
        }
    }
}

/// Every metric of a run that there is something to say about, in the order of the pipeline.
pub(crate) fn of(run: &Run) -> Vec<Metric> {
    let mut metrics = [
        retrieval::measure(run),
        answer::measure(run),
        refusal::measure(run),
        injection::measure(run),
        latency::measure(run),
    ]
    .concat();
    metrics.retain(|metric| {
        let (Kind::Rate { n, .. } | Kind::Mean { n } | Kind::Plain { n }) = metric.kind;
        n > 0
    });
    metrics
}

fn share(part: usize, whole: usize) -> f64 {
    count(part) / count(whole.max(1))
}

#[expect(clippy::cast_precision_loss, reason = "counts of questions")]
fn count(n: usize) -> f64 {
    n as f64
}

fn wilson(part: usize, whole: usize) -> (f64, f64) {
    const Z: f64 = 1.96;
    let (n, p) = (count(whole.max(1)), share(part, whole));
    let centre = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / (1.0 + Z * Z / n);
    (centre - half, centre + half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_gives_the_textbook_interval() {
        let (low, high) = wilson(8, 10);
        assert!(
            (low - 0.490).abs() < 0.001 && (high - 0.943).abs() < 0.001,
            "{low} {high}"
        );
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let of = |percent| Metric::percentile("x", vec![3.0, 1.0, 2.0, 4.0], percent).value;
        assert_eq!((of(50), of(95), of(1)), (2.0, 4.0, 1.0));
        assert_eq!(Metric::percentile("x", Vec::new(), 50).value, 0.0);
    }
}
