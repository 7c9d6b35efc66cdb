//! What ends an answer early, with the fixed sentence a visitor is told. The cause is for the log alone.

use adapters::postgres::connect::ConnectError;
use domain::quota::Outcome;

use super::event::Closed;
use crate::error::ApiError;

/// Why a stage did not hand on.
#[derive(Debug)]
pub(super) enum Stopped {
    /// Nobody reads the answer.
    Closed,
    /// Something went wrong.
    Failed(Failure),
}

impl From<Closed> for Stopped {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The time is up.
    #[error("the deadline was met")]
    Deadline,
    /// What the service stands on cannot be reached.
    #[error("unavailable")]
    Unavailable(#[source] anyhow::Error),
    /// The stored vectors are another model's.
    #[error("{0}")]
    Mismatch(String),
    /// The model declined to answer.
    #[error("the model refused")]
    Refused,
    /// The provider's filter withheld the answer.
    #[error("the provider's filter withheld the answer")]
    Filtered,
    /// A model's text broke off before a sentence of it held.
    #[error("the provider's answer broke off")]
    Provider,
    /// A fault of ours.
    #[error("panicked")]
    Internal,
}

impl Failure {
    /// The contract's code.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Deadline => "deadline",
            Self::Unavailable(_) | Self::Mismatch(_) => "unavailable",
            Self::Refused => "refused",
            Self::Filtered => "filtered",
            Self::Provider => "provider",
            Self::Internal => "internal",
        }
    }

    /// As it decides whether the question counts.
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            Self::Deadline | Self::Provider | Self::Internal => Outcome::Failed,
            Self::Unavailable(_) | Self::Mismatch(_) => Outcome::Unavailable,
            Self::Refused | Self::Filtered => Outcome::Declined,
        }
    }

    /// For the visitor.
    pub(super) fn message(&self) -> &'static str {
        match self {
            Self::Deadline => "The answer took too long. Please try again.",
            Self::Unavailable(_) => {
                "The documentation cannot be searched right now. Please try again in a moment."
            }
            Self::Mismatch(_) => {
                "The documentation is being prepared anew. Please try again later."
            }
            Self::Refused => "The language model declined to answer this question.",
            Self::Filtered => "The language model's provider withheld the answer to this question.",
            Self::Provider => {
                "The answer broke off before a sentence of it could be checked. Please try again."
            }
            Self::Internal => "Something went wrong on our side. Please try again.",
        }
    }

    /// When it is worth trying again.
    pub(super) fn retry_after_s(&self) -> Option<u64> {
        match self {
            Self::Deadline | Self::Refused | Self::Filtered | Self::Provider | Self::Internal => {
                None
            }
            Self::Unavailable(_) => Some(5),
            Self::Mismatch(_) => Some(60),
        }
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        Self::Unavailable(anyhow::Error::from(error).context("connect to the database"))
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::Unavailable(anyhow::Error::from(error).context("read the corpus item"))
    }
}
