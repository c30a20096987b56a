//! Time stamps taken out of a text, so that two answers can be compared that differ in nothing else.

use std::sync::LazyLock;

use regex::Regex;

/// Dates, times of day, seconds since 1970, and how long something took.
static STAMPS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let date = r"\d{4}[-/.]\d{2}[-/.]\d{2}";
    let zone = r"(?:\s?(?:Z|UTC|GMT|[A-Z]{3,4}|[+-]\d{2}:?\d{2}))?";
    let time = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?(?:\s?[AP]M)?";
    let month = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*";
    let day = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*";
    let unit = "(?:ns|µs|us|ms|s|sec|secs|seconds|milliseconds|m|min|minutes)";
    let forms = [
        format!(r"\b{date}(?:[T ]{time})?{zone}\b"),
        // `date`: Tue Nov 17 19:10:00 UTC 2026; HTTP: Tue, 17 Nov 2026 19:10:00 GMT; `ls -l`: Nov 17 19:10.
        format!(
            r"\b(?:{day},?\s+)?(?:{month}\s+\d{{1,2}}|\d{{1,2}}\s+{month})(?:,?\s+\d{{4}})?\s+(?:{time}|\d{{1,2}}:\d{{2}}\b){zone}(?:\s+\d{{4}})?"
        ),
        format!(r"\b{time}{zone}"),
        // Seconds, milliseconds, microseconds or nanoseconds since 1970.
        r"\b1\d{9}(?:\.\d+|\d{3}|\d{6}|\d{9})?\b".to_owned(),
        format!(r"(?i:\b(?:in|took|after|elapsed|duration|time)[:=]?\s+|\()~?\d+(?:\.\d+)?\s?{unit}\b"),
    ];
    Regex::new(&forms.join("|")).ok()
});

/// The text with every time stamp the same.
pub(super) fn without(text: &str) -> std::borrow::Cow<'_, str> {
    match &*STAMPS {
        Some(stamps) => stamps.replace_all(text, "<time>"),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_differ_in_time_stamps_only_are_the_same() {
        for (one, other) in [
            ("2026-11-17T19:10:00Z up", "2026-11-17T19:10:03Z up"),
            ("at 2026-11-17 19:10:00,123 INFO x", "at 2026-11-17 19:10:09,001 INFO x"),
            ("2026/11/17 19:10:00 listening", "2026/11/18 00:00:00 listening"),
            ("Tue Nov 17 19:10:00 UTC 2026", "Wed Nov 18 09:01:59 UTC 2026"),
            ("Date: Tue, 17 Nov 2026 19:10:00 GMT", "Date: Tue, 17 Nov 2026 19:10:07 GMT"),
            ("-rw-r--r-- 1 root root 5 Nov 17 19:10 a", "-rw-r--r-- 1 root root 5 Nov 17 19:11 a"),
            ("[19:10:00.123] tick", "[19:10:04.999] tick"),
            ("7:10:00 PM", "7:10:01 PM"),
            ("1794942819", "1794942820"),
            ("ts=1794942819.123 ok", "ts=1794942825.001 ok"),
            ("\"created\":1794942819123", "\"created\":1794942819999"),
            ("test result: ok. finished in 0.29s", "test result: ok. finished in 0.31s"),
            ("1 failed in 1.20 seconds", "1 failed in 0.98 seconds"),
            ("took 12 ms", "took 9 ms"),
            ("PASS a.test.js (5.1 s)", "PASS a.test.js (4.9 s)"),
            ("+2026-11-17T19:10:00+02:00", "+2026-11-17T19:10:01+02:00"),
        ] {
            assert_eq!(without(one), without(other), "{one} | {other}");
        }
    }

    #[test]
    fn answers_that_differ_in_anything_else_stay_apart() {
        for (one, other) in [
            ("3 files", "4 files"),
            ("running, 40% done", "running, 41% done"),
            ("version 1.2.3", "version 1.2.4"),
            ("port 8080", "port 8081"),
            ("a.rs:10:20: error", "a.rs:11:20: error"),
            ("pid 12345", "pid 12346"),
            ("0.5s left", "0.4s left"),
        ] {
            assert_ne!(without(one), without(other), "{one} | {other}");
        }
    }
}
