//! Measures answers against questions whose answers are known, by the very pipeline that visitors use.
//!
//! Gold is a quote; a chunk is gold when it holds one. Retrieval is measured per arm, after fusion and after rerank;
//! answers by what was shown. Nothing here changes how a question is answered. See `dataset`, `measure` and `report`.

#![recursion_limit = "256"]

mod dataset;
mod measure;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use app::config::Config;
use app::context::Context;

const USAGE: &str = "usage: eval [DATASET.jsonl …]   (default: every file of eval/datasets for the configured corpus)";

/// Runs the command, or serves as a Lambda function where the runtime is. Exits with 2 when it could not measure.
pub async fn start(arguments: impl Iterator<Item = String>) -> ExitCode {
    let arguments: Vec<String> = arguments.collect();
    if arguments.iter().any(|a| a == "--help" || a == "-h") {
        report::say(USAGE);
        return ExitCode::SUCCESS;
    }
    let ended = if std::env::var_os("AWS_LAMBDA_RUNTIME_API").is_some() {
        serve().await
    } else {
        run(arguments.into_iter().map(PathBuf::from).collect())
            .await
            .map(|report| report::say(&report))
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::complain(&format!("eval: {error:#}"));
            ExitCode::from(2)
        }
    }
}

/// Measures on `files` and returns the report.
///
/// # Errors
/// When a dataset cannot be read, the service cannot be reached, or a gold quote is not in the corpus.
async fn run(files: Vec<PathBuf>) -> anyhow::Result<String> {
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
    let context = Context::new(config).await?;
    let (measured, not_asked) = measure::measure(&context, rows).await?;
    Ok(report::render(&measured, &not_asked))
}

async fn serve() -> anyhow::Result<()> {
    lambda_runtime::run(lambda_runtime::service_fn(
        |_: lambda_runtime::LambdaEvent<serde_json::Value>| async {
            run(Vec::new())
                .await
                .map(|report| serde_json::json!({ "report": report }))
                .map_err(|error| lambda_runtime::Error::from(format!("{error:#}")))
        },
    ))
    .await
    .map_err(|error| anyhow::anyhow!("{error}"))
}
