//! One streamed reply, read piece by piece until it finishes or fails.
//!
//! Bytes, whichever they are, show that the server lives; only text is the first token. A reply is complete when it said
//! so, by a finish reason or `[DONE]`; an end without either is an interruption. Trying again is
//! [`super::chat`]'s business.

use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use sse_stream::SseByteStream;
use thiserror::Error;
use tokio::time::{Instant, timeout};

use super::chat::Finish;
use super::client::{Provider, decoded, within};
use super::error::{Phase, ProviderError, of_stream};
use super::wire::{Choice, Chunk, Usage};
use crate::model::Spent;

/// An answer has some thousand tokens, each in an event of some hundred bytes. What is longer is not an answer.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// How long after the finish reason usage is waited for. The text is complete by then and only its price is missing.
const USAGE_WAIT: Duration = Duration::from_secs(2);

/// What ends a stream, beside the connection's end.
const DONE: &str = "[DONE]";

/// A reply whose status was a success.
pub(super) struct Reply {
    data: Pin<Box<dyn Stream<Item = Result<String, Broken>> + Send>>,
    first_by: Instant,
    deadline: Instant,
    finish: Option<Ended>,
    refused: bool,
    spent: Spent,
}

/// A finish reason and when it came.
struct Ended {
    reason: String,
    usage_by: Instant,
}

/// What a reply has next.
pub(super) enum Piece {
    /// Text, never empty.
    Text(String),
    /// Nothing more.
    End(Finish),
}

/// Why no more data comes.
#[derive(Debug, Error)]
enum Broken {
    #[error("nothing came for too long")]
    Idle,
    #[error("the connection was lost")]
    Lost,
    #[error("it is too long")]
    TooLong,
    #[error("it is not a stream of events")]
    Form,
}

impl Reply {
    /// Reads `response`: as a stream of events, or as the whole completion some servers send instead. Its first text is due
    /// at `first_by`.
    pub(super) async fn new(
        provider: &Provider,
        mut response: Response,
        prompt_chars: usize,
        first_by: Instant,
        deadline: Instant,
    ) -> Result<Self, ProviderError> {
        let data: Pin<Box<dyn Stream<Item = _> + Send>> = match media_type(&response) {
            "application/json" => {
                let whole = provider
                    .read_all(&mut response, MAX_BYTES, deadline)
                    .await?;
                let whole = String::from_utf8(whole)
                    .map_err(|_| ProviderError::invalid("it is not UTF-8"))?;
                Box::pin(stream::iter([Ok(whole), Ok(DONE.to_owned())]))
            }
            "text/html" => return Err(ProviderError::invalid("it is a web page")),
            _ => Box::pin(events(response, provider.timeouts.idle)),
        };
        Ok(Self {
            data,
            first_by,
            deadline,
            finish: None,
            refused: false,
            spent: Spent {
                prompt_chars,
                ..Spent::default()
            },
        })
    }

    /// What the reply used so far.
    pub(super) fn spent(&self) -> Spent {
        self.spent
    }

    /// The next piece. After [`Piece::End`] or an error there is none.
    ///
    /// Dropping the future loses nothing: the next one goes on where it was.
    pub(super) async fn next(&mut self) -> Result<Piece, ProviderError> {
        self.advance().await.map_err(|error| {
            if self.spent.text_chars > 0 {
                error.after_text().with_usage(self.spent.usage)
            } else {
                error.with_usage(self.spent.usage)
            }
        })
    }

    async fn advance(&mut self) -> Result<Piece, ProviderError> {
        loop {
            let (by, phase) = match &self.finish {
                Some(ended) => (ended.usage_by, Phase::Idle),
                None if self.spent.text_chars == 0 => (self.first_by, Phase::FirstToken),
                None => (self.deadline, Phase::Deadline),
            };
            let next = within(by, phase, self.deadline, self.data.next()).await;
            let data = match (next, &self.finish) {
                (Ok(Some(Ok(data))), _) if data.trim() == DONE => return self.end(true),
                (Ok(Some(Ok(data))), _) => data,
                (Ok(None), _) => return self.end(false),
                // The text is complete, whatever becomes of its usage.
                (_, Some(_)) => return self.end(false),
                (Ok(Some(Err(broken))), None) => return Err(broken.into()),
                (Err(late), None) => return Err(late),
            };
            if let Some(text) = self.read(&data)? {
                return Ok(Piece::Text(text));
            }
        }
    }

    /// Takes in one event and gives back its text, if it has any.
    fn read(&mut self, data: &str) -> Result<Option<String>, ProviderError> {
        let chunk: Chunk = decoded(data.as_bytes())?;
        if let Some(told) = chunk.error() {
            return Err(of_stream(told));
        }
        // Counts are cumulative where they come with every event: the last is the whole.
        if let Some(usage) = chunk.usage.as_ref().and_then(Usage::counted) {
            self.spent.usage = Some(usage);
        }
        let Choice {
            delta,
            finish_reason,
            ..
        } = chunk.into_choice();
        if let Some(reason) = finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish = Some(Ended {
                reason,
                usage_by: Instant::now() + USAGE_WAIT,
            });
        }
        let delta = delta.unwrap_or_default();
        self.refused |= delta.refuses();
        let text = delta.into_text();
        if text.is_empty() || self.refused {
            return Ok(None);
        }
        self.spent.text_chars += text.chars().count();
        Ok(Some(text))
    }

    /// What the end of the data means; `done` is whether it was announced.
    fn end(&self, done: bool) -> Result<Piece, ProviderError> {
        if self.refused {
            return Err(ProviderError::Refused { usage: None });
        }
        let finish = match self.finish.as_ref().map(|ended| ended.reason.as_str()) {
            Some("content_filter") => return Err(ProviderError::Filtered { usage: None }),
            Some("error" | "abort" | "cancelled") => {
                return Err(ProviderError::transient("it gave the answer up"));
            }
            Some("length" | "max_tokens") => Finish::Length,
            None if !done => return Err(ProviderError::transient("the stream ended too soon")),
            // Servers have many words for a text that is at its end.
            Some(_) | None => Finish::Stop,
        };
        if self.spent.text_chars == 0 {
            return Err(ProviderError::Empty { usage: None });
        }
        Ok(Piece::End(finish))
    }
}

impl From<Broken> for ProviderError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Idle => Self::Timeout(Phase::Idle),
            Broken::Lost => Self::transient("the connection was lost"),
            Broken::TooLong | Broken::Form => Self::invalid(broken.to_string()),
        }
    }
}

/// The data of each event. Comments keep it waiting, and events without data are none.
fn events(response: Response, idle: Duration) -> impl Stream<Item = Result<String, Broken>> + Send {
    let bytes = stream::try_unfold((response, 0), move |(mut response, read)| async move {
        match timeout(idle, response.chunk()).await {
            Ok(Ok(Some(piece))) if read + piece.len() > MAX_BYTES => Err(Broken::TooLong),
            Ok(Ok(Some(piece))) => {
                let read = read + piece.len();
                Ok(Some((piece, (response, read))))
            }
            Ok(Ok(None)) => Ok(None),
            Ok(Err(_)) => Err(Broken::Lost),
            Err(_) => Err(Broken::Idle),
        }
    });
    // The last event counts even where the server left out the empty line after it.
    let closing: &'static [u8] = b"\n\n";
    let bytes = bytes.chain(stream::once(async move { Ok(closing.into()) }));
    SseByteStream::new(Box::pin(bytes)).filter_map(async |event| match event {
        Ok(event) => event.data.filter(|data| !data.trim().is_empty()).map(Ok),
        Err(sse_stream::Error::Body(cause)) => Some(Err(cause
            .downcast::<Broken>()
            .map_or(Broken::Lost, |broken| *broken))),
        Err(_) => Some(Err(Broken::Form)),
    })
}

/// The content type without its parameters.
fn media_type(response: &Response) -> &str {
    response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .unwrap_or_default()
        .trim()
}
