//! The command line's grammar. It decides nothing else.

use std::path::PathBuf;

/// What is printed for `--help` and beside a mistake.
pub(crate) const USAGE: &str = "\
Usage: eval [DATASET.jsonl …]     measures; by itself every dataset of the configured corpus
       eval judge [FILE]          has a model judge whether the passages support what a stored run shows (JUDGE_MODEL)
       eval accept [FILE]         makes a stored run the baseline; by itself the last one
       eval replay FILE           reports on a stored run, asking nothing
       eval calibrate [FILE]      chooses the relevance threshold on a stored run and writes eval/thresholds.toml, which
                                  becomes part of the next build

A run is stored in .local/eval and held against eval/floors.toml and eval/baseline.json.
Exit codes: 0 passed, 1 below a floor or regressed, 2 could not measure.";

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Ask, store, report and rule.
    Measure(Vec<PathBuf>),
    /// Have a run's answers judged.
    Judge(Option<PathBuf>),
    /// Make a run the baseline.
    Accept(Option<PathBuf>),
    /// Choose the threshold on a stored run.
    Calibrate(Option<PathBuf>),
    /// Report on a stored run.
    Replay(PathBuf),
    /// Print [`USAGE`].
    Help,
}

impl Command {
    /// Reads the arguments after the program's name.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let arguments: Vec<String> = arguments.collect();
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if let Some(option) = words.iter().find(|word| word.starts_with('-')) {
            return match *option {
                "--help" | "-h" => Ok(Self::Help),
                other => Err(format!("there is no option {other}")),
            };
        }
        match words[..] {
            ["judge"] => Ok(Self::Judge(None)),
            ["judge", file] => Ok(Self::Judge(Some(file.into()))),
            ["accept"] => Ok(Self::Accept(None)),
            ["accept", file] => Ok(Self::Accept(Some(file.into()))),
            ["calibrate"] => Ok(Self::Calibrate(None)),
            ["calibrate", file] => Ok(Self::Calibrate(Some(file.into()))),
            ["replay", file] => Ok(Self::Replay(file.into())),
            ["replay"] => Err("replay takes the file of a stored run".to_owned()),
            ["accept" | "judge" | "calibrate" | "replay", ..] => {
                Err("more than one file".to_owned())
            }
            _ => Ok(Self::Measure(words.iter().map(PathBuf::from).collect())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form_and_refuses_the_rest() {
        let check = |line: &str, expected: Result<Command, &str>| {
            let found = Command::parse(line.split_whitespace().map(str::to_owned));
            assert_eq!(found, expected.map_err(str::to_owned), "{line}");
        };
        check("", Ok(Command::Measure(Vec::new())));
        check(
            "a.jsonl b.jsonl",
            Ok(Command::Measure(vec!["a.jsonl".into(), "b.jsonl".into()])),
        );
        check("accept", Ok(Command::Accept(None)));
        check(
            "accept run.jsonl",
            Ok(Command::Accept(Some("run.jsonl".into()))),
        );
        check("replay run.jsonl", Ok(Command::Replay("run.jsonl".into())));
        check(
            "judge run.jsonl",
            Ok(Command::Judge(Some("run.jsonl".into()))),
        );
        check("calibrate", Ok(Command::Calibrate(None)));
        check("--help", Ok(Command::Help));
        check("replay", Err("replay takes the file of a stored run"));
        check("accept a b", Err("more than one file"));
        check("--fast", Err("there is no option --fast"));
    }
}
