//! The report: what was measured, with counts and 95 % intervals, and the questions to read. Made of a stored run alone, so
//! that the same run gives the same report.

use std::fmt::Write as _;

use crate::metrics;
use crate::record::{Asked, Run};
use crate::verdict::Verdict;

/// Prints to standard output.
#[expect(clippy::print_stdout, reason = "a command prints its report")]
pub(crate) fn say(text: &str) {
    println!("{text}");
}

/// Prints to standard error.
#[expect(clippy::print_stderr, reason = "a command says why it failed")]
pub(crate) fn complain(text: &str) {
    eprintln!("{text}");
}

/// The report in full.
pub(crate) fn render(run: &Run) -> String {
    let head = &run.head;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}: {} questions", head.title(), run.questions.len());
    let _ = writeln!(out, "answered with {}", head.writer);
    let _ = writeln!(out, "corpus {}", head.corpus_hash);
    let mut group = String::new();
    for metric in metrics::of(run) {
        let (of, name) = metric.name.split_once('.').unwrap_or(("", &metric.name));
        if of != group {
            of.clone_into(&mut group);
            let _ = writeln!(out, "{of}");
        }
        let _ = writeln!(out, "  {name:<32} {metric}");
    }
    let outcomes = metrics::refusal::outcomes(run);
    let _ = writeln!(out, "outcomes");
    for (kind, split) in [
        ("answerable", outcomes.answerable),
        ("unanswerable", outcomes.unanswerable),
    ] {
        let (answered, refused) = (split.answered, split.refused);
        let _ = writeln!(
            out,
            "  {kind:<14}{answered:>4} answered  {refused:>4} refused"
        );
    }
    let _ = writeln!(out, "to read");
    for asked in &run.questions {
        to_read(&mut out, asked);
    }
    for (id, reason) in &head.left_out {
        let _ = writeln!(out, "  left out  {id}: {reason}");
    }
    if let Some(ruling) = &head.ruling {
        out.push_str(&ruling.text);
    }
    out.truncate(out.trim_end().len());
    out
}

/// A line for a question that was not answered as it should be, with what its relevance was judged by.
fn to_read(out: &mut String, asked: &Asked) {
    let verdict = Verdict::on(asked);
    if verdict.is_right(&asked.row.kind) {
        return;
    }
    let what = verdict.told(asked);
    let signals = asked.signals;
    let name = if signals.unknown_name {
        ", unknown name"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "  {what:<10} {} [{}] relevance {:.2} (best {:.2}, agreement {:.2}, unknown {:.2}{name})",
        asked.row.id,
        asked.outcome(),
        asked.relevance,
        signals.best_sentence,
        signals.agreement,
        signals.unknown_share
    );
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;
    use crate::gate::{Outcome, Ruling};
    use crate::record::{Head, Point};
    use crate::store::Published;
    use crate::verdict::tests::asked;

    pub(crate) fn run() -> Run {
        let answerable = |id: &str, sentences: &[&str]| {
            asked(
                json!({"id": id, "type": "answerable", "style": "nl", "question": "?", "gold": [{"quote": "trains run on time"}]}),
                sentences,
            )
        };
        let mut head = Head::new(
            "docs",
            "ab12".into(),
            "rules 2; generator extractive".into(),
        );
        head.left_out
            .insert("q9".into(), "stale: no passage holds \"x\"".into());
        Run {
            head,
            questions: vec![
                answerable("q1", &["Here trains run on time"]),
                answerable("q2", &["Planes fly."]),
                answerable("q3", &[]),
                asked(
                    json!({"id": "u1", "type": "unanswerable", "category": "near_miss", "question": "?"}),
                    &["Planes fly."],
                ),
                asked(
                    json!({"id": "i1", "type": "injection", "class": "order", "question": "?", "must_not_contain": ["ZEBRA"]}),
                    &["The zebra."],
                ),
            ],
        }
    }

    #[test]
    fn the_report_is_known() {
        insta::assert_snapshot!(render(&run()));
    }

    #[test]
    fn a_stored_run_gives_the_same_report_byte_for_byte() {
        let mut run = run();
        run.head.asked_at = 1_765_432_100;
        run.head.history.insert(
            "answer.answered".into(),
            vec![Point {
                at: "2025-12-01T00:00:00Z".into(),
                value: 0.666_667,
            }],
        );
        run.head.ruling = Some(Ruling {
            outcome: Outcome::Failed,
            text: "below its floor: answer.answered\nnot passed".into(),
            floors: [("answer.answered".to_owned(), 0.9)].into(),
        });
        let read = Run::parse(&run.text().expect("text")).expect("a run");
        assert_eq!(read, run);
        assert_eq!(render(&read), render(&run));
        let html = |run: &Run| Published::of(run).expect("a report").html;
        assert_eq!(html(&read), html(&run));
        for told in [
            "2025-12-11T05:48:20Z",
            "below its floor: answer.answered",
            "0.667",
        ] {
            assert!(html(&run).contains(told), "{told}");
        }
        let error = format!("{:#}", Run::parse("{\"form\":1}\n").expect_err("no run"));
        assert!(error.contains("this is no stored run"), "{error}");
    }
}
