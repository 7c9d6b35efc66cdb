//! The ports to models: what the pipelines ask of an embedder or a reranker, whichever runs behind it, what a call is
//! counted as, and how vectors are checked.
//!
//! A reply that is not one finite unit vector per text never leaves [`checked`]: a database would take a zero vector and
//! rank by nonsense. A passage nobody scored has no score; none is made up. Implementations stand beside this module, the
//! remote ones in [`crate::provider`].

use futures_util::future::BoxFuture;
use thiserror::Error;
use tokio::time::Instant;

use crate::provider::ProviderError;

/// Turns texts into vectors whose cosine says how close they are.
pub trait Embedder: Send + Sync {
    /// Identity stored with the vectors; vectors of different models are never compared.
    fn model(&self) -> &str;

    /// Length of every vector.
    fn dimensions(&self) -> usize;

    /// Whether `word`, in lower case, is known to be a word of the model's language. A model whose vocabulary cannot be asked
    /// knows none.
    fn is_word(&self, _word: &str) -> bool {
        false
    }

    /// One unit-length vector per text, in the same order.
    ///
    /// Callers go through [`checked`].
    fn embed<'a>(&'a self, texts: &'a [String])
    -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>>;

    /// The same, with what the model's provider counted. A model in this process counts nothing, for it costs nothing.
    ///
    /// Callers go through [`checked_with_usage`].
    fn embed_with_usage<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Embedded, ModelError>> {
        Box::pin(async move {
            let vectors = self.embed(texts).await?;
            Ok(Embedded {
                vectors,
                usage: None,
            })
        })
    }
}

/// Vectors and what they were counted as.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// One per text, in the same order.
    pub vectors: Vec<Vec<f32>>,
    /// What the provider counted, if it said.
    pub usage: Option<TokenUsage>,
}

/// Orders passages by how well they answer a question.
pub trait Reranker: Send + Sync {
    /// Which model decides the order. A threshold belongs to the model its scores come from.
    fn model(&self) -> &str;

    /// Places every passage once, best first, before `deadline`. On an error the order the passages came in stands.
    fn rerank<'a>(
        &'a self,
        question: &'a str,
        passages: &'a [RerankPassage],
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Reranked, ProviderError>>;
}

/// A passage as a reranker reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RerankPassage {
    /// The path of headings above it, empty if there is none.
    pub heading: String,
    /// Its words.
    pub text: String,
}

/// What a reranker said.
#[derive(Debug, Clone, PartialEq)]
pub struct Reranked {
    /// Every passage that was sent, once, best first. Those the reranker left out come last, in the order they were sent.
    pub order: Vec<Placed>,
    /// What the call is counted as.
    pub usage: RerankUsage,
}

/// A passage's place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// Its index in the list as sent.
    pub index: usize,
    /// How relevant it is, from 0 to 1; none when the reranker said nothing usable about it.
    pub score: Option<f32>,
}

/// What a rerank is paid by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RerankUsage {
    /// Tokens of a chat model.
    Chat(Spent),
    /// Searches, of which one call is usually one.
    Searches(u64),
}

/// Tokens as a provider counted them for one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Tokens read, those from a cache among them.
    pub input: u64,
    /// Tokens read that the provider had in its cache.
    pub cached_input: u64,
    /// Tokens written, those of reasoning among them.
    pub output: u64,
    /// Tokens written that were reasoning and are never seen.
    pub reasoning: u64,
}

/// What a chat call used so far: the provider's count where it gave one, and the lengths to estimate from where it did not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Characters sent.
    pub prompt_chars: usize,
    /// Characters of text received.
    pub text_chars: usize,
    /// The provider's last count.
    pub usage: Option<TokenUsage>,
}

/// Why a model gave nothing usable.
#[derive(Debug, Error)]
pub enum ModelError {
    /// The reply is not what was asked for, and asking again would not help.
    #[error("the model {model} answered with an unusable vector: {reason}")]
    InvalidVector {
        /// Which model.
        model: String,
        /// What is wrong with the reply.
        reason: String,
    },
    /// Not reachable, overloaded or out of time: worth trying again later.
    #[error("the model is not available")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Anything else; trying again would not help.
    #[error("the model failed")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Embeds `texts` and checks the reply: as many vectors as texts, each of the model's dimensions, finite and not zero.
/// Vectors are returned at unit length. Without texts the model is not asked.
///
/// # Errors
/// The model's own, or [`ModelError::InvalidVector`] for a reply that cannot be used.
pub async fn checked(model: &dyn Embedder, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
    Ok(checked_with_usage(model, texts).await?.vectors)
}

/// [`checked`], with what the provider counted.
///
/// # Errors
/// As [`checked`].
pub async fn checked_with_usage(
    model: &dyn Embedder,
    texts: &[String],
) -> Result<Embedded, ModelError> {
    if texts.is_empty() {
        return Ok(Embedded {
            vectors: Vec::new(),
            usage: None,
        });
    }
    let Embedded { vectors, usage } = model.embed_with_usage(texts).await?;
    match normalised(vectors, texts.len(), model.dimensions()) {
        Ok(vectors) => Ok(Embedded { vectors, usage }),
        Err(reason) => Err(ModelError::InvalidVector {
            model: model.model().to_owned(),
            reason,
        }),
    }
}

/// Below this a vector has no direction worth the name; models answer with a norm near 1.
const SMALLEST_NORM: f32 = 1e-6;

fn normalised(
    mut vectors: Vec<Vec<f32>>,
    count: usize,
    dimensions: usize,
) -> Result<Vec<Vec<f32>>, String> {
    if vectors.len() != count {
        return Err(format!("{} vectors for {count} texts", vectors.len()));
    }
    for vector in &mut vectors {
        if vector.len() != dimensions {
            return Err(format!(
                "{} dimensions instead of {dimensions}",
                vector.len()
            ));
        }
        if !vector.iter().all(|value| value.is_finite()) {
            return Err("a value that is not a finite number".to_owned());
        }
        let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        // Large finite values overflow the sum.
        if !norm.is_finite() || norm < SMALLEST_NORM {
            return Err(format!("a norm of {norm}"));
        }
        for value in vector {
            *value /= norm;
        }
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(vectors: &[&[f32]], expected: Result<&[&[f32]], &str>) {
        let vectors = vectors.iter().map(|v| v.to_vec()).collect();
        let actual = normalised(vectors, 2, 2);
        let expected = expected
            .map(|vectors| vectors.iter().map(|v| v.to_vec()).collect::<Vec<_>>())
            .map_err(str::to_owned);
        assert_eq!(actual, expected);
    }

    #[test]
    fn scales_to_unit_length() {
        check(
            &[&[1.0, 0.0], &[0.0, -4.0]],
            Ok(&[&[1.0, 0.0], &[0.0, -1.0]]),
        );
    }

    #[test]
    fn c010_refuses_a_zero_vector() {
        check(&[&[1.0, 0.0], &[0.0, 0.0]], Err("a norm of 0"));
        check(&[&[1.0, 0.0], &[1e-9, 0.0]], Err("a norm of 0.000000001"));
    }

    #[test]
    fn c012_refuses_values_that_are_not_finite() {
        let reason = "a value that is not a finite number";
        check(&[&[1.0, f32::NAN], &[1.0, 0.0]], Err(reason));
        check(&[&[f32::INFINITY, 0.0], &[1.0, 0.0]], Err(reason));
        #[expect(clippy::cast_possible_truncation, reason = "what a JSON reader does")]
        check(&[&[1e39_f64 as f32, 0.0], &[1.0, 0.0]], Err(reason));
        check(&[&[1e38, 1e38], &[1.0, 0.0]], Err("a norm of inf"));
    }

    #[test]
    fn c014_refuses_other_dimensions_and_counts() {
        check(
            &[&[1.0, 0.0, 0.0], &[1.0, 0.0]],
            Err("3 dimensions instead of 2"),
        );
        check(&[&[1.0, 0.0]], Err("1 vectors for 2 texts"));
        check(&[], Err("0 vectors for 2 texts"));
    }
}
