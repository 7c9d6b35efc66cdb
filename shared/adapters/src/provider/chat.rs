//! A chat model that writes an answer as a stream.
//!
//! [`ChatModel::start`] comes back with the first text in hand; until then a call may be made again, and every error means
//! that nothing was seen of an answer. From then on there is one text: what breaks it off ends it. `reply`
//! reads the stream itself.

use std::collections::VecDeque;
use std::fmt;

use tokio::time::Instant;

use super::client::{Provider, encoded};
use super::error::ProviderError;
use super::parameters::Parameters;
use super::reply::{Piece, Reply};
use super::retry::Attempts;
use super::wire;
use crate::model::{Spent, TokenUsage};

/// A model at a provider, and the parameters it takes.
#[derive(Debug, Clone)]
pub struct ChatModel {
    provider: Provider,
    name: String,
    parameters: Parameters,
}

/// What a model is asked to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatRequest {
    /// What it shall do.
    pub system: String,
    /// What it shall do it with.
    pub user: String,
    /// How much text it may write; what it may reason beside it is a parameter of the model.
    pub max_output_tokens: u32,
    /// Whether the text is JSON. The instructions must ask for it as well: not every model can be held to it.
    pub json: bool,
}

/// What a stream brings, in order: texts, then the usage if the provider told it, then the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatEvent {
    /// More text, never empty.
    Text(String),
    /// The provider's count for the whole call.
    Usage(TokenUsage),
    /// The text is at its end.
    Finished(Finish),
}

/// Why a text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The limit on its output cut it short, perhaps inside a word.
    Length,
}

/// A text as it is written. Dropping it ends the call.
pub struct ChatStream {
    reply: Reply,
    ready: VecDeque<ChatEvent>,
    over: bool,
}

/// A text in one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completed {
    /// All of it.
    pub text: String,
    /// Why it ended.
    pub finish: Finish,
    /// What it used.
    pub spent: Spent,
}

impl ChatRequest {
    /// Characters sent, to estimate tokens from where the provider counts none.
    #[must_use]
    pub fn chars(&self) -> usize {
        self.system.chars().count() + self.user.chars().count()
    }
}

impl ChatModel {
    /// The model called `name` at `provider`, with its family's parameters.
    #[must_use]
    pub fn new(provider: Provider, name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            parameters: Parameters::of(&name),
            provider,
            name,
        }
    }

    /// The same with other parameters.
    #[must_use]
    pub fn with_parameters(mut self, parameters: Parameters) -> Self {
        self.parameters = parameters;
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts a text and comes back with its beginning, having tried as often as the policy allows.
    ///
    /// # Errors
    /// Any but [`ProviderError::Interrupted`]; no text was given out.
    pub async fn start(
        &self,
        request: &ChatRequest,
        deadline: Instant,
    ) -> Result<ChatStream, ProviderError> {
        let body = encoded(&wire::Completion::new(
            &self.name,
            &self.parameters,
            request,
        ))?;
        let mut attempts = Attempts::new(&self.provider.retry, deadline);
        loop {
            match self.attempt(body.clone(), request.chars(), deadline).await {
                Ok(stream) => return Ok(stream),
                Err(error) => attempts.again_after(error).await?,
            }
        }
    }

    /// Writes a text and comes back with all of it.
    ///
    /// # Errors
    /// Any; a text that broke off is not given out.
    pub async fn complete(
        &self,
        request: &ChatRequest,
        deadline: Instant,
    ) -> Result<Completed, ProviderError> {
        let mut stream = self.start(request, deadline).await?;
        let mut text = String::new();
        let mut finish = Finish::Stop;
        while let Some(event) = stream.next().await {
            match event? {
                ChatEvent::Text(more) => text += &more,
                ChatEvent::Finished(told) => finish = told,
                ChatEvent::Usage(_) => {}
            }
        }
        Ok(Completed {
            text,
            finish,
            spent: stream.spent(),
        })
    }

    async fn attempt(
        &self,
        body: Vec<u8>,
        prompt_chars: usize,
        deadline: Instant,
    ) -> Result<ChatStream, ProviderError> {
        let provider = &self.provider;
        let first_by = Instant::now() + provider.timeouts.first_token;
        let response = provider
            .post("/chat/completions", body, first_by, deadline)
            .await?;
        let reply = Reply::new(provider, response, prompt_chars, first_by, deadline).await?;
        let mut stream = ChatStream {
            reply,
            ready: VecDeque::new(),
            over: false,
        };
        stream.advance().await?;
        Ok(stream)
    }
}

impl ChatStream {
    /// The next event; `None` after [`ChatEvent::Finished`] or an error.
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<ChatEvent, ProviderError>> {
        if self.ready.is_empty()
            && !self.over
            && let Err(error) = self.advance().await
        {
            self.over = true;
            return Some(Err(error));
        }
        self.ready.pop_front().map(Ok)
    }

    /// What the call used so far, for whoever leaves before its end: the prompt is paid for, and so is the text.
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.reply.spent()
    }

    async fn advance(&mut self) -> Result<(), ProviderError> {
        match self.reply.next().await? {
            Piece::Text(text) => self.ready.push_back(ChatEvent::Text(text)),
            Piece::End(finish) => {
                self.over = true;
                self.ready
                    .extend(self.reply.spent().usage.map(ChatEvent::Usage));
                self.ready.push_back(ChatEvent::Finished(finish));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for ChatStream {
    /// Without the text, which is not for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatStream")
            .field("spent", &self.spent())
            .field("over", &self.over)
            .finish_non_exhaustive()
    }
}
