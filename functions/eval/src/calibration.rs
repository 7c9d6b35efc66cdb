//! Calibrates the relevance threshold on a stored run, and says what it costs.
//!
//! False premises are left out: whether such a question should be answered depends on the answer.

use std::collections::HashMap;
use std::fmt::Write as _;

use app::ask::thresholds::Threshold;
use domain::calibrate::{
    ANSWERED, Calibrated, Errors, LEAST_QUESTIONS, REFUSED, Scored, calibrate,
};
use domain::prepared::QuestionKey;

use crate::plot;
use crate::record::{Asked, Run};

/// Columns of the histogram.
const BINS: usize = 10;

/// What a run says of the threshold.
pub(crate) struct Calibration {
    /// None when the run parts nothing.
    pub(crate) threshold: Option<Threshold>,
    /// Both distributions, and both errors.
    pub(crate) text: String,
    /// Both distributions with the threshold.
    pub(crate) histogram: String,
}

/// Calibrates on a run.
///
/// # Errors
/// When the histogram cannot be drawn.
pub(crate) fn of(run: &Run) -> anyhow::Result<Calibration> {
    let head = &run.head;
    // A question that is asked with and without its pages is one question.
    let mut groups = HashMap::new();
    let questions: Vec<Scored> = run
        .questions
        .iter()
        .filter_map(|asked| {
            let next = groups.len();
            let group = *groups
                .entry(QuestionKey::of(&asked.row.question))
                .or_insert(next);
            scored(asked, group)
        })
        .collect();
    let mut text = histogram(&questions);
    let points: Vec<(f32, bool)> = questions
        .iter()
        .map(|one| (one.score, one.answerable))
        .collect();
    let Some(calibrated) = calibrate(&questions) else {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "no threshold: it takes {LEAST_QUESTIONS} questions of each kind, most of those that should be refused below most of the others"
        );
        return Ok(Calibration {
            threshold: None,
            text,
            histogram: plot::calibration(&points, None)?,
        });
    };
    let Calibrated {
        threshold,
        refuses_enough,
        errors,
        cross_validated,
        spread,
    } = &calibrated;
    let rule = if *refuses_enough {
        format!("the highest answered share at which {REFUSED} are refused")
    } else {
        format!(
            "as many refused as can be where {ANSWERED} are answered, and fewer than the {REFUSED} aimed at"
        )
    };
    let _ = writeln!(text, "threshold {threshold:.2}: {rule}");
    let _ = writeln!(text, "  on the same questions   {}", told(errors));
    let _ = write!(
        text,
        "  on folds left out       {}, thresholds {:.2} to {:.2}",
        told(cross_validated),
        spread.0,
        spread.1
    );
    let threshold = Threshold {
        corpus: head.corpus.clone(),
        corpus_hash: head.corpus_hash.clone(),
        embedder: head.embedder.clone(),
        reranker: head.reranker.clone(),
        threshold: *threshold,
        questions: questions.len(),
    };
    Ok(Calibration {
        histogram: plot::calibration(&points, Some(threshold.threshold))?,
        threshold: Some(threshold),
        text,
    })
}

fn scored(asked: &Asked, group: usize) -> Option<Scored> {
    Some(Scored {
        score: asked.relevance,
        answerable: asked.row.should_be_answered()?,
        group,
    })
}

fn told(errors: &Errors) -> String {
    format!(
        "{} of {} wrongly refused, {} of {} wrongly answered",
        errors.refused, errors.answerable, errors.answered, errors.unanswerable
    )
}

/// Both distributions, a line a tenth: what should be answered to the right, what should not to the left.
fn histogram(questions: &[Scored]) -> String {
    let mut bins = [[0_usize; 2]; BINS];
    for question in questions {
        let bin = ((question.score * BINS as f32) as usize).min(BINS - 1);
        bins[bin][usize::from(question.answerable)] += 1;
    }
    let widest = bins.iter().map(|[not, _]| *not).max().unwrap_or_default();
    let mut text =
        String::from("relevance of questions that should not and that should be answered\n");
    for (bin, [not, should]) in bins.iter().enumerate() {
        let _ = writeln!(
            text,
            "  0.{bin}  {:>widest$} {not:>3} | {should:<3} {}",
            "#".repeat(*not),
            "#".repeat(*should)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record::Head;
    use crate::verdict::tests::asked;

    #[test]
    fn a_run_is_calibrated_on_what_should_and_should_not_be_answered() {
        let question = |kind: &str, category: &str, relevance: f32| {
            // Every question has words of its own.
            let words = format!("{kind} {category} {relevance}?");
            let row = json!({"id": "q", "type": kind, "category": category, "question": words});
            Asked {
                relevance,
                ..asked(row, &[])
            }
        };
        let mut head = Head::new("docs", "h".into(), "local".into());
        (head.embedder, head.reranker) = ("m".into(), "local".into());
        let mut questions = Vec::new();
        for n in 0..20 {
            questions.push(question("answerable", "nl", 0.7 + 0.01 * n as f32));
            questions.push(question("unanswerable", "near_miss", 0.1 + 0.01 * n as f32));
            questions.push(question("unanswerable", "false_premise", 0.9));
        }
        let found = of(&Run {
            head: head.clone(),
            questions,
        })
        .expect("a calibration");
        let threshold = found.threshold.expect("a threshold");
        assert_eq!(
            (threshold.questions, threshold.reranker.as_str()),
            (40, "local")
        );
        insta::assert_snapshot!(found.text);
        let line = format!("threshold {:.2}", threshold.threshold);
        assert!(found.histogram.contains(&line), "{}", found.histogram);
        let none = of(&Run {
            head,
            questions: vec![question("answerable", "nl", 0.9)],
        })
        .expect("a calibration");
        assert!(none.threshold.is_none() && none.text.contains("no threshold:"));
        assert!(!none.histogram.contains("threshold"), "{}", none.histogram);
    }
}
