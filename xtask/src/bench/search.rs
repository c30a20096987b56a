//! Searching 100,000 files through the tool call, beside `rg` and `fd` on the same tree in the same run.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::{median, millis};

const FOLDERS: usize = 1000;
const FILES_EACH: usize = 100;
const RUNS: usize = 9;

/// One comparison: a tool call and the command line it stands for.
struct Case {
    label: &'static str,
    tool: &'static str,
    arguments: Value,
    rival: Vec<&'static str>,
    /// What both must have found.
    results: fn(&Value) -> BTreeSet<String>,
}

pub fn measure(binary: &Path) -> anyhow::Result<()> {
    // In memory where that is possible: making and removing the files is not what is measured.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
    let tree = folder.path().join("work");
    make_tree(&tree)?;
    let fd = if exists("fd") { "fd" } else { "fdfind" };
    let cases = [
        Case {
            label: "grep, rare",
            tool: "grep",
            arguments: json!({"pattern": "needle_[0-9]+", "limit": 5000}),
            rival: vec![
                "rg",
                "--hidden",
                "--glob",
                "!.git",
                "--no-heading",
                "--line-number",
                "needle_[0-9]+",
            ],
            results: grep_results,
        },
        Case {
            label: "grep, which files",
            tool: "grep",
            arguments: json!({"pattern": "value", "output_mode": "files", "limit": 5000, "glob": "*47.rs"}),
            rival: vec!["rg", "--hidden", "--glob", "*47.rs", "--files-with-matches", "value"],
            results: |value| strings(&value["files"], "path"),
        },
        Case {
            label: "glob",
            tool: "glob",
            arguments: json!({"pattern": "*42.rs", "limit": 5000}),
            rival: vec![fd, "--hidden", "--exclude", ".git", "--glob", "*42.rs"],
            results: |value| plain(&value["files"]),
        },
        Case {
            label: "list, everything",
            tool: "list",
            arguments: json!({"recursive": true, "limit": 5000}),
            rival: vec![fd, "--hidden", "--exclude", ".git", "."],
            results: |value| strings(&value["entries"], "path"),
        },
    ];
    println!("{:<24}{:>10}{:>10}{:>8}   results", "100,000 files", "ours, ms", "rival, ms", "ratio");
    for case in cases {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let mut found = BTreeSet::new();
        let mut expected = BTreeSet::new();
        // By turns, so that a noisy moment hits both.
        for _ in 0..RUNS {
            let started = Instant::now();
            let output = Command::new(binary)
                .args(["tool", "call", "--json", case.tool, &case.arguments.to_string()])
                .current_dir(&tree)
                .env("HOME", folder.path())
                .stderr(Stdio::inherit())
                .output()?;
            ours.push(millis(started.elapsed()));
            let value: Value = serde_json::from_slice(&output.stdout).context("no JSON came")?;
            found = (case.results)(&value["output"]);
            let started = Instant::now();
            let output = Command::new(case.rival[0])
                .args(&case.rival[1..])
                .current_dir(&tree)
                .output()
                .with_context(|| format!("`{}` is needed for the comparison", case.rival[0]))?;
            theirs.push(millis(started.elapsed()));
            expected = String::from_utf8_lossy(&output.stdout).lines().map(normal).collect();
        }
        let (Some(ours), Some(theirs)) = (median(ours), median(theirs)) else { bail!("no runs") };
        // A list of 5000 is the beginning of everything.
        let same = if case.tool == "list" { found.is_subset(&expected) } else { found == expected };
        let verdict = if same { "the same" } else { "DIFFERENT" };
        let counts = format!("{verdict} ({} of {})", found.len(), expected.len());
        println!("{:<24}{ours:>10.1}{theirs:>10.1}{:>8.2}   {counts}", case.label, ours / theirs);
    }
    Ok(())
}

fn exists(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn normal(line: &str) -> String {
    line.trim_start_matches("./").trim_end_matches('/').to_owned()
}

fn strings(values: &Value, field: &str) -> BTreeSet<String> {
    values.as_array().into_iter().flatten().filter_map(|value| value[field].as_str()).map(normal).collect()
}

fn plain(values: &Value) -> BTreeSet<String> {
    values.as_array().into_iter().flatten().filter_map(Value::as_str).map(normal).collect()
}

fn grep_results(value: &Value) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for file in value["files"].as_array().into_iter().flatten() {
        for line in file["lines"].as_array().into_iter().flatten() {
            let (path, text) = (file["path"].as_str(), line["text"].as_str());
            lines.insert(format!(
                "{}:{}:{}",
                path.unwrap_or_default(),
                line["line"],
                text.unwrap_or_default()
            ));
        }
    }
    lines
}

fn make_tree(tree: &Path) -> anyhow::Result<()> {
    for folder in 0..FOLDERS {
        let path = tree.join(format!("pack{}/part{folder}", folder % 30));
        std::fs::create_dir_all(&path)?;
        for file in 0..FILES_EACH {
            let mut text =
                format!("let value_{file} = compute({folder});\n").repeat(10 + (file + folder) % 30);
            if file == 0 && folder % 5 == 0 {
                text.push_str(&format!("// needle_{folder}\n"));
            }
            std::fs::write(path.join(format!("file{file}.rs")), text)?;
        }
    }
    Ok(())
}
