//! Readers of what test runners report, one per form.

mod go_events;
mod jest;
mod junit;
mod libtest;
mod lines;

use std::path::Path;

use super::framework::Framework;
use super::outcome::{TestCase, TestStatus};
use super::places::{find_place, own_file};

/// Bytes of a failure's text that are kept.
const MOST_OUTPUT: usize = 6 * 1024;
/// Lines of a message.
const MOST_MESSAGE_LINES: usize = 8;
/// Tests that are read at most.
const MOST_TESTS: usize = 100_000;

/// What a run left behind.
#[derive(Debug)]
pub struct RunText<'a> {
    /// The report file, where there is one.
    pub report: Option<&'a str>,
    pub stdout: &'a str,
    pub stderr: &'a str,
    /// Where the runner ran.
    pub folder: &'a Path,
    pub root: &'a Path,
}

/// Reads the tests of a run.
pub fn read(framework: Framework, run: &RunText<'_>) -> Vec<TestCase> {
    let report = run.report.unwrap_or_default();
    let mut tests = match framework {
        Framework::Pytest => junit::read(report, junit::Naming::Pytest),
        Framework::Nextest => junit::read(report, junit::Naming::Nextest),
        Framework::Ctest => junit::read(report, junit::Naming::Bare),
        Framework::Gtest | Framework::Maven | Framework::Gradle => junit::read(report, junit::Naming::Dotted),
        Framework::Unittest => lines::unittest(report),
        Framework::Node => lines::node(report),
        Framework::Cargo => libtest::read(run.stdout, run.stderr),
        Framework::GoTest => go_events::read(run.stdout, run.stderr),
        Framework::Jest | Framework::Vitest => jest::read(report),
        Framework::Mocha => jest::read_mocha(report),
    };
    tests.truncate(MOST_TESTS);
    for test in &mut tests {
        finish(test, run);
    }
    tests
}

/// Reads a JUnit file of any origin.
pub fn read_junit(report: &str, run: &RunText<'_>) -> Vec<TestCase> {
    let mut tests = junit::read(report, junit::Naming::Dotted);
    tests.truncate(MOST_TESTS);
    for test in &mut tests {
        finish(test, run);
    }
    tests
}

/// Finds the place of a failure, and bounds its texts.
fn finish(test: &mut TestCase, run: &RunText<'_>) {
    if test.is_failure() {
        let text = format!("{}\n{}", test.output, test.message);
        if let Some((file, line)) = find_place(&text, run.folder, run.root) {
            (test.file, test.line) = (Some(file), Some(line));
        }
        if test.message.is_empty() {
            test.message = first_lines(&test.output);
        }
    } else if test.status == TestStatus::Passed {
        test.output.clear();
    }
    test.file = test.file.take().map(|file| own_file(&file, run.folder, run.root).unwrap_or(file));
    test.output = super::outcome::cut_text(&test.output, MOST_OUTPUT);
    test.message = first_lines(&test.message);
}

fn first_lines(text: &str) -> String {
    let lines: Vec<&str> = text
        .trim()
        .lines()
        .take(MOST_MESSAGE_LINES)
        .map(|line| &line[..line.floor_char_boundary(400)])
        .collect();
    lines.join("\n")
}

/// Seconds as a report writes them, in milliseconds.
fn milliseconds(seconds: &str) -> Option<u64> {
    let seconds: f64 = seconds.replace(',', "").parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some((seconds * 1000.0) as u64)
}

#[cfg(test)]
#[path = "reports/tests.rs"]
mod tests;
