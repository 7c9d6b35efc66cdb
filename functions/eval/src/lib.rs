//! Measures answers against questions whose answers are known, by the very pipeline that visitors use.
//!
//! `ask` asks and records, in slices; everything after works on the record alone: `verdict` on one answer, `metrics` on all of
//! them, `report` for people, `publication` and `html` for readers and `gate` for machines. `store` keeps it all. Nothing here
//! changes how a question is answered.

#![recursion_limit = "256"]

mod ask;
mod calibration;
mod command;
mod dataset;
mod gate;
mod html;
mod judge;
mod lambda;
mod metrics;
mod plot;
mod publication;
mod record;
mod report;
mod slice;
mod store;
mod verdict;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use adapters::dynamodb::Table;
use adapters::results::Results;
use anyhow::{Context as _, bail};
use app::ask::thresholds::Thresholds;
use app::config::Config;
use app::context::{Context, chat_model, ledger, prices};

use self::command::{Command, USAGE};
use self::gate::{BASELINE, Outcome, Ruling, Standard};
use self::judge::Bench;
use self::record::Run;
use self::slice::{Checkpoint, Slice};
use self::store::Published;

const THRESHOLDS: &str = "eval/thresholds.toml";

/// Runs the command, or serves as a Lambda function where the runtime is.
pub async fn start(arguments: impl Iterator<Item = String>) -> ExitCode {
    let ended = if std::env::var_os("AWS_LAMBDA_RUNTIME_API").is_some() {
        lambda::serve().await.map(|()| Outcome::Passed)
    } else {
        match Command::parse(arguments) {
            Ok(command) => execute(command).await,
            Err(message) => {
                report::complain(&format!("{message}\n\n{USAGE}"));
                Ok(Outcome::CouldNotMeasure)
            }
        }
    };
    let outcome = ended.unwrap_or_else(|error| {
        report::complain(&format!("eval: {error:#}"));
        Outcome::CouldNotMeasure
    });
    ExitCode::from(match outcome {
        Outcome::Passed => 0,
        Outcome::Failed => 1,
        Outcome::CouldNotMeasure => 2,
    })
}

async fn execute(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Help => report::say(USAGE),
        Command::Measure(files) => {
            let (results, mut run, checkpoint) = measure(files).await?;
            let outcome = recorded(&results, &mut run).await?;
            checkpoint.forget().await?;
            return Ok(outcome);
        }
        Command::Judge => {
            let (config, results, mut run) = last_run().await?;
            judge(&config, &mut run).await?;
            return recorded(&results, &mut run).await;
        }
        Command::Accept => {
            let (_, _, run) = last_run().await?;
            Standard::of_checkout()?.accept(&run)?;
            let (title, at) = (run.head.title(), run.head.at());
            report::say(&format!("{BASELINE} holds {title} of {at}"));
        }
        Command::Calibrate => return calibrate().await,
        Command::Replay(file) => replay(&file)?,
    }
    Ok(Outcome::Passed)
}

/// Rules on the run, records it and says it all.
async fn recorded(results: &Results, run: &mut Run) -> anyhow::Result<Outcome> {
    let ruling = record_run(results, &Standard::of_checkout()?, run).await?;
    report::say(&report::render(run));
    if let Some(stale) = stale_threshold(run)? {
        report::say(&stale);
    }
    Ok(ruling.outcome)
}

/// Rules on the run and publishes it.
async fn record_run(
    results: &Results,
    standard: &Standard,
    run: &mut Run,
) -> anyhow::Result<Ruling> {
    let ruling = standard.rule(run);
    run.head.ruling = Some(ruling.clone());
    store::remember(results, run).await?;
    store::publish(results, run).await?;
    Ok(ruling)
}

/// Reports on a stored run, and writes the report beside it.
fn replay(file: &Path) -> anyhow::Result<()> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("read {shown}"))?;
    let run = Run::parse(&text).with_context(|| format!("read {shown}"))?;
    let html = file.with_extension("html");
    if html == file {
        bail!("{shown} is a report, and a stored run is wanted: its .jsonl");
    }
    std::fs::write(&html, Published::of(&run)?.html)
        .with_context(|| format!("write {}", html.display()))?;
    report::say(&report::render(&run));
    Ok(())
}

/// Has the run's answers judged by the model that is configured for it.
async fn judge(config: &Config, run: &mut Run) -> anyhow::Result<()> {
    app::telemetry::init(config.log_level);
    let judge = config.judge.as_ref().context(
        "no model judges: set JUDGE_MODEL, and JUDGE_BASE_URL or OPENAI_API_KEY for where it is",
    )?;
    let remark = judge::independence(judge, &run.head)?;
    if let Some(remark) = &remark {
        tracing::warn!("{remark}");
    }
    let limits = &config.limits;
    let table = Table::connect(&limits.usage_table, limits.dynamodb_endpoint.as_deref()).await;
    let bench = Bench {
        model: chat_model(&judge.remote)?,
        ledger: ledger(limits, table),
        prices: prices(config)?,
    };
    judge::judge(&bench, run, remark).await
}

/// Fails when no threshold parts the run's questions.
async fn calibrate() -> anyhow::Result<Outcome> {
    let (_, results, run) = last_run().await?;
    let found = calibration::of(&run)?;
    report::say(&found.text);
    let histogram = store::calibration_of(&run.head.slug());
    results.put(&histogram, found.histogram).await?;
    report::say(&format!("drawn as {histogram} of the results"));
    let Some(threshold) = found.threshold else {
        return Ok(Outcome::Failed);
    };
    let before = std::fs::read_to_string(THRESHOLDS).context("read the thresholds")?;
    let before: Thresholds = toml::from_str(&before).context("read the thresholds")?;
    let after = toml::to_string(&before.with(threshold))?;
    std::fs::write(THRESHOLDS, after).context("write the thresholds")?;
    report::say(&format!(
        "written to {THRESHOLDS}: build again to judge by it"
    ));
    Ok(Outcome::Passed)
}

/// What to say of a threshold that was calibrated on another state of the corpus.
fn stale_threshold(run: &Run) -> anyhow::Result<Option<String>> {
    let head = &run.head;
    let thresholds = Thresholds::built_in()?;
    let found = thresholds.of(&head.corpus, &head.embedder, &head.reranker);
    Ok(found
        .filter(|found| found.corpus_hash != head.corpus_hash)
        .map(|_| "the threshold was calibrated on another state of the corpus: eval calibrate, and build again".to_owned()))
}

/// The last run of the configured corpus and of the model that is configured to write.
async fn last_run() -> anyhow::Result<(Config, Results, Run)> {
    let config = Config::from_env()?;
    let place = &config.results;
    let results = Results::open(&place.location, place.endpoint.as_deref())?;
    let title = record::title(&config.corpus, ask::generator(&config));
    let run = store::last(&results, &record::slug(&title)).await?;
    Ok((config, results, run))
}

/// Measures on `files`, by default every dataset of the configured corpus.
async fn measure(files: Vec<PathBuf>) -> anyhow::Result<(Results, Run, Checkpoint)> {
    let config = Config::from_env()?;
    app::telemetry::init(config.log_level);
    let rows = if files.is_empty() {
        dataset::of_corpus(&config.corpus)?
    } else {
        dataset::read(&files)?
    };
    let names: Vec<_> = files.iter().filter_map(|file| file.file_stem()).collect();
    let part = names.join(OsStr::new(" and "));
    let context = Context::new(config).await?;
    match ask::run(&context, rows, &part.to_string_lossy(), None).await? {
        (Slice::Whole(run), checkpoint) => Ok((context.results()?, *run, checkpoint)),
        (Slice::Part { done, of }, _) => bail!("asked {done} of {of} questions"),
    }
}
