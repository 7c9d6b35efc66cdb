//! Measures answers against questions whose answers are known, by the very pipeline that visitors use.
//!
//! `ask` asks and records; everything after works on the record alone: `verdict` on one answer, `metrics` on all of them,
//! `report` for people and `gate` for machines. Nothing here changes how a question is answered.

#![recursion_limit = "256"]

mod ask;
mod calibration;
mod command;
mod dataset;
mod gate;
mod judge;
mod metrics;
mod record;
mod report;
mod verdict;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use adapters::dynamodb::Table;
use anyhow::Context as _;
use app::ask::thresholds::Thresholds;
use app::config::Config;
use app::context::{Context, chat_model, ledger, prices};

use self::command::{Command, USAGE};
use self::gate::{Outcome, Ruling};
use self::judge::Bench;
use self::record::Run;

/// Where runs are stored; the last one of a corpus under its name.
const RUNS: &str = ".local/eval";
const FLOORS: &str = "eval/floors.toml";
const BASELINE: &str = "eval/baseline.json";
const THRESHOLDS: &str = "eval/thresholds.toml";

/// Runs the command, or serves as a Lambda function where the runtime is.
pub async fn start(arguments: impl Iterator<Item = String>) -> ExitCode {
    let ended = if std::env::var_os("AWS_LAMBDA_RUNTIME_API").is_some() {
        serve().await.map(|()| Outcome::Passed)
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
            let run = measure(files).await?;
            let file = stored(&run.head.title());
            run.write(&file)?;
            report::say(&report::render(&run));
            let ruling = rule(&run)?;
            report::say(&ruling.text);
            if let Some(stale) = stale_threshold(&run)? {
                report::say(&stale);
            }
            return Ok(ruling.outcome);
        }
        Command::Judge(file) => {
            let (file, mut run) = last_run(file)?;
            judge(&mut run).await?;
            run.write(&file)?;
            report::say(&report::render(&run));
            let ruling = rule(&run)?;
            report::say(&ruling.text);
            return Ok(ruling.outcome);
        }
        Command::Accept(file) => {
            let (file, run) = last_run(file)?;
            let baseline = Path::new(BASELINE);
            let accepted = gate::baselines(baseline)?.accept(&run);
            accepted.write(baseline)?;
            report::say(&format!("{BASELINE} holds {}", file.display()));
        }
        Command::Calibrate(file) => return calibrate(file),
        Command::Replay(file) => report::say(&report::render(&Run::read(&file)?)),
    }
    Ok(Outcome::Passed)
}

fn rule(run: &Run) -> anyhow::Result<Ruling> {
    Ok(gate::rule(
        run,
        &gate::floors(Path::new(FLOORS))?,
        &gate::baselines(Path::new(BASELINE))?,
    ))
}

/// Has the run's answers judged by the model that is configured for it.
async fn judge(run: &mut Run) -> anyhow::Result<()> {
    let config = Config::from_env()?;
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
        prices: prices(&config)?,
    };
    judge::judge(&bench, run, remark).await
}

/// Fails when no threshold parts the run's questions.
fn calibrate(file: Option<PathBuf>) -> anyhow::Result<Outcome> {
    let (_, run) = last_run(file)?;
    let (threshold, text) = calibration::of(&run);
    report::say(&text);
    let Some(threshold) = threshold else {
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

/// The run of `file`, by itself the last one on the configured corpus with the passages' own sentences.
fn last_run(file: Option<PathBuf>) -> anyhow::Result<(PathBuf, Run)> {
    let file = match file {
        Some(file) => file,
        None => stored(&Config::from_env()?.corpus),
    };
    let run = Run::read(&file)?;
    Ok((file, run))
}

/// Where the last run of this title is stored.
fn stored(title: &str) -> PathBuf {
    let in_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let name: String = title
        .chars()
        .map(|c| if in_a_name(c) { c } else { '-' })
        .collect();
    Path::new(RUNS).join(format!("{name}.jsonl"))
}

/// Measures on `files`, by default every dataset of the configured corpus.
async fn measure(files: Vec<PathBuf>) -> anyhow::Result<Run> {
    let config = Config::from_env()?;
    app::telemetry::init(config.log_level);
    let files = if files.is_empty() {
        dataset::of_corpus(&config.corpus)?
    } else {
        files
    };
    let mut rows = Vec::new();
    for file in &files {
        rows.extend(dataset::read(file).with_context(|| format!("read {}", file.display()))?);
    }
    dataset::check(&rows)?;
    ask::run(&Context::new(config).await?, rows).await
}

async fn serve() -> anyhow::Result<()> {
    lambda_runtime::run(lambda_runtime::service_fn(
        |_: lambda_runtime::LambdaEvent<serde_json::Value>| async {
            measure(Vec::new())
                .await
                .map(|run| serde_json::json!({ "report": report::render(&run) }))
                .map_err(|error| lambda_runtime::Error::from(format!("{error:#}")))
        },
    ))
    .await
    .map_err(|error| anyhow::anyhow!("{error}"))
}
