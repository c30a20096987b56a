//! The test frameworks that are known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What runs the tests of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Framework {
    Pytest,
    Unittest,
    Cargo,
    Nextest,
    /// `go test`.
    #[serde(rename = "go")]
    GoTest,
    Jest,
    Vitest,
    /// `node --test`.
    Node,
    Mocha,
    Ctest,
    /// A binary of googletest.
    Gtest,
    Maven,
    Gradle,
}

/// Endings of JavaScript and TypeScript.
const SCRIPTS: &[&str] = &[".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"];

impl Framework {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
            Self::Cargo => "cargo test",
            Self::Nextest => "cargo nextest",
            Self::GoTest => "go test",
            Self::Jest => "jest",
            Self::Vitest => "vitest",
            Self::Node => "node --test",
            Self::Mocha => "mocha",
            Self::Ctest => "ctest",
            Self::Gtest => "googletest",
            Self::Maven => "maven",
            Self::Gradle => "gradle",
        }
    }

    /// Whether a file holds tests, by its name.
    pub fn is_test_file(self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let has_end = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        let below = |folder: &str| path.split('/').rev().skip(1).any(|part| part == folder);
        let is_marked =
            || SCRIPTS.iter().any(|end| has_end(&[&format!(".test{end}"), &format!(".spec{end}")]));
        match self {
            Self::Pytest | Self::Unittest => {
                has_end(&["_test.py"]) || name.starts_with("test") && has_end(&[".py"])
            }
            Self::Cargo | Self::Nextest => has_end(&[".rs"]),
            Self::GoTest => has_end(&["_test.go"]),
            Self::Jest => is_marked() || has_end(SCRIPTS) && below("__tests__"),
            Self::Vitest => is_marked(),
            Self::Node => {
                is_marked()
                    || has_end(&["-test.js", "_test.js", "-test.mjs", "_test.mjs", "-test.cjs", "_test.cjs"])
                    || has_end(&[".js", ".mjs", ".cjs"]) && (below("test") || name.starts_with("test-"))
            }
            Self::Mocha => is_marked() || has_end(&[".js", ".mjs", ".cjs"]) && below("test"),
            Self::Maven | Self::Gradle => has_end(&["Test.java", "Tests.java", "Test.kt"]),
            Self::Ctest | Self::Gtest => false,
        }
    }
}
