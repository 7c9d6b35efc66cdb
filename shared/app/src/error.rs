//! What goes wrong before an answer's stream starts: a stable code, a fixed sentence for the visitor, a cause for the log.
//!
//! A message is written here and nowhere else, so no SQL, host name, key or stack can reach a visitor; causes stay in the
//! log. After the first byte there is no status code any more: see [`crate::ask::event::ErrorEvent`].

use serde::Serialize;

use crate::ask::question::QuestionError;

/// A request that is answered with an error.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The question cannot be asked as it is.
    #[error("question refused")]
    InvalidQuestion(#[source] QuestionError),
    /// The request is not what the interface takes; the text says what it takes.
    #[error("request refused: {0}")]
    InvalidRequest(&'static str),
    /// Nothing stands at this path.
    #[error("not found")]
    NotFound,
    /// The path takes other methods.
    #[error("method not allowed")]
    MethodNotAllowed {
        /// As sent in `Allow`.
        allow: &'static str,
    },
    /// The body exceeds what a question needs.
    #[error("body too large")]
    TooLarge,
    /// The body is not declared as JSON.
    #[error("content type not supported")]
    UnsupportedMediaType,
    /// As many questions were asked today as may be, or as much was spent.
    #[error("daily limit reached")]
    DailyLimit(DailyLimit),
    /// Only what is prepared is served.
    #[error("read-only")]
    ReadOnly,
    /// Nothing is answered.
    #[error("off")]
    Off,
    /// Too much is under way at once; it passes within seconds.
    #[error("busy")]
    Busy,
    /// Something the service stands on cannot be reached, or holds no corpus yet.
    #[error("unavailable")]
    Unavailable(#[source] anyhow::Error),
    /// The evaluation results cannot be read.
    #[error("results unavailable")]
    NoResults(#[source] anyhow::Error),
    /// A fault of ours.
    #[error("internal")]
    Internal(#[source] anyhow::Error),
}

/// A limit that holds until midnight UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyLimit {
    /// Whose limit.
    pub of: LimitOf,
    /// RFC 3339, UTC.
    pub resets_at: String,
    /// Seconds until then.
    pub retry_after_s: u64,
}

/// Whose daily limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitOf {
    /// This visitor's questions.
    Visitor,
    /// All visitors' questions.
    Everybody,
    /// What providers may be paid.
    Money,
}

/// Seconds until what is under way has made room.
const BUSY_S: u64 = 5;

/// The wire form: `{"error":{code,message,request_id}}`, where it is known with `retry_after_s`, and for a daily limit with
/// `resets_at`.
#[derive(Debug, Serialize)]
pub struct ErrorBody<'a> {
    error: ErrorDetail<'a>,
}

#[derive(Debug, Serialize)]
struct ErrorDetail<'a> {
    code: &'static str,
    message: &'static str,
    request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resets_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_s: Option<u64>,
}

impl ApiError {
    /// Stable, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidQuestion(_) => "invalid_question",
            Self::InvalidRequest(_) => "invalid_request",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed { .. } => "method_not_allowed",
            Self::TooLarge => "too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::DailyLimit(limit) => match limit.of {
                LimitOf::Visitor => "visitor_quota",
                LimitOf::Everybody => "global_quota",
                LimitOf::Money => "budget",
            },
            Self::ReadOnly => "read_only",
            Self::Off => "off",
            Self::Busy | Self::Unavailable(_) | Self::NoResults(_) => "unavailable",
            Self::Internal(_) => "internal",
        }
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::InvalidQuestion(_) | Self::InvalidRequest(_) => 400,
            Self::NotFound => 404,
            Self::MethodNotAllowed { .. } => 405,
            Self::TooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::DailyLimit(_) => 429,
            Self::ReadOnly | Self::Off | Self::Busy | Self::Unavailable(_) | Self::NoResults(_) => {
                503
            }
            Self::Internal(_) => 500,
        }
    }

    /// For people: what happened and what to do.
    #[must_use]
    pub fn message(&self) -> &'static str {
        match self {
            Self::InvalidQuestion(error) => error.message(),
            Self::InvalidRequest(message) => message,
            Self::NotFound => "There is nothing at this address.",
            Self::MethodNotAllowed { .. } => "This address does not take that method.",
            Self::TooLarge => {
                "The request is too large: send a question of at most 1,000 characters."
            }
            Self::UnsupportedMediaType => "Send the question as application/json.",
            Self::DailyLimit(limit) => match limit.of {
                LimitOf::Visitor => {
                    "You have asked as many questions as a visitor may today. Suggested questions are still answered."
                }
                LimitOf::Everybody => {
                    "All of today's questions have been asked. Suggested questions are still answered."
                }
                LimitOf::Money => {
                    "Today's budget for answers is spent. Suggested questions are still answered."
                }
            },
            Self::ReadOnly => {
                "New questions are not answered at the moment. Prepared answers still are."
            }
            Self::Off => "The service is switched off at the moment.",
            Self::Busy => {
                "Too many questions are being answered. Please try again in a few seconds."
            }
            Self::Unavailable(_) => {
                "The documentation cannot be searched at the moment. Please try again in a minute."
            }
            Self::NoResults(_) => {
                "The evaluation results cannot be read at the moment. Please try again in a minute."
            }
            Self::Internal(_) => "Something went wrong on our side. Please try again.",
        }
    }

    /// The wire form.
    #[must_use]
    pub fn body<'a>(&'a self, request_id: &'a str) -> ErrorBody<'a> {
        let limit = self.daily_limit();
        ErrorBody {
            error: ErrorDetail {
                code: self.code(),
                message: self.message(),
                request_id,
                resets_at: limit.map(|limit| limit.resets_at.as_str()),
                retry_after_s: self.retry_after_s(),
            },
        }
    }

    /// In how many seconds it is worth trying again, where that is known.
    #[must_use]
    pub fn retry_after_s(&self) -> Option<u64> {
        match self {
            Self::DailyLimit(limit) => Some(limit.retry_after_s),
            Self::Busy => Some(BUSY_S),
            _ => None,
        }
    }

    fn daily_limit(&self) -> Option<&DailyLimit> {
        match self {
            Self::DailyLimit(limit) => Some(limit),
            _ => None,
        }
    }

    /// What lies under a failure of ours, for the log; a visitor's mistake has none.
    #[must_use]
    pub fn cause(&self) -> Option<&anyhow::Error> {
        match self {
            Self::Unavailable(cause) | Self::NoResults(cause) | Self::Internal(cause) => {
                Some(cause)
            }
            _ => None,
        }
    }
}

impl From<QuestionError> for ApiError {
    fn from(error: QuestionError) -> Self {
        Self::InvalidQuestion(error)
    }
}
