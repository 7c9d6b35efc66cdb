//! The wall clock, for what is counted by day.

use std::time::{SystemTime, UNIX_EPOCH};

use domain::quota::Day;

/// Seconds since 1970.
#[must_use]
pub fn now_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// The day it is in UTC.
#[must_use]
pub fn today() -> Day {
    Day::at(now_s())
}
