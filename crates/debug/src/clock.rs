//! Timestamps.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the time in milliseconds since the epoch.
pub fn now_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Formats a time in ISO 8601, such as `2026-11-16T05:10:29.123Z`.
pub fn iso(millis: i64) -> String {
    jiff::Timestamp::from_millisecond(millis)
        .map(|time| format!("{}Z", time.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%S.%3f")))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_have_milliseconds() {
        assert_eq!(super::iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(super::iso(1_700_000_000_120), "2023-11-14T22:13:20.120Z");
    }
}
