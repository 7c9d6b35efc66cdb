//! What is read from afar and believed for a while, by the wall clock: every other clock stands still while a process is
//! frozen.

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// How long an older value stands in, after it could not be read anew, before that is tried again: or every request would
/// wait for a store that is away.
const STANDS_IN: Duration = Duration::from_secs(2);

/// The last value that was read.
#[derive(Debug)]
pub(crate) struct Cache<T>(Mutex<Option<Kept<T>>>);

#[derive(Debug, Clone)]
struct Kept<T> {
    until: SystemTime,
    value: T,
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone> Cache<T> {
    /// The last value while it is at most `age` old, else what `read` gives. When that fails, the last value stands in.
    ///
    /// # Errors
    /// `read`'s, when there is no value to stand in.
    pub(crate) async fn get<E: std::fmt::Display>(
        &self,
        what: &'static str,
        age: Duration,
        read: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let now = SystemTime::now();
        let known = self.kept();
        if let Some(kept) = &known
            && kept.is_believed(now, age)
        {
            return Ok(kept.value.clone());
        }
        match (read.await, known) {
            (Ok(value), _) => {
                self.keep(value.clone(), age);
                Ok(value)
            }
            (Err(error), Some(kept)) => {
                tracing::warn!("{what} cannot be read, the last one stands in: {error}");
                self.keep(kept.value.clone(), STANDS_IN.min(age));
                Ok(kept.value)
            }
            (Err(error), None) => Err(error),
        }
    }

    fn kept(&self) -> Option<Kept<T>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clone()
    }

    fn keep(&self, value: T, age: Duration) {
        let until = SystemTime::now() + age;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Kept { until, value });
    }
}

impl<T> Kept<T> {
    /// A clock that was set back makes nothing younger than it can be.
    fn is_believed(&self, now: SystemTime, age: Duration) -> bool {
        self.until
            .duration_since(now)
            .is_ok_and(|left| left > Duration::ZERO && left <= age)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    async fn read(
        cache: &Cache<u8>,
        age: Duration,
        now: Result<u8, &'static str>,
    ) -> Result<u8, &'static str> {
        cache.get("a number", age, async move { now }).await
    }

    #[tokio::test]
    async fn a_value_is_believed_for_its_age_and_stands_in_for_a_moment() {
        const LONG: Duration = Duration::from_secs(60);
        let cache = Cache::default();
        assert_eq!(read(&cache, LONG, Err("away")).await, Err("away"));
        assert_eq!(read(&cache, LONG, Ok(1)).await, Ok(1));
        assert_eq!(read(&cache, LONG, Ok(2)).await, Ok(1), "not asked again");
        // Frozen for an hour.
        cache.0.lock().unwrap().as_mut().unwrap().until = SystemTime::now() - LONG * 60;
        assert_eq!(read(&cache, LONG, Err("away")).await, Ok(1), "stands in");
        assert_eq!(
            read(&cache, LONG, Ok(3)).await,
            Ok(1),
            "and is not asked for at once"
        );
        let left = cache.0.lock().unwrap().as_ref().unwrap().until;
        assert!(left <= SystemTime::now() + STANDS_IN);
        cache.0.lock().unwrap().as_mut().unwrap().until = SystemTime::now();
        assert_eq!(read(&cache, LONG, Ok(3)).await, Ok(3));
        // Set back by a day.
        cache.0.lock().unwrap().as_mut().unwrap().until = SystemTime::now() + LONG * 1_440;
        assert_eq!(read(&cache, LONG, Ok(4)).await, Ok(4));
    }
}
