//! Whether a run may pass: no metric below its floor, and no more questions lost against the baseline than won.
//!
//! `eval/floors.toml` is written by people, `eval/baseline.json` by `eval accept`. Runs with local models are deterministic, so
//! that every question that flips is a change of ours. Where a model writes, questions flip by themselves, and only more losses
//! than chance explains are a regression: the exact test of `McNemar` (1947) on the pairs that flipped.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::metrics::{self, Metric};
use crate::record::Run;
use crate::verdict::Verdict;

/// Questions that may be lost beyond those that are won.
const NET_LOSS_AT_MOST: usize = 2;

/// Losses less probable than this by chance are a regression of a run that a model wrote.
const SIGNIFICANT: f64 = 0.05;

/// What a floor is held against must be of so many questions or sentences: of fewer, one more or less is a tenth or more.
const LEAST_QUESTIONS: usize = 7;

const FLOORS: &str = "eval/floors.toml";
pub(crate) const BASELINE: &str = "eval/baseline.json";

/// What runs are held against.
pub(crate) struct Standard {
    floors: Floors,
    baselines: Baselines,
}

/// The least that each metric may be, by the title of a run.
#[derive(Debug, Default, Deserialize)]
struct Floors(BTreeMap<String, BTreeMap<String, f64>>);

/// What each question came to when somebody accepted it, by the title of a run.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Baselines(BTreeMap<String, Baseline>);

/// One run's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Baseline {
    /// Who searched, ordered and wrote.
    writer: String,
    /// Whether each question was answered as it should be.
    right: BTreeMap<String, bool>,
}

/// The outcome, what to say of it, and what the run was held against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ruling {
    pub(crate) outcome: Outcome,
    pub(crate) text: String,
    /// The least that metrics had to be.
    pub(crate) floors: BTreeMap<String, f64>,
}

/// How a command ended; the later the worse, but what failed is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// All is well.
    Passed,
    /// It could not be told.
    CouldNotMeasure,
    /// Below a floor, or regressed.
    Failed,
}

impl Outcome {
    /// In words.
    pub(crate) fn told(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::CouldNotMeasure => "could not measure",
            Self::Failed => "not passed",
        }
    }
}

impl Floors {
    /// Those of a run: of its title, and of `TITLE judged` when it was.
    fn of(&self, run: &Run) -> BTreeMap<String, f64> {
        let title = run.head.title();
        let judged = run.head.judge.as_ref().map(|_| format!("{title} judged"));
        let sections = [Some(title), judged];
        let floors = sections
            .iter()
            .flatten()
            .filter_map(|title| self.0.get(title));
        floors
            .flatten()
            .map(|(name, floor)| (name.clone(), *floor))
            .collect()
    }
}

impl Standard {
    /// Of this checkout; nothing was accepted while there is no baseline.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn of_checkout() -> anyhow::Result<Self> {
        let floors = std::fs::read_to_string(FLOORS).with_context(|| format!("read {FLOORS}"))?;
        let baselines = match std::fs::read_to_string(BASELINE) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => "{}".to_owned(),
            found => found.with_context(|| format!("read {BASELINE}"))?,
        };
        Self::parse(&floors, &baselines)
    }

    /// That this program was built with.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn built_in() -> anyhow::Result<Self> {
        Self::parse(
            include_str!("../../../eval/floors.toml"),
            include_str!("../../../eval/baseline.json"),
        )
    }

    /// Of the two files' text.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn parse(floors: &str, baselines: &str) -> anyhow::Result<Self> {
        Ok(Self {
            floors: toml::from_str(floors).with_context(|| format!("read {FLOORS}"))?,
            baselines: serde_json::from_str(baselines)
                .with_context(|| format!("read {BASELINE}"))?,
        })
    }

    /// Rules on a run.
    pub(crate) fn rule(&self, run: &Run) -> Ruling {
        rule(run, &self.floors, &self.baselines)
    }

    /// Makes this run its title's baseline, and writes the baselines of this checkout.
    ///
    /// # Errors
    /// They cannot be written.
    pub(crate) fn accept(self, run: &Run) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(&self.baselines.accept(run))? + "\n";
        std::fs::write(BASELINE, text).with_context(|| format!("write {BASELINE}"))
    }
}

impl Baselines {
    /// The same with this run as its title's baseline.
    fn accept(mut self, run: &Run) -> Self {
        let baseline = Baseline {
            writer: run.head.writer.clone(),
            right: verdicts(run),
        };
        self.0.insert(run.head.title(), baseline);
        self
    }
}

fn rule(run: &Run, floors: &Floors, baselines: &Baselines) -> Ruling {
    let mut text = String::new();
    let mut outcome = below(run, floors, &mut text).max(flips(run, baselines, &mut text));
    if let Some(reason) = metrics::faithfulness::void(run) {
        let _ = writeln!(text, "the judge is void: {reason}");
        outcome = outcome.max(Outcome::CouldNotMeasure);
    }
    text.push_str(outcome.told());
    Ruling {
        outcome,
        text,
        floors: floors.of(run),
    }
}

fn below(run: &Run, floors: &Floors, text: &mut String) -> Outcome {
    let title = run.head.title();
    let floors = floors.of(run);
    if floors.is_empty() {
        let _ = writeln!(text, "no floors of {title}");
        return Outcome::Passed;
    }
    let metrics: BTreeMap<String, Metric> = metrics::of(run)
        .into_iter()
        .map(|metric| (metric.name.clone(), metric))
        .collect();
    let mut worst = Outcome::Passed;
    for (name, &floor) in &floors {
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
            "the baseline was answered otherwise ({})",
            baseline.writer
        );
    }
    let (mut lost, mut won, mut new) = (0, 0, 0);
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
            (None, _) => new += 1,
            _ => {}
        }
    }
    if new > 0 {
        let _ = writeln!(
            text,
            "not in the baseline: {new} questions, until eval accept"
        );
    }
    let chance = mcnemar(lost, won);
    let _ = write!(text, "against the baseline: {lost} lost, {won} won");
    let is_written_by_a_model = !run.head.generator.is_empty();
    let regressed = if is_written_by_a_model {
        let _ = write!(text, ", by chance p = {chance:.3}");
        lost > won && chance < SIGNIFICANT
    } else {
        lost > won + NET_LOSS_AT_MOST
    };
    text.push('\n');
    if regressed {
        Outcome::Failed
    } else {
        Outcome::Passed
    }
}

/// How probable a split as uneven as this one is when each pair flips either way alike: two-sided and exact.
fn mcnemar(lost: usize, won: usize) -> f64 {
    let n = lost + won;
    // From one side of the binomial distribution to the other: n over 0, n over 1, …, by halves of 2^-n.
    let mut term =
        (-f64::from(u32::try_from(n).unwrap_or(u32::MAX)) * std::f64::consts::LN_2).exp();
    let mut tail = 0.0;
    for k in 0..=lost.min(won) {
        tail += term;
        term *= (n - k) as f64 / (k + 1) as f64;
    }
    (2.0 * tail).min(1.0)
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
    use crate::metrics::refusal::{Outcomes, Split};
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
        let refused = Split {
            answered: 0,
            refused: 20,
        };
        let square = Outcomes {
            answerable: refused,
            unanswerable: refused,
        };
        assert_eq!(metrics::refusal::outcomes(&run), square);
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
    fn another_way_of_answering_is_compared_and_named() {
        let baselines = Baselines::default().accept(&run(8, 10));
        let mut other = run(0, 10);
        other.head.writer = "a model".into();
        let ruling = rule(&other, &Floors::default(), &baselines);
        assert_eq!(ruling.outcome, Outcome::Failed, "{}", ruling.text);
        assert!(
            ruling
                .text
                .contains("the baseline was answered otherwise (local)"),
            "{}",
            ruling.text
        );
    }

    #[test]
    fn where_a_model_writes_only_more_losses_than_chance_explains_fail() {
        let by_a_model = |right: usize| {
            let mut run = run(right, 10);
            run.head.generator = "m".into();
            run
        };
        let baselines = Baselines::default().accept(&by_a_model(10));
        for (right, outcome, p) in [
            (5, Outcome::Passed, "p = 0.062"),
            (4, Outcome::Failed, "p = 0.031"),
        ] {
            let ruling = rule(&by_a_model(right), &Floors::default(), &baselines);
            assert_eq!(ruling.outcome, outcome, "{}", ruling.text);
            assert!(ruling.text.contains(p), "{}", ruling.text);
        }
        assert!((mcnemar(0, 0) - 1.0).abs() < 1e-12);
        assert!(
            (mcnemar(1, 8) - 0.039).abs() < 1e-3,
            "as in tables of the sign test"
        );
    }
}
