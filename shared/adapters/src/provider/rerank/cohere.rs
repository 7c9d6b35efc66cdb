//! Reranks at a server that has Cohere's `/v2/rerank`: Cohere's own, Jina's, llama-server, vLLM and others.
//!
//! Indices in the reply are places in the list as sent. A server that gives raw logits instead of probabilities is told by
//! any score outside 0 to 1, and then all its scores go through the logistic function, which keeps their order.

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::place;
use crate::model::{RerankPassage, RerankUsage, Reranked, Reranker};
use crate::provider::client::{BaseUrl, Provider};
use crate::provider::error::ProviderError;

/// A result takes some hundred bytes; a server that sends the passages back as well sends no more than it was sent.
const BYTES_A_RESULT: usize = 1024;

/// A model at a rerank server.
#[derive(Debug, Clone)]
pub struct CohereReranker {
    provider: Provider,
    model: String,
    path: &'static str,
}

impl CohereReranker {
    /// The model called `model` at `provider`, whose base URL may be the server's root, end in its version (`/v1`), or be
    /// the address of the call itself (`…/rerank`).
    #[must_use]
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            path: path(provider.base()),
            provider,
            model: model.into(),
        }
    }

    async fn ask(
        &self,
        question: &str,
        passages: &[RerankPassage],
        deadline: Instant,
    ) -> Result<Reranked, ProviderError> {
        if passages.is_empty() {
            return Ok(Reranked {
                order: Vec::new(),
                usage: RerankUsage::Searches(0),
            });
        }
        let documents: Vec<String> = passages.iter().map(document).collect();
        let sent: usize = documents.iter().map(String::len).sum();
        let request = Request {
            model: &self.model,
            query: question,
            top_n: documents.len(),
            documents: &documents,
        };
        // A character may come back as an escape of six bytes.
        let max_bytes = 6 * sent + (documents.len() + 1) * BYTES_A_RESULT;
        let reply: Reply = self
            .provider
            .call(self.path, &request, max_bytes, deadline)
            .await?;
        let (results, meta) = match reply {
            Reply::Named { results, meta } => (results, meta),
            Reply::Bare(results) => (results, None),
        };
        let searches = meta
            .and_then(|meta| meta.billed_units)
            .and_then(|billed| billed.search_units);
        Ok(Reranked {
            order: place(probabilities(results), passages.len())?,
            usage: RerankUsage::Searches(searches.unwrap_or(1)),
        })
    }
}

impl Reranker for CohereReranker {
    fn model(&self) -> &str {
        &self.model
    }

    fn rerank<'a>(
        &'a self,
        question: &'a str,
        passages: &'a [RerankPassage],
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Reranked, ProviderError>> {
        Box::pin(self.ask(question, passages, deadline))
    }
}

#[derive(Debug, Serialize)]
struct Request<'a> {
    model: &'a str,
    query: &'a str,
    documents: &'a [String],
    top_n: usize,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Reply {
    Named {
        results: Vec<Scored>,
        meta: Option<Meta>,
    },
    Bare(Vec<Scored>),
}

#[derive(Debug, Deserialize)]
struct Scored {
    index: Option<usize>,
    #[serde(alias = "score")]
    relevance_score: Option<f32>,
}

#[derive(Debug, Deserialize)]
struct Meta {
    billed_units: Option<BilledUnits>,
}

#[derive(Debug, Deserialize)]
struct BilledUnits {
    search_units: Option<u64>,
}

/// A passage as one text, its headings first.
fn document(RerankPassage { heading, text }: &RerankPassage) -> String {
    if heading.is_empty() {
        text.clone()
    } else {
        format!("{heading}\n{text}")
    }
}

fn path(base: &BaseUrl) -> &'static str {
    let last = base.last_segment();
    let version = last
        .strip_prefix('v')
        .is_some_and(|number| number.parse::<u32>().is_ok());
    match last {
        "rerank" => "",
        _ if version => "/rerank",
        _ => "/v2/rerank",
    }
}

/// The scores as probabilities, each with its index. A number too large to be one is no score.
fn probabilities(results: Vec<Scored>) -> Vec<(Option<usize>, Option<f32>)> {
    let scored: Vec<(Option<usize>, Option<f32>)> = results
        .into_iter()
        .map(|result| {
            (
                result.index,
                result.relevance_score.filter(|score| score.is_finite()),
            )
        })
        .collect();
    let are_logits = scored
        .iter()
        .filter_map(|(_, score)| *score)
        .any(|score| !(0.0..=1.0).contains(&score));
    if !are_logits {
        return scored;
    }
    scored
        .into_iter()
        .map(|(index, score)| (index, score.map(|score| 1.0 / (1.0 + (-score).exp()))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_call_from_the_base_url() {
        for (base, expected) in [
            ("https://api.example", "/v2/rerank"),
            ("https://api.example/gateway", "/v2/rerank"),
            ("https://api.example/v2", "/rerank"),
            ("https://api.example/v1/", "/rerank"),
            ("https://api.example/rerank", ""),
            ("https://api.example/v1/rerank", ""),
        ] {
            let url = BaseUrl::parse(base).expect("an address");
            assert_eq!(path(&url), expected, "{base}");
        }
    }

    #[test]
    fn raw_logits_become_probabilities_and_keep_their_order() {
        fn check(scores: &[f32], expected: &[f32]) {
            let results = scores
                .iter()
                .map(|score| Scored {
                    index: Some(0),
                    relevance_score: Some(*score),
                })
                .collect();
            let actual = probabilities(results);
            for ((_, actual), expected) in actual.iter().zip(expected) {
                let actual = actual.unwrap_or(f32::NAN);
                assert!(
                    (actual - expected).abs() < 1e-4 || expected.is_nan() && actual.is_nan(),
                    "{actual} is not {expected}"
                );
            }
        }
        check(&[0.9, 0.1], &[0.9, 0.1]);
        check(&[4.0, 0.0, -9.0], &[0.9820, 0.5, 0.0001]);
        check(&[0.2, -0.3], &[0.5498, 0.4256]);
        check(&[0.2, f32::INFINITY], &[0.2, f32::NAN]);
    }
}
