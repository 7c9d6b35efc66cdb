//! What answerable questions were answered with: whether at all, whether with the gold words, and how briefly.

use std::collections::BTreeMap;

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
    metrics.push(invariant(run));
    metrics
}

/// Of all shown sentences, those whose every quote stands in the passage it names. Anything below 1 is a broken verifier.
fn invariant(run: &Run) -> Metric {
    let (mut hits, mut n) = (0, 0);
    for asked in &run.questions {
        let passages: BTreeMap<&str, String> = asked
            .events("passages")
            .flat_map(|data| data["passages"].as_array().into_iter().flatten())
            .filter_map(|passage| {
                Some((
                    passage["id"].as_str()?,
                    crate::verdict::fold(passage["text"].as_str()?),
                ))
            })
            .collect();
        for sentence in asked.events("sentence") {
            let citations = sentence["citations"]
                .as_array()
                .map_or(&[][..], Vec::as_slice);
            let holds = |citation: &serde_json::Value| {
                let quote = crate::verdict::fold(citation["quote"].as_str().unwrap_or_default());
                let passage = citation["passage"].as_str().and_then(|id| passages.get(id));
                passage.is_some_and(|text| text.contains(&quote))
            };
            n += 1;
            hits += usize::from(!citations.is_empty() && citations.iter().all(holds));
        }
    }
    Metric::rate("answer.quotes_hold", hits, n)
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
