//! The report: what was measured, with counts and 95 % intervals (Wilson 1927).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::measure::Measured;

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
pub(crate) fn render(measured: &[Measured], not_asked: &[String]) -> String {
    let mut out = String::new();
    let answerable: Vec<&Measured> = measured
        .iter()
        .filter(|m| m.row.kind == "answerable")
        .collect();
    let unanswerable: Vec<&Measured> = measured
        .iter()
        .filter(|m| m.row.kind == "unanswerable")
        .collect();
    if !answerable.is_empty() {
        retrieval(&mut out, &answerable);
        answers(&mut out, &answerable);
    }
    if !unanswerable.is_empty() {
        refusals(&mut out, &unanswerable);
    }
    timings(&mut out, measured);
    flagged(&mut out, measured);
    if !not_asked.is_empty() {
        let _ = writeln!(out, "Not asked: {}", not_asked.join(", "));
    }
    out
}

const ARMS: [&str; 4] = ["vector", "keyword", "fused", "reranked"];

fn retrieval(out: &mut String, rows: &[&Measured]) {
    let _ = writeln!(
        out,
        "Retrieval, n = {}      recall@1    @6     @20    @40    MRR",
        rows.len()
    );
    for (n, arm) in ARMS.iter().enumerate() {
        let places: Vec<Option<usize>> = rows.iter().map(|m| m.places[n]).collect();
        let at = |k| {
            share(
                places.iter().filter(|p| p.is_some_and(|p| p <= k)).count(),
                places.len(),
            )
        };
        let _ = writeln!(
            out,
            "  {arm:<20} {:.3}     {:.3}  {:.3}  {:.3}  {:.3}",
            at(1),
            at(6),
            at(20),
            at(40),
            reciprocal(&places)
        );
    }
    let mut styles: BTreeMap<&str, Vec<&Measured>> = BTreeMap::new();
    for row in rows {
        styles.entry(&row.row.style).or_default().push(row);
    }
    let _ = writeln!(
        out,
        "By style                     n   reranked@6  fused@20  fused MRR"
    );
    for (style, rows) in styles {
        let fused: Vec<Option<usize>> = rows.iter().map(|m| m.places[2]).collect();
        let top = |arm: usize, k| {
            share(
                rows.iter()
                    .filter(|m| m.places[arm].is_some_and(|p| p <= k))
                    .count(),
                rows.len(),
            )
        };
        let _ = writeln!(
            out,
            "  {style:<24} {:>3}   {:.3}       {:.3}     {:.3}",
            rows.len(),
            top(3, 6),
            top(2, 20),
            reciprocal(&fused)
        );
    }
}

fn answers(out: &mut String, rows: &[&Measured]) {
    let shown: Vec<&&Measured> = rows.iter().filter(|m| !m.overlaps.is_empty()).collect();
    let any = shown.iter().filter(|m| m.overlaps.contains(&true)).count();
    let early = shown
        .iter()
        .filter(|m| m.overlaps.iter().take(2).any(|&o| o))
        .count();
    let _ = writeln!(out, "Answers");
    let _ = writeln!(
        out,
        "  answered                     {}",
        rate(shown.len(), rows.len())
    );
    let _ = writeln!(
        out,
        "  gold overlapped by a sentence {}",
        rate(any, shown.len())
    );
    let _ = writeln!(
        out,
        "  by one of the first two      {}",
        rate(early, shown.len())
    );
    let median = |of: &dyn Fn(&Measured) -> usize| {
        let mut values: Vec<usize> = shown.iter().map(|m| of(m)).collect();
        values.sort_unstable();
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    let _ = writeln!(
        out,
        "  median words {}, median passages cited {}",
        median(&|m| m.words),
        median(&|m| m.passages)
    );
}

fn refusals(out: &mut String, rows: &[&Measured]) {
    let refused = |m: &Measured| matches!(m.outcome.as_str(), "abstained" | "unsupported");
    let right = |m: &Measured| refused(m) || m.corrected;
    let all = rows.iter().filter(|m| right(m)).count();
    let _ = writeln!(
        out,
        "Unanswerable refused or corrected {}",
        rate(all, rows.len())
    );
    let mut categories: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for row in rows {
        let entry = categories.entry(&row.row.style).or_default();
        entry.0 += usize::from(right(row));
        entry.1 += 1;
    }
    for (category, (right, n)) in categories {
        let _ = writeln!(out, "  {category:<28} {}", rate(right, n));
    }
}

fn timings(out: &mut String, rows: &[Measured]) {
    let mut stages: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in rows {
        for (stage, ms) in &row.timings_ms {
            stages.entry(stage).or_default().push(*ms);
        }
    }
    let _ = writeln!(out, "Milliseconds                 p50      p95");
    for (stage, mut values) in stages {
        values.sort_by(f64::total_cmp);
        let at = |share: usize| values[(values.len() - 1) * share / 100];
        let _ = writeln!(out, "  {stage:<24} {:>7.2}  {:>7.2}", at(50), at(95));
    }
}

/// Questions to read: answerable ones that were refused or missed, unanswerable ones that were answered.
fn flagged(out: &mut String, rows: &[Measured]) {
    let _ = writeln!(out, "To read");
    for m in rows {
        let what = match m.row.kind.as_str() {
            "answerable" if m.overlaps.is_empty() => "refused",
            "answerable" if m.places[3].is_none() => "not found",
            "unanswerable" if !m.overlaps.is_empty() && !m.corrected => "answered",
            _ => continue,
        };
        let (best, unknown, name) = m.signals;
        let _ = writeln!(
            out,
            "  {what:<9} {} [{}] relevance {:.2} (best {best:.2}, unknown {unknown:.2}{})",
            m.row.id,
            m.outcome,
            m.relevance,
            if name { ", unknown name" } else { "" }
        );
    }
}

fn reciprocal(places: &[Option<usize>]) -> f64 {
    let sum: f64 = places.iter().flatten().map(|&p| 1.0 / count(p)).sum();
    sum / count(places.len().max(1))
}

fn share(part: usize, whole: usize) -> f64 {
    count(part) / count(whole.max(1))
}

#[expect(clippy::cast_precision_loss, reason = "counts of questions")]
fn count(n: usize) -> f64 {
    n as f64
}

/// `0.853 (87/102, 0.77–0.91)`.
fn rate(part: usize, whole: usize) -> String {
    let (low, high) = wilson(part, whole);
    format!(
        "{:.3} ({part}/{whole}, {low:.2}–{high:.2})",
        share(part, whole)
    )
}

fn wilson(part: usize, whole: usize) -> (f64, f64) {
    const Z: f64 = 1.96;
    let (n, p) = (count(whole.max(1)), share(part, whole));
    let centre = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / (1.0 + Z * Z / n);
    (centre - half, centre + half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_gives_the_textbook_interval() {
        let (low, high) = wilson(8, 10);
        assert!(
            (low - 0.490).abs() < 0.001 && (high - 0.943).abs() < 0.001,
            "{low} {high}"
        );
        assert_eq!(rate(87, 102), "0.853 (87/102, 0.77–0.91)");
    }

    #[test]
    fn a_question_not_found_counts_as_zero() {
        assert!((reciprocal(&[Some(1), Some(4), None]) - (1.25 / 3.0)).abs() < 1e-9);
    }
}
