//! What a visitor asks, cleaned and held to its limits before anything is spent on it.
//!
//! Pure: a [`Question`] can only be made by [`Question::parse`], so every later stage may rely on it being short, trimmed and
//! free of control and invisible characters. It prints as its length alone, for question text never enters the log.

use std::collections::BTreeMap;
use std::fmt;

/// One question as the pipeline takes it.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What is asked.
    pub question: Question,
    /// Only documents whose metadata has all these values.
    pub filter: BTreeMap<String, String>,
    /// Documents that are not searched: what is answered without them is measured so, and no visitor may ask for it.
    pub without: Vec<String>,
    /// Whether provisional text is wanted while it is written.
    pub draft: bool,
    /// Lambda's request id.
    pub request_id: String,
    /// When the answer must have ended.
    pub deadline: tokio::time::Instant,
}

/// A question within its limits: 1 to [`Question::MAX_CHARS`] characters, trimmed, nothing invisible in it.
#[derive(Clone, PartialEq, Eq)]
pub struct Question(String);

/// Why a text is not a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    /// Nothing was written.
    #[error("empty")]
    Empty,
    /// Nothing that can be seen was written.
    #[error("only control or invisible characters")]
    Invisible,
    /// It exceeds [`Question::MAX_CHARS`].
    #[error("too long")]
    TooLong,
}

impl QuestionError {
    /// For people: what to do about it.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::Empty => "Please write a question.",
            Self::Invisible => {
                "The question holds only control or invisible characters. Please write it again."
            }
            Self::TooLong => "The question is too long: please shorten it to 1,000 characters.",
        }
    }
}

impl Question {
    /// Enough for a question with an error message pasted in; more is a document, and slow to search for.
    pub const MAX_CHARS: usize = 1_000;

    /// Cleans and checks a text. Control and invisible characters go, white space around the text is trimmed.
    ///
    /// # Errors
    /// When nothing is left, or more than [`Self::MAX_CHARS`] characters.
    pub fn parse(raw: &str) -> Result<Self, QuestionError> {
        if raw.trim().is_empty() {
            return Err(QuestionError::Empty);
        }
        let text = clean(raw);
        match text.chars().nth(Self::MAX_CHARS) {
            Some(_) => Err(QuestionError::TooLong),
            None if text.is_empty() => Err(QuestionError::Invisible),
            None => Ok(Self(text)),
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Question({} chars)", self.0.chars().count())
    }
}

/// Drops what cannot be seen and what no database stores, keeps line ends and tabs, trims.
pub(crate) fn clean(raw: &str) -> String {
    let kept: String = raw
        .chars()
        .filter(|c| matches!(c, '\n' | '\t') || !(c.is_control() || is_invisible(*c)))
        .collect();
    kept.trim().to_owned()
}

/// Zero-width, joining and direction-changing characters, tags, and the halves of nothing: they hide text from people and
/// make equal words differ. Variation selectors stay, for they are seen in the character before them.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{3164}'
        | '\u{feff}' | '\u{ffa0}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn c033_refuses_what_is_too_long() {
        assert_eq!(
            Question::parse(&"vacuum ".repeat(200_000)),
            Err(QuestionError::TooLong)
        );
        assert_eq!(
            Question::parse(&"é".repeat(1_000))
                .unwrap()
                .as_str()
                .chars()
                .count(),
            1_000
        );
        assert_eq!(
            Question::parse(&"é".repeat(1_001)),
            Err(QuestionError::TooLong)
        );
        assert!(
            Question::parse(&format!("{}why?{}", " ".repeat(2_000), "\n".repeat(2_000))).is_ok()
        );
    }

    #[test]
    fn c036_strips_what_no_database_stores() {
        for (raw, cleaned) in [
            ("max\u{0}wal", "maxwal"),
            ("\u{0}\u{1}why\u{7f}\u{85}", "why"),
            ("  why\tnot\r\n", "why\tnot"),
            ("a\u{200b}b\u{202e}c\u{feff}d\u{e0041}", "abcd"),
            ("select 1;\n-- two", "select 1;\n-- two"),
            ("\u{2602}\u{fe0f}", "\u{2602}\u{fe0f}"),
        ] {
            assert_eq!(Question::parse(raw).unwrap().as_str(), cleaned, "{raw:?}");
        }
    }

    #[test]
    fn refuses_what_says_nothing() {
        for (raw, error) in [
            ("", QuestionError::Empty),
            (" \n\t ", QuestionError::Empty),
            ("\u{0}\u{7}", QuestionError::Invisible),
            ("\u{200b} \u{202e}", QuestionError::Invisible),
        ] {
            assert_eq!(Question::parse(raw), Err(error), "{raw:?}");
        }
    }

    #[test]
    fn never_prints_its_text() {
        assert_eq!(
            format!("{:?}", Question::parse("who am I?").unwrap()),
            "Question(9 chars)"
        );
    }
}
