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

/// What a floor is held against must be of so many questions or sentences: of fewer, one more or less is a tenth or more.
const LEAST_QUESTIONS: usize = 7;

/// The least that each metric may be, by the title of a run.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Floors(BTreeMap<String, BTreeMap<String, f64>>);

/// What each question came to when somebody accepted it, by the title of a run.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Baselines(BTreeMap<String, Baseline>);

/// One run's.
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
    pub(crate) outcome: Outcome,
    pub(crate) text: String,
}

/// How a command ended; the later the worse, but what failed is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// All is well.
    Passed,
    /// It could not be told.
    CouldNotMeasure,
    /// Below a floor, or regressed.
    Failed,
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
        self.0.insert(run.head.title(), baseline);
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
    let outcome = below(run, floors, &mut text).max(flips(run, baselines, &mut text));
    text.push_str(match outcome {
        Outcome::Passed => "passed",
        Outcome::CouldNotMeasure => "could not measure",
        Outcome::Failed => "not passed",
    });
    Ruling { outcome, text }
}

fn below(run: &Run, floors: &Floors, text: &mut String) -> Outcome {
    let title = run.head.title();
    let Some(floors) = floors.0.get(&title) else {
        let _ = writeln!(text, "no floors of {title}");
        return Outcome::Passed;
    };
    let metrics: BTreeMap<String, Metric> = metrics::of(run)
        .into_iter()
        .map(|metric| (metric.name.clone(), metric))
        .collect();
    let mut worst = Outcome::Passed;
    for (name, &floor) in floors {
        let (outcome, line) = match metrics.get(name) {
            Some(metric) if metric.n() < LEAST_QUESTIONS => (
                Outcome::CouldNotMeasure,
                format!("too few to tell: {name} is {metric}, and a floor takes {LEAST_QUESTIONS}"),
            ),
            Some(metric) if metric.value >= floor => continue,
            Some(metric) => (
                Outcome::Failed,
                format!("below its floor: {name} is {metric}, {floor} at least"),
            ),
            None => (
                Outcome::CouldNotMeasure,
                format!("no such metric: {name} of the floors"),
            ),
        };
        worst = worst.max(outcome);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
    }
    if worst == Outcome::Passed {
        let _ = writeln!(text, "{} floors held", floors.len());
    }
    worst
}

/// Lists the questions that flipped, and whether more were lost than may be. One that is new or gone flips nothing.
fn flips(run: &Run, baselines: &Baselines, text: &mut String) -> Outcome {
    let title = run.head.title();
    let Some(baseline) = baselines.0.get(&title) else {
        let _ = writeln!(
            text,
            "no baseline of {title}: eval accept makes this run it"
        );
        return Outcome::Passed;
    };
    if baseline.writer != run.head.writer {
        let _ = writeln!(
            text,
            "not compared with the baseline, which was answered otherwise ({})",
            baseline.writer
        );
        return Outcome::Passed;
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
    if lost > won + NET_LOSS_AT_MOST {
        Outcome::Failed
    } else {
        Outcome::Passed
    }
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
    fn c287_a_metric_below_its_floor_fails_and_too_few_questions_tell_nothing() {
        let check = |run: &Run, floor: &str, outcome: Outcome, says: &str| {
            let ruling = rule(run, &floors(floor), &Baselines::default());
            assert_eq!(ruling.outcome, outcome, "{}", ruling.text);
            assert!(ruling.text.contains(says), "{}", ruling.text);
        };
        let ten = run(8, 10);
        let quoted = |floor: f64| format!("[docs]\n\"answer.gold_quoted\" = {floor}");
        check(&ten, &quoted(0.8), Outcome::Passed, "1 floors held");
        check(
            &ten,
            &quoted(0.81),
            Outcome::Failed,
            "answer.gold_quoted is 0.800 (8/10, 0.49–0.94), 0.81 at least",
        );
        check(
            &ten,
            "[docs]\n\"answer.gold_quote\" = 0.1",
            Outcome::CouldNotMeasure,
            "no such metric",
        );
        check(
            &ten,
            "[others]\n\"answer.gold_quoted\" = 1.0",
            Outcome::Passed,
            "no floors of docs",
        );
        for right in [5, 4, 3] {
            check(
                &run(right, 5),
                &quoted(0.8),
                Outcome::CouldNotMeasure,
                "too few to tell",
            );
        }
        // All of them is not certainty either.
        check(
            &run(5, 5),
            &quoted(0.8),
            Outcome::CouldNotMeasure,
            "(5/5, 0.57–1.00)",
        );
    }

    #[test]
    fn c285_a_service_that_refuses_everything_fails() {
        let refusing = |row: serde_json::Value| asked(row, &[]);
        let mut questions: Vec<_> = (0..20)
            .map(|n| refusing(json!({"id": format!("a{n}"), "type": "answerable", "question": "?", "gold": [{"quote": "trains run on time"}]})))
            .collect();
        questions.extend(
            (0..20).map(|n| refusing(json!({"id": format!("u{n}"), "type": "unanswerable", "category": "near_miss", "question": "?"}))),
        );
        let run = Run {
            head: Head::new("postgresql-17", "hash".into(), "local".into()),
            questions,
        };
        let square = metrics::refusal::square(&run);
        assert_eq!(
            square,
            "  answerable       0 answered    20 refused\n  unanswerable     0 answered    20 refused\n"
        );
        let ours = floors(include_str!("../../../eval/floors.toml"));
        let ruling = rule(&run, &ours, &Baselines::default());
        assert_eq!(ruling.outcome, Outcome::Failed);
        assert!(
            ruling
                .text
                .contains("below its floor: answer.answered is 0.000 (0/20"),
            "{}",
            ruling.text
        );
    }

    #[test]
    fn a_net_loss_above_two_fails_and_every_flip_is_listed() {
        let baselines = Baselines::default().accept(&run(8, 10));
        for (right, passed) in [(10, true), (8, true), (6, true), (5, false)] {
            let ruling = rule(&run(right, 10), &Floors::default(), &baselines);
            assert_eq!(ruling.outcome == Outcome::Passed, passed, "{}", ruling.text);
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
            ruling.outcome == Outcome::Passed && ruling.text.contains("not compared"),
            "{}",
            ruling.text
        );
    }
}
