//! Chooses the relevance below which a question is refused, from scores of questions that should be answered and of questions
//! that should not.
//!
//! The rule: of all thresholds that refuse at least [`REFUSED`] of what should be refused, the one that answers most of what
//! should be answered. Where that would leave less than [`ANSWERED`] of it answered, the two aims exclude each other: then, of
//! those that answer as much, the one that refuses most, and the aim is told as missed. Of equals, the middle of the widest gap
//! between scores. Both errors of a threshold that was chosen and tried on the same questions flatter it, so that they are told
//! of folds it was not chosen on as well.

/// The share of what should be refused that a threshold has to refuse.
pub const REFUSED: f32 = 0.88;

/// The share of what should be answered that a threshold has to answer.
pub const ANSWERED: f32 = 0.88;

/// Where a threshold that answers enough refuses less than this, the scores do not part the questions.
const LEAST_REFUSED: f32 = 0.5;

/// Questions of each kind from which a share as fine as that can be told.
pub const LEAST_QUESTIONS: usize = 20;

/// Parts that the questions are split into, each of them once tried and not chosen on.
const FOLDS: usize = 5;

/// One question's score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// What relevance is judged by, 0 to 1.
    pub score: f32,
    /// Whether it should be answered.
    pub answerable: bool,
    /// Questions of one number are one question, asked in several ways: they fall into one fold.
    pub group: usize,
}

/// How a threshold does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Errors {
    /// Answerable questions refused.
    pub refused: usize,
    /// Of how many.
    pub answerable: usize,
    /// Unanswerable questions answered.
    pub answered: usize,
    /// Of how many.
    pub unanswerable: usize,
}

impl Errors {
    /// Of what should be answered, the share that is.
    #[must_use]
    pub fn answered_share(&self) -> f32 {
        (self.answerable - self.refused) as f32 / self.answerable.max(1) as f32
    }

    /// Of what should be refused, the share that is.
    #[must_use]
    pub fn refused_share(&self) -> f32 {
        (self.unanswerable - self.answered) as f32 / self.unanswerable.max(1) as f32
    }
}

/// A threshold, and what it costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated {
    /// To the hundredth.
    pub threshold: f32,
    /// Whether it refuses [`REFUSED`] of what it was chosen on.
    pub refuses_enough: bool,
    /// On the questions it was chosen on.
    pub errors: Errors,
    /// On questions that were not chosen on.
    pub cross_validated: Errors,
    /// The least and the greatest threshold of the folds.
    pub spread: (f32, f32),
}

/// Calibrates on `questions`, which fall into folds by their groups.
///
/// Returns `None` without [`LEAST_QUESTIONS`] of both kinds, or when no threshold refuses enough.
#[must_use]
pub fn calibrate(questions: &[Scored]) -> Option<Calibrated> {
    let answerable = questions
        .iter()
        .filter(|question| question.answerable)
        .count();
    if answerable.min(questions.len() - answerable) < LEAST_QUESTIONS {
        return None;
    }
    let threshold = choose(questions)?;
    let mut cross_validated = Errors::default();
    let mut spread = (f32::INFINITY, f32::NEG_INFINITY);
    for fold in 0..FOLDS {
        let in_fold = |question: &Scored| question.group % FOLDS == fold;
        let (tried, chosen_on): (Vec<Scored>, Vec<Scored>) =
            questions.iter().partition(|&one| in_fold(one));
        let chosen = choose(&chosen_on)?;
        spread = (spread.0.min(chosen), spread.1.max(chosen));
        let errors = errors(&tried, chosen);
        cross_validated.refused += errors.refused;
        cross_validated.answerable += errors.answerable;
        cross_validated.answered += errors.answered;
        cross_validated.unanswerable += errors.unanswerable;
    }
    let errors = errors(questions, threshold);
    Some(Calibrated {
        threshold,
        refuses_enough: errors.refused_share() >= REFUSED,
        errors,
        cross_validated,
        spread,
    })
}

/// What `threshold` does to `questions`.
#[must_use]
pub fn errors(questions: &[Scored], threshold: f32) -> Errors {
    let mut errors = Errors::default();
    for question in questions {
        let answered = question.score >= threshold;
        if question.answerable {
            errors.answerable += 1;
            errors.refused += usize::from(!answered);
        } else {
            errors.unanswerable += 1;
            errors.answered += usize::from(answered);
        }
    }
    errors
}

fn choose(questions: &[Scored]) -> Option<f32> {
    let mut scores: Vec<f32> = questions.iter().map(|question| question.score).collect();
    scores.extend([0.0, 1.0]);
    scores.sort_by(f32::total_cmp);
    scores.dedup();
    // Between two scores every threshold does the same: what it does, the width of the gap and its middle.
    let gaps: Vec<(Errors, f32, f32)> = scores
        .windows(2)
        .map(|pair| {
            let middle = f32::midpoint(pair[0], pair[1]);
            (errors(questions, middle), pair[1] - pair[0], middle)
        })
        .collect();
    let wider = |a: &(Errors, f32, f32), b: &(Errors, f32, f32)| a.1.total_cmp(&b.1);
    let enough = gaps
        .iter()
        .filter(|(errors, ..)| {
            errors.refused_share() >= REFUSED && errors.answered_share() >= ANSWERED
        })
        .max_by(|a, b| b.0.refused.cmp(&a.0.refused).then(wider(a, b)));
    let most = || {
        gaps.iter()
            .filter(|(errors, ..)| {
                errors.answered_share() >= ANSWERED && errors.refused_share() >= LEAST_REFUSED
            })
            .max_by(|a, b| b.0.answered.cmp(&a.0.answered).then(wider(a, b)))
    };
    let (.., middle) = enough.or_else(most)?;
    Some((middle * 100.0).round() / 100.0)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    fn scored(answerable: &[f32], unanswerable: &[f32]) -> Vec<Scored> {
        let of = |scores: &[f32], answerable| -> Vec<Scored> {
            scores
                .iter()
                .map(|&score| Scored {
                    score,
                    answerable,
                    group: 0,
                })
                .collect()
        };
        let mut all = [of(answerable, true), of(unanswerable, false)].concat();
        for (group, scored) in all.iter_mut().enumerate() {
            scored.group = group;
        }
        all
    }

    #[test]
    fn the_middle_of_the_gap_is_chosen() {
        let questions = scored(
            &[0.7, 0.8, 0.9, 0.95, 0.75].repeat(4),
            &[0.1, 0.2, 0.3, 0.25, 0.15].repeat(4),
        );
        let calibrated = calibrate(&questions).unwrap();
        assert!((calibrated.threshold - 0.5).abs() < 1e-6, "{calibrated:?}");
        assert_eq!(
            (calibrated.errors.refused, calibrated.errors.answered),
            (0, 0)
        );
        assert_eq!(
            (
                calibrated.cross_validated.answerable,
                calibrated.cross_validated.unanswerable
            ),
            (20, 20)
        );
    }

    #[test]
    fn enough_is_refused_at_the_highest_answered_share() {
        // One unanswerable question in ten may be answered, not two.
        let low: Vec<f32> = (0..8).map(|n| 0.1 + 0.01 * n as f32).collect();
        let high = [0.9; 10];
        let questions = scored(
            &[&[0.45, 0.55], &high[..]].concat(),
            &[&low[..], &[0.5, 0.7]].concat(),
        );
        let chosen = choose(&questions).unwrap();
        assert!((0.5..0.55).contains(&chosen), "{chosen}");
        assert_eq!(
            errors(&questions, chosen),
            Errors {
                refused: 1,
                answerable: 12,
                answered: 1,
                unanswerable: 10
            }
        );
    }

    #[test]
    fn where_both_aims_exclude_each_other_enough_is_answered_and_that_is_told() {
        let answerable = [&[0.2, 0.3, 0.3, 0.4, 0.4][..], &[0.9; 20]].concat();
        let unanswerable = [
            &[0.1; 15][..],
            &[0.25; 3],
            &[0.35, 0.35, 0.5, 0.5, 0.5, 0.5, 0.5],
        ]
        .concat();
        let calibrated = calibrate(&scored(&answerable, &unanswerable)).unwrap();
        // Any more refused would be an answer too few.
        assert!(
            (0.35..0.4).contains(&calibrated.threshold),
            "{calibrated:?}"
        );
        assert!(!calibrated.refuses_enough, "{calibrated:?}");
        assert_eq!(
            (calibrated.errors.refused, calibrated.errors.answered),
            (3, 5)
        );
    }

    #[test]
    fn ways_of_asking_one_question_are_never_apart() {
        let mut questions = scored(
            &[0.7, 0.8, 0.9, 0.95, 0.75].repeat(4),
            &[0.1, 0.2, 0.3, 0.25, 0.15].repeat(4),
        );
        assert!(calibrate(&questions).is_some());
        for question in &mut questions {
            question.group = 3;
        }
        assert_eq!(calibrate(&questions), None, "one fold holds them all");
    }

    #[test]
    fn nothing_is_chosen_from_one_kind_alone_or_where_nothing_parts_them() {
        for (answerable, unanswerable) in [(30, 0), (0, 30), (0, 0), (30, 19), (19, 30)] {
            let questions = scored(&vec![0.9; answerable], &vec![0.1; unanswerable]);
            assert_eq!(calibrate(&questions), None, "{answerable} {unanswerable}");
        }
        assert_eq!(calibrate(&scored(&[0.5; 25], &[1.0; 25])), None);
    }
}
