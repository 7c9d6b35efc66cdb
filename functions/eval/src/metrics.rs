//! What a run is worth, number by number. Each metric has a name that floors and baselines know it by.
//!
//! Pure and deterministic: the same run gives the same numbers.

mod answer;
mod citation;
pub(crate) mod faithfulness;
mod gate;
mod injection;
mod latency;
pub(crate) mod refusal;
pub(crate) mod retrieval;

use std::fmt;

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
        /// Its 95 % interval by bootstrap.
        interval: (f64, f64),
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
            value: mean(values.iter().copied()),
            kind: Kind::Mean {
                n: values.len(),
                interval: bootstrap(&values),
            },
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

    /// Of how many it is.
    pub(crate) fn n(&self) -> usize {
        let (Kind::Rate { n, .. } | Kind::Mean { n, .. } | Kind::Plain { n }) = self.kind;
        n
    }

    /// The 95 % interval: of a rate by Wilson (1927), of a mean by bootstrap.
    pub(crate) fn interval(&self) -> Option<(f64, f64)> {
        match self.kind {
            Kind::Rate { hits, n } => Some(wilson(hits, n)),
            Kind::Mean { interval, .. } => Some(interval),
            Kind::Plain { .. } => None,
        }
    }
}

impl fmt::Display for Metric {
    /// `0.853 (87/102, 0.77–0.91)`, or the number with how many it is of; what is less than a thousandth, such as a price, to six
    /// places.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value;
        let (low, high) = self.interval().unwrap_or_default();
        match self.kind {
            Kind::Rate { hits, n } => write!(f, "{value:.3} ({hits}/{n}, {low:.2}–{high:.2})"),
            Kind::Mean { n, .. } if value > 0.0 && value < 0.001 => {
                write!(f, "{value:.6} (n = {n}, {low:.6}–{high:.6})")
            }
            Kind::Mean { n, .. } => write!(f, "{value:.3} (n = {n}, {low:.2}–{high:.2})"),
            Kind::Plain { n } => write!(f, "{value:.1} (n = {n})"),
        }
    }
}

/// Every metric of a run that there is something to say about, in the order of the pipeline.
pub(crate) fn of(run: &Run) -> Vec<Metric> {
    let mut metrics = [
        retrieval::measure(run),
        answer::measure(run),
        citation::measure(run),
        gate::measure(run),
        refusal::measure(run),
        injection::measure(run),
        faithfulness::measure(run),
        latency::measure(run),
    ]
    .concat();
    metrics.retain(|metric| metric.n() > 0);
    metrics
}

/// A part of a whole; of nothing 0.
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    count(part) / count(whole.max(1))
}

/// A count as a number to reckon with.
#[expect(clippy::cast_precision_loss, reason = "counts of questions")]
pub(crate) fn count(n: usize) -> f64 {
    n as f64
}

fn wilson(part: usize, whole: usize) -> (f64, f64) {
    const Z: f64 = 1.96;
    let (n, p) = (count(whole.max(1)), share(part, whole));
    let centre = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / (1.0 + Z * Z / n);
    // Of none or of all, one end is 0 or 1 but for the last digits.
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

/// The mean; of nothing 0.
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len();
    // From 0 on: the sum of nothing would be -0.
    values.fold(0.0, |sum, value| sum + value) / count(n.max(1))
}

/// The percentile interval of the mean (Efron 1979), by the same draws each time.
fn bootstrap(values: &[f64]) -> (f64, f64) {
    const SAMPLES: usize = 1_000;
    let mut draws = Draws(1);
    let mut means: Vec<f64> = (0..SAMPLES)
        .map(|_| mean((0..values.len()).map(|_| values[draws.below(values.len())])))
        .collect();
    means.sort_by(f64::total_cmp);
    (means[SAMPLES / 40], means[SAMPLES - 1 - SAMPLES / 40])
}

/// `SplitMix64` (Steele et al. 2014).
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        usize::try_from(z % u64::try_from(n.max(1)).unwrap_or(1)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bootstrap_agrees_with_the_normal_interval() {
        // 400 tosses of a fair coin: 0.5 ± 1.96 · 0.025.
        let values: Vec<f64> = (0..400).map(|n| f64::from(n % 2)).collect();
        let (low, high) = bootstrap(&values);
        assert!(
            (low - 0.451).abs() < 0.01 && (high - 0.549).abs() < 0.01,
            "{low} {high}"
        );
        assert_eq!(bootstrap(&values), (low, high), "the same each time");
        assert_eq!(bootstrap(&[]), (0.0, 0.0));
    }

    #[test]
    fn wilson_gives_the_textbook_interval() {
        let (low, high) = wilson(8, 10);
        assert!(
            (low - 0.490).abs() < 0.001 && (high - 0.943).abs() < 0.001,
            "{low} {high}"
        );
    }

    #[test]
    fn an_interval_of_none_begins_at_zero_and_of_all_ends_at_one() {
        for n in 1..200 {
            let (low, high) = (wilson(0, n).0, wilson(n, n).1);
            assert!((0.0..1e-12).contains(&low), "{low}");
            assert!(high <= 1.0 && high > 1.0 - 1e-12, "{high}");
        }
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let of = |percent| Metric::percentile("x", vec![3.0, 1.0, 2.0, 4.0], percent).value;
        assert_eq!((of(50), of(95), of(1)), (2.0, 4.0, 1.0));
        assert_eq!(Metric::percentile("x", Vec::new(), 50).value, 0.0);
    }
}
