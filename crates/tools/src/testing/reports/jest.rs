//! The JSON of jest, which vitest writes too, and that of mocha.

use serde::Deserialize;

use crate::testing::outcome::{TestCase, TestStatus};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestReport {
    test_results: Vec<JestFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestFile {
    name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: String,
    assertion_results: Vec<JestTest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestTest {
    #[serde(default)]
    ancestor_titles: Vec<String>,
    title: String,
    status: String,
    duration: Option<f64>,
    failure_messages: Option<Vec<String>>,
    location: Option<JestLocation>,
}

#[derive(Deserialize)]
struct JestLocation {
    line: Option<f64>,
}

pub(super) fn read(report: &str) -> Vec<TestCase> {
    let Ok(report) = serde_json::from_str::<JestReport>(report) else { return Vec::new() };
    let mut found = Vec::new();
    for file in report.test_results {
        // A file that could not be loaded has no tests, but a reason.
        if file.assertion_results.is_empty() && file.status == "failed" {
            let mut test = TestCase::new(file.name.clone(), TestStatus::Error);
            test.group = Some(file.name.clone());
            test.file = Some(file.name);
            test.output = file.message;
            found.push(test);
            continue;
        }
        for one in file.assertion_results {
            let status = match one.status.as_str() {
                "passed" => TestStatus::Passed,
                "failed" => TestStatus::Failed,
                _ => TestStatus::Skipped,
            };
            let names = one.ancestor_titles.iter().filter(|name| !name.is_empty()).map(String::as_str);
            let id: Vec<&str> = names.chain([one.title.as_str()]).collect();
            let mut test = TestCase::new(id.join(" > "), status);
            test.file = Some(file.name.clone());
            test.group = Some(file.name.clone());
            test.line = one.location.and_then(|place| place.line).map(|line| line as u32);
            test.duration_ms = one.duration.map(|duration| duration as u64);
            test.output = one.failure_messages.unwrap_or_default().join("\n");
            found.push(test);
        }
    }
    found
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MochaReport {
    tests: Vec<MochaTest>,
    #[serde(default)]
    pending: Vec<MochaTest>,
    #[serde(default)]
    failures: Vec<MochaTest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MochaTest {
    full_title: String,
    file: Option<String>,
    duration: Option<f64>,
    #[serde(default)]
    err: MochaError,
}

#[derive(Default, Deserialize)]
struct MochaError {
    message: Option<String>,
    stack: Option<String>,
}

pub(super) fn read_mocha(report: &str) -> Vec<TestCase> {
    let Ok(report) = serde_json::from_str::<MochaReport>(report) else { return Vec::new() };
    let is_pending = |title: &str| report.pending.iter().any(|test| test.full_title == title);
    let read = |one: &MochaTest, status: TestStatus| {
        let mut test = TestCase::new(one.full_title.clone(), status);
        test.file.clone_from(&one.file);
        test.group.clone_from(&one.file);
        test.duration_ms = one.duration.map(|duration| duration as u64);
        test.message = one.err.message.clone().unwrap_or_default();
        test.output = one.err.stack.clone().unwrap_or_default();
        test
    };
    let status = |one: &MochaTest| match (one.err.message.is_some(), is_pending(&one.full_title)) {
        (true, _) => TestStatus::Failed,
        (_, true) => TestStatus::Skipped,
        _ => TestStatus::Passed,
    };
    let mut found: Vec<TestCase> = report.tests.iter().map(|one| read(one, status(one))).collect();
    // Hooks that fail are no tests, but failures.
    let known: Vec<String> = found.iter().map(|test| test.id.clone()).collect();
    let hooks = report.failures.iter().filter(|one| !known.contains(&one.full_title));
    found.extend(hooks.map(|one| read(one, TestStatus::Error)));
    found
}
