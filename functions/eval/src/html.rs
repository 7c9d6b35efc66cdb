//! The report as one HTML file that loads nothing: figures with interval, floor and history, plots, then every question,
//! failures first. Made of what is published alone.

use std::collections::BTreeMap;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::metrics::refusal::Split;
use crate::plot::Plot;
use crate::publication::{
    CitationShown, MetricShown, PassageShown, RowShown, SentenceShown, Summary,
};

const STYLE: &str = include_str!("report.css");

/// Of a metric's history, the values shown.
const SHOWN_BEFORE: usize = 5;

/// The report.
pub(crate) fn render(summary: &Summary, rows: &[RowShown], plots: &[Plot]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                // Nothing in a passage or an answer can load or run anything.
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="viewport" content="width=device-width";
                title { (summary.title) " · evaluation" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (summary.title) }
                p { strong { (summary.outcome.told()) } " · " (summary.at) " · " (summary.questions) " questions" }
                ul { @for note in &summary.notes { li { (note) } } }
                h2 { "Ruling" }
                ul { @for line in &summary.ruling { li { (line) } } }
                h2 { "Outcomes" }
                (outcomes(summary))
                @for plot in plots {
                    figure {
                        figcaption { (plot.shown.title) }
                        (PreEscaped(&plot.svg))
                        p { (plot.shown.alt) }
                    }
                }
                h2 { "Metrics" }
                p { "Intervals are of 95 %: of a rate by Wilson, of a mean by bootstrap." }
                @for (group, metrics) in groups(&summary.metrics) { (table(group, &metrics)) }
                h2 { "Questions" }
                @for row in rows { (question(row)) }
                @if !summary.left_out.is_empty() {
                    h2 { "Left out" }
                    ul { @for (id, why) in &summary.left_out { li { (id) ": " (why) } } }
                }
                h2 { "Setting" }
                (setting(summary))
            }
        }
    };
    page.into_string() + "\n"
}

fn outcomes(summary: &Summary) -> Markup {
    let row = |name: &str, split: Split| html! { tr { th scope="row" { (name) } td { (split.answered) } td { (split.refused) } } };
    html! {
        table {
            thead { tr { th {} th scope="col" { "answered" } th scope="col" { "refused" } } }
            tbody {
                (row("with an answer", summary.outcomes.answerable))
                (row("without one", summary.outcomes.unanswerable))
            }
        }
    }
}

/// By the first part of their names, in the order of the run.
fn groups(metrics: &[MetricShown]) -> Vec<(&str, Vec<&MetricShown>)> {
    let mut groups: Vec<(&str, Vec<&MetricShown>)> = Vec::new();
    for metric in metrics {
        let group = metric.name.split('.').next().unwrap_or_default();
        match groups.last_mut() {
            Some((last, of)) if *last == group => of.push(metric),
            _ => groups.push((group, vec![metric])),
        }
    }
    groups
}

fn table(group: &str, metrics: &[&MetricShown]) -> Markup {
    html! {
        table {
            caption { (group) }
            thead { tr { @for head in ["", "value", "interval", "of", "floor", "before"] { th scope="col" { (head) } } } }
            tbody { @for metric in metrics { (line(metric)) } }
        }
    }
}

fn line(metric: &MetricShown) -> Markup {
    let below = metric.floor.is_some_and(|floor| metric.value < floor);
    let before = metric.history.len().saturating_sub(SHOWN_BEFORE);
    html! {
        tr {
            th scope="row" { (metric.name) }
            td class=[below.then_some("bad")] { (figure(metric.value)) }
            td { @if let Some((low, high)) = metric.interval { (figure(low)) "–" (figure(high)) } }
            td { @if let Some(hits) = metric.hits { (hits) " of " } (metric.n) }
            td { @if let Some(floor) = metric.floor { (floor) } }
            td {
                @for (n, point) in metric.history[before..].iter().enumerate() {
                    @if n > 0 { " " }
                    span title=(point.at) { (figure(point.value)) }
                }
            }
        }
    }
}

/// To three places, or to six what is less than a thousandth, such as a price.
fn figure(value: f64) -> String {
    if value > 0.0 && value < 0.001 {
        format!("{value:.6}")
    } else {
        format!("{value:.3}")
    }
}

fn question(row: &RowShown) -> Markup {
    html! {
        details {
            summary {
                span class=(if row.right { "good" } else { "bad" }) { (if row.right { "✓ " } else { "✗ " }) }
                (row.question)
                small { (row.id) ", " (row.kind) " " (row.style) @if !row.right { ": " (row.what) } }
            }
            p { (row.outcome) " · relevance " (format!("{:.3}", row.relevance)) }
            @if let Some(refusal) = &row.refusal { p { (refusal) } }
            @if !row.answer.is_empty() { h3 { "Answer" } ol { @for sentence in &row.answer { (shown(sentence)) } } }
            @if !row.removed.is_empty() {
                h3 { "Removed" }
                ul { @for (reason, n) in counted(&row.removed) { li { (reason) " × " (n) } } }
            }
            @if !row.gold.is_empty() {
                h3 { "Expected" }
                ul { @for gold in &row.gold { li { (gold.page) @if !gold.anchor.is_empty() { "#" (gold.anchor) } " " q { (gold.quote) } } } }
            }
            @if !row.without.is_empty() { h3 { "Hidden" } ul { @for page in &row.without { li { (page) } } } }
            @if !row.passages.is_empty() { h3 { "Passages" } @for passage in &row.passages { (held(passage)) } }
        }
    }
}

fn counted(reasons: &[String]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for reason in reasons {
        *counts.entry(reason.as_str()).or_default() += 1;
    }
    counts
}

fn shown(sentence: &SentenceShown) -> Markup {
    html! {
        li {
            @if sentence.kind == "code" { pre { (sentence.text) } } @else { (sentence.text) }
            ul { @for citation in &sentence.citations { li { (link(citation)) " " q { (citation.quote) } } } }
            @if let Some(verdict) = &sentence.verdict {
                p {
                    "Judge: "
                    (match verdict.supported { Some(true) => "supported", Some(false) => "not supported", None => "no verdict" })
                    " (" (verdict.votes.join(", ")) ")"
                }
            }
        }
    }
}

fn link(citation: &CitationShown) -> Markup {
    // A stored document's address is the service's own, which a file has no part in.
    let is_public = ["https://", "http://"]
        .iter()
        .any(|scheme| citation.url.starts_with(scheme));
    html! { @if is_public { a href=(citation.url) rel="noreferrer" { (citation.passage) } } @else { (citation.passage) } }
}

fn held(passage: &PassageShown) -> Markup {
    let mut place = vec![passage.title.as_str()];
    place.extend(passage.heading.iter().map(String::as_str));
    html! {
        details {
            summary { (passage.id) " " (place.join(" › ")) small { (format!("{:.3}", passage.score)) } }
            p.words { (passage.text) }
        }
    }
}

fn setting(summary: &Summary) -> Markup {
    let facts = [
        ("corpus", Some(&summary.corpus)),
        ("hash of the corpus", Some(&summary.corpus_hash)),
        ("embedder", Some(&summary.embedder)),
        ("reranker", Some(&summary.reranker)),
        ("answered with", Some(&summary.writer)),
        ("written by", Some(&summary.generator)),
        ("judged by", summary.judge.as_ref()),
    ];
    html! {
        table { tbody {
            @for (name, value) in facts {
                @if let Some(value) = value && !value.is_empty() { tr { th scope="row" { (name) } td { (value) } } }
            }
        } }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::gate::{Outcome, Ruling};
    use crate::judge::{Ballot, Slot};
    use crate::record::{Head, Judge, Point, Run};
    use crate::store::Published;
    use crate::verdict::tests::asked;

    /// A run with a missed floor, a judge, history, and a passage that would do harm.
    fn run() -> Run {
        let row = |id: &str, quote: &str| json!({"id": id, "type": "answerable", "style": "nl", "question": "When & why?", "gold": [{"page": "a.html", "anchor": "A", "quote": quote}]});
        let hostile = "<script>alert(1)</script> Trains run </pre><style>*{}</style>";
        let mut wrong = asked(row("q2", "planes fly at noon every day"), &[hostile]);
        wrong.ballots = [
            r#"{"statement":1,"verdict":"supported"}"#,
            r#"{"statement":1,"verdict":"unsupported"}"#,
        ]
        .map(|verdict| Ballot {
            slots: vec![Slot::Statement(0)],
            replies: vec![format!(r#"{{"verdicts":[{verdict}]}}"#)],
            error: None,
        })
        .into();
        let mut head = Head::new(
            "docs",
            "ab12".into(),
            "rules 2; generator extractive".into(),
        );
        (head.embedder, head.reranker) = ("m".into(), "local".into());
        head.asked_at = 1_765_432_100;
        head.judge = Some(Judge {
            model: "j".into(),
            rules: 1,
            remark: None,
        });
        head.ruling = Some(Ruling {
            outcome: Outcome::Failed,
            text: "below its floor: answer.gold_quoted\nnot passed".into(),
            floors: [("answer.gold_quoted".to_owned(), 0.9)].into(),
        });
        let before = Point {
            at: "2025-12-01T00:00:00Z".into(),
            value: 0.75,
        };
        head.history = [("answer.gold_quoted".to_owned(), vec![before])].into();
        head.left_out.insert("q9".into(), "stale: <i>".into());
        Run {
            head,
            questions: vec![
                asked(
                    row("q1", "trains run on time"),
                    &["Here trains run on time"],
                ),
                wrong,
            ],
        }
    }

    #[test]
    fn the_report_is_known_with_failures_first_and_nothing_in_it_is_markup() {
        let html = Published::of(&run()).expect("a report").html;
        let (before, after) = html.split_once("<h2>Questions</h2>").expect("questions");
        assert!(
            before.contains("<td class=\"bad\">0.500</td>"),
            "a missed floor"
        );
        let place = |id: &str| after.find(id).expect("a question");
        assert!(place("q2,") < place("q1,"), "failures first");
        assert!(!html.contains("<script") && !after.contains("<style") && !after.contains("<i>"));
        assert!(!html.contains("style="), "presentation attributes only");
        insta::assert_snapshot!(after.replace("><", ">\n<"));
    }
}
