//! A day of counting, from midnight to midnight UTC.

use std::fmt;

use time::{Date, Duration, UtcDateTime};

/// A day in UTC, written `2026-12-01`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(Date);

impl Day {
    /// The day of an instant, given in seconds since 1970.
    #[must_use]
    pub fn at(unix_s: u64) -> Self {
        Self(instant(unix_s).date())
    }

    /// Reads `2026-12-01`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        if (year.len(), month.len(), day.len()) != (4, 2, 2) {
            return None;
        }
        let month = time::Month::try_from(month.parse::<u8>().ok()?).ok()?;
        Date::from_calendar_date(year.parse().ok()?, month, day.parse().ok()?)
            .ok()
            .map(Self)
    }

    /// When the next day begins, in seconds since 1970.
    #[must_use]
    pub fn end(self) -> u64 {
        let next = self.0.saturating_add(Duration::DAY).midnight().assume_utc();
        u64::try_from(next.unix_timestamp()).unwrap_or_default()
    }

    /// When the next day begins, as RFC 3339 writes it.
    #[must_use]
    pub fn resets_at(self) -> String {
        format!("{}T00:00:00Z", self.0.saturating_add(Duration::DAY))
    }

    /// Seconds from `unix_s` until the next day begins; one at least.
    #[must_use]
    pub fn seconds_left(self, unix_s: u64) -> u64 {
        self.end().saturating_sub(unix_s).max(1)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn instant(unix_s: u64) -> UtcDateTime {
    // Beyond the calendar there is no visitor to count.
    i64::try_from(unix_s)
        .ok()
        .and_then(|seconds| UtcDateTime::from_unix_timestamp(seconds).ok())
        .unwrap_or(UtcDateTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_turn_at_midnight_utc() {
        for (unix_s, day, resets_at, left) in [
            (0, "1970-01-01", "1970-01-02T00:00:00Z", 86_400),
            (1_796_083_199, "2026-11-30", "2026-12-01T00:00:00Z", 1),
            (1_796_083_200, "2026-12-01", "2026-12-02T00:00:00Z", 86_400),
            (1_709_164_801, "2024-02-29", "2024-03-01T00:00:00Z", 86_399),
        ] {
            let found = Day::at(unix_s);
            assert_eq!(found.to_string(), day);
            assert_eq!(found.resets_at(), resets_at);
            assert_eq!(found.seconds_left(unix_s), left, "{day}");
            assert_eq!(Day::parse(day), Some(found));
        }
    }

    #[test]
    fn what_is_no_day_is_none() {
        for text in [
            "",
            "2026-13-01",
            "2026-02-30",
            "26-1-1",
            "2026-12-01T00",
            "yesterday",
        ] {
            assert_eq!(Day::parse(text), None, "{text}");
        }
    }
}
