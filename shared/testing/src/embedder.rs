//! A deterministic embedder without a model, for tests of storage: texts that share words are close, and every text sent
//! is counted.
//!
//! It says nothing about how well retrieval works; that is measured with the real model.

use std::sync::Mutex;

use adapters::model::{Embedder, ModelError};
use futures_util::future::BoxFuture;
use sha2::{Digest, Sha256};

/// Hashes words into the dimensions of a vector.
#[derive(Debug)]
pub struct HashEmbedder {
    model: String,
    dimensions: usize,
    seen: Mutex<Vec<String>>,
    fail_after: Option<usize>,
}

impl HashEmbedder {
    /// An embedder that calls itself `model`.
    #[must_use]
    pub fn new(model: &str, dimensions: usize) -> Self {
        Self {
            model: model.to_owned(),
            dimensions,
            seen: Mutex::default(),
            fail_after: None,
        }
    }

    /// Fails every call once `texts` texts were embedded.
    #[must_use]
    pub fn failing_after(mut self, texts: usize) -> Self {
        self.fail_after = Some(texts);
        self
    }

    /// How many texts were embedded.
    #[must_use]
    pub fn count(&self) -> usize {
        self.texts().len()
    }

    /// The texts that were embedded, in order.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.seen.lock().expect("no embedding panicked").clone()
    }

    pub(crate) fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; self.dimensions];
        // Even a text without words has a direction.
        for word in text.split_whitespace().chain([""]) {
            let hash = Sha256::digest(word.to_lowercase());
            let place = usize::from(hash[0]) << 8 | usize::from(hash[1]);
            vector[place % self.dimensions] += if hash[2] & 1 == 0 { 1.0 } else { -1.0 };
        }
        if vector.iter().all(|value| *value == 0.0) {
            vector[0] = 1.0;
        }
        let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        vector.iter().map(|value| value / norm).collect()
    }
}

impl Embedder for HashEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        Box::pin(async move {
            let mut seen = self.seen.lock().expect("no embedding panicked");
            if self.fail_after.is_some_and(|limit| seen.len() >= limit) {
                return Err(ModelError::Unavailable("told to fail".into()));
            }
            seen.extend_from_slice(texts);
            Ok(texts.iter().map(|text| self.vector(text)).collect())
        })
    }
}
