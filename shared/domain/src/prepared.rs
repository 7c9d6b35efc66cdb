//! When a typed question is a suggested one, and which answers may be kept.
//!
//! Letters' case, white space and final punctuation do not make another question; a letter, a digit or a sign within it
//! does, so that nobody who asks for `max_wal_size` is given `min_wal_size`'s answer. What is kept is kept for one version
//! of the corpus and one way of answering.

use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

/// A question as far as it is told apart from others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct QuestionKey(String);

impl QuestionKey {
    /// The key of a question.
    #[must_use]
    pub fn of(question: &str) -> Self {
        let folded: String = question.nfkc().flat_map(char::to_lowercase).collect();
        let words: Vec<&str> = folded.split_whitespace().collect();
        let joined = words.join(" ");
        let ended = joined.trim_end_matches(|c: char| c.is_whitespace() || FINAL.contains(&c));
        // A question of nothing but signs asks for them.
        Self(if ended.is_empty() {
            joined
        } else {
            ended.to_owned()
        })
    }

    /// A short name for it: 16 hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> String {
        let digest = Sha256::digest(&self.0);
        digest
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// The key itself, to be compared where ids are the same.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Signs that end a question and say nothing.
const FINAL: [char; 8] = ['?', '.', '!', '…', '¿', '¡', '؟', '。'];

/// Whether a text can be a prepared answer's id.
#[must_use]
pub fn is_id(text: &str) -> bool {
    text.len() == 16
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// What an answer depends on beside its question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edition {
    /// The corpus's name.
    pub corpus: String,
    /// Its version.
    pub version: i64,
    /// Who searches, orders and writes, by which rules.
    pub writer: String,
}

impl Edition {
    /// A short name for it, different for every difference.
    #[must_use]
    pub fn id(&self) -> String {
        let Self {
            corpus,
            version,
            writer,
        } = self;
        let digest = Sha256::digest(format!("{corpus}\0{version}\0{writer}"));
        digest
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(question: &str) -> QuestionKey {
        QuestionKey::of(question)
    }

    #[test]
    fn case_spaces_and_the_end_make_no_other_question() {
        let asked = key("What is the default value of max_wal_size?");
        for same in [
            "what is the default value of max_wal_size",
            "  What is the\tdefault  value of MAX_WAL_SIZE ??? ",
            "What is the default value of max_wal_size .",
            "WHAT IS THE DEFAULT VALUE OF ｍax_wal_size?!",
        ] {
            assert_eq!(key(same), asked, "{same}");
            assert_eq!(key(same).id(), asked.id());
        }
        assert!(is_id(&asked.id()));
        for text in [
            "",
            "0",
            "0123456789abcdeg",
            "0123456789ABCDEF",
            "0123456789abcdef0",
        ] {
            assert!(!is_id(text), "{text}");
        }
    }

    #[test]
    fn a_letter_or_a_sign_within_makes_another() {
        for (one, other) in [
            ("What is max_wal_size?", "What is min_wal_size?"),
            ("What does a->b do?", "What does a->>b do?"),
            ("What is -Fc", "What is -Fd"),
            ("Is 'x' quoted?", "Is x quoted?"),
            ("What is PostgreSQL 16?", "What is PostgreSQL 17?"),
            ("?", "!"),
            ("a b", "ab"),
        ] {
            assert_ne!(key(one), key(other), "{one} {other}");
        }
    }

    #[test]
    fn an_edition_changes_with_each_of_its_parts() {
        let of = |corpus: &str, version, writer: &str| {
            Edition {
                corpus: corpus.to_owned(),
                version,
                writer: writer.to_owned(),
            }
            .id()
        };
        let one = of("a", 1, "w");
        for other in [
            of("b", 1, "w"),
            of("a", 2, "w"),
            of("a", 1, "v"),
            of("a", 11, "w"),
        ] {
            assert_ne!(one, other);
        }
    }

    proptest! {
        #[test]
        fn any_change_within_a_question_is_another(
            before in "[a-z_ ]{0,12}", from in "[a-z0-9_]", to in "[a-z0-9_>-]", after in "[a-z_]{1,12}"
        ) {
            prop_assume!(from != to);
            let (one, other) = (format!("{before}{from}{after}"), format!("{before}{to}{after}"));
            prop_assert_ne!(key(&one), key(&other));
        }

        #[test]
        fn a_question_s_key_is_its_own_key(question in "\\PC{0,40}") {
            let once = key(&question);
            prop_assert_eq!(&key(once.as_str()), &once);
        }
    }
}
