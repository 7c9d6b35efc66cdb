//! The command line's grammar. It decides nothing else.

use std::time::Duration;

use domain::mode::Mode;
use domain::quota::Day;

/// What is printed for `--help`.
pub(crate) const USAGE: &str = "\
Usage: ingest [--time SECONDS] [MANIFEST]
       ingest migrate
       ingest mode [live|read-only|off]
       ingest usage [DAY]
       ingest --help

Builds a new version of a corpus and switches to it; unchanged text is not embedded again. Then prepares the answers to its
suggested questions, and gives back what dead processes left charged.
MANIFEST is a name from corpus/ or a path to a .toml file; without it CORPUS says which.
With --time the run stops embedding after so many seconds, and the next one goes on.
'migrate' brings the database's tables up to date. 'mode' stores the service's mode, or prints it. 'usage' prints what a
day's questions (such as 2026-12-01, UTC; today's by itself) came to.

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
    /// Store the mode, or print it.
    Mode(Option<Mode>),
    /// Print a day's usage; today's by itself.
    Usage(Option<Day>),
    /// Print [`USAGE`].
    Help,
}

impl Command {
    /// Reads the arguments after the program's name.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let arguments: Vec<String> = arguments.collect();
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match words[..] {
            ["mode"] => Ok(Self::Mode(None)),
            ["mode", name] if !name.starts_with('-') => Mode::named(name)
                .map(|mode| Self::Mode(Some(mode)))
                .ok_or_else(|| {
                    format!("there is no mode {name}: it must be live, read-only or off")
                }),
            ["usage"] => Ok(Self::Usage(None)),
            ["usage", day] if !day.starts_with('-') => Day::parse(day)
                .map(|day| Self::Usage(Some(day)))
                .ok_or_else(|| format!("{day} is no day: it must be written like 2026-12-01")),
            ["mode" | "usage", _, _, ..] => Err("too many arguments".to_owned()),
            _ => Self::ingest(arguments.into_iter()),
        }
    }

    fn ingest(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
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
        check("mode", Ok(Command::Mode(None)));
        check("mode read-only", Ok(Command::Mode(Some(Mode::ReadOnly))));
        check("usage", Ok(Command::Usage(None)));
        check(
            "usage 1970-01-02",
            Ok(Command::Usage(Some(Day::at(86_400)))),
        );
        check("mode --help", Ok(Command::Help));
        check("handbook --help", Ok(Command::Help));
        check("-h", Ok(Command::Help));
    }

    #[test]
    fn refuses_the_rest() {
        check("--fast", Err("there is no option --fast"));
        check("a b", Err("more than one manifest"));
        check(
            "mode on",
            Err("there is no mode on: it must be live, read-only or off"),
        );
        check("mode off off", Err("too many arguments"));
        check(
            "usage today",
            Err("today is no day: it must be written like 2026-12-01"),
        );
        check("--time", Err("--time takes a whole number of seconds"));
        check("--time soon", Err("--time takes a whole number of seconds"));
    }
}
