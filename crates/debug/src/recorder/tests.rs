//! The recorder against an oracle: generated programs whose every instruction is followed.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::records::Record;
use crate::launch::{LaunchPlan, context};
use crate::targets::{Description, describe};
use crate::{Debugger, DebuggerOptions, Wait};

const ORACLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle");
/// Generated programs in a run of the tests; `ORACLE_CASES` makes it longer.
const CASES: usize = 300;

/// Returns what a script prints; `None` where it cannot be run.
fn python(arguments: &[&str]) -> Option<String> {
    stepwell_workspace::process::capture_text("python3", arguments)
}

async fn recorded(folder: &Path, program: &Path) -> Vec<Record> {
    let debugger = Debugger::new(DebuggerOptions::default());
    let description = Description::Program { path: program.display().to_string(), args: Vec::new() };
    let plan = LaunchPlan::of_target(describe(&description, &context(folder)).unwrap());
    let command = super::command_of(plan.single_launch().unwrap(), &debugger).unwrap();
    let wait = Wait { deadline: Instant::now() + Duration::from_secs(120), cancel: CancellationToken::new() };
    debugger.run_recorded(&command, &plan, &wait).await.unwrap().records
}

#[tokio::test(flavor = "multi_thread")]
async fn no_python_line_is_named_that_did_not_write_last() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("generated.py");
    let cases = std::env::var("ORACLE_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(CASES);
    let generator = format!("{ORACLES}/generate_python.py");
    let Some(text) = python(&[&generator, "7", &cases.to_string()]) else {
        assert!(std::env::var_os("CI").is_none(), "python3 is missing");
        eprintln!("skipped: python3 is missing");
        return;
    };
    stepwell_workspace::files::write_atomic(
        &program,
        text.as_bytes(),
        stepwell_workspace::files::Privacy::Shared,
    )
    .unwrap();
    let told = python(&[&format!("{ORACLES}/oracle_python.py"), program.to_str().unwrap()]).unwrap();
    let oracle: BTreeMap<String, Value> = told
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|row| (row["test"].as_str().unwrap().to_owned(), row["lines"].clone()))
        .collect();
    let (mut tests, mut values) = (0, 0);
    for record in recorded(folder.path(), &program).await {
        let Record::Failure(failure) = record else { continue };
        let Some(test) = failure.test.as_deref().and_then(|test| test.rsplit('.').next()) else { continue };
        tests += 1;
        for value in &failure.frames[0].values {
            let expected = oracle[test][&value.name].as_i64();
            let named = value.writes.first().map(|write| write.line);
            assert_eq!(named, expected, "{} of {test} in\n{text}", value.name);
            values += 1;
        }
    }
    assert_eq!(tests, cases);
    assert_eq!(values, cases * 4);
}
