//! The text of `cargo test`; its machine-readable form is not stable yet.

use std::sync::LazyLock;

use regex::Regex;
use stepwell_debug::failure::failed_tests;

use crate::testing::outcome::{TestCase, TestStatus};

static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^test (.+?)(?: - should panic)? \.\.\. (?:.*?)(ok|FAILED|ignored)(?:, (.*))?$").ok()
});

pub(super) fn read(stdout: &str, stderr: &str) -> Vec<TestCase> {
    let Some(shape) = LINE.as_ref() else { return Vec::new() };
    let failures = failed_tests(stdout);
    let mut found = Vec::new();
    for line in shape.captures_iter(stdout) {
        let text = |at: usize| line.get(at).map_or("", |part| part.as_str());
        let status = match text(2) {
            "ok" => TestStatus::Passed,
            "ignored" => TestStatus::Skipped,
            _ => TestStatus::Failed,
        };
        let mut test = TestCase::new(text(1), status);
        text(3).clone_into(&mut test.message);
        if let Some(failure) = failures.iter().find(|failure| failure.name == test.id && test.is_failure()) {
            test.message.clone_from(&failure.message);
            let own = failure.details.find("\nfailures:\n").unwrap_or(failure.details.len());
            failure.details[..own].trim_end().clone_into(&mut test.output);
            test.file.clone_from(&failure.file);
            test.line = failure.line.and_then(|line| u32::try_from(line).ok());
        }
        found.push(test);
    }
    if found.is_empty()
        && let Some(at) = stderr.find("error[").or_else(|| stderr.find("error: "))
    {
        let mut test = TestCase::new("build", TestStatus::Error);
        stderr[at..].clone_into(&mut test.output);
        stderr[at..].lines().next().unwrap_or_default().clone_into(&mut test.message);
        found.push(test);
    }
    found
}
