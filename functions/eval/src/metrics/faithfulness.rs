//! What a judge model said of the shown sentences: how many the passages they cite support, and whether it can be believed.
//!
//! A sentence counts by the majority of its ballots, and one without a majority is not supported: the denominator is what was
//! asked about, never what came back. Refusals are not judged and have a number of their own. A judge that missed planted
//! sentences, or whose ballots failed, is void: its figures about itself are shown, those about the answers are not.

use super::{Metric, count, share};
use crate::judge::{FAILED_AT_MOST, Slot};
use crate::record::{Asked, Run};

/// Of the planted sentences, those that may be misjudged before a judge says nothing any more.
const MISSED_AT_MOST: f64 = 0.05;

/// Of fewer answers nothing is said.
const LEAST_ANSWERS: usize = 7;

/// Votes that make a majority of three.
const MAJORITY: usize = 2;

pub(super) fn measure(run: &Run) -> Vec<Metric> {
    let Some(tally) = tally(run) else {
        return Vec::new();
    };
    let of = |name: &str, hits, n| Metric::rate(format!("faithfulness.{name}"), hits, n);
    let mut metrics = Vec::new();
    if fault(&tally).is_none() {
        metrics.push(of("supported", tally.supported, tally.statements));
        metrics.push(Metric::mean(
            "faithfulness.supported_an_answer",
            tally.shares.clone(),
        ));
    }
    metrics.extend([
        of("controls", tally.controls_right, tally.controls),
        of("flipped", tally.flipped, tally.statements),
        of("without_verdict", tally.without_verdict, tally.statements),
        of("ballots_failed", tally.failed, tally.ballots),
        of("not_judged_refused", tally.refused, run.questions.len()),
    ]);
    metrics
}

/// Why a judge's run says nothing, if it was judged and does not.
pub(crate) fn void(run: &Run) -> Option<String> {
    fault(&tally(run)?)
}

fn fault(tally: &Tally) -> Option<String> {
    let missed = tally.controls - tally.controls_right;
    if count(tally.failed) > FAILED_AT_MOST * count(tally.planned) {
        Some(format!(
            "{} ballots failed of {} that were planned",
            tally.failed, tally.planned
        ))
    } else if tally.shares.len() < LEAST_ANSWERS {
        Some(format!(
            "{} answers were judged, and it takes {LEAST_ANSWERS}",
            tally.shares.len()
        ))
    } else if count(missed) > MISSED_AT_MOST * count(tally.controls) {
        Some(format!(
            "the judge misjudged {missed} of {} planted sentences",
            tally.controls
        ))
    } else {
        None
    }
}

#[derive(Default)]
struct Tally {
    /// Answers with a sentence, three ballots each.
    planned: usize,
    ballots: usize,
    failed: usize,
    controls: usize,
    controls_right: usize,
    statements: usize,
    supported: usize,
    flipped: usize,
    without_verdict: usize,
    refused: usize,
    /// The supported share of each answer that was judged.
    shares: Vec<f64>,
}

fn tally(run: &Run) -> Option<Tally> {
    run.head.judge.as_ref()?;
    let mut tally = Tally::default();
    for asked in &run.questions {
        if asked.events("sentence").next().is_none() {
            tally.refused += 1;
            continue;
        }
        tally.planned += 3;
        tally.ballots += asked.ballots.len();
        for ballot in &asked.ballots {
            let Ok(verdicts) = ballot.verdicts() else {
                tally.failed += 1;
                continue;
            };
            for (slot, supported) in ballot.slots.iter().zip(verdicts) {
                let right = match slot {
                    Slot::KnownGood => supported,
                    Slot::KnownBad => !supported,
                    Slot::Statement(_) => continue,
                };
                tally.controls += 1;
                tally.controls_right += usize::from(right);
            }
        }
        if asked.ballots.is_empty() {
            continue;
        }
        let votes = votes(asked);
        let judged: Vec<Option<bool>> = votes.iter().map(|votes| majority(votes)).collect();
        let of = |verdict| judged.iter().filter(|&&found| found == verdict).count();
        let supported = of(Some(true));
        tally.statements += votes.len();
        tally.supported += supported;
        tally.flipped += votes
            .iter()
            .filter(|votes| votes.contains(&true) && votes.contains(&false))
            .count();
        tally.without_verdict += of(None);
        tally.shares.push(share(supported, votes.len()));
    }
    Some(tally)
}

/// What the ballots that can be read said of each sentence.
pub(crate) fn votes(asked: &Asked) -> Vec<Vec<bool>> {
    let mut votes = vec![Vec::new(); asked.events("sentence").count()];
    for ballot in &asked.ballots {
        for (slot, supported) in ballot
            .slots
            .iter()
            .zip(ballot.verdicts().unwrap_or_default())
        {
            if let Slot::Statement(n) = slot
                && let Some(votes) = votes.get_mut(*n)
            {
                votes.push(supported);
            }
        }
    }
    votes
}

/// What most ballots said of a sentence; nothing without a majority of all three.
pub(crate) fn majority(votes: &[bool]) -> Option<bool> {
    let yes = votes.iter().filter(|&&vote| vote).count();
    if yes >= MAJORITY {
        Some(true)
    } else if votes.len() - yes >= MAJORITY {
        Some(false)
    } else {
        None
    }
}
