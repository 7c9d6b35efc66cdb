//! The most that one question can cost its providers, reserved before the first of them is called.
//!
//! Bounds, not estimates: what is reserved and not spent is given back a few seconds later. A model without a price counts
//! nothing here; a budget refuses to start with one.

use adapters::provider::Parameters;
use domain::cost::{Money, Prices, Usage, cost};

use super::generate::MOST_OUTPUT_TOKENS;
use super::question::Question;
use super::rerank::PASSAGES;
use crate::config::{Embedder, Generator, ModelsConfig, Reranker};

/// No tokenizer makes more tokens than there are bytes, and a character has four of them at most.
const QUESTION_TOKENS: u64 = 4 * Question::MAX_CHARS as u64;
/// Passages are cut at 800 tokens by one tokenizer; another one may make twice as many of the same words.
const PASSAGE_TOKENS: u64 = 2 * 800;
/// The rules, and each passage's heading, page and marks.
const RULES_TOKENS: u64 = 4_000;
/// Passages that a reranker reads.
const CANDIDATES: u64 = 20;
/// A grade for each of them, with the signs around it.
const GRADES_TOKENS: u64 = 32 * CANDIDATES;

/// The most that a question can cost with these models at these prices.
#[must_use]
pub fn worst_case(models: &ModelsConfig, prices: &Prices) -> Money {
    let mut calls = Vec::new();
    if let Embedder::OpenAi { remote, .. } = &models.embedder {
        // A question whose spelling is corrected is embedded twice.
        calls.push((&remote.model, Usage::embedding(2 * QUESTION_TOKENS)));
    }
    match &models.reranker {
        Reranker::Chat(remote) => {
            let read = CANDIDATES * PASSAGE_TOKENS + QUESTION_TOKENS + RULES_TOKENS;
            let usage = Usage::chat(read, 0, GRADES_TOKENS + reasoning(&remote.model));
            calls.push((&remote.model, usage));
        }
        Reranker::Cohere(remote) => calls.push((&remote.model, Usage::rerank(1))),
        Reranker::Local | Reranker::None => {}
    }
    if let Generator::OpenAi(remote) = &models.generator {
        let read = PASSAGES as u64 * PASSAGE_TOKENS + QUESTION_TOKENS + RULES_TOKENS;
        let written = u64::from(MOST_OUTPUT_TOKENS) + reasoning(&remote.model);
        calls.push((&remote.model, Usage::chat(read, 0, written)));
    }
    calls
        .into_iter()
        .filter_map(|(model, usage)| cost(prices, model, &usage).known())
        .sum()
}

fn reasoning(model: &str) -> u64 {
    Parameters::of(model).reasoning_tokens.into()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::config::{Config, Variables};

    fn worst(settings: &[(&str, &str)]) -> String {
        let prices = r#"
            [models."gpt-4.1-mini"]
            input = 0.40
            output = 1.60
            [models."text-embedding-3-small"]
            embedding = 0.02
            [models."rerank-v3.5"]
            rerank_call = 0.002
        "#;
        let settings: Variables = settings
            .iter()
            .copied()
            .chain([("DATABASE_URL", "postgres://a@b/c")])
            .collect();
        let models = Config::read(&settings).unwrap().models;
        worst_case(&models, &toml::from_str(prices).unwrap()).to_string()
    }

    #[test]
    fn every_call_that_may_be_made_is_reserved_for() {
        assert_eq!(worst(&[]), "0.00");
        // 17,600 tokens read and 1,200 written; 40,000 and 640 to rerank; 8,000 embedded.
        assert_eq!(worst(&[("OPENAI_API_KEY", "k")]), "0.026144");
        let keys = [("OPENAI_API_KEY", "k"), ("COHERE_API_KEY", "k")];
        let cohere = [("RERANKER", "cohere"), ("EMBEDDER", "local")];
        assert_eq!(worst(&[&keys[..], &cohere].concat()), "0.01096");
    }
}
