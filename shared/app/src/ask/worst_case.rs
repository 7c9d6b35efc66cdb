//! The most that one question can cost its providers, reserved before the first of them is called.
//!
//! Bounds, not estimates: what is reserved and not spent is given back a few seconds later. One attempt of each call is
//! reserved for, since only those are repeated that failed before their first word.

use adapters::provider::Parameters;
use adapters::provider::rerank::{MOST_JUDGED, most_output_tokens};
use domain::cost::{Money, Prices, Usage, cost};

use super::generate::MOST_OUTPUT_TOKENS;
use super::question::Question;
use super::rerank::PASSAGES;
use super::retrieve::CANDIDATES;
use crate::config::{Embedder, Generator, ModelsConfig, Reranker};

/// No tokenizer makes more tokens than there are bytes, and a character has four of them at most.
const QUESTION_TOKENS: u64 = 4 * Question::MAX_CHARS as u64;
/// Passages are cut at 800 tokens by one tokenizer; another one may make twice as many of the same words.
const PASSAGE_TOKENS: u64 = 2 * 800;
/// The rules, and each passage's heading, page and marks: a heading path has fewer than 150 tokens, or the rest of the
/// reservation has to bear it.
const RULES_TOKENS: u64 = 4_000;

/// The most that a question can cost with these models at these prices. What a model has no price for counts nothing here;
/// with a budget the service refuses to start with one, see [`unpriced`].
#[must_use]
pub fn worst_case(models: &ModelsConfig, prices: &Prices) -> Money {
    calls(models)
        .into_iter()
        .filter_map(|(model, usage)| cost(prices, model, &usage).known())
        .sum()
}

/// A model that has no price for what it is used for.
#[must_use]
pub fn unpriced<'a>(models: &'a ModelsConfig, prices: &Prices) -> Option<&'a str> {
    calls(models)
        .into_iter()
        .find(|(model, usage)| cost(prices, model, usage).known().is_none())
        .map(|(model, _)| model)
}

/// Every call that a question may need, at its largest.
fn calls(models: &ModelsConfig) -> Vec<(&str, Usage)> {
    let mut calls = Vec::new();
    if let Embedder::OpenAi { remote, .. } = &models.embedder {
        // A question whose spelling is corrected is embedded twice.
        calls.push((&*remote.model, Usage::embedding(2 * QUESTION_TOKENS)));
    }
    match &models.reranker {
        Reranker::Chat(remote) => {
            let judged = CANDIDATES.min(MOST_JUDGED);
            let read = judged as u64 * PASSAGE_TOKENS + QUESTION_TOKENS + RULES_TOKENS;
            let written = u64::from(most_output_tokens(judged)) + reasoning(&remote.model);
            calls.push((&remote.model, Usage::chat(read, 0, written)));
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
}

fn reasoning(model: &str) -> u64 {
    Parameters::of(model).reasoning_tokens.into()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::config::{Config, Variables};

    fn models(settings: &[(&str, &str)]) -> ModelsConfig {
        let settings: Variables = settings
            .iter()
            .copied()
            .chain([("DATABASE_URL", "postgres://a@b/c")])
            .collect();
        Config::read(&settings).unwrap().models
    }

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
        worst_case(&models(settings), &toml::from_str(prices).unwrap()).to_string()
    }

    #[test]
    fn a_price_for_another_use_is_none() {
        let chat = r#"models."gpt-4.1-mini" = { input = 0.40, output = 1.60 }"#;
        let embedding = r#"models."text-embedding-3-small" = { embedding = 0.02 }"#;
        let wrong = r#"models."text-embedding-3-small" = { input = 0.40, output = 1.60 }"#;
        let key = [("OPENAI_API_KEY", "k")];
        for (settings, prices, expected) in [
            (&[][..], String::from("models = {}"), None),
            (&key, format!("{chat}\n{embedding}"), None),
            (
                &key,
                format!("{chat}\n{wrong}"),
                Some("text-embedding-3-small"),
            ),
            (&key, embedding.to_owned(), Some("gpt-4.1-mini")),
        ] {
            let models = models(settings);
            let found = unpriced(&models, &toml::from_str(&prices).unwrap());
            assert_eq!(found, expected, "{prices}");
        }
    }

    #[test]
    fn every_call_that_may_be_made_is_reserved_for() {
        assert_eq!(worst(&[]), "0.00");
        // 17,600 tokens read and 1,200 written; 40,000 and 672 to rerank; 8,000 embedded.
        assert_eq!(worst(&[("OPENAI_API_KEY", "k")]), "0.0261952");
        let keys = [("OPENAI_API_KEY", "k"), ("COHERE_API_KEY", "k")];
        let cohere = [("RERANKER", "cohere"), ("EMBEDDER", "local")];
        assert_eq!(worst(&[&keys[..], &cohere].concat()), "0.01096");
    }
}
