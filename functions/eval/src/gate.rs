//! Whether a run may pass: no metric below its floor, and no more questions lost against the baseline than won.
//!
//! `eval/floors.toml` is written by people, `eval/baseline.json` by `eval accept`. Runs with local models are deterministic, so
//! that every question that flips is a change of ours.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::metrics::{self, Metric};
use crate::record::Run;
use crate::verdict::Verdict;

/// Questions that may be lost beyond those that are won.
const NET_LOSS_AT_MOST: usize = 2;

/// The least that each metric of a corpus may be.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Floors(BTreeMap<String, BTreeMap<String, f64>>);

/// What each question of each corpus came to when somebody accepted it.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Baselines(BTreeMap<String, Baseline>);

/// One corpus's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Baseline {
    /// Who searched, ordered and wrote.
    writer: String,
    /// Whether each question was answered as it should be.
    right: BTreeMap<String, bool>,
}

/// The outcome, and what to say of it.
#[derive(Debug, PartialEq)]
pub(crate) struct Ruling {
    pub(crate) passed: bool,
    pub(crate) text: String,
}

/// Reads `eval/floors.toml`.
pub(crate) fn floors(file: &Path) -> anyhow::Result<Floors> {
    let text = std::fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    toml::from_str(&text).with_context(|| format!("read {}", file.display()))
}

/// Reads `eval/baseline.json`; nothing was accepted while there is none.
pub(crate) fn baselines(file: &Path) -> anyhow::Result<Baselines> {
    match std::fs::read_to_string(file) {
        Ok(text) => serde_json::from_str(&text).with_context(|| format!("read {}", file.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Baselines::default()),
        Err(error) => Err(error).with_context(|| format!("read {}", file.display())),
    }
}

impl Baselines {
    /// The same with this run as its corpus's baseline.
    pub(crate) fn accept(mut self, run: &Run) -> Self {
        let baseline = Baseline {
            writer: run.head.writer.clone(),
            right: verdicts(run),
        };
        self.0.insert(run.head.corpus.clone(), baseline);
        self
    }

    /// Writes the file.
    pub(crate) fn write(&self, file: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        std::fs::write(file, text).with_context(|| format!("write {}", file.display()))
    }
}

/// Rules on a run.
pub(crate) fn rule(run: &Run, floors: &Floors, baselines: &Baselines) -> Ruling {
    let mut text = String::new();
    let below = below(run, floors, &mut text);
    let lost = flips(run, baselines, &mut text);
    let passed = !below && !lost;
    // Writing to a string cannot fail.
    let _ = write!(text, "{}", if passed { "passed" } else { "not passed" });
    Ruling { passed, text }
}

fn below(run: &Run, floors: &Floors, text: &mut String) -> bool {
    let none = BTreeMap::new();
    let floors = floors.0.get(&run.head.corpus).unwrap_or(&none);
    let metrics: BTreeMap<String, Metric> = metrics::of(run)
        .into_iter()
        .map(|metric| (metric.name.clone(), metric))
        .collect();
    let mut below = false;
    for (name, &floor) in floors {
        let line = match metrics.get(name) {
            Some(metric) if metric.value >= floor => continue,
            Some(metric) => format!(
                "below its floor: {name} is {:.3}, {floor} at least",
                metric.value
            ),
            None => format!("no such metric: {name} of the floors"),
        };
        below = true;
        let _ = writeln!(text, "{line}");
    }
    if !below {
        let _ = writeln!(text, "{} floors held", floors.len());
    }
    below
}

/// Lists the questions that flipped, and whether more were lost than may be. One that is new or gone flips nothing.
fn flips(run: &Run, baselines: &Baselines, text: &mut String) -> bool {
    let Some(baseline) = baselines.0.get(&run.head.corpus) else {
        let _ = writeln!(
            text,
            "no baseline of {}: eval accept makes this run it",
            run.head.corpus
        );
        return false;
    };
    if baseline.writer != run.head.writer {
        let _ = writeln!(
            text,
            "not compared with the baseline, which was answered otherwise ({})",
            baseline.writer
        );
        return false;
    }
    let (mut lost, mut won) = (0, 0);
    for (id, right) in verdicts(run) {
        match (baseline.right.get(&id), right) {
            (Some(true), false) => {
                lost += 1;
                let _ = writeln!(text, "lost: {id}");
            }
            (Some(false), true) => {
                won += 1;
                let _ = writeln!(text, "won: {id}");
            }
            _ => {}
        }
    }
    let _ = writeln!(text, "against the baseline: {lost} lost, {won} won");
    lost > won + NET_LOSS_AT_MOST
}

fn verdicts(run: &Run) -> BTreeMap<String, bool> {
    run.questions
        .iter()
        .map(|asked| {
            let right = Verdict::on(asked).is_right(&asked.row.kind);
            (asked.row.id.clone(), right)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record::Head;
    use crate::verdict::tests::asked;

    /// Answerable questions, of which so many are answered rightly.
    fn run(right: usize, of: usize) -> Run {
        let question = |n: usize| {
            let row = json!({"id": format!("q{n}"), "type": "answerable", "question": "?", "gold": [{"quote": "trains run on time"}]});
            asked(
                row,
                if n < right {
                    &["Here trains run on time"]
                } else {
                    &["Planes fly."]
                },
            )
        };
        Run {
            head: Head::new("docs", "hash".into(), "local".into()),
            questions: (0..of).map(question).collect(),
        }
    }

    fn floors(text: &str) -> Floors {
        toml::from_str(text).expect("floors")
    }

    #[test]
    fn a_metric_below_its_floor_fails() {
        let check = |floor: &str, passed: bool, says: &str| {
            let ruling = rule(&run(8, 10), &floors(floor), &Baselines::default());
            assert_eq!(ruling.passed, passed, "{}", ruling.text);
            assert!(ruling.text.contains(says), "{}", ruling.text);
        };
        check(
            "[docs]\n\"answer.gold_quoted\" = 0.8",
            true,
            "1 floors held",
        );
        check(
            "[docs]\n\"answer.gold_quoted\" = 0.81",
            false,
            "answer.gold_quoted is 0.800",
        );
        check(
            "[docs]\n\"answer.gold_quote\" = 0.1",
            false,
            "no such metric",
        );
        check(
            "[others]\n\"answer.gold_quoted\" = 1.0",
            true,
            "0 floors held",
        );
    }

    #[test]
    fn a_net_loss_above_two_fails_and_every_flip_is_listed() {
        let baselines = Baselines::default().accept(&run(8, 10));
        for (right, passed) in [(10, true), (8, true), (6, true), (5, false)] {
            let ruling = rule(&run(right, 10), &Floors::default(), &baselines);
            assert_eq!(ruling.passed, passed, "{}", ruling.text);
        }
        let ruling = rule(&run(5, 10), &Floors::default(), &baselines);
        for id in ["lost: q5", "lost: q6", "lost: q7", "3 lost, 0 won"] {
            assert!(ruling.text.contains(id), "{}", ruling.text);
        }
    }

    #[test]
    fn another_way_of_answering_is_not_compared() {
        let baselines = Baselines::default().accept(&run(8, 10));
        let mut other = run(0, 10);
        other.head.writer = "a model".into();
        let ruling = rule(&other, &Floors::default(), &baselines);
        assert!(
            ruling.passed && ruling.text.contains("not compared"),
            "{}",
            ruling.text
        );
    }
}
