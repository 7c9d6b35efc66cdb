//! Embeddings by any server that has OpenAI's `/embeddings`.
//!
//! Texts go out in batches a server takes, and vectors come back to their places by the index each carries; whether they
//! are vectors of any worth is checked by [`crate::model::checked`].

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::client::Provider;
use super::error::ProviderError;
use super::wire::Usage;
use crate::model::{Embedded, Embedder, ModelError, TokenUsage};

/// A number in JSON with its comma; a reply of more per value is none.
const BYTES_A_VALUE: usize = 40;

/// What stands around the vectors in a reply, for each of them and once.
const BYTES_A_VECTOR: usize = 1024;

/// A model at a provider.
#[derive(Debug, Clone)]
pub struct OpenAiEmbedder {
    provider: Provider,
    model: String,
    width: Width,
    limits: BatchLimits,
}

/// How long the vectors are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// As long as the model makes them; the server is not asked for a length, for many know no such parameter.
    Native(usize),
    /// Shortened to this by the server.
    Requested(usize),
}

/// What goes into one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLimits {
    /// The most texts.
    pub inputs: usize,
    /// The most tokens, counted as bytes: a token is at least one, so that a batch within the limit is within it for every
    /// tokeniser. A text longer than that goes alone.
    pub tokens: usize,
    /// The longest one call may take, further tries included.
    pub time: Duration,
}

impl Default for BatchLimits {
    /// OpenAI's limits. Many texts take a model long.
    fn default() -> Self {
        Self {
            inputs: 2_048,
            tokens: 300_000,
            time: Duration::from_secs(60),
        }
    }
}

impl OpenAiEmbedder {
    /// The model called `model` at `provider`.
    #[must_use]
    pub fn new(
        provider: Provider,
        model: impl Into<String>,
        width: Width,
        limits: BatchLimits,
    ) -> Self {
        Self {
            provider,
            model: model.into(),
            width,
            limits,
        }
    }

    async fn embed_all(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        let mut vectors = Vec::with_capacity(texts.len());
        let mut usage = Some(TokenUsage::default());
        for batch in batches(texts, &self.limits) {
            let reply = self.embed_batch(batch).await?;
            vectors.extend(reply.vectors);
            // A sum without one of its parts is not what was used.
            usage = usage.zip(reply.usage).map(|(sum, more)| TokenUsage {
                input: sum.input + more.input,
                ..sum
            });
        }
        Ok(Embedded { vectors, usage })
    }

    async fn embed_batch(&self, batch: &[String]) -> Result<Embedded, ModelError> {
        let request = Request {
            model: &self.model,
            input: batch,
            encoding_format: "float",
            dimensions: match self.width {
                Width::Native(_) => None,
                Width::Requested(dimensions) => Some(dimensions),
            },
        };
        let max_bytes = (batch.len() + 1) * (self.dimensions() * BYTES_A_VALUE + BYTES_A_VECTOR);
        let deadline = Instant::now() + self.limits.time;
        let reply: Result<Reply, _> = self
            .provider
            .call("/embeddings", &request, max_bytes, deadline)
            .await;
        let placed = reply.and_then(|Reply { data, usage }| {
            Ok(Embedded {
                vectors: placed(data, batch.len())?,
                usage: usage.as_ref().and_then(Usage::counted),
            })
        });
        placed.map_err(|error| match error {
            ProviderError::Invalid { reason, .. } => ModelError::InvalidVector {
                model: self.model.clone(),
                reason,
            },
            other => other.into(),
        })
    }
}

impl Embedder for OpenAiEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn dimensions(&self) -> usize {
        let (Width::Native(dimensions) | Width::Requested(dimensions)) = self.width;
        dimensions
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        Box::pin(async move { Ok(self.embed_all(texts).await?.vectors) })
    }

    fn embed_with_usage<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Embedded, ModelError>> {
        Box::pin(self.embed_all(texts))
    }
}

#[derive(Debug, Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[derive(Debug, Deserialize)]
struct Reply {
    data: Vec<Indexed>,
    usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
struct Indexed {
    index: usize,
    embedding: Vec<f32>,
}

/// The vectors in the order of their texts, of which there were `count`.
fn placed(data: Vec<Indexed>, count: usize) -> Result<Vec<Vec<f32>>, ProviderError> {
    let mut places = vec![None; count];
    for Indexed { index, embedding } in data {
        let place = places.get_mut(index).ok_or_else(|| {
            ProviderError::invalid(format!("a vector for text {index} of {count}"))
        })?;
        if place.replace(embedding).is_some() {
            return Err(ProviderError::invalid(format!(
                "two vectors for text {index}"
            )));
        }
    }
    let missing = places.iter().filter(|place| place.is_none()).count();
    if missing > 0 {
        return Err(ProviderError::invalid(format!(
            "no vector for {missing} of {count} texts"
        )));
    }
    Ok(places.into_iter().flatten().collect())
}

/// `texts` cut into runs within `limits`.
fn batches<'a>(
    mut texts: &'a [String],
    limits: &BatchLimits,
) -> impl Iterator<Item = &'a [String]> {
    let BatchLimits { inputs, tokens, .. } = *limits;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = texts
            .iter()
            .take(inputs)
            .take_while(|text| {
                bytes += text.len();
                bytes <= tokens
            })
            .count();
        let (batch, later) = texts.split_at(fits.max(1).min(texts.len()));
        texts = later;
        (!batch.is_empty()).then_some(batch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lengths: &[usize], inputs: usize, tokens: usize, expected: &[usize]) {
        let texts: Vec<String> = lengths.iter().map(|&length| "x".repeat(length)).collect();
        let limits = BatchLimits {
            inputs,
            tokens,
            ..BatchLimits::default()
        };
        let sizes: Vec<usize> = batches(&texts, &limits).map(<[String]>::len).collect();
        assert_eq!(sizes, expected, "{lengths:?}");
    }

    #[test]
    fn batches_stay_within_both_limits() {
        check(&[], 2, 10, &[]);
        check(&[1, 1, 1], 2, 10, &[2, 1]);
        check(&[5, 5, 1], 3, 10, &[2, 1]);
        check(&[11, 1], 3, 10, &[1, 1]);
        check(&[1, 11, 1], 3, 10, &[1, 1, 1]);
        check(&[0, 0], 0, 0, &[1, 1]);
    }
}
