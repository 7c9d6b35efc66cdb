//! The command line's grammar. It decides nothing else.

use std::path::PathBuf;

/// What is printed for `--help` and beside a mistake.
pub(crate) const USAGE: &str = "\
Usage: eval [DATASET.jsonl …]     measures; by itself every dataset of the configured corpus
       eval judge                 has a model judge whether the passages support what the last run shows (JUDGE_MODEL)
       eval accept                makes the last run the baseline
       eval calibrate             chooses the relevance threshold on the last run and writes eval/thresholds.toml, which
                                  becomes part of the next build
       eval replay FILE           reports on a stored run, asking nothing, and writes the report beside it as HTML

A run is held against eval/floors.toml and eval/baseline.json and recorded in EVAL_RESULTS, from where the service shows it.
One that was interrupted goes on where it was. The last run is that of the configured corpus and of the model that writes.
Exit codes: 0 passed, 1 below a floor or regressed, 2 could not measure.";

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Ask, store, report and rule.
    Measure(Vec<PathBuf>),
    /// Have the last run's answers judged.
    Judge,
    /// Make the last run the baseline.
    Accept,
    /// Choose the threshold on the last run.
    Calibrate,
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
            ["judge"] => Ok(Self::Judge),
            ["accept"] => Ok(Self::Accept),
            ["calibrate"] => Ok(Self::Calibrate),
            ["replay", file] => Ok(Self::Replay(file.into())),
            ["replay", ..] => Err("replay takes the file of one stored run".to_owned()),
            [word @ ("judge" | "accept" | "calibrate"), ..] => {
                Err(format!("{word} is of the last run, and takes no file"))
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
        check("accept", Ok(Command::Accept));
        check("judge", Ok(Command::Judge));
        check("calibrate", Ok(Command::Calibrate));
        check("replay run.jsonl", Ok(Command::Replay("run.jsonl".into())));
        check("--help", Ok(Command::Help));
        for line in ["replay", "replay a b"] {
            check(line, Err("replay takes the file of one stored run"));
        }
        check(
            "accept a",
            Err("accept is of the last run, and takes no file"),
        );
        check("--fast", Err("there is no option --fast"));
    }
}
