//! Models behind HTTP: any server that speaks OpenAI's chat completions and embeddings, or Cohere's rerank.
//!
//! A call ends in one of the outcomes of [`ProviderError`]; keys, hosts and prompts are in none of them. A call is made
//! again only while nothing of its text was given out. Every wait is bounded, and all of them by the caller's deadline.
//! Read [`chat`] for the life of a streamed answer; [`client`] is the way to the server and [`error`] sorts what comes
//! back.

pub mod chat;
pub mod client;
pub mod embed;
pub mod error;
pub mod parameters;
mod reply;
pub mod rerank;
pub mod retry;
mod wire;

pub use chat::{ChatEvent, ChatModel, ChatRequest, ChatStream, Completed, Finish};
pub use client::{ApiKey, BaseUrl, Provider, SettingError, Timeouts};
pub use embed::{BatchLimits, OpenAiEmbedder, Width};
pub use error::{Cause, Phase, ProviderError};
pub use parameters::{Parameters, TokenLimit};
pub use rerank::{ChatReranker, CohereReranker};
pub use retry::RetryPolicy;
