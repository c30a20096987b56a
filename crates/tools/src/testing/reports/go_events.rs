//! The events of `go test -json`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::testing::outcome::{TestCase, TestStatus};

/// Bytes of one test's output that are collected.
const MOST_OUTPUT: usize = 64 * 1024;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoEvent {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: String,
    elapsed: Option<f64>,
    #[serde(default)]
    output: String,
}

pub(super) fn read(stdout: &str, stderr: &str) -> Vec<TestCase> {
    let mut outputs: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut found = Vec::new();
    let mut packages_with_failures = Vec::new();
    for line in stdout.lines().filter(|line| line.starts_with('{')) {
        let Ok(event) = serde_json::from_str::<GoEvent>(line) else { continue };
        let key = (event.package.clone(), event.test.clone());
        let status = match event.action.as_str() {
            "output" | "build-output" => {
                let kept = outputs.entry(key).or_default();
                if kept.len() < MOST_OUTPUT {
                    kept.push_str(&event.output);
                }
                continue;
            }
            "pass" => TestStatus::Passed,
            "fail" => TestStatus::Failed,
            "skip" => TestStatus::Skipped,
            _ => continue,
        };
        if event.test.is_empty() {
            // A package fails for its tests, or by itself: it could not be built, or its `TestMain` failed.
            if status == TestStatus::Failed && !packages_with_failures.contains(&event.package) {
                let mut test = TestCase::new(event.package.clone(), TestStatus::Error);
                test.output = outputs.get(&key).cloned().unwrap_or_default();
                test.group = Some(event.package);
                found.push(test);
            }
            continue;
        }
        if status == TestStatus::Failed {
            packages_with_failures.push(event.package.clone());
        }
        let mut test = TestCase::new(event.test, status);
        test.group = Some(event.package);
        test.duration_ms = event.elapsed.map(|seconds| (seconds * 1000.0) as u64);
        test.output = outputs.remove(&key).map(|output| own_lines(&output)).unwrap_or_default();
        if status == TestStatus::Skipped {
            test.message = std::mem::take(&mut test.output);
        }
        found.push(test);
    }
    found.extend(unbuilt(stdout, stderr));
    found
}

/// Packages that could not be built, which go before 1.24 tells in plain lines: `FAIL shop [build failed]`.
fn unbuilt(stdout: &str, stderr: &str) -> Vec<TestCase> {
    let lines = stdout.lines().filter_map(|line| line.strip_prefix("FAIL\t"));
    let packages = lines.filter_map(|line| line.split_once(" [")).filter(|(_, why)| why.contains("failed"));
    let read = |(package, _): (&str, &str)| {
        let mut test = TestCase::new(package, TestStatus::Error);
        test.group = Some(package.to_owned());
        // The compiler's words follow a line with the package.
        let mut words = stderr.lines().skip_while(|line| !line.starts_with(&format!("# {package}")));
        words.next();
        let own: Vec<&str> = words.take_while(|line| !line.starts_with("# ")).collect();
        test.output = own.join("\n");
        test
    };
    packages.map(read).collect()
}

/// What a test printed, without the lines of the runner.
fn own_lines(output: &str) -> String {
    const MARKS: &[&str] =
        &["=== RUN", "=== PAUSE", "=== CONT", "=== NAME", "--- FAIL", "--- PASS", "--- SKIP"];
    let is_own = |line: &&str| !MARKS.iter().any(|mark| line.trim_start().starts_with(mark));
    output.lines().filter(is_own).map(str::trim_end).collect::<Vec<_>>().join("\n")
}
