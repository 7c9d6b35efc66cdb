//! Plots of a run, as SVG with presentation attributes alone: pages that forbid inline style show them.

use std::collections::BTreeMap;
use std::io;

use anyhow::Context as _;
use plotters::coord::Shift;
use plotters::coord::ranged1d::SegmentValue;
use plotters::prelude::*;

use crate::metrics::{self, count, retrieval};
use crate::publication::PlotShown;
use crate::record::Run;
use crate::verdict::Verdict;

const SIZE: (u32, u32) = (720, 340);

/// Columns of the histogram.
const BINS: usize = 20;

/// Of Okabe and Ito (2008), which people tell apart whatever colours they see.
const BLUE: RGBColor = RGBColor(0, 114, 178);
const ORANGE: RGBColor = RGBColor(213, 94, 0);
const GREEN: RGBColor = RGBColor(0, 158, 115);
const PURPLE: RGBColor = RGBColor(204, 121, 167);
const GREY: RGBColor = RGBColor(120, 120, 120);

/// Stages in the order in which a question passes them.
const STAGES: [&str; 7] = [
    "open", "embed", "retrieve", "rerank", "generate", "verify", "total",
];

/// A plot with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plot {
    pub(crate) shown: PlotShown,
    pub(crate) svg: String,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<io::Error>>;

/// All plots of a run.
///
/// # Errors
/// When one cannot be drawn.
pub(crate) fn of(run: &Run) -> anyhow::Result<Vec<Plot>> {
    Ok(vec![
        plot(
            "recall",
            "Recall by k",
            "The share of answerable questions of which a passage that holds the answer is among the first k, for k from 1 to 40: \
             by vector, by keyword, fused, and reranked, which keeps but a few.",
            |area| recall(area, run),
        )?,
        plot(
            "relevance",
            "Relevance of questions that should and should not be answered",
            "A histogram of the relevance that was judged: questions with an answer above the line, questions without one below.",
            |area| relevance(area, &relevances(run), None),
        )?,
        plot(
            "risk-coverage",
            "Risk and coverage",
            "The share of wrong answers among those shown, were only the questions of highest relevance answered, by the share of \
             all questions that this would be.",
            |area| risk_coverage(area, run),
        )?,
        plot(
            "latency",
            "Time by stage",
            "The median and the 95th percentile of the time that each stage took, in milliseconds.",
            |area| latency(area, run),
        )?,
    ])
}

/// The histogram of a calibration, with the threshold it proposes.
///
/// # Errors
/// When it cannot be drawn.
pub(crate) fn calibration(
    questions: &[(f32, bool)],
    threshold: Option<f32>,
) -> anyhow::Result<String> {
    drawn(|area| relevance(area, questions, threshold))
}

fn plot(
    name: &str,
    title: &str,
    alt: &str,
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> anyhow::Result<Plot> {
    Ok(Plot {
        shown: PlotShown {
            name: name.to_owned(),
            title: title.to_owned(),
            alt: alt.to_owned(),
        },
        svg: drawn(draw).with_context(|| format!("draw {name}"))?,
    })
}

fn drawn(draw: impl FnOnce(&Area<'_>) -> Drawn) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        draw(&area)?;
        area.present()?;
    }
    Ok(svg)
}

fn recall(area: &Area<'_>, run: &Run) -> Drawn {
    let most = *retrieval::RECALL_AT.last().unwrap_or(&1);
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .x_label_area_size(38)
        .y_label_area_size(52)
        .build_cartesian_2d(1..most, 0.0..1.0)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("k")
        .y_desc("recall@k")
        .draw()?;
    let colours = [ORANGE, PURPLE, BLUE, GREEN];
    for (arm, (name, colour)) in retrieval::ARMS.iter().zip(colours).enumerate() {
        let points =
            (1..=retrieval::depth(run, arm)).map(|k| (k, retrieval::recall(run, arm, k).value));
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE)
        .border_style(GREY)
        .draw()
}

/// Relevance and whether the question should be answered. Whether a false premise should be depends on the answer, and an
/// injection is neither.
fn relevances(run: &Run) -> Vec<(f32, bool)> {
    run.questions
        .iter()
        .filter_map(|asked| Some((asked.relevance, asked.row.should_be_answered()?)))
        .collect()
}

fn relevance(area: &Area<'_>, questions: &[(f32, bool)], threshold: Option<f32>) -> Drawn {
    let mut bins = [[0_i32; 2]; BINS];
    for (score, should) in questions {
        // A score beyond the ends belongs to the last column on its side.
        let bin = ((score.clamp(0.0, 1.0) * BINS as f32) as usize).min(BINS - 1);
        bins[bin][usize::from(*should)] += 1;
    }
    let most = bins.iter().flatten().copied().max().unwrap_or(0).max(1);
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .x_label_area_size(38)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..1.0_f64, -most..most)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("relevance")
        .y_desc("questions")
        .y_label_formatter(&|count| count.abs().to_string())
        .draw()?;
    let edge = |bin: usize| count(bin) / count(BINS);
    for (should, name, colour) in [
        (1, "should be answered", BLUE),
        (0, "should not be answered", ORANGE),
    ] {
        let columns = bins.iter().enumerate().map(|(bin, counts)| {
            let height = if should == 1 { counts[1] } else { -counts[0] };
            Rectangle::new([(edge(bin), 0), (edge(bin + 1), height)], colour.filled())
        });
        chart
            .draw_series(columns)?
            .label(name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 14, y + 5)], colour.filled()));
    }
    if let Some(threshold) = threshold {
        let line = [(f64::from(threshold), -most), (f64::from(threshold), most)];
        chart
            .draw_series(LineSeries::new(line, BLACK.stroke_width(2)))?
            .label(format!("threshold {threshold:.2}"))
            .legend(|(x, y)| PathElement::new([(x, y), (x + 14, y)], BLACK.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE)
        .border_style(GREY)
        .draw()
}

/// Coverage and risk after each answer that was shown, the most relevant first (El-Yaniv and Wiener 2010).
fn risks(run: &Run) -> Vec<(f64, f64)> {
    let mut judged: Vec<(f32, Verdict, bool)> = run
        .questions
        .iter()
        .filter(|asked| asked.row.kind != "injection")
        .map(|asked| {
            let verdict = Verdict::on(asked);
            (asked.relevance, verdict, verdict.is_right(&asked.row.kind))
        })
        .collect();
    let all = judged.len();
    judged.retain(|(_, verdict, _)| verdict.answered);
    judged.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut wrong = 0;
    judged
        .iter()
        .zip(1..)
        .map(|((_, _, right), shown)| {
            wrong += usize::from(!right);
            (metrics::share(shown, all), metrics::share(wrong, shown))
        })
        .collect()
}

fn risk_coverage(area: &Area<'_>, run: &Run) -> Drawn {
    let points = risks(run);
    let most = points.iter().map(|(_, risk)| *risk).fold(0.1, f64::max);
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .x_label_area_size(38)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..1.0, 0.0..most)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("share of questions answered")
        .y_desc("share of answers that are wrong")
        .draw()?;
    chart.draw_series(LineSeries::new(points, BLUE.stroke_width(2)))?;
    Ok(())
}

fn latency(area: &Area<'_>, run: &Run) -> Drawn {
    let found: BTreeMap<String, f64> = metrics::of(run)
        .into_iter()
        .map(|metric| (metric.name, metric.value))
        .collect();
    let of = |stage: &str, percent: u32| found.get(&format!("latency.{stage}.p{percent}_ms"));
    let times: Vec<(&str, f64, f64)> = STAGES
        .into_iter()
        .filter_map(|stage| Some((stage, *of(stage, 50)?, *of(stage, 95)?)))
        .collect();
    let most = times.iter().map(|(_, _, p95)| *p95).fold(1.0, f64::max);
    let rows = times.len().max(1);
    // The first stage is the highest row.
    let name = |row: &SegmentValue<usize>| match row {
        SegmentValue::CenterOf(row) | SegmentValue::Exact(row) => times
            .get(rows - 1 - (*row).min(rows - 1))
            .map_or(String::new(), |(stage, ..)| (*stage).to_owned()),
        SegmentValue::Last => String::new(),
    };
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .x_label_area_size(38)
        .y_label_area_size(80)
        .build_cartesian_2d(0.0..most, (0..rows - 1).into_segmented())?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("milliseconds")
        .y_labels(rows)
        .y_label_formatter(&name)
        .draw()?;
    for (at, label, colour) in [(95, "95th percentile", PURPLE), (50, "median", BLUE)] {
        let bars = times.iter().enumerate().map(|(n, (_, p50, p95))| {
            let row = rows - 1 - n;
            let end = if at == 50 { *p50 } else { *p95 };
            let corners = [
                (0.0, SegmentValue::Exact(row)),
                (end, SegmentValue::Exact(row + 1)),
            ];
            let mut bar = Rectangle::new(corners, colour.filled());
            let margin = if at == 50 { 10 } else { 5 };
            bar.set_margin(margin, margin, 0, 0);
            bar
        });
        chart
            .draw_series(bars)?
            .label(label)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 14, y + 5)], colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE)
        .border_style(GREY)
        .draw()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record::Head;
    use crate::verdict::tests::asked;

    #[test]
    fn risk_is_of_the_answers_that_are_shown_and_coverage_of_all_questions() {
        let question = |relevance: f32, sentences: &[&str]| {
            let row = json!({"id": "q", "type": "answerable", "question": "?", "gold": [{"quote": "trains run on time"}]});
            crate::record::Asked {
                relevance,
                ..asked(row, sentences)
            }
        };
        let run = Run {
            head: Head::new("docs", "h".into(), "local".into()),
            questions: vec![
                question(0.7, &["Planes fly."]),
                question(0.1, &[]),
                question(0.9, &["Here trains run on time"]),
                question(0.8, &["Here trains run on time"]),
            ],
        };
        assert_eq!(risks(&run), [(0.25, 0.0), (0.5, 0.0), (0.75, 1.0 / 3.0)]);
    }

    #[test]
    fn a_run_that_says_little_is_drawn_too() {
        let head = Head::new("docs", "h".into(), "local".into());
        let empty = Run {
            head,
            questions: Vec::new(),
        };
        for plot in of(&empty).expect("plots") {
            assert!(plot.svg.ends_with("</svg>\n"), "{}", plot.shown.name);
        }
        let drawn = calibration(&[(-0.2, false), (1.4, true)], Some(0.5)).expect("a plot");
        assert!(drawn.contains("threshold 0.50"));
    }
}
