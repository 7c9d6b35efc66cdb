//! Which parameters a model takes. Some reject `max_tokens`, some any temperature but their own; sent all the same, every
//! call would fail with status 400.
//!
//! The set follows from the model's name where its family is known, and is the widest spread one otherwise. A deployment
//! that knows better states its own.

/// The parameters a model is called with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// How the limit on its output is called.
    pub token_limit: TokenLimit,
    /// Sent as `temperature` where there is one; models that reason accept only their own.
    pub temperature: Option<f32>,
    /// Tokens it may spend on reasoning, which providers count as output: added to the limit, or nothing would be left
    /// for text.
    pub reasoning_tokens: u32,
    /// Whether it can be held to JSON by `response_format`.
    pub json_mode: bool,
    /// Whether `stream_options` may ask for usage. Without it the usage of a stream is an estimate.
    pub stream_usage: bool,
}

/// The name of the limit on a model's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenLimit {
    /// `max_tokens`, which every compatible server knows.
    MaxTokens,
    /// `max_completion_tokens`, its successor at OpenAI.
    MaxCompletionTokens,
}

impl Parameters {
    /// The set for the family `model` belongs to by its name; a gateway's prefix (`openai/…`) is looked past.
    #[must_use]
    pub fn of(model: &str) -> Self {
        let name = model
            .rsplit('/')
            .next()
            .unwrap_or(model)
            .to_ascii_lowercase();
        if reasons(&name) {
            Self {
                token_limit: TokenLimit::MaxCompletionTokens,
                temperature: None,
                reasoning_tokens: 4_096,
                json_mode: true,
                stream_usage: true,
            }
        } else if name.starts_with("gpt-4") || name.starts_with("chatgpt-") {
            Self {
                token_limit: TokenLimit::MaxCompletionTokens,
                json_mode: true,
                ..Self::compatible()
            }
        } else {
            Self::compatible()
        }
    }

    /// What most servers understand. Temperature 0: an answer is copied from passages, there is nothing to vary.
    fn compatible() -> Self {
        Self {
            token_limit: TokenLimit::MaxTokens,
            temperature: Some(0.0),
            reasoning_tokens: 0,
            json_mode: false,
            stream_usage: true,
        }
    }
}

/// OpenAI's reasoning families: `o1`, `o3-mini`, `o4-mini`, `gpt-5`, `gpt-5-nano`, … but not `gpt-5-chat`, which does not
/// reason.
fn reasons(name: &str) -> bool {
    let generation = name
        .strip_prefix("gpt-")
        .filter(|_| !name.contains("-chat"))
        .map(|rest| rest.split(['-', '.', ':']).next().unwrap_or_default());
    let series = name
        .strip_prefix('o')
        .map(|rest| rest.split(['-', ':']).next().unwrap_or_default());
    generation.is_some_and(|n| n.parse::<u32>().is_ok_and(|n| n >= 5))
        || series.is_some_and(|n| n.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_by_name() {
        use TokenLimit::{MaxCompletionTokens, MaxTokens};
        for (model, limit, temperature) in [
            ("o1", MaxCompletionTokens, None),
            ("o3-mini", MaxCompletionTokens, None),
            ("openai/o4-mini:high", MaxCompletionTokens, None),
            ("gpt-5", MaxCompletionTokens, None),
            ("gpt-5.1", MaxCompletionTokens, None),
            ("GPT-5-nano-2025-08-07", MaxCompletionTokens, None),
            ("gpt-5-chat-latest", MaxTokens, Some(0.0)),
            ("gpt-4o-mini", MaxCompletionTokens, Some(0.0)),
            ("gpt-4.1", MaxCompletionTokens, Some(0.0)),
            ("gpt-3.5-turbo", MaxTokens, Some(0.0)),
            ("gpt-oss-120b", MaxTokens, Some(0.0)),
            ("olmo-2", MaxTokens, Some(0.0)),
            ("llama3.2:3b", MaxTokens, Some(0.0)),
            ("Qwen/Qwen3-4B-Instruct", MaxTokens, Some(0.0)),
        ] {
            let parameters = Parameters::of(model);
            assert_eq!(parameters.token_limit, limit, "{model}");
            assert_eq!(parameters.temperature, temperature, "{model}");
        }
    }
}
