//! The JSON of chat completions, as far as it is used, and read as leniently as servers write it.
//!
//! Any field may be missing or null; what is not understood is passed over. `reply` gives it its meaning.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::chat::ChatRequest;
use super::error::Told;
use super::parameters::{Parameters, TokenLimit};
use crate::model::TokenUsage;

/// A call for a streamed completion.
#[derive(Debug, Serialize)]
pub(super) struct Completion<'a> {
    model: &'a str,
    messages: [Message<'a>; 2],
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat>,
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Debug, Serialize)]
struct ResponseFormat {
    #[serde(rename = "type")]
    kind: &'static str,
}

impl<'a> Completion<'a> {
    /// `request` as `model` takes it.
    pub(super) fn new(model: &'a str, parameters: &Parameters, request: &'a ChatRequest) -> Self {
        let limit = request
            .max_output_tokens
            .saturating_add(parameters.reasoning_tokens);
        let limit_called = |name| (parameters.token_limit == name).then_some(limit);
        Self {
            model,
            messages: [("system", &request.system), ("user", &request.user)]
                .map(|(role, content)| Message { role, content }),
            stream: true,
            stream_options: parameters.stream_usage.then_some(StreamOptions {
                include_usage: true,
            }),
            max_tokens: limit_called(TokenLimit::MaxTokens),
            max_completion_tokens: limit_called(TokenLimit::MaxCompletionTokens),
            temperature: parameters.temperature,
            response_format: (request.json && parameters.json_mode).then_some(ResponseFormat {
                kind: "json_object",
            }),
        }
    }
}

/// One event of a stream, or a whole completion from a server that does not stream.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk {
    choices: Option<Vec<Choice>>,
    pub(super) usage: Option<Usage>,
    error: Option<Value>,
    object: Option<String>,
    code: Option<Value>,
}

/// One of the texts being written; only the first is asked for.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Choice {
    index: Option<u64>,
    #[serde(alias = "message")]
    pub(super) delta: Option<Delta>,
    pub(super) finish_reason: Option<String>,
}

/// What is added to the text.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta {
    content: Option<Content>,
    refusal: Option<String>,
}

/// A text, or a list of parts that are texts or reasoning.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Deserialize)]
struct Part {
    text: Option<String>,
}

impl Delta {
    /// Whether the model declines in it.
    pub(super) fn refuses(&self) -> bool {
        self.refusal
            .as_ref()
            .is_some_and(|refusal| !refusal.is_empty())
    }

    /// Its text, empty where it has none.
    pub(super) fn into_text(self) -> String {
        match self.content {
            None => String::new(),
            Some(Content::Text(text)) => text,
            Some(Content::Parts(parts)) => parts.into_iter().filter_map(|part| part.text).collect(),
        }
    }
}

impl Chunk {
    /// The error it tells of, if that is what it is: under `error`, or as an object of that kind.
    pub(super) fn error(&self) -> Option<Told> {
        match (&self.error, self.object.as_deref()) {
            (Some(error), _) => Some(Told::of(error)),
            (None, Some("error")) => Some(Told::of(&json!({ "code": self.code }))),
            (None, _) => None,
        }
    }

    /// What it says of the first text.
    pub(super) fn into_choice(self) -> Choice {
        self.choices
            .into_iter()
            .flatten()
            .find(|choice| choice.index.unwrap_or(0) == 0)
            .unwrap_or_default()
    }
}

/// Tokens, as chat completions, embeddings and some rerankers count them.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<InputDetails>,
    completion_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct InputDetails {
    cached_tokens: Option<u64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

impl Usage {
    /// What was counted; none if it is all zeros, which some servers send for "not counted".
    pub(super) fn counted(&self) -> Option<TokenUsage> {
        let usage = TokenUsage {
            input: self.prompt_tokens.unwrap_or(0),
            cached_input: self
                .prompt_tokens_details
                .as_ref()
                .and_then(|details| details.cached_tokens)
                .unwrap_or(0),
            output: self.completion_tokens.unwrap_or(0),
            reasoning: self
                .completion_tokens_details
                .as_ref()
                .and_then(|details| details.reasoning_tokens)
                .unwrap_or(0),
        };
        (usage != TokenUsage::default()).then_some(usage)
    }
}
