//! Whether, and after which pause, a failed call is made again.
//!
//! Only calls that showed nothing yet come here. A pause is never longer than the policy's cap, and never so long that
//! nothing could be done after it: without time for another try the error is given back at once.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::error::ProviderError;

/// How often a call is made, and how long it waits in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Calls in all, the first among them.
    pub attempts: u32,
    /// The longest first pause; each further one may be twice as long.
    pub base: Duration,
    /// The longest pause, whatever a provider asks for.
    pub cap: Duration,
}

impl Default for RetryPolicy {
    /// A visitor waits: two more tries, together no longer than a visitor would put up with.
    fn default() -> Self {
        Self {
            attempts: 3,
            base: Duration::from_millis(400),
            cap: Duration::from_secs(4),
        }
    }
}

impl RetryPolicy {
    /// One call and no other.
    #[must_use]
    pub fn never() -> Self {
        Self {
            attempts: 1,
            ..Self::default()
        }
    }

    /// The pause before the call after the `made`th failed with `error`, or `None` when it shall not be made. `left` is the
    /// time to the deadline, `share` from 0 to 1 is chance.
    fn pause(
        &self,
        made: u32,
        error: &ProviderError,
        left: Duration,
        share: f64,
    ) -> Option<Duration> {
        if made >= self.attempts || !error.is_retryable() {
            return None;
        }
        let pause = error.retry_after().unwrap_or_else(|| {
            let doubled = self.base.saturating_mul(1 << (made - 1).min(16));
            // Half of it is chance, so that callers that failed together do not come back together.
            doubled.mul_f64(0.5 + share / 2.0)
        });
        Some(pause.min(self.cap)).filter(|pause| *pause < left)
    }
}

/// The calls made so far for one thing wanted.
#[derive(Debug)]
pub(super) struct Attempts<'a> {
    policy: &'a RetryPolicy,
    deadline: Instant,
    made: u32,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(policy: &'a RetryPolicy, deadline: Instant) -> Self {
        Self {
            policy,
            deadline,
            made: 0,
        }
    }

    /// Waits for the next try after `error`, or gives it back when there is none.
    pub(super) async fn again_after(&mut self, error: ProviderError) -> Result<(), ProviderError> {
        self.made += 1;
        let left = self.deadline.saturating_duration_since(Instant::now());
        let Some(pause) = self.policy.pause(self.made, &error, left, fastrand::f64()) else {
            return Err(error);
        };
        tracing::info!(
            error = %error,
            attempt.n = self.made,
            pause_ms = pause.as_millis(),
            "call the provider again"
        );
        tokio::time::sleep(pause).await;
        Ok(())
    }
}

/// Reads a `Retry-After` header: seconds or an HTTP date, which may have passed. Everything else says nothing.
pub(super) fn parse_retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        // Neither a negative number nor one that is not finite is a duration.
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::error::{Cause, Phase, Told, of_status};

    const POLICY: RetryPolicy = RetryPolicy {
        attempts: 4,
        base: Duration::from_millis(400),
        cap: Duration::from_secs(4),
    };

    fn after(header: &str, left: Duration, share: f64) -> Option<Duration> {
        // Sun, 06 Nov 1994 08:49:37 GMT
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let error = of_status(429, Told::default(), Some(header), now, POLICY.cap);
        POLICY.pause(1, &error, left, share)
    }

    #[test]
    fn c082_a_pause_is_within_the_cap_and_the_time_left() {
        let long = Duration::from_secs(60);
        let millis = |n| Some(Duration::from_millis(n));
        for (header, expected) in [
            ("2", millis(2_000)),
            (" 1.5 ", millis(1_500)),
            ("0", millis(0)),
            ("86400", millis(4_000)),
            ("1e300", millis(300)),
            ("-5", millis(300)),
            ("NaN", millis(300)),
            ("Infinity", millis(300)),
            ("garbage", millis(300)),
            ("", millis(300)),
            ("Sun, 06 Nov 1994 08:49:30 GMT", millis(0)),
            ("Sun, 06 Nov 1994 08:49:40 GMT", millis(3_000)),
            ("Mon, 06 Nov 2034 08:49:40 GMT", millis(4_000)),
        ] {
            assert_eq!(after(header, long, 0.5), expected, "{header:?}");
            let short = after(header, Duration::from_millis(100), 0.5);
            assert!(
                short.is_none_or(|pause| pause < Duration::from_millis(100)),
                "{header:?}: {short:?}"
            );
            assert_eq!(after(header, Duration::ZERO, 0.5), None, "{header:?}");
        }
    }

    #[test]
    fn pauses_grow_and_are_half_chance() {
        let error = ProviderError::transient("gone");
        let pause = |made, share| POLICY.pause(made, &error, Duration::from_secs(60), share);
        for (made, share, expected) in [
            (1, 0.0, Some(200)),
            (1, 1.0, Some(400)),
            (2, 1.0, Some(800)),
            (3, 1.0, Some(1_600)),
            (4, 1.0, None),
        ] {
            assert_eq!(
                pause(made, share),
                expected.map(Duration::from_millis),
                "{made}"
            );
        }
        let many = RetryPolicy {
            attempts: u32::MAX,
            ..POLICY
        };
        assert_eq!(
            many.pause(1_000, &error, Duration::from_secs(60), 1.0),
            Some(POLICY.cap)
        );
    }

    #[test]
    fn what_will_not_go_away_is_not_tried_again() {
        for error in [
            ProviderError::BudgetExhausted(Cause::of("no money")),
            ProviderError::Permanent(Cause::of("wrong key")),
            ProviderError::Refused { usage: None },
            ProviderError::Filtered { usage: None },
            ProviderError::Empty { usage: None },
            ProviderError::Interrupted(Cause::of("reset")),
            ProviderError::invalid("prose"),
            ProviderError::Timeout(Phase::FirstToken),
            ProviderError::Timeout(Phase::Idle),
            ProviderError::Timeout(Phase::Deadline),
        ] {
            let pause = POLICY.pause(1, &error, Duration::from_secs(60), 0.5);
            assert_eq!(pause, None, "{error:?}");
        }
    }
}
