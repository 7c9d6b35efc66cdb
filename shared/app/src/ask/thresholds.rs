//! The thresholds that were calibrated, by what they were calibrated on: `eval/thresholds.toml`, as `eval calibrate` writes it.
//!
//! It is part of the program, so that a deployed function judges as the one that was measured.

use serde::{Deserialize, Serialize};

const FILE: &str = include_str!("../../../../eval/thresholds.toml");

/// The file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Thresholds {
    /// One for each combination that was calibrated.
    #[serde(default)]
    pub calibrated: Vec<Threshold>,
}

/// A threshold, and what it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// The corpus's name.
    pub corpus: String,
    /// SHA-256 over its passages when it was calibrated.
    pub corpus_hash: String,
    /// Identity of the model that embeds.
    pub embedder: String,
    /// What orders the passages found; see [`crate::config::Reranker::identity`].
    pub reranker: String,
    /// 0 to 1: below it a question is refused.
    pub threshold: f32,
    /// Questions it was chosen on.
    pub questions: usize,
}

impl Thresholds {
    /// Those that are part of this program.
    ///
    /// # Errors
    /// When the file is not one of thresholds.
    pub fn built_in() -> Result<Self, toml::de::Error> {
        toml::from_str(FILE)
    }

    /// The threshold of this combination, if it was calibrated.
    #[must_use]
    pub fn of(&self, corpus: &str, embedder: &str, reranker: &str) -> Option<&Threshold> {
        self.calibrated.iter().find(|one| {
            one.corpus == corpus && one.embedder == embedder && one.reranker == reranker
        })
    }

    /// The same with this one in the place of an older one for the same combination.
    #[must_use]
    pub fn with(mut self, threshold: Threshold) -> Self {
        self.calibrated.retain(|one| {
            (&one.corpus, &one.embedder, &one.reranker)
                != (&threshold.corpus, &threshold.embedder, &threshold.reranker)
        });
        self.calibrated.push(threshold);
        self.calibrated.sort_by(|a, b| {
            (&a.corpus, &a.embedder, &a.reranker).cmp(&(&b.corpus, &b.embedder, &b.reranker))
        });
        self
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    fn threshold(corpus: &str, reranker: &str, value: f32) -> Threshold {
        Threshold {
            corpus: corpus.to_owned(),
            corpus_hash: "h".to_owned(),
            embedder: "m".to_owned(),
            reranker: reranker.to_owned(),
            threshold: value,
            questions: 10,
        }
    }

    #[test]
    fn the_built_in_file_is_one() {
        let built_in = Thresholds::built_in().unwrap();
        assert!(
            built_in
                .calibrated
                .iter()
                .all(|one| (0.0..=1.0).contains(&one.threshold))
        );
    }

    #[test]
    fn a_threshold_belongs_to_its_combination() {
        let thresholds = Thresholds::default()
            .with(threshold("b", "local", 0.5))
            .with(threshold("a", "local", 0.4))
            .with(threshold("b", "local", 0.6));
        assert_eq!(thresholds.calibrated.len(), 2);
        let of = |corpus, reranker| {
            thresholds
                .of(corpus, "m", reranker)
                .map(|one| one.threshold)
        };
        assert_eq!((of("b", "local"), of("a", "local")), (Some(0.6), Some(0.4)));
        assert_eq!((of("b", "none"), of("c", "local")), (None, None));
        let text = toml::to_string(&thresholds).unwrap();
        assert_eq!(toml::from_str::<Thresholds>(&text).unwrap(), thresholds);
    }
}
