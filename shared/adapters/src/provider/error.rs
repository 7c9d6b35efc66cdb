//! How a call to a provider can end without what was asked for, sorted by what the caller does next.
//!
//! Nothing a provider wrote in prose is kept: such messages repeat keys, prompts and hosts. A status and the
//! identifier beside it are enough to act on and to find the fault. [`super::retry`] reads this next.

use std::fmt;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use thiserror::Error;

use super::retry::parse_retry_after;
use crate::model::{ModelError, TokenUsage};

/// What became of a call that gave no usable reply.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ProviderError {
    /// Too many calls for now.
    #[error("the provider limits the rate of calls")]
    RateLimited {
        /// What the provider asked to wait, if it said so in a way that can be read; never longer than the policy's cap.
        retry_after: Option<Duration>,
    },
    /// The account has no money or quota left. Waiting does not help; paying does.
    #[error("the provider's account has no budget left: {0}")]
    BudgetExhausted(Cause),
    /// It may work on another try, and was tried as often as the policy allows.
    #[error("the provider failed for now: {cause}")]
    Transient {
        /// What happened.
        cause: Cause,
        /// As for [`RateLimited`](Self::RateLimited).
        retry_after: Option<Duration>,
    },
    /// The same call will always fail: a wrong key, model or parameter.
    #[error("the provider rejected the call: {0}")]
    Permanent(Cause),
    /// The model declined to answer.
    #[error("the model refused")]
    Refused {
        /// What it cost all the same, where known.
        usage: Option<TokenUsage>,
    },
    /// The provider's filter withheld the question or the rest of the answer.
    #[error("the provider's filter withheld the answer")]
    Filtered {
        /// What it cost all the same, where known.
        usage: Option<TokenUsage>,
    },
    /// A time limit was met.
    #[error("the provider took too long: {0}")]
    Timeout(Phase),
    /// Text came and then broke off. What came stays; a second try would begin another text.
    #[error("the answer broke off: {0}")]
    Interrupted(Cause),
    /// The model finished without a word, as when reasoning used up what it may write.
    #[error("the model wrote nothing")]
    Empty {
        /// What it cost all the same, where known.
        usage: Option<TokenUsage>,
    },
    /// A reply came that is not of the agreed form.
    #[error("the provider's reply cannot be used: {reason}")]
    Invalid {
        /// What is wrong with its form, in words of this program.
        reason: String,
        /// What it cost all the same, where known.
        usage: Option<TokenUsage>,
    },
}

/// Which limit was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Until a connection stood, TLS included.
    Connect,
    /// Until the first text of a stream, or the first byte of any other reply.
    FirstToken,
    /// Without a byte inside a reply.
    Idle,
    /// The caller's own.
    Deadline,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "to connect",
            Self::FirstToken => "to begin",
            Self::Idle => "to go on",
            Self::Deadline => "for the time there was",
        })
    }
}

/// What happened, told without the provider's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// What happened.
    pub what: &'static str,
    /// The HTTP status, of the reply or named in the stream.
    pub status: Option<u16>,
    /// The provider's identifier for the error.
    pub code: Option<String>,
}

impl Cause {
    /// Something without a status.
    pub(super) fn of(what: &'static str) -> Self {
        Self {
            what,
            status: None,
            code: None,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)?;
        if let Some(status) = self.status {
            write!(f, ", status {status}")?;
        }
        if let Some(code) = &self.code {
            write!(f, ", {code}")?;
        }
        Ok(())
    }
}

impl ProviderError {
    /// Whether the same call may succeed when tried again.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. } | Self::Transient { .. } | Self::Timeout(Phase::Connect)
        )
    }

    /// What the provider asked to wait.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after } | Self::Transient { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// What the failed call cost, where the provider said.
    #[must_use]
    pub fn usage(&self) -> Option<TokenUsage> {
        match self {
            Self::Refused { usage }
            | Self::Filtered { usage }
            | Self::Empty { usage }
            | Self::Invalid { usage, .. } => *usage,
            _ => None,
        }
    }

    /// The same, met after text was given out: whatever would else call for another try has broken that text off.
    pub(super) fn after_text(self) -> Self {
        match self {
            Self::Transient { cause, .. }
            | Self::BudgetExhausted(cause)
            | Self::Permanent(cause) => Self::Interrupted(cause),
            Self::RateLimited { .. } => {
                Self::Interrupted(Cause::of("the rate of calls was limited"))
            }
            Self::Invalid { .. } => Self::Interrupted(Cause::of("a part of it cannot be read")),
            other => other,
        }
    }

    /// The same with what the provider counted before, where the outcome tells usage.
    pub(super) fn with_usage(mut self, counted: Option<TokenUsage>) -> Self {
        if let Self::Refused { usage }
        | Self::Filtered { usage }
        | Self::Empty { usage }
        | Self::Invalid { usage, .. } = &mut self
        {
            *usage = usage.or(counted);
        }
        self
    }

    pub(super) fn transient(what: &'static str) -> Self {
        Self::Transient {
            cause: Cause::of(what),
            retry_after: None,
        }
    }

    pub(super) fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid {
            reason: reason.into(),
            usage: None,
        }
    }
}

impl From<ProviderError> for ModelError {
    fn from(error: ProviderError) -> Self {
        match error {
            ProviderError::RateLimited { .. }
            | ProviderError::Transient { .. }
            | ProviderError::Timeout(_)
            | ProviderError::Interrupted(_) => Self::Unavailable(error.into()),
            _ => Self::Other(error.into()),
        }
    }
}

/// Identifiers of an account without money, as the providers spell them.
const NO_BUDGET: &[&str] = &[
    "insufficient_quota",
    "insufficient_balance",
    "insufficient_credits",
    "billing_hard_limit_reached",
    "billing_not_active",
];

const FILTERED: &[&str] = &["content_filter", "content_policy_violation"];

const RATE_LIMITED: &[&str] = &["rate_limit_exceeded", "rate_limit_error", "rate_limited"];

/// Told in a stream, where there is no status any more, these will not go away.
const REJECTED: &[&str] = &[
    "invalid_request_error",
    "authentication_error",
    "permission_error",
    "not_found_error",
    "invalid_api_key",
    "model_not_found",
    "context_length_exceeded",
];

/// What an error object or an error page says, as far as it can be read.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Told {
    codes: Vec<String>,
    status: Option<u16>,
}

impl Told {
    /// Reads the body of a reply with an error status; whatever is not JSON tells nothing.
    pub(super) fn read(body: &[u8]) -> Self {
        serde_json::from_slice(body)
            .map(|value| Self::of(&value))
            .unwrap_or_default()
    }

    /// Reads an error object, bare or under `error`, alone or first in a list.
    pub(super) fn of(value: &Value) -> Self {
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").unwrap_or(value);
        let mut told = Self::default();
        for field in ["code", "type", "status"] {
            match error.get(field) {
                Some(Value::String(code)) if is_identifier(code) => {
                    told.codes.push(code.to_ascii_lowercase());
                }
                Some(Value::Number(number)) if told.status.is_none() => {
                    told.status = number
                        .as_u64()
                        .and_then(|number| u16::try_from(number).ok())
                        .filter(|status| (400..600).contains(status));
                }
                _ => {}
            }
        }
        told
    }

    fn is_any(&self, known: &[&str]) -> bool {
        self.codes.iter().any(|code| known.contains(&code.as_str()))
    }
}

/// Codes are short words. Anything else might be a message in the wrong place.
fn is_identifier(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// Sorts a reply that is no success. `retry_after` is the header's text; `cap` bounds what is believed of it.
pub(super) fn of_status(
    status: u16,
    told: Told,
    retry_after: Option<&str>,
    now: SystemTime,
    cap: Duration,
) -> ProviderError {
    let retry_after = retry_after
        .and_then(|text| parse_retry_after(text, now))
        .map(|wait| wait.min(cap));
    sort(Some(status), told, "it answered with an error", retry_after)
}

/// Sorts an error object found where a stream's text should be.
pub(super) fn of_stream(told: Told) -> ProviderError {
    sort(told.status, told, "it told an error in the stream", None)
}

fn sort(
    status: Option<u16>,
    told: Told,
    what: &'static str,
    retry_after: Option<Duration>,
) -> ProviderError {
    let cause = |told: Told| Cause {
        what,
        status,
        code: told.codes.into_iter().next(),
    };
    match status {
        Some(402) => ProviderError::BudgetExhausted(cause(told)),
        _ if told.is_any(NO_BUDGET) => ProviderError::BudgetExhausted(cause(told)),
        _ if told.is_any(FILTERED) => ProviderError::Filtered { usage: None },
        Some(429) => ProviderError::RateLimited { retry_after },
        None if told.is_any(RATE_LIMITED) => ProviderError::RateLimited { retry_after },
        // A time-out, a conflict of two calls, a call before its time, and whatever went wrong on their side.
        Some(408 | 409 | 425 | 500 | 502..=504 | 506..) => ProviderError::Transient {
            cause: cause(told),
            retry_after,
        },
        None if !told.is_any(REJECTED) => ProviderError::Transient {
            cause: cause(told),
            retry_after,
        },
        _ => ProviderError::Permanent(cause(told)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(error: &ProviderError) -> &'static str {
        match error {
            ProviderError::RateLimited { .. } => "rate",
            ProviderError::BudgetExhausted(_) => "budget",
            ProviderError::Transient { .. } => "transient",
            ProviderError::Permanent(_) => "permanent",
            ProviderError::Filtered { .. } => "filtered",
            _ => "other",
        }
    }

    #[test]
    fn sorts_statuses_with_and_without_a_body_that_can_be_read() {
        for (status, body, expected) in [
            (
                400,
                r#"{"error":{"code":"unsupported_parameter"}}"#,
                "permanent",
            ),
            (
                400,
                r#"{"error":{"code":"content_filter","status":400}}"#,
                "filtered",
            ),
            (400, "<html>", "permanent"),
            (
                401,
                r#"{"error":{"message":"Incorrect key sk-1","type":"invalid_request_error"}}"#,
                "permanent",
            ),
            (402, "", "budget"),
            (403, r#"{"error":{"type":"insufficient_quota"}}"#, "budget"),
            (403, "{", "permanent"),
            (
                404,
                r#"{"object":"error","message":"no such model","code":404}"#,
                "permanent",
            ),
            (408, "", "transient"),
            (413, "", "permanent"),
            (422, r#"{"detail":[{"loc":["body"]}]}"#, "permanent"),
            (429, "slow down", "rate"),
            (
                429,
                r#"[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]"#,
                "rate",
            ),
            (
                429,
                r#"{"error":{"type":"insufficient_quota","code":"insufficient_quota"}}"#,
                "budget",
            ),
            (500, r#"{"error":"boom"}"#, "transient"),
            (501, "", "permanent"),
            (503, "<html>sk-1</html>", "transient"),
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error"}}"#,
                "transient",
            ),
            (302, "", "permanent"),
        ] {
            let error = of_status(
                status,
                Told::read(body.as_bytes()),
                None,
                SystemTime::UNIX_EPOCH,
                Duration::ZERO,
            );
            assert_eq!(kind(&error), expected, "{status} {body}");
            assert!(!format!("{error} {error:?}").contains("sk-1"), "{error:?}");
        }
    }

    #[test]
    fn sorts_errors_told_in_a_stream() {
        for (body, expected) in [
            (r#"{"error":{"message":"quota exceeded"}}"#, "transient"),
            (r#"{"error":"gone"}"#, "transient"),
            (r#"{"error":{"code":"insufficient_quota"}}"#, "budget"),
            (r#"{"error":{"code":"rate_limit_exceeded"}}"#, "rate"),
            (r#"{"error":{"code":429}}"#, "rate"),
            (r#"{"error":{"code":402,"message":"credits"}}"#, "budget"),
            (r#"{"error":{"code":502}}"#, "transient"),
            (r#"{"error":{"code":"content_filter"}}"#, "filtered"),
            (r#"{"error":{"type":"invalid_request_error"}}"#, "permanent"),
        ] {
            let told = Told::read(body.as_bytes());
            assert_eq!(kind(&of_stream(told)), expected, "{body}");
        }
    }

    #[test]
    fn a_cause_reads_as_a_sentence_and_keeps_no_prose() {
        let body = br#"{"error":{"code":"a message, not a code","type":"server_error"}}"#;
        let error = of_status(
            500,
            Told::read(body),
            None,
            SystemTime::UNIX_EPOCH,
            Duration::ZERO,
        );
        assert_eq!(
            error.to_string(),
            "the provider failed for now: it answered with an error, status 500, server_error"
        );
    }
}
