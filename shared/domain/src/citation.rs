//! Decides which sentences of an answer are shown: those with a citation whose quote stands in the passage it names.
//!
//! What a model wrote is a [`ClaimedCitation`]; a [`Citation`] is made by the [`Verifier`] alone, so nothing unverified can
//! reach the wire by mistake. A quote is looked for in the passage it names and in no other. [`crate::quote`] does the finding.

use std::ops::Range;

use crate::fold::Folded;
use crate::quote::{self, QuoteFault};

/// A citation as the answer's writer put it: nothing about it is known to be true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedCitation {
    /// The passage's label as written: `P2`.
    pub passage: String,
    /// The words said to stand there; empty when none were given.
    pub quote: String,
}

/// One sentence of an answer with the citations its writer gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedSentence {
    /// Position in the answer as written, from 0.
    pub index: usize,
    /// What would be shown, without citation marks.
    pub text: String,
    /// How it would be shown.
    pub kind: ShownAs,
    /// In the order written.
    pub citations: Vec<ClaimedCitation>,
}

/// How a sentence is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShownAs {
    /// Running text.
    Prose,
    /// Preformatted.
    Code,
}

impl ShownAs {
    /// The contract's word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prose => "prose",
            Self::Code => "code",
        }
    }
}

/// A citation whose quote was found in the passage it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    passage: usize,
    quote: String,
    span: Range<usize>,
}

impl Citation {
    /// Index of the passage, from 0: `P1` is 0.
    #[must_use]
    pub fn passage(&self) -> usize {
        self.passage
    }

    /// The words as they stand in the passage.
    #[must_use]
    pub fn quote(&self) -> &str {
        &self.quote
    }

    /// First Unicode scalar of the quote in the passage.
    #[must_use]
    pub fn start(&self) -> usize {
        self.span.start
    }

    /// One past its last scalar.
    #[must_use]
    pub fn end(&self) -> usize {
        self.span.end
    }
}

/// A sentence that may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedSentence {
    index: usize,
    text: String,
    kind: ShownAs,
    citations: Vec<Citation>,
    dropped: Vec<(String, DropReason)>,
}

impl VerifiedSentence {
    /// Position in the answer as written, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// What is shown.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How it is shown.
    #[must_use]
    pub fn kind(&self) -> ShownAs {
        self.kind
    }

    /// At least one, in the order written, each quote once.
    #[must_use]
    pub fn citations(&self) -> &[Citation] {
        &self.citations
    }

    /// The claimed labels of citations that did not hold, and why.
    #[must_use]
    pub fn dropped(&self) -> &[(String, DropReason)] {
        &self.dropped
    }
}

/// Why a citation was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// There is no such passage.
    UnknownPassage,
    /// The passage does not hold these words.
    QuoteNotFound,
    /// Too few words to be evidence, or none.
    QuoteTooShort,
}

impl DropReason {
    /// The contract's word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownPassage => "unknown_passage",
            Self::QuoteNotFound => "quote_not_found",
            Self::QuoteTooShort => "quote_too_short",
        }
    }
}

impl From<QuoteFault> for DropReason {
    fn from(fault: QuoteFault) -> Self {
        match fault {
            QuoteFault::NotFound => Self::QuoteNotFound,
            QuoteFault::TooShort | QuoteFault::Empty => Self::QuoteTooShort,
        }
    }
}

/// Why a whole sentence was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RemovalReason {
    /// It cited nothing.
    NoCitation,
    /// None of its citations held; this is what was wrong with the first.
    Dropped(DropReason),
    /// The answer was cut off inside it.
    Unfinished,
    /// It went on for too long to be held.
    TooLong,
    /// A citation mark in it has no end.
    Unreadable,
    /// It holds a number that no cited passage holds.
    UnsupportedNumber,
    /// It holds a name that no cited passage holds.
    UnsupportedName,
    /// It says the opposite of its quote.
    ContradictsNegation,
    /// The cited passages have nothing to do with it.
    Unrelated,
}

impl RemovalReason {
    /// The contract's word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoCitation => "no_citation",
            Self::Unfinished => "unfinished",
            Self::TooLong => "too_long",
            Self::Unreadable => "unreadable",
            Self::UnsupportedNumber => "unsupported_number",
            Self::UnsupportedName => "unsupported_name",
            Self::ContradictsNegation => "contradicts_negation",
            Self::Unrelated => "unrelated",
            Self::Dropped(reason) => reason.as_str(),
        }
    }
}

/// What became of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// It has a citation that holds.
    Shown {
        /// The sentence with the citations that hold it up.
        sentence: VerifiedSentence,
    },
    /// It has none, and its text goes no further.
    Removed {
        /// Position in the answer as written.
        index: usize,
        /// Why.
        reason: RemovalReason,
    },
}

/// Checks sentences against the passages of one answer, which are folded once.
#[derive(Debug, Clone)]
pub struct Verifier {
    passages: Vec<(String, Folded)>,
}

impl Verifier {
    /// A verifier over the passages in the order they are labelled: `P1` is the first.
    #[must_use]
    pub fn new(passages: &[&str]) -> Self {
        let passages = passages
            .iter()
            .map(|text| ((*text).to_owned(), Folded::new(text)))
            .collect();
        Self { passages }
    }

    /// Keeps the citations that hold, and the sentence while one does.
    #[must_use]
    pub fn check(&self, claimed: ClaimedSentence) -> Checked {
        let ClaimedSentence {
            index,
            text,
            kind,
            citations: claims,
        } = claimed;
        let mut citations: Vec<Citation> = Vec::with_capacity(claims.len());
        let mut dropped = Vec::new();
        for claim in claims {
            match self.verify(&claim) {
                Ok(citation) if citations.contains(&citation) => {}
                Ok(citation) => citations.push(citation),
                Err(reason) => dropped.push((claim.passage, reason)),
            }
        }
        if citations.is_empty() {
            let reason = dropped
                .first()
                .map_or(RemovalReason::NoCitation, |&(_, reason)| {
                    RemovalReason::Dropped(reason)
                });
            return Checked::Removed { index, reason };
        }
        Checked::Shown {
            sentence: VerifiedSentence {
                index,
                text,
                kind,
                citations,
                dropped,
            },
        }
    }

    /// The index of the passage a label names, from 0, if there is one.
    #[must_use]
    pub fn passage(&self, label: &str) -> Option<usize> {
        passage_index(label).filter(|&passage| passage < self.passages.len())
    }

    /// Finds one claimed quote in the passage it names.
    ///
    /// # Errors
    /// [`DropReason`] when it does not hold.
    pub fn verify(&self, claim: &ClaimedCitation) -> Result<Citation, DropReason> {
        let passage = passage_index(&claim.passage).ok_or(DropReason::UnknownPassage)?;
        let (text, folded) = self
            .passages
            .get(passage)
            .ok_or(DropReason::UnknownPassage)?;
        let span = quote::find(folded, &claim.quote)?;
        let quote = text.chars().skip(span.start).take(span.len()).collect();
        Ok(Citation {
            passage,
            quote,
            span,
        })
    }
}

/// The index a label such as `P2` names, from 0. Leading zeros, signs and fractions make it no label.
fn passage_index(label: &str) -> Option<usize> {
    let number = label.trim().strip_prefix(['P', 'p'])?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
    // A number too large for the type names no passage either.
    number
        .parse::<usize>()
        .ok()
        .filter(|_| is_number)?
        .checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const P1: &str = "max_wal_size (integer) Maximum size to let the WAL grow during automatic checkpoints. The default is 1 GB.";
    const P2: &str = "fsync (boolean) If this parameter is on, the server will try to make sure that updates are written to disk.";
    const P3: &str =
        "This is a soft limit; WAL size can exceed max_wal_size under special circumstances.";

    fn claim(passage: &str, quote: &str) -> ClaimedCitation {
        ClaimedCitation {
            passage: passage.to_owned(),
            quote: quote.to_owned(),
        }
    }

    fn check(citations: Vec<ClaimedCitation>) -> Checked {
        let text = "The limit is soft.".to_owned();
        let verifier = Verifier::new(&[P1, P2, P3, P1, P2, P3]);
        verifier.check(ClaimedSentence {
            index: 7,
            text,
            kind: ShownAs::Prose,
            citations,
        })
    }

    fn removal(citations: Vec<ClaimedCitation>) -> &'static str {
        match check(citations) {
            Checked::Removed { index: 7, reason } => reason.as_str(),
            other => panic!("shown: {other:?}"),
        }
    }

    #[test]
    fn shows_the_passages_own_words() {
        let Checked::Shown { sentence } = check(vec![claim("P3", "this is a SOFT limit;")]) else {
            panic!("the quote stands in P3");
        };
        let [citation] = sentence.citations() else {
            panic!("one citation")
        };
        assert_eq!(
            (citation.passage(), citation.quote()),
            (2, "This is a soft limit;")
        );
        assert_eq!((citation.start(), citation.end()), (0, 21));
        assert_eq!(
            (sentence.index(), sentence.text(), sentence.kind()),
            (7, "The limit is soft.", ShownAs::Prose)
        );
        assert_eq!(sentence.dropped(), []);
    }

    #[test]
    fn c103_labels_that_name_no_passage() {
        for label in [
            "P99",
            "P0",
            "P07",
            "P-1",
            "P+1",
            "P1.5",
            "P184467440737095516160",
            "P7",
            "P",
            "",
            "1",
            "Q1",
            "P 1",
            "PP1",
            "P１",
            "P1x",
        ] {
            assert_eq!(
                removal(vec![claim(label, "This is a soft limit")]),
                "unknown_passage",
                "{label:?}"
            );
        }
        for label in ["P3", "p3", " P3 ", "\tp3\n", "P6"] {
            assert!(
                matches!(
                    check(vec![claim(label, "This is a soft limit")]),
                    Checked::Shown { .. }
                ),
                "{label:?}"
            );
        }
    }

    #[test]
    fn c132_a_true_quote_of_another_passage_does_not_hold() {
        assert_eq!(
            removal(vec![claim("P1", "WAL size can exceed max_wal_size")]),
            "quote_not_found"
        );
        assert!(matches!(
            check(vec![claim("P3", "WAL size can exceed max_wal_size")]),
            Checked::Shown { .. }
        ));
        assert_eq!(
            removal(vec![claim(
                "P1",
                "Maximum size during automatic checkpoints"
            )]),
            "quote_not_found"
        );
    }

    #[test]
    fn c133_a_quote_across_two_passages_does_not_hold() {
        let section =
            "The first half of the section ends here. The second half begins with these words.";
        let verifier = Verifier::new(&[&section[..40], &section[41..]]);
        for label in ["P1", "P2"] {
            let across = claim(label, "section ends here. The second half begins");
            assert_eq!(verifier.verify(&across), Err(DropReason::QuoteNotFound));
        }
    }

    #[test]
    fn keeps_what_holds_and_says_what_was_dropped() {
        let Checked::Shown { sentence } = check(vec![
            claim("P9", "This is a soft limit"),
            claim("P3", "This is a hard limit"),
            claim("P3", "This is a soft limit"),
            claim("p3", "this is a soft limit"),
            claim("P2", "the"),
        ]) else {
            panic!("one of them holds");
        };
        assert_eq!(sentence.citations().len(), 1, "the same quote counts once");
        let dropped: Vec<_> = sentence
            .dropped()
            .iter()
            .map(|(label, reason)| (label.as_str(), reason.as_str()))
            .collect();
        assert_eq!(
            dropped,
            [
                ("P9", "unknown_passage"),
                ("P3", "quote_not_found"),
                ("P2", "quote_too_short")
            ]
        );
    }

    #[test]
    fn removes_what_has_nothing_that_holds() {
        assert_eq!(removal(vec![]), "no_citation");
        assert_eq!(removal(vec![claim("P1", "")]), "quote_too_short");
        assert_eq!(
            removal(vec![claim("P1", "1 GB"), claim("P9", "x")]),
            "quote_too_short"
        );
        assert_eq!(
            removal(vec![claim("P9", "x"), claim("P1", "1 GB")]),
            "unknown_passage"
        );
        assert_eq!(
            removal(vec![
                claim("P1", "The default is 10 GB."),
                claim("P1", "1 GB")
            ]),
            "quote_not_found"
        );
    }

    #[test]
    fn no_passages_hold_nothing() {
        assert_eq!(
            Verifier::new(&[]).verify(&claim("P1", "This is a soft limit")),
            Err(DropReason::UnknownPassage)
        );
    }
}
