//! What a day's questions came to: a record of each without a word of it, and their summary.

use std::collections::BTreeMap;
use std::fmt;

use crate::cost::Money;
use crate::quota::Day;

/// What is kept of one question that was let in. Nothing in it says who asked, what was asked or what was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Lambda's request id.
    pub request_id: String,
    /// The day it was asked on.
    pub day: Day,
    /// A keyed hash of the question that changes daily; see [`crate::visitor::HashKey::question`].
    pub question_hash: String,
    /// Characters of the question.
    pub question_chars: u64,
    /// `answered`, `abstained`, …, the code of an `error`, or `left`.
    pub outcome: String,
    /// Whether it counts towards the quota.
    pub charged: bool,
    /// Milliseconds by stage, and `total`.
    pub timings_ms: BTreeMap<String, f64>,
    /// Tokens read by models.
    pub input_tokens: u64,
    /// Tokens written by models.
    pub output_tokens: u64,
    /// Tokens embedded by models.
    pub embedding_tokens: u64,
    /// What the calls to models cost; `None` when that is not known.
    pub cost: Option<Money>,
    /// Citations that held.
    pub verified: u64,
    /// Citations and sentences that did not, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Parts that were done without.
    pub degraded: Vec<String>,
    /// The corpus version that answered; 0 when none did.
    pub corpus_version: i64,
}

/// A day in numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    day: Day,
    outcomes: BTreeMap<String, u64>,
    charged: u64,
    degraded: BTreeMap<String, u64>,
    dropped: BTreeMap<String, u64>,
    verified: u64,
    tokens: [u64; 3],
    cost: Money,
    unpriced: u64,
    /// Median and 95th percentile in milliseconds, and how many there are, by stage.
    stages: BTreeMap<String, (f64, f64, usize)>,
    refusals: BTreeMap<String, u64>,
}

impl Summary {
    /// Sums up a day's records and the questions that a limit kept out.
    #[must_use]
    pub fn of(day: Day, records: &[Record], refusals: BTreeMap<String, u64>) -> Self {
        let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let mut summary = Self {
            day,
            outcomes: BTreeMap::new(),
            charged: 0,
            degraded: BTreeMap::new(),
            dropped: BTreeMap::new(),
            verified: 0,
            tokens: [0; 3],
            cost: Money::ZERO,
            unpriced: 0,
            stages: BTreeMap::new(),
            refusals,
        };
        for record in records {
            *summary.outcomes.entry(record.outcome.clone()).or_default() += 1;
            summary.charged += u64::from(record.charged);
            summary.verified += record.verified;
            for part in &record.degraded {
                *summary.degraded.entry(part.clone()).or_default() += 1;
            }
            for (reason, count) in &record.dropped {
                *summary.dropped.entry(reason.clone()).or_default() += count;
            }
            let tokens = [
                record.input_tokens,
                record.output_tokens,
                record.embedding_tokens,
            ];
            for (sum, count) in summary.tokens.iter_mut().zip(tokens) {
                *sum += count;
            }
            match record.cost {
                Some(cost) => summary.cost = summary.cost + cost,
                None => summary.unpriced += 1,
            }
            for (stage, ms) in &record.timings_ms {
                times.entry(stage.clone()).or_default().push(*ms);
            }
        }
        for (stage, mut times) in times {
            times.sort_by(f64::total_cmp);
            let measured = (percentile(&times, 50), percentile(&times, 95), times.len());
            summary.stages.insert(stage, measured);
        }
        summary
    }
}

/// The nearest-rank percentile of sorted values: the least of them that so many percent do not exceed.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

impl fmt::Display for Summary {
    /// A line a fact; names and numbers in columns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked: u64 = self.outcomes.values().sum();
        writeln!(
            f,
            "{} (UTC): {asked} questions, {} counted",
            self.day, self.charged
        )?;
        let mut counts = |title: &str, counts: &BTreeMap<String, u64>| {
            if counts.is_empty() {
                return Ok(());
            }
            writeln!(f, "{title}")?;
            counts
                .iter()
                .try_for_each(|(name, count)| writeln!(f, "  {name:<24}{count:>8}"))
        };
        counts("outcomes", &self.outcomes)?;
        counts("done without", &self.degraded)?;
        counts("did not hold", &self.dropped)?;
        counts("kept out by a limit, at least", &self.refusals)?;
        let [input, output, embedding] = self.tokens;
        writeln!(f, "citations that held       {:>8}", self.verified)?;
        writeln!(
            f,
            "tokens                    {input:>8} read, {output} written, {embedding} embedded"
        )?;
        write!(f, "cost                      ${}", self.cost)?;
        if self.unpriced > 0 {
            write!(f, ", and that of {} questions unknown", self.unpriced)?;
        }
        writeln!(f)?;
        if !self.stages.is_empty() {
            writeln!(f, "milliseconds                   p50       p95  questions")?;
        }
        for (stage, (median, most, count)) in &self.stages {
            writeln!(f, "  {stage:<24}{median:>8.1}{most:>10.1}{count:>11}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(n: u64, outcome: &str, cost: Option<u128>) -> Record {
        Record {
            request_id: n.to_string(),
            day: Day::at(0),
            question_hash: String::new(),
            question_chars: 10,
            outcome: outcome.to_owned(),
            charged: outcome != "abstained",
            timings_ms: [("retrieve", n as f64), ("total", 10.0 * n as f64)]
                .map(|(stage, ms)| (stage.to_owned(), ms))
                .into(),
            input_tokens: 100,
            output_tokens: 10,
            embedding_tokens: 1,
            cost: cost.map(Money::from_picodollars),
            verified: 2,
            dropped: [("quote_not_found".to_owned(), 1)].into(),
            degraded: (n == 20)
                .then(|| "generator".to_owned())
                .into_iter()
                .collect(),
            corpus_version: 1,
        }
    }

    #[test]
    fn a_day_is_summed_up() {
        let records: Vec<Record> = (1..=20)
            .map(|n| match n {
                1 => record(n, "abstained", Some(0)),
                2 => record(n, "partial", None),
                _ => record(n, "answered", Some(2_500_000_000)),
            })
            .collect();
        let summary = Summary::of(Day::at(0), &records, [("visitor".to_owned(), 7)].into());
        assert_eq!(
            summary.to_string(),
            "\
1970-01-01 (UTC): 20 questions, 19 counted
outcomes
  abstained                      1
  answered                      18
  partial                        1
done without
  generator                      1
did not hold
  quote_not_found               20
kept out by a limit, at least
  visitor                        7
citations that held             40
tokens                        2000 read, 200 written, 20 embedded
cost                      $0.045, and that of 1 questions unknown
milliseconds                   p50       p95  questions
  retrieve                    10.0      19.0         20
  total                      100.0     190.0         20
"
        );
    }

    #[test]
    fn a_quiet_day_says_so() {
        let summary = Summary::of(Day::at(0), &[], BTreeMap::new());
        assert!(
            summary
                .to_string()
                .starts_with("1970-01-01 (UTC): 0 questions, 0 counted\ncitations")
        );
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        for (values, percent, expected) in [
            (&[1.0][..], 95, 1.0),
            (&[1.0, 2.0], 50, 1.0),
            (&[1.0, 2.0], 95, 2.0),
            (&[1.0, 2.0, 3.0], 50, 2.0),
        ] {
            assert_eq!(percentile(values, percent), expected);
        }
    }
}
