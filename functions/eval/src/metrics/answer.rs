//! What answerable questions were answered with: whether at all, whether with the gold words, and how briefly.

use std::collections::{BTreeMap, BTreeSet};

use super::{Metric, count};
use crate::record::{Asked, Run};
use crate::verdict::Verdict;

pub(super) fn measure(run: &Run) -> Vec<Metric> {
    let all: Vec<(&Asked, Verdict)> = run
        .questions
        .iter()
        .filter(|asked| asked.row.kind == "answerable")
        .map(|asked| (asked, Verdict::on(asked)))
        .collect();
    let answered: Vec<&(&Asked, Verdict)> =
        all.iter().filter(|(_, verdict)| verdict.answered).collect();
    let of_answered = |name: &str, hit: &dyn Fn(&Asked, Verdict) -> bool| {
        let hits = answered
            .iter()
            .filter(|(asked, verdict)| hit(asked, *verdict));
        Metric::rate(format!("answer.{name}"), hits.count(), answered.len())
    };
    let mut metrics = vec![
        Metric::rate("answer.answered", answered.len(), all.len()),
        of_answered("gold_passage_cited", &|asked, _| cites_gold(asked)),
        of_answered("gold_quoted", &|_, verdict| verdict.gold),
        of_answered("gold_quoted_early", &|_, verdict| verdict.gold_early),
    ];
    let mut styles: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (asked, verdict) in &all {
        let (hits, n) = styles.entry(&asked.row.style).or_default();
        *hits += usize::from(verdict.gold);
        *n += 1;
    }
    for (style, (hits, n)) in styles {
        metrics.push(Metric::rate(format!("answer.right.{style}"), hits, n));
    }
    let median = |name: &str, of: &dyn Fn(&Asked) -> usize| {
        let values = answered.iter().map(|(asked, _)| count(of(asked))).collect();
        Metric::percentile(format!("answer.{name}"), values, 50)
    };
    metrics.push(median("words", &words));
    metrics.push(median("passages_cited", &|asked| cited(asked).len()));
    metrics.push(Metric::mean(
        "answer.reference_recall",
        answered
            .iter()
            .filter_map(|(asked, _)| reference_recall(asked)),
    ));
    metrics
}

/// The share of the reference answer's words that were shown (ROUGE-1 recall, Lin 2004). It tells runs apart, not right from
/// wrong: an answer in other words may say the same.
fn reference_recall(asked: &Asked) -> Option<f64> {
    let reference = distinct_words(asked.row.reference_answer.as_deref()?);
    let shown: Vec<&str> = asked
        .events("sentence")
        .filter_map(|sentence| sentence["text"].as_str())
        .collect();
    let shown = distinct_words(&shown.join(" "));
    let found = reference.intersection(&shown).count();
    (!reference.is_empty()).then(|| count(found) / count(reference.len()))
}

/// Words in small letters, names such as `max_wal_size` whole.
fn distinct_words(text: &str) -> BTreeSet<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn words(asked: &Asked) -> usize {
    asked
        .events("sentence")
        .filter_map(|sentence| sentence["text"].as_str())
        .map(|text| text.split_whitespace().count())
        .sum()
}

/// The passages that shown sentences cite, each once.
fn cited(asked: &Asked) -> Vec<&str> {
    let mut cited: Vec<&str> = asked
        .events("sentence")
        .flat_map(|sentence| sentence["citations"].as_array().into_iter().flatten())
        .filter_map(|citation| citation["passage"].as_str())
        .collect();
    cited.sort_unstable();
    cited.dedup();
    cited
}

/// Whether a passage that holds a gold quote is cited.
fn cites_gold(asked: &Asked) -> bool {
    cited(asked).iter().any(|id| {
        let place = id.strip_prefix('P').and_then(|n| n.parse::<usize>().ok());
        place.is_some_and(|place| asked.gold_at[3].contains(&place))
    })
}
