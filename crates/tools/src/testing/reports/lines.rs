//! Reports of our own, a line of JSON for each test: of unittest and of `node --test`.

use serde::Deserialize;

use crate::testing::outcome::{TestCase, TestStatus};

#[derive(Deserialize)]
struct UnittestRow {
    id: String,
    status: TestStatus,
    text: String,
    ms: u64,
}

pub(super) fn unittest(report: &str) -> Vec<TestCase> {
    let rows = report.lines().filter_map(|line| serde_json::from_str::<UnittestRow>(line).ok());
    let read = |row: UnittestRow| {
        let mut test = TestCase::new(row.id, row.status);
        test.duration_ms = Some(row.ms);
        if row.status == TestStatus::Skipped {
            test.message = row.text;
        } else {
            // The last line of a traceback says what happened; what was printed follows it.
            let (traceback, _) = row.text.split_once("\n\nStdout:").unwrap_or((&row.text, ""));
            let last = traceback.trim_end().lines().rev().find(|line| !line.starts_with([' ', '\t']));
            last.unwrap_or_default().clone_into(&mut test.message);
            test.output = row.text;
        }
        test
    };
    rows.map(read).collect()
}

#[derive(Deserialize)]
struct NodeRow {
    name: String,
    own: String,
    status: TestStatus,
    reason: String,
    file: Option<String>,
    line: Option<u32>,
    ms: u64,
    message: String,
    stack: String,
}

pub(super) fn node(report: &str) -> Vec<TestCase> {
    let rows = report.lines().filter_map(|line| serde_json::from_str::<NodeRow>(line).ok());
    let read = |row: NodeRow| {
        // A file that cannot be loaded is reported as a test of its path.
        let is_file = row
            .file
            .as_deref()
            .is_some_and(|file| file == row.own || file.ends_with(&format!("/{}", row.own)));
        let status = if is_file && row.status == TestStatus::Failed { TestStatus::Error } else { row.status };
        let mut test = TestCase::new(row.name, status);
        test.group.clone_from(&row.file);
        test.file = row.file;
        test.line = row.line;
        test.duration_ms = Some(row.ms);
        test.message = if row.message.is_empty() { row.reason } else { row.message };
        test.output = row.stack;
        test
    };
    rows.map(read).collect()
}
