//! The command line's grammar. It decides nothing else.

use std::time::Duration;

/// What is printed for `--help` and beside a mistake.
pub(crate) const USAGE: &str = "\
Usage: ingest [--time SECONDS] [MANIFEST]
       ingest migrate
       ingest --help

Builds a new version of a corpus and switches to it; unchanged text is not embedded again.
MANIFEST is a name from corpus/ or a path to a .toml file; without it CORPUS says which.
With --time the run stops embedding after so many seconds, and the next one goes on.
'migrate' brings the database's tables up to date.

Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 done but some pages could not be read,
4 incomplete (run it again), 5 another ingest of the corpus is running.";

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// Build and switch.
    Ingest {
        /// A name or a path; the configured corpus otherwise.
        manifest: Option<String>,
        /// How long it may embed.
        time: Option<Duration>,
    },
    /// Bring the schema up to date.
    Migrate,
    /// Print [`USAGE`].
    Help,
}

impl Command {
    /// Reads the arguments after the program's name.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut manifest, mut time) = (None, None);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--help" | "-h" => return Ok(Self::Help),
                "--time" => {
                    let seconds = arguments
                        .next()
                        .and_then(|value| value.parse().ok())
                        .ok_or("--time takes a whole number of seconds")?;
                    time = Some(Duration::from_secs(seconds));
                }
                option if option.starts_with('-') => {
                    return Err(format!("there is no option {option}"));
                }
                _ if manifest.is_none() => manifest = Some(argument),
                _ => return Err("more than one manifest".to_owned()),
            }
        }
        match (manifest.as_deref(), time) {
            (Some("migrate"), None) => Ok(Self::Migrate),
            _ => Ok(Self::Ingest { manifest, time }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<Command, &str>) {
        let actual = Command::parse(line.split_whitespace().map(str::to_owned));
        assert_eq!(actual, expected.map_err(str::to_owned), "{line}");
    }

    fn ingest(manifest: Option<&str>, seconds: Option<u64>) -> Command {
        Command::Ingest {
            manifest: manifest.map(str::to_owned),
            time: seconds.map(Duration::from_secs),
        }
    }

    #[test]
    fn reads_every_form() {
        check("", Ok(ingest(None, None)));
        check("handbook", Ok(ingest(Some("handbook"), None)));
        check(
            "--time 60 my/docs.toml",
            Ok(ingest(Some("my/docs.toml"), Some(60))),
        );
        check("migrate", Ok(Command::Migrate));
        check("handbook --help", Ok(Command::Help));
        check("-h", Ok(Command::Help));
    }

    #[test]
    fn refuses_the_rest() {
        check("--fast", Err("there is no option --fast"));
        check("a b", Err("more than one manifest"));
        check("--time", Err("--time takes a whole number of seconds"));
        check("--time soon", Err("--time takes a whole number of seconds"));
    }
}
