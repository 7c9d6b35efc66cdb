//! What a run came to, for people and for whoever started it.
//!
//! The exit codes are part of the command's interface: scripts tell "go on" from "look at it" by them.

use std::fmt;

use tokio::time::Instant;

/// A finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// The version that answers now, if any does.
    pub version: Option<i64>,
    /// Documents of that version, or of the one under way.
    pub pages: u64,
    /// Its chunks.
    pub chunks: u64,
    /// Texts that were sent to the model in this run.
    pub embedded: usize,
    /// Pages that are listed and cannot be read.
    pub unreadable: Vec<Unreadable>,
    /// Seconds per stage.
    pub seconds: Vec<(&'static str, f64)>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The corpus is as it was; nothing was rebuilt.
    Unchanged,
    /// A new version answers.
    Switched,
    /// The deadline was met first; the old version answers and the next run goes on.
    Incomplete {
        /// Texts still to be embedded.
        remaining: usize,
    },
}

/// A page that is listed and cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// As the manifest lists it.
    pub page: String,
    /// The id of its document, where the page tells.
    pub document: Option<String>,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.page, self.reason)
    }
}

impl Report {
    /// 0 when all is done, 3 when pages could not be read, 4 when the run has to go on.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.outcome {
            Outcome::Incomplete { .. } => 4,
            _ if !self.unreadable.is_empty() => 3,
            _ => 0,
        }
    }
}

impl fmt::Display for Report {
    /// Two lines or more; the last is `embedded N texts`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.outcome {
            Outcome::Unchanged => "unchanged".to_owned(),
            Outcome::Switched => "switched".to_owned(),
            Outcome::Incomplete { remaining } => {
                format!("incomplete, {remaining} texts remain: run it again")
            }
        };
        let version = self.version.map_or("no version yet".to_owned(), |version| {
            format!("version {version}")
        });
        writeln!(
            f,
            "{outcome}: {version}, {} pages, {} chunks",
            self.pages, self.chunks
        )?;
        for page in &self.unreadable {
            writeln!(f, "not readable: {page}")?;
        }
        let stages: Vec<_> = self
            .seconds
            .iter()
            .map(|(stage, seconds)| format!("{stage} {seconds:.1} s"))
            .collect();
        writeln!(f, "{}", stages.join(", "))?;
        write!(f, "embedded {} texts", self.embedded)
    }
}

/// Measures the stages.
pub(super) struct Stopwatch {
    last: Instant,
    laps: Vec<(&'static str, f64)>,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self {
            last: Instant::now(),
            laps: Vec::new(),
        }
    }

    /// The time since the last lap was `stage`'s.
    pub(super) fn lap(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.laps.push((stage, (now - self.last).as_secs_f64()));
        self.last = now;
    }

    pub(super) fn laps(self) -> Vec<(&'static str, f64)> {
        self.laps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(outcome: Outcome, unreadable: &[(&str, &str)], code: u8, expected: &str) {
        let report = Report {
            outcome,
            version: Some(7),
            pages: 35,
            chunks: 610,
            embedded: 12,
            unreadable: unreadable
                .iter()
                .map(|(page, reason)| Unreadable {
                    page: (*page).to_owned(),
                    document: None,
                    reason: (*reason).to_owned(),
                })
                .collect(),
            seconds: vec![("load", 0.25), ("embed", 61.04)],
        };
        assert_eq!(report.exit_code(), code);
        assert_eq!(report.to_string(), expected);
    }

    #[test]
    fn says_what_happened_and_ends_with_the_count() {
        check(
            Outcome::Switched,
            &[],
            0,
            "switched: version 7, 35 pages, 610 chunks\nload 0.2 s, embed 61.0 s\nembedded 12 texts",
        );
        check(
            Outcome::Unchanged,
            &[("a.html", "no such file")],
            3,
            "unchanged: version 7, 35 pages, 610 chunks\nnot readable: a.html: no such file\n\
             load 0.2 s, embed 61.0 s\nembedded 12 texts",
        );
        check(
            Outcome::Incomplete { remaining: 5 },
            &[("a.html", "no such file")],
            4,
            "incomplete, 5 texts remain: run it again: version 7, 35 pages, 610 chunks\n\
             not readable: a.html: no such file\nload 0.2 s, embed 61.0 s\nembedded 12 texts",
        );
    }
}
