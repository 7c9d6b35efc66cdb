//! Lets a model's answer through sentence by sentence, as it is written, and only what has a citation that holds.
//!
//! A sentence is held until what covers it is known ([`crate::scope`]), its citations are checked by the [`Verifier`], and it
//! is ruled on once: rulings come in the order of the sentences, and nothing shown is taken back. The rulings of an answer do
//! not depend on how its text was cut. What is held is bounded: a sentence of [`crate::running_text::SENTENCE_BYTES`], a listing
//! of [`crate::writing::LISTING_BYTES`], a mark of [`crate::marker::MARK_CHARS`] bytes, and [`HELD`] sentences whose
//! citations are still to come; beyond, they are removed.
//!
//! A citation without a quote stands on the quotation beside it, else on the passage's words that the sentence is made of
//! ([`PassageWords::quote_for`]); where there are none it is dropped as too short. A citation that covers more than its own
//! sentence covers it only where the cited passage speaks of it. What has a citation that holds is shown only if
//! [`crate::support`] finds nothing in it that its passages do not support.

use std::collections::VecDeque;

use crate::citation::{
    Checked, ClaimedCitation, ClaimedSentence, RemovalReason, ShownAs, VerifiedSentence, Verifier,
};
use crate::evidence::PassageWords;
use crate::scope::{self, Cover, Unit};
use crate::support::{self, Evidence, Unsupported};
pub use crate::writing::{NO_ANSWER, NOT_COVERED};
use crate::writing::{Writing, WritingFault, Written};

/// Sentences that wait for what covers them; more are not covered.
pub const HELD: usize = 48;

/// Units kept behind the first that waits, so that a lead-in can cover what it leads in.
const BEHIND: usize = 16;

/// How much of an answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateLimits {
    /// Words of all sentences shown; the first that would go beyond ends the answer.
    pub words: usize,
}

impl Default for GateLimits {
    /// What the prompt asks of the model, so that only a model that does not listen is cut.
    fn default() -> Self {
        Self { words: 250 }
    }
}

/// How a model's text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// By itself.
    Complete,
    /// At a limit on its length: the last sentence may be half.
    Truncated,
    /// It broke off: the last sentence may be half.
    Interrupted,
}

/// A passage that an answer may cite.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'a> {
    /// What quotes must stand in.
    pub text: &'a str,
    /// Where it stands: title and heading path. It tells what the passage is about and is never quoted.
    pub heading: &'a str,
}

/// What became of a part of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// It may be shown.
    Shown(VerifiedSentence),
    /// It goes no further.
    Removed {
        /// Position in the answer as written.
        index: usize,
        /// Why.
        reason: RemovalReason,
    },
    /// The passages leave part of the question unanswered. Given once.
    NotCovered,
    /// The model says that the passages answer nothing.
    NoAnswer,
    /// The answer is not whole: the model or the limit on words ended it. Given once, as the last.
    Truncated,
}

/// One answer on its way through.
#[derive(Debug)]
pub struct Gate {
    verifier: Verifier,
    passages: Vec<PassageWords>,
    limits: GateLimits,
    writing: Option<Writing>,
    /// What was written, from a little behind the first that waits.
    parts: VecDeque<Part>,
    /// How many of `parts` are ruled on.
    ruled: usize,
    words: usize,
    noted: bool,
    full: bool,
}

#[derive(Debug)]
enum Part {
    Sentence {
        claimed: ClaimedSentence,
        unit: Unit,
        fault: Option<WritingFault>,
    },
    Alone {
        citations: Vec<ClaimedCitation>,
        unit: Unit,
    },
    NotCovered,
    NoAnswer,
}

impl Gate {
    /// A gate over the passages in the order they are labelled: `P1` is the first.
    #[must_use]
    pub fn new(passages: &[Passage<'_>], limits: GateLimits) -> Self {
        let texts: Vec<&str> = passages.iter().map(|passage| passage.text).collect();
        Self {
            verifier: Verifier::new(&texts),
            passages: passages
                .iter()
                .map(|passage| PassageWords::new(passage.text, passage.heading))
                .collect(),
            limits,
            writing: Some(Writing::default()),
            parts: VecDeque::new(),
            ruled: 0,
            words: 0,
            noted: false,
            full: false,
        }
    }

    /// Takes what the model wrote next, and rules on what can be ruled on.
    pub fn push(&mut self, delta: &str) -> Vec<Ruling> {
        let mut rulings = Vec::new();
        if !self.full
            && let Some(writing) = &mut self.writing
        {
            let written = writing.push(delta);
            self.take(written, &mut rulings);
        }
        rulings
    }

    /// Whether the limit on words is met, so that nothing more will be shown.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Rules on what is left.
    #[must_use]
    pub fn finish(mut self, end: End) -> Vec<Ruling> {
        let mut rulings = Vec::new();
        if let Some(writing) = self.writing.take().filter(|_| !self.full) {
            let written = writing.finish(end != End::Complete);
            self.take(written, &mut rulings);
            self.rule(true, &mut rulings);
            if end == End::Truncated && !self.full {
                rulings.push(Ruling::Truncated);
            }
        }
        rulings
    }

    fn take(&mut self, written: Vec<Written>, rulings: &mut Vec<Ruling>) {
        for part in written {
            self.parts.push_back(part.into());
            self.rule(false, rulings);
        }
    }

    /// Rules on every part that can be ruled on, in order.
    fn rule(&mut self, ended: bool, rulings: &mut Vec<Ruling>) {
        while self.ruled < self.parts.len() && !self.full {
            let (cover, of) = self.cover(ended);
            if cover == Cover::Open && self.parts.len() - self.ruled <= HELD {
                return;
            }
            let ruling = self.ruling(cover, &of);
            self.ruled += 1;
            if self.ruled > BEHIND {
                self.parts.pop_front();
                self.ruled -= 1;
            }
            if let Some(ruling) = ruling {
                self.give(ruling, rulings);
            }
        }
    }

    /// What covers the first part that waits, and the part each position in the scope's answer stands for.
    fn cover(&self, ended: bool) -> (Cover, Vec<usize>) {
        let mut units = Vec::with_capacity(self.parts.len());
        let mut of = Vec::with_capacity(self.parts.len());
        let mut at = None;
        for (n, part) in self.parts.iter().enumerate() {
            if let Part::Sentence { unit, .. } | Part::Alone { unit, .. } = part {
                if n == self.ruled {
                    at = Some(units.len());
                }
                units.push(*unit);
                of.push(n);
            }
        }
        let cover = at.map_or(Cover::Own, |at| scope::cover(&units, at, ended));
        (cover, of)
    }

    fn ruling(&self, cover: Cover, of: &[usize]) -> Option<Ruling> {
        let (claimed, fault) = match &self.parts[self.ruled] {
            Part::Sentence { claimed, fault, .. } => (claimed, fault),
            Part::NotCovered => return Some(Ruling::NotCovered),
            Part::NoAnswer => return Some(Ruling::NoAnswer),
            Part::Alone { .. } => return None,
        };
        let index = claimed.index;
        if let Some(fault) = fault {
            let reason = RemovalReason::from(*fault);
            return Some(Ruling::Removed { index, reason });
        }
        let ruling = match cover {
            Cover::Own => self.check(claimed.clone()),
            Cover::By(lender) => self.check_borrowed(claimed, of[lender]),
            Cover::Nobody | Cover::Open => Err(RemovalReason::NoCitation),
        };
        Some(match ruling {
            Ok(sentence) => Ruling::Shown(sentence),
            Err(reason) => Ruling::Removed { index, reason },
        })
    }

    /// Checks a sentence that another's citations cover: those count whose passage speaks of it.
    fn check_borrowed(
        &self,
        claimed: &ClaimedSentence,
        lender: usize,
    ) -> Result<VerifiedSentence, RemovalReason> {
        let (citations, lender_text) = match &self.parts[lender] {
            Part::Sentence { claimed, .. } => (&claimed.citations, claimed.text.as_str()),
            Part::Alone { citations, .. } => (citations, claimed.text.as_str()),
            _ => return Err(RemovalReason::NoCitation),
        };
        // A listing's names say more than its words, and are asked for below.
        let is_code = claimed.kind == ShownAs::Code;
        let covers = |claim: &ClaimedCitation| {
            self.verifier.verify(claim).is_ok_and(|citation| {
                is_code || self.passages[citation.passage()].speaks_of(&claimed.text)
            })
        };
        let citations: Vec<ClaimedCitation> = citations
            .iter()
            .map(|claim| self.with_quote(claim, lender_text))
            .filter(covers)
            .collect();
        let claimed = ClaimedSentence {
            citations,
            ..claimed.clone()
        };
        self.check(claimed)
    }

    /// Checks a sentence against the citations it has.
    fn check(&self, mut claimed: ClaimedSentence) -> Result<VerifiedSentence, RemovalReason> {
        for claim in &mut claimed.citations {
            *claim = self.with_quote(claim, &claimed.text);
        }
        let sentence = match self.verifier.check(claimed) {
            Checked::Shown { sentence } => sentence,
            Checked::Removed { reason, .. } => return Err(reason),
        };
        supported(&sentence, &self.passages)?;
        Ok(sentence)
    }

    /// A citation without a quote, with the words of its passage that `text` is made of.
    fn with_quote(&self, claim: &ClaimedCitation, text: &str) -> ClaimedCitation {
        let mut claim = claim.clone();
        if claim.quote.is_empty()
            && let Some(passage) = self.verifier.passage(&claim.passage)
            && let Some(quote) = self.passages[passage].quote_for(text)
        {
            quote.clone_into(&mut claim.quote);
        }
        claim
    }

    fn give(&mut self, ruling: Ruling, rulings: &mut Vec<Ruling>) {
        match &ruling {
            Ruling::Shown(sentence) => {
                let words = sentence.text().split_whitespace().count();
                if self.words + words > self.limits.words {
                    self.full = true;
                    self.parts.clear();
                    rulings.push(Ruling::Truncated);
                    return;
                }
                self.words += words;
            }
            Ruling::NotCovered if std::mem::replace(&mut self.noted, true) => return,
            _ => {}
        }
        rulings.push(ruling);
    }
}

/// Whether the cited passages support what a sentence with valid citations says; see [`crate::support`].
fn supported(sentence: &VerifiedSentence, passages: &[PassageWords]) -> Result<(), RemovalReason> {
    let cited = || {
        sentence
            .citations()
            .iter()
            .map(|citation| (citation, &passages[citation.passage()]))
    };
    let evidence: Vec<Evidence<'_>> = cited()
        .map(|(citation, passage)| Evidence {
            passage: passage.text(),
            heading: passage.heading(),
            quote: citation.quote(),
        })
        .collect();
    let text = sentence.text();
    match sentence.kind() {
        ShownAs::Code => told(support::unsupported_code(text, &evidence)),
        ShownAs::Prose if !cited().any(|(_, passage)| passage.relates_to(text)) => {
            Err(RemovalReason::Unrelated)
        }
        ShownAs::Prose => told(support::unsupported(text, &evidence)),
    }
}

fn told(fault: Option<Unsupported>) -> Result<(), RemovalReason> {
    fault.map_or(Ok(()), |fault| Err(fault.into()))
}

impl From<Unsupported> for RemovalReason {
    fn from(fault: Unsupported) -> Self {
        match fault {
            Unsupported::Number => Self::UnsupportedNumber,
            Unsupported::Name => Self::UnsupportedName,
            Unsupported::Contradicts => Self::ContradictsNegation,
        }
    }
}

impl From<Written> for Part {
    fn from(written: Written) -> Self {
        match written {
            Written::Sentence {
                claimed,
                place,
                fault,
            } => {
                // What cannot be read lends nothing.
                let cites = !claimed.citations.is_empty() && fault.is_none();
                let unit = Unit {
                    place,
                    cites,
                    alone: false,
                };
                Self::Sentence {
                    claimed,
                    unit,
                    fault,
                }
            }
            Written::Alone { citations, place } => Self::Alone {
                citations,
                unit: Unit {
                    place,
                    cites: true,
                    alone: true,
                },
            },
            Written::NotCovered => Self::NotCovered,
            Written::NoAnswer => Self::NoAnswer,
        }
    }
}

impl From<WritingFault> for RemovalReason {
    fn from(fault: WritingFault) -> Self {
        match fault {
            WritingFault::Unfinished => Self::Unfinished,
            WritingFault::TooLong => Self::TooLong,
            WritingFault::Unreadable => Self::Unreadable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P1: &str = "max_wal_size (integer) Maximum size to let the WAL grow during automatic checkpoints. The default is 1 GB.";
    const P2: &str = "fsync (boolean) If this parameter is on, the server will try to make sure that updates are written to disk. It is on by default.";
    const P3: &str = "This is a soft limit; WAL size can exceed max_wal_size under special circumstances, such as heavy load.";
    const P4: &str = "pg_dump writes a script to the standard output. To dump a database into a custom-format archive file: pg_dump -Fc mydb > db.dump. The option -Fc chooses the custom format, which is compressed by default. Since 17.2 pg_dump reads pg_catalog.pg_class.";
    const P5: &str = "An array is indexed with square brackets. SELECT ARRAY[1, 2] returns an array; use a[\"x\"] only with jsonb. He said \"use 'fsync'\" here; nobody else did. Digits are a[1], [0-9] and f(P2).";
    const P6: &str =
        "SELECT sum(amount) FROM sales GROUP BY region; adds up the amounts of each region.";
    const PASSAGES: [&str; 6] = [P1, P2, P3, P4, P5, P6];

    /// Rulings as lines: `text [P1 P3]`, `text [P1] -P9 unknown_passage`, `- 0 no_citation`, `not covered`.
    fn lines(rulings: &[Ruling]) -> Vec<String> {
        rulings
            .iter()
            .map(|ruling| match ruling {
                Ruling::Shown(sentence) => {
                    let mut labels: Vec<String> = Vec::new();
                    for citation in sentence.citations() {
                        let label = format!("P{}", citation.passage() + 1);
                        if !labels.contains(&label) {
                            labels.push(label);
                        }
                    }
                    format!("{} [{}]", sentence.text(), labels.join(" "))
                }
                Ruling::Removed { index, reason } => format!("- {index} {}", reason.as_str()),
                Ruling::NotCovered => "not covered".to_owned(),
                Ruling::NoAnswer => "no answer".to_owned(),
                Ruling::Truncated => "truncated".to_owned(),
            })
            .collect()
    }

    fn gate(texts: &[&str]) -> Gate {
        let passages: Vec<Passage<'_>> = texts
            .iter()
            .map(|&text| Passage { text, heading: "" })
            .collect();
        Gate::new(&passages, GateLimits::default())
    }

    fn rule(output: &str, step: usize, end: End) -> Vec<Ruling> {
        let mut gate = gate(&PASSAGES);
        let chars: Vec<char> = output.chars().collect();
        let mut rulings: Vec<Ruling> = chars
            .chunks(step.max(1))
            .flat_map(|delta| gate.push(&delta.iter().collect::<String>()))
            .collect();
        rulings.extend(gate.finish(end));
        rulings
    }

    #[track_caller]
    fn check_end(output: &str, end: End, expected: &[&str]) {
        let whole = rule(output, usize::MAX, end);
        for step in [1, 2, 3, 7] {
            assert_eq!(
                rule(output, step, end),
                whole,
                "cut every {step}: {output:?}"
            );
        }
        assert_eq!(lines(&whole), expected, "{output:?}");
    }

    #[track_caller]
    fn check(output: &str, expected: &[&str]) {
        check_end(output, End::Complete, expected);
    }

    #[test]
    fn the_prompted_form() {
        check(
            "The limit is soft [P3: \"This is a soft limit\"]. It is 1 GB by default [P1: \"The default is 1 GB\"].",
            &["The limit is soft. [P3]", "It is 1 GB by default. [P1]"],
        );
    }

    #[test]
    fn c100_c102_c103_labels_in_every_form() {
        let soft = "This is a soft limit; WAL size can exceed max_wal_size";
        for (mark, shown) in [
            ("[P3]", "[P3]"),
            ("[p3]", "[P3]"),
            ("[ P3 ]", "[P3]"),
            ("(P3)", "[P3]"),
            ("[^P3]", "[P3]"),
            ("[Source P3]", "[P3]"),
            ("[Source: P3]", "[P3]"),
            ("[Passage 3]", "[P3]"),
            ("\u{FF3B}P3\u{FF3D}", "[P3]"),
            ("[P3, P3]", "[P3]"),
            ("([P3])", "[P3]"),
            ("(see [P3])", "[P3]"),
            ("[[P3]]", "[P3]"),
            ("**[P3]**", "[P3]"),
            ("[P9][P3]", "[P3]"),
            ("[P9] and [P3]", "[P3]"),
            ("[P9], [P3]", "[P3]"),
            ("[P9 and P3]", "[P3]"),
            ("[P9; P3]", "[P3]"),
            ("[1][P3]", "[P3]"),
            ("[P3]\u{3010}1\u{2020}source\u{3011}", "[P3]"),
        ] {
            for output in [
                format!("{soft} {mark}."),
                format!("{soft}. {mark}"),
                format!("{soft}.{mark}\n"),
                format!("{soft}. {mark}."),
            ] {
                check(&output, &[&format!("{soft}. {shown}")]);
            }
        }
        for mark in [
            "[1]",
            "\u{3010}1\u{2020}source\u{3011}",
            "[^1]",
            "[P99]",
            "[P0]",
            "[P07]",
            "[P-1]",
            "[P1.5]",
            "[P184467440737095516160]",
        ] {
            check(&format!("{soft} {mark}."), &["- 0 unknown_passage"]);
        }
    }

    #[test]
    fn c120_quotes_in_every_form() {
        for mark in [
            "[P3: \"This is a soft limit\"]",
            "[P3: “This is a soft limit”]",
            "[P3: ‘This is a soft limit’]",
            "[P3: «This is a soft limit»]",
            "[P3: “This is a soft limit\"]",
            "[P3: 'This is a soft limit']",
            "[P3: `This is a soft limit`]",
            "[P3: This is a soft limit]",
            "[P3 \"This is a soft limit\"]",
            "[P3, \"This is a soft limit\"]",
            "[P3 — \"This is a soft limit\"]",
            "[\"This is a soft limit\", P3]",
            "[\"This is a soft limit\" P3]",
            "(P3: \"This is a soft limit\")",
            "([P3: \"This is a soft limit\"])",
            "[Source P3: \"This is a soft limit;\"]",
            "[P3: \"This is\n  a soft limit\"]",
            "[P3: \"This is a soft limit\".]",
            "[P3: \"This is a soft limit\"; P3: \"WAL size can exceed max_wal_size\"]",
            "[P3: \"This is a soft limit\"; P1: \"The default is 10 GB\"]",
            "[P3: \"This is a soft limit\"] [P3: \"WAL size can exceed max_wal_size\"]",
            "[P3: \"This is a soft limit\", \"WAL size can exceed max_wal_size\"]",
            "[P3: &quot;This is a soft limit&quot;]",
            "[P3: \"This is a soft limit\"",
        ] {
            for output in [
                format!("It bends {mark}."),
                format!("It bends. {mark}"),
                format!("It bends. {mark}\n\n"),
            ] {
                check(&output, &["It bends. [P3]"]);
            }
        }
        check(
            "They say \"This is a soft limit\" [P3].",
            &["They say \"This is a soft limit\". [P3]"],
        );
        check(
            "It bends [P3]: \"This is a soft limit\".",
            &["It bends: \"This is a soft limit\". [P3]"],
        );
        check(
            "It bends (\"This is a soft limit\" [P3]).",
            &["It bends (\"This is a soft limit\"). [P3]"],
        );
    }

    #[test]
    fn c143_quotes_that_hold_marks_and_brackets() {
        check(
            "So he said [P5: \"He said \"use 'fsync'\" here\"].",
            &["So he said. [P5]"],
        );
        check(
            "So he said [P5: “He said \"use 'fsync'\" here”].",
            &["So he said. [P5]"],
        );
        check(
            "Use brackets [P5: \"use a[\"x\"] only with jsonb\"].",
            &["Use brackets. [P5]"],
        );
        check(
            "Use them [P5: \"SELECT ARRAY[1, 2] returns an array; use\"]. So.",
            &["Use them. [P5]", "- 1 no_citation"],
        );
        check("It is [P5: \"'it''s'\"].", &["- 0 quote_too_short"]);
    }

    #[test]
    fn c077_an_unfinished_sentence_is_not_shown() {
        let first = "It bends [P3: \"This is a soft limit\"].";
        for tail in [
            " [P",
            " [P1: \"The defa",
            " It is 1 GB [P1: \"The default is 1 GB",
            " It is 1 GB [P1: \"The default is 1 GB\"",
            " It is 1 GB [P1: \"The default is 1 GB\"]",
            " It is 1 GB, e.g. [P1: \"The default is 1 GB\"] or by default e.g. ",
            " [P1: \"The default is 1 GB\"] It is 1.",
            "\n\n- It is 1 GB [P1: \"The default",
            "\n\n```sql\nSELECT 1;\n",
            "\n\n| a | b |\n|---|---|\n| It is 1 GB | [P1: \"The default is 1 GB\"]",
        ] {
            for end in [End::Truncated, End::Interrupted] {
                let rulings = rule(&format!("{first}{tail}"), 3, end);
                let lines = lines(&rulings);
                assert!(lines[0].starts_with("It bends. [P3"), "{tail:?}");
                let shown = lines.iter().filter(|line| line.ends_with(']')).count();
                assert_eq!(shown, 1, "{tail:?}: {lines:?}");
                assert_eq!(
                    lines.last().is_some_and(|last| last == "truncated"),
                    end == End::Truncated
                );
            }
        }
        check_end(
            &format!("{first} It is 1 GB"),
            End::Truncated,
            &["It bends. [P3]", "- 1 unfinished", "truncated"],
        );
        check_end(first, End::Interrupted, &["It bends. [P3]"]);
        check_end(
            &format!("{first} [P"),
            End::Truncated,
            &["It bends. [P3]", "truncated"],
        );
        check_end("", End::Truncated, &["truncated"]);
        check("It bends [P3: \"This is a soft limit\"", &["It bends [P3]"]);
        check("It bends [P3: \"This is a soft", &["- 0 unreadable"]);
        check(
            "This is a soft limit; WAL size can exceed it [P3",
            &["This is a soft limit; WAL size can exceed it [P3]"],
        );
        check(
            "It bends [P3: \"This is a soft limit\"]. And [",
            &["It bends. [P3]", "- 1 unreadable"],
        );
    }

    #[test]
    fn c090_a_table_s_rows_are_sentences() {
        check(
            "| a | b |\n|--|-| \n| max_wal_size | 1 GB [P1: \"The default is 1 GB\"] |\r\n| fsync | on | [P2: \"It is on by default\"] |\n| x | | y |\n\r\nlead",
            &[
                "max_wal_size | 1 GB [P1]",
                "fsync | on [P2]",
                "- 2 no_citation",
                "- 3 no_citation",
            ],
        );
        check(
            "| max_wal_size | 1 GB [P1: \"The default is 1 GB\"] |\n| a \\| b | `c|d` [P1: \"The default is 1 GB\"] |",
            &["max_wal_size | 1 GB [P1]", "a | b | `c|d` [P1]"],
        );
    }

    #[test]
    fn c104_subscripts_in_code_are_no_citations() {
        let code = "SELECT sum(amount)\n\n  FROM sales -- a[P1], [P9: \"x\"]\n  GROUP BY region;";
        let output =
            format!("Sums:\n\n```sql\n{code}\n```\n[P6: \"adds up the amounts of each region\"]");
        let rulings = rule(&output, 1, End::Complete);
        assert_eq!(
            lines(&rulings),
            ["Sums: [P6]", "- 1 unsupported_name"],
            "the comment names what no passage does"
        );
        check(
            "It bends `a[P1]` and `` b`[P9: \"x\"] `` [P3: \"This is a soft limit\"].",
            &["It bends `a[P1]` and `` b`[P9: \"x\"] ``. [P3]"],
        );
        check(
            "It bends a[1] and ARRAY[1, 2] and [0-9] and f(P2) here [P5: \"use a[\"x\"] only with jsonb\"].",
            &["It bends a[1] and ARRAY[1, 2] and [0-9] and f(P2) here. [P5]"],
        );
        check(
            "It bends `load [P3: \"This is a soft limit\"].",
            &["It bends `load. [P3]"],
        );
    }

    #[test]
    fn code_is_shown_with_its_citation_and_its_names() {
        let code = "SELECT sum(amount)\nFROM sales\nGROUP BY region;";
        let cite = "[P6: \"adds up the amounts of each region\"]";
        let shown = format!("{code} [P6]");
        for output in [
            format!("```sql\n{code}\n```\n{cite}\n"),
            format!("```\n{code}\n``` {cite}"),
            format!("~~~\n{code}\n~~~\n\n{cite}\n\nMore"),
            format!("    SELECT sum(amount)\n    FROM sales\n    GROUP BY region;\n\n{cite}"),
            format!("```sql\n{code}\n```\n\n[P6]\n"),
        ] {
            assert_eq!(
                lines(&rule(&output, 1, End::Complete))[0],
                shown,
                "{output:?}"
            );
        }
        let lead = format!("Each region's amounts {cite}:\n\n```sql\n{code}\n```\nIt is so.");
        check(
            &lead,
            &["Each region's amounts: [P6]", &shown, "- 2 no_citation"],
        );
        let lead = format!("Adds up the amounts of each region:\n\n```sql\n{code}\n```\n{cite}");
        check(&lead, &["Adds up the amounts of each region: [P6]", &shown]);
        check(&format!("```sql\n{code}\n```"), &["- 0 no_citation"]);
        check(
            &format!("```sql\nSELECT pg_sleep(amount) FROM sales;\n```\n{cite}"),
            &["- 0 unsupported_name"],
        );
        check(
            "```sh\npg_dump -Fc mydb > db.dump\n```\n[P4: \"writes a script to the standard output\"]",
            &["pg_dump -Fc mydb > db.dump [P4]"],
        );
        check(
            "```sh\npg_dump -Fx mydb > db.dump\n```\n[P4: \"writes a script to the standard output\"]",
            &["- 0 unsupported_name"],
        );
    }

    #[test]
    fn c107_an_invalid_mark_is_never_visible() {
        check(
            "It bends [P99]. It bends [P3: \"This is a soft limit\"][P1, P99].",
            &["- 0 unknown_passage", "It bends. [P3]"],
        );
    }

    #[test]
    fn c110_nothing_is_left_where_marks_were() {
        let citing = "Yes [P9]. It is 1 GB [P9, P1: \"The default is 1 GB\"] ( [P9] ).";
        check(citing, &["- 0 unknown_passage", "It is 1 GB. [P1]"]);
        check(
            "Yes [P9]. It is 1 GB [P9, P1] ( [P9] ).",
            &["- 0 unknown_passage", "It is 1 GB. [P1]"],
        );
        let q = "[P3: \"This is a soft limit\"]";
        for (output, shown) in [
            (
                format!("It {q} bends {q} , really {q} ."),
                "It bends, really.",
            ),
            (format!("It bends ({q})."), "It bends."),
            (format!("It bends (really {q})."), "It bends (really)."),
            (format!("It bends — {q}."), "It bends."),
            (format!("It bends, according to {q}."), "It bends."),
            (format!("It bends (source: {q})."), "It bends."),
            (
                format!("It bends {q}; it breaks {q}."),
                "It bends; it breaks.",
            ),
            (format!("**It bends** {q}."), "It bends."),
            (format!("**It bends {q}.**"), "It bends."),
            (format!("*It bends* {q}!"), "*It bends*!"),
            (format!("It bends{q} now."), "It bends now."),
            (format!("{q} It bends."), "It bends."),
            (format!("- {q} It bends."), "It bends."),
            (format!("> It bends {q}."), "It bends."),
            (format!("1. It bends {q}."), "It bends."),
            (format!("a**b bends {q}."), "a**b bends."),
            (format!("## It bends {q}"), "It bends"),
            (format!("It bends.\n{q}\n"), "It bends."),
            (format!("So – ( ) bends ... {q}"), "So – ( ) bends ..."),
        ] {
            check(&output, &[&format!("{shown} [P3]")]);
        }
    }

    #[test]
    fn a_quote_about_something_else_holds_nothing_up() {
        check(
            "Serializable is the default isolation level [P3: \"This is a soft limit\"].",
            &["- 0 unrelated"],
        );
    }

    #[test]
    fn c111_without_a_valid_citation_nothing_is_shown() {
        check(
            "It bends [P9]. It breaks [P3: \"This is a hard limit\"]. It is [P3: \"soft\"]. So it is.",
            &[
                "- 0 unknown_passage",
                "- 1 quote_not_found",
                "- 2 quote_too_short",
                "- 3 no_citation",
            ],
        );
        check("", &[]);
        check("# Title\n\n---\n\n**Title**\n", &[]);
    }

    #[test]
    fn c121_to_c144_quotes_hold_or_not_as_the_verifier_says() {
        for (passage, quote, holds) in [
            // C121, C123
            (
                "See Table\u{A0}9.47 of this manual",
                "Table 9.47 of this manual",
                true,
            ),
            (
                "Find the offi\u{AD}ce of a non-blocking \u{2212}1 thing",
                "o\u{FB03}ce of a non\u{2011}blocking -1 thing",
                true,
            ),
            // C126
            (
                "This option is not recommended for production",
                "This option is ... recommended for production",
                false,
            ),
            // C129
            ("Set the max_wal_size of it", "the", false),
            ("The default is 1 GB", "1 GB", false),
            ("Set the max_wal_size of it", "max_wal_size", true),
            // C132
            (
                "Maximum size to let the WAL grow",
                "Maximum WAL size to grow",
                false,
            ),
            // C134
            (
                "jsonb -> integer \u{2192} jsonb\nExtracts n'th element",
                "jsonb -> integer → jsonb Extracts n'th element",
                true,
            ),
            // C135
            (
                "It does checkpointing all day long",
                "It does checkpoint-\ning all day long",
                true,
            ),
            (
                "The session is read-only for now",
                "The session is readonly for now",
                false,
            ),
            // C136
            (
                "a < b && it's done here",
                "a &lt; b &amp;&amp; it&#39;s done here",
                true,
            ),
            // C137
            (
                "Maximum size to let the WAL grow",
                "Maximum Size To Let The WAL Grow",
                true,
            ),
            (
                "the table \"MyTable\" is here",
                "the table \"mytable\" is here",
                false,
            ),
            // C138
            ("The default is 1 GB", "The default is 10 GB", false),
            (
                "It came with 5.3 of the server",
                "It came with 53 of the server",
                false,
            ),
            // C140
            (
                "\u{1E9E}\u{130} max_wal_size is soft",
                "max_wal_size is soft",
                true,
            ),
            // C144
            (
                "This is a soft limit of the server",
                "C'est une limite souple du serveur",
                false,
            ),
        ] {
            let mut gate = gate(&[passage]);
            let mut rulings = gate.push(&format!("So it is [P1: \"{quote}\"]."));
            rulings.extend(gate.finish(End::Complete));
            assert_eq!(
                matches!(rulings[..], [Ruling::Shown(_)]),
                holds,
                "{quote:?}: {rulings:?}"
            );
        }
    }

    #[test]
    fn c133_a_quote_across_two_passages_does_not_hold() {
        check(
            "So [P1: \"The default is 1 GB. fsync (boolean) If this\"].",
            &["- 0 quote_not_found"],
        );
    }

    #[test]
    fn a_bare_label_stands_on_the_sentence_s_own_words() {
        check(
            "WAL size can exceed max_wal_size [P3].",
            &["WAL size can exceed max_wal_size. [P3]"],
        );
        check(
            "WAL size can exceed max_wal_size [P1].",
            &["- 0 quote_too_short"],
        );
        check(
            "The server is always very careful [P2].",
            &["- 0 quote_too_short"],
        );
    }

    #[test]
    fn a_citation_covers_what_the_scope_says() {
        let fsync = "[P2: \"updates are written to disk\"]";
        let soft = "[P3: \"This is a soft limit\"]";
        check(
            &format!(
                "If on, the server tries to make updates written to disk. The fsync parameter is on by default {fsync}."
            ),
            &[
                "If on, the server tries to make updates written to disk. [P2]",
                "The fsync parameter is on by default. [P2]",
            ],
        );
        check(
            &format!(
                "The moon is made of green cheese. The fsync parameter is on {fsync}. The server tries it."
            ),
            &[
                "- 0 no_citation",
                "The fsync parameter is on. [P2]",
                "- 2 no_citation",
            ],
        );
        check(
            &format!(
                "The server uses 17 of them. The server has wal_level. The fsync parameter is on {fsync}."
            ),
            &[
                "- 0 no_citation",
                "- 1 no_citation",
                "The fsync parameter is on. [P2]",
            ],
        );
        check(
            &format!("The server updates the disk.\n\nThe fsync parameter is on {fsync}."),
            &["- 0 no_citation", "The fsync parameter is on. [P2]"],
        );
        check(
            &format!("The limit is soft.\n\n{soft}\n\nThe limit is soft."),
            &["The limit is soft. [P3]", "- 1 no_citation"],
        );
        check(
            &format!(
                "The WAL size can exceed the limit:\n\n- The limit is soft {soft}.\n- Heavy load\n\nSo."
            ),
            &[
                "The WAL size can exceed the limit: [P3]",
                "The limit is soft. [P3]",
                "- 2 no_citation",
                "- 3 no_citation",
            ],
        );
        check(
            &format!("The WAL size can exceed the limit {soft}:\n- heavy load\n- blue cheese\n"),
            &[
                "The WAL size can exceed the limit: [P3]",
                "heavy load [P3]",
                "- 2 no_citation",
            ],
        );
        check(
            &format!("- heavy load\n- a soft limit\n\n{soft}"),
            &["heavy load [P3]", "a soft limit [P3]"],
        );
        check(
            &format!("| Circumstances | Size |\n|---|---|\n| heavy load | soft limit |\n\n{soft}"),
            &["heavy load | soft limit [P3]"],
        );
        check(
            "It is on [P9]. The server updates the disk.",
            &["- 0 unknown_passage", "- 1 no_citation"],
        );
    }

    #[test]
    fn chat_goes_and_its_neighbours_stay() {
        let soft = "[P3: \"This is a soft limit\"]";
        check(
            &format!(
                "Sure, here is the answer:\n\n- The limit is soft {soft}.\n- However, it can exceed max_wal_size {soft}.\n\nIn summary, the limit is one to keep in mind."
            ),
            &[
                "The limit is soft. [P3]",
                "However, it can exceed max_wal_size. [P3]",
                "- 2 no_citation",
            ],
        );
        check(
            &format!(
                "Sure! According to the documentation,\nthe limit is soft {soft}. I hope this helps!"
            ),
            &["The limit is soft. [P3]", "- 1 no_citation"],
        );
        check(
            &format!(
                "Certainly, here is the answer: The limit is soft {soft}. Overall, that is how it works."
            ),
            &["The limit is soft. [P3]", "- 1 no_citation"],
        );
    }

    #[test]
    fn a_label_without_brackets_is_never_shown() {
        check(
            "| Limit | Source |\n|---|---|\n| WAL size can exceed max_wal_size | P3 |\n| fsync is on | P2: \"It is on by default\" |\n| the limit | see P3 |",
            &[
                "WAL size can exceed max_wal_size [P3]",
                "fsync is on [P2]",
                "- 2 unreadable",
            ],
        );
        check(
            "As P3 says, the limit is soft [P3: \"This is a soft limit\"]. The limit is soft P3: \"This is a soft limit\".",
            &["- 0 unreadable", "- 1 unreadable"],
        );
    }

    #[test]
    fn notes_are_no_text() {
        for mark in [
            "[NOT COVERED]",
            "[not covered]",
            "[Not_Covered]",
            "(NOT COVERED)",
            "NOT COVERED.",
            "**[NOT COVERED]**",
            "[ NOT  COVERED ]",
            "[NOT COVERED: the weather]",
            "The weather is not there [NOT COVERED].",
            "([NOT COVERED])",
            "- [NOT COVERED]",
            "NOT COVERED: the weather.",
        ] {
            check(mark, &["not covered"]);
            let output = format!("It bends [P3: \"This is a soft limit\"]. {mark}\n\n{mark}");
            check(&output, &["It bends. [P3]", "not covered"]);
        }
        check("The case is not covered by this.", &["- 0 no_citation"]);
        for phrase in [
            "NO ANSWER IN THE PASSAGES",
            "[No answer in the passages].",
            "**No answer in the passages.**",
        ] {
            check(phrase, &["no answer"]);
        }
    }

    #[test]
    fn the_answer_ends_at_a_sentence_before_its_limit() {
        let sentence =
            "This is a soft limit that WAL size can exceed here [P3: \"This is a soft limit\"]. ";
        let rulings = rule(&sentence.repeat(30), 11, End::Complete);
        assert_eq!(rulings.len(), 250 / 11 + 1);
        assert_eq!(rulings.last(), Some(&Ruling::Truncated));
        let after = rule(&sentence.repeat(30), 11, End::Truncated);
        assert_eq!(after, rulings, "the end is told once");
    }

    #[test]
    fn what_is_held_is_bounded() {
        let long = "word ".repeat(600);
        let cited = "It bends [P3: \"This is a soft limit\"].";
        check(
            &format!("{long}\n{cited}"),
            &["- 0 too_long", "It bends. [P3]"],
        );
        check(
            &format!("{long}[P3: \"This is a soft limit\"].\n\n{cited}"),
            &["- 0 too_long", "It bends. [P3]"],
        );
        check(
            &format!("A [P3: \"{long}\n\n{cited}"),
            &["- 0 unreadable", "It bends. [P3]"],
        );
        check(
            &format!("| {long} | {long} |\n\n{cited}"),
            &["- 0 too_long", "It bends. [P3]"],
        );
        check(
            &format!("```\n{}\n```\n{cited}", long.repeat(3)),
            &["- 0 too_long", "It bends. [P3]"],
        );
        check(
            &format!("# {long} {long}\n\n{cited}"),
            &["- 0 too_long", "It bends. [P3]"],
        );
        let many = "The limit is soft. ".repeat(HELD + 20);
        let rulings = rule(&many, 5, End::Complete);
        assert_eq!(rulings.len(), HELD + 20);
    }

    #[test]
    fn sentences_end_where_they_end() {
        let q = "[P3: \"This is a soft limit\"]";
        let dump = "[P4: \"writes a script to the standard output\"]";
        check(
            &format!(
                "In 17.2, e.g. with pg_dump or pg_catalog.pg_class (see there. It is short), it bends {dump}. Run pg_dump. {dump} Does it? {q} Yes! {q}"
            ),
            &[
                "In 17.2, e.g. with pg_dump or pg_catalog.pg_class (see there. It is short), it bends. [P4]",
                "Run pg_dump. [P4]",
                "Does it? [P3]",
                "Yes! [P3]",
            ],
        );
        check(
            &format!("限界は柔らかい{q}。次も同じ{q}。"),
            &["限界は柔らかい。 [P3]", "次も同じ。 [P3]"],
        );
    }

    #[test]
    fn a_sentence_waits_no_longer_than_it_must() {
        let mut gate = gate(&PASSAGES);
        let mut shown = |delta: &str| lines(&gate.push(delta)).len();
        assert_eq!(
            shown("It bends [P3: \"This is a soft limit\"]. "),
            0,
            "a second mark may follow"
        );
        assert_eq!(shown("I"), 1, "a letter begins the next sentence");
        assert_eq!(shown("t bends [P3: \"This is a soft limit\"].\n"), 0);
        assert_eq!(shown("\n"), 1, "a paragraph ends its last sentence");
        assert_eq!(
            shown("The limit is soft. It bends."),
            0,
            "the paragraph may cite at its end"
        );
        assert_eq!(shown(" [P3: \"This is a soft limit\"]\n\n"), 2);
    }
}
