//! What came of a test, whatever framework ran it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestStatus {
    Passed,
    Failed,
    /// It could not be run, such as a file that cannot be imported.
    Error,
    Skipped,
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestCase {
    /// The name by which its framework knows it.
    pub id: String,
    pub status: TestStatus,
    /// The package or file that the framework runs it from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Where it failed, or where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Why it failed or was skipped.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// What it printed, and the whole of its failure.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

impl TestCase {
    pub fn new(id: impl Into<String>, status: TestStatus) -> Self {
        Self {
            id: id.into(),
            status,
            group: None,
            file: None,
            line: None,
            message: String::new(),
            output: String::new(),
            duration_ms: None,
        }
    }

    pub fn is_failure(&self) -> bool {
        matches!(self.status, TestStatus::Failed | TestStatus::Error)
    }
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestTotals {
    pub passed: usize,
    pub failed: usize,
    pub errors: usize,
    pub skipped: usize,
}

impl TestTotals {
    pub fn of(tests: &[TestCase]) -> Self {
        let count = |status: TestStatus| tests.iter().filter(|test| test.status == status).count();
        Self {
            passed: count(TestStatus::Passed),
            failed: count(TestStatus::Failed),
            errors: count(TestStatus::Error),
            skipped: count(TestStatus::Skipped),
        }
    }

    pub fn all(&self) -> usize {
        self.passed + self.failed + self.errors + self.skipped
    }

    /// `3 passed, 1 failed`.
    pub fn text(&self) -> String {
        let named = [
            (self.passed, "passed"),
            (self.failed, "failed"),
            (self.errors, "with errors"),
            (self.skipped, "skipped"),
        ];
        let told: Vec<String> = named
            .iter()
            .filter(|(count, name)| *count > 0 || *name == "passed")
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        told.join(", ")
    }
}

/// Keeps both ends of a long text.
pub fn cut_text(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(limit / 2);
    let tail = text.ceil_char_boundary(text.len() - limit / 2);
    format!("{}\n[... {} bytes left out ...]\n{}", &text[..head], tail - head, &text[tail..])
}
