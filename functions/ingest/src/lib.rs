//! The batch job that builds a corpus version, as a command and as a scheduled Lambda function over one [`run`].
//!
//! Nothing about building a version is decided here, see [`app::ingest`]. What a person reads goes to standard output,
//! how far it is to standard error; exit codes tell scripts what to do next.

// The AWS client and the runtime nest futures deeper than the compiler looks by itself.
#![recursion_limit = "256"]

mod command;
mod housekeeping;
mod lambda;
mod operate;
mod wire;

use std::io::Write;
use std::process::ExitCode;

use adapters::postgres::store::StoreError;
use anyhow::Context as _;
use app::config::{Config, LimitsConfig};
use app::ingest::{IngestError, Report};
use tokio::time::Instant;

use self::command::{Command, USAGE};

/// Runs what the arguments ask for, or serves invocations where `AWS_LAMBDA_RUNTIME_API` is set.
pub async fn start(arguments: impl Iterator<Item = String>) -> ExitCode {
    let done = if std::env::var_os("AWS_LAMBDA_RUNTIME_API").is_some() {
        lambda::serve().await.map(|()| 0)
    } else {
        match Command::parse(arguments) {
            Ok(command) => execute(command).await,
            Err(message) => {
                say(
                    &mut std::io::stderr(),
                    &format!("{message} (--help says more)"),
                );
                return ExitCode::from(2);
            }
        }
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            say(&mut std::io::stderr(), &format!("ingest: {error:#}"));
            ExitCode::from(failure_code(&error))
        }
    }
}

/// A run: what was built, and what was done beside it.
#[derive(Debug)]
pub struct Run {
    /// The new version, or why there is none: configuration, manifest, or the pipeline's own reason. The version that answered
    /// before answers on.
    pub report: anyhow::Result<Report>,
    /// What else there is to say, a line each.
    pub notes: Vec<String>,
}

/// Closes the charges of dead processes, whatever comes after; then brings the corpus that `manifest` names (else `CORPUS`)
/// up to date, as far as `deadline` lets it, and prepares the answers to its suggested questions. What is done beside it does
/// not fail a run.
pub async fn run(config: &Config, manifest: Option<&str>, deadline: Option<Instant>) -> Run {
    let mut notes = Vec::from_iter(housekeeping::sweep(&config.limits).await);
    let report = async {
        let manifest = wire::manifest(manifest.unwrap_or(&config.corpus))?;
        let ctx = wire::context(config).await?;
        let report = app::ingest::ingest(&ctx, &manifest, deadline).await?;
        notes.extend(housekeeping::prepare(config, &manifest, &ctx, &report, deadline).await);
        anyhow::Ok(report)
    };
    let report = report.await;
    Run { report, notes }
}

async fn execute(command: Command) -> anyhow::Result<u8> {
    let mut out = std::io::stdout();
    match command {
        Command::Help => {
            say(&mut out, USAGE);
            Ok(0)
        }
        Command::Migrate => {
            let config = configuration()?;
            let applied = wire::migrate(&config).await?;
            say(
                &mut out,
                &match applied.as_slice() {
                    [] => "the database is up to date".to_owned(),
                    names => format!("applied {}", names.join(", ")),
                },
            );
            Ok(0)
        }
        Command::Ingest { manifest, time } => {
            let config = configuration()?;
            let deadline = time.map(|time| Instant::now() + time);
            let Run { report, notes } = run(&config, manifest.as_deref(), deadline).await;
            for note in notes {
                say(&mut out, &note);
            }
            let report = report?;
            say(&mut out, &report.to_string());
            Ok(report.exit_code())
        }
        Command::Mode(mode) => {
            say(&mut out, &operate::mode(&limits()?, mode).await?);
            Ok(0)
        }
        Command::Usage(day) => {
            say(&mut out, &operate::usage(&limits()?, day).await?);
            Ok(0)
        }
    }
}

fn configuration() -> anyhow::Result<Config> {
    let config = Config::from_env().context("read the configuration")?;
    app::telemetry::init(config.log_level);
    Ok(config)
}

fn limits() -> anyhow::Result<LimitsConfig> {
    LimitsConfig::from_env().context("read the configuration")
}

/// 5 when another run is under way, 1 for every other failure.
fn failure_code(error: &anyhow::Error) -> u8 {
    match error.downcast_ref::<IngestError>() {
        Some(IngestError::Store(StoreError::Busy { .. } | StoreError::Superseded { .. })) => 5,
        _ => 1,
    }
}

/// A reader that closed its end must not turn a finished ingest into a failed one.
fn say(to: &mut impl Write, text: &str) {
    let _ = writeln!(to, "{text}");
}
