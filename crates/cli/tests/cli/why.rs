//! `stepwell why`, with real debuggers, on the examples of the repository: each names the line with the bug.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::world::World;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").canonicalize().unwrap()
}

/// The line that is marked as the bug.
fn marked(file: &str) -> i64 {
    let text = std::fs::read_to_string(examples().join(file)).unwrap();
    let at = text.lines().position(|line| line.contains("BUG")).unwrap();
    i64::try_from(at + 1).unwrap()
}

/// A copy of an example in a folder of its own.
fn copied(world: &World, name: &str) -> PathBuf {
    let folder = world.work().join(name);
    let status = Command::new("cp").arg("-r").arg(examples().join(name)).arg(&folder).status().unwrap();
    assert!(status.success());
    folder
}

/// Where the compilers keep what they need, outside of a test's own home.
pub fn toolchains() -> Vec<(String, String)> {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap());
    [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo"), ("GOCACHE", ".cache/go-build")]
        .map(|(name, default)| {
            let place = std::env::var_os(name).map_or_else(|| home.join(default), PathBuf::from);
            (name.to_owned(), place.display().to_string())
        })
        .to_vec()
}

/// `stepwell why` in a folder, with the compilers' own caches and the adapters that tests were given.
pub fn stepwell_why(world: &World, folder: &Path, options: &[&str], words: &[&str]) -> Output {
    if let Some(adapters) = std::env::var_os("STEPWELL_TEST_ADAPTERS") {
        std::os::unix::fs::symlink(adapters, world.data().join("adapters")).ok();
    }
    world
        .command(&["why", "--quiet"])
        .args(options)
        .arg("--")
        .args(words)
        .current_dir(folder)
        .envs(toolchains())
        .output()
        .unwrap()
}

fn why(world: &World, folder: &Path, words: &[&str]) -> Option<Value> {
    let output = stepwell_why(world, folder, &["--json"], words);
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains("cannot be used") || stderr.contains("there is no program") {
        assert!(std::env::var_os("CI").is_none(), "{stderr}");
        eprintln!("skipped: {stderr}");
        return None;
    }
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    Some(serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{stderr}")))
}

#[track_caller]
fn names(world: &World, example: &str, file: &str, words: &[&str], says: &str) -> Option<Value> {
    let folder = copied(world, example);
    let report = why(world, &folder, words)?;
    assert_eq!(report["verdict"], "failed", "{report:#}");
    assert_eq!(report["place"]["line"], marked(&format!("{example}/{file}")), "{report:#}");
    assert!(report["place"]["file"].as_str().unwrap().ends_with(file), "{report:#}");
    let told = format!(
        "{}: {}",
        report["exception"]["type"].as_str().unwrap(),
        report["exception"]["message"].as_str().unwrap()
    );
    assert!(told.contains(says), "{told}");
    Some(report)
}

#[test]
fn python_exception() {
    let world = World::new([]);
    names(&world, "python", "invoice.py", &["python3", "invoice.py"], "TypeError: unsupported operand");
}

#[test]
fn python_unittest() {
    let world = World::new([]);
    names(
        &world,
        "python",
        "test_invoice.py",
        &["python3", "-m", "unittest", "test_invoice.py"],
        "AssertionError: 9.8",
    );
}

/// The writes of a value as `line value`, newest first.
fn writes(report: &Value, name: &str) -> Vec<String> {
    let story = report["values"].as_array().unwrap().iter().find(|story| story["name"] == name);
    let writes = story.and_then(|story| story["writes"].as_array()).cloned().unwrap_or_default();
    writes.iter().map(|write| format!("{} {}", write["line"], write["value"].as_str().unwrap())).collect()
}

#[test]
fn python_values_are_followed_in_the_first_run() {
    let world = World::new([]);
    world.write(
        "mean.py",
        "def mean(numbers):\n    total = 0\n    left = len(numbers)\n    for number in numbers:\n        total += number\n        \
         left -= 1\n    return total / left\n\n\ndef report(numbers):\n    doubled = [number * 2 for number in numbers]\n    return \
         mean(doubled)\n\n\nprint(mean.__name__)\nopen('runs', 'a').write('x')\nreport([1, 2])\n",
    );
    let Some(report) = why(&world, &world.work(), &["python3", "mean.py"]) else { return };
    assert_eq!(report["place"]["line"], 7, "{report:#}");
    assert_eq!(writes(&report, "left"), ["6 0", "6 1", "3 2"], "{report:#}");
    assert_eq!(writes(&report, "total"), ["5 6", "5 2", "2 0"], "{report:#}");
    assert_eq!(std::fs::read_to_string(world.work().join("runs")).unwrap().len(), 1);
}

/// A program that computes for long is traced only at its beginning, and its failing functions in a second run.
#[test]
fn python_values_of_a_long_run_are_followed_in_a_second_one() {
    let world = World::new([]);
    world.write(
        "long.py",
        "def busy():\n    total = 0\n    for number in range(120000):\n        total += number\n    return total\n\n\ndef fail(limit):\n    \
         rest = limit - 3\n    return 1 / rest\n\n\nopen('runs', 'a').write('x')\nbusy()\nfail(3)\n",
    );
    let Some(report) = why(&world, &world.work(), &["python3", "long.py"]) else { return };
    assert_eq!(writes(&report, "rest"), ["9 0"], "{report:#}");
    assert_eq!(std::fs::read_to_string(world.work().join("runs")).unwrap().len(), 2);
}

#[test]
fn values_are_followed_in_a_second_run_under_a_debugger_and_only_there() {
    let world = World::new([]);
    world.write(
        "mean.js",
        "const fs = require('fs');\nfs.appendFileSync('runs', 'x');\nfunction mean(numbers) {\n  let left = numbers.length;\n  for (const \
         number of numbers) {\n    left -= 1;\n  }\n  return check(left);\n}\nfunction check(left) {\n  if (left === 0) {\n    throw new \
         Error('none left');\n  }\n}\nmean([1, 2]);\n",
    );
    let command = ["node", "mean.js"];
    let Some(report) = why(&world, &world.work(), &command) else { return };
    assert_eq!(report["place"]["line"], 12, "{report:#}");
    assert_eq!(report["frames"][1]["values"][0]["writes"][0]["line"], 6, "{report:#}");
    let runs = || std::fs::read_to_string(world.work().join("runs")).unwrap().len();
    assert_eq!(runs(), 2);

    let once = stepwell_why(&world, &world.work(), &["--json", "--once"], &command);
    let report: Value = serde_json::from_slice(&once.stdout).unwrap();
    assert_eq!(report["place"]["line"], 12, "{report:#}");
    assert_eq!(report["frames"][1]["values"], Value::Null, "{report:#}");
    assert_eq!(runs(), 3);
}

#[test]
fn the_values_that_were_passed_have_the_callers_history() {
    let world = World::new([]);
    world.write(
        "share.py",
        "def share(total, people):\n    return total / people\n\n\ndef main():\n    people = 3\n    while people > 0:\n        \
         people -= 1\n    share(10, people)\n\n\nmain()\n",
    );
    let Some(report) = why(&world, &world.work(), &["python3", "share.py"]) else { return };
    let passed = report["values"].as_array().unwrap().iter().find(|value| value["name"] == "people").unwrap();
    assert_eq!((&passed["origin"]["line"], &passed["origin"]["observed"]), (&9.into(), &true.into()));
    let caller = &report["frames"][1]["values"][0];
    let lines: Vec<&Value> =
        caller["writes"].as_array().unwrap().iter().map(|write| &write["line"]).collect();
    assert_eq!(lines, [8, 8, 8, 6], "{report:#}");
}

#[test]
fn a_run_that_goes_another_way_is_not_told_as_the_first() {
    let world = World::new([]);
    world.write(
        "flip.js",
        "const fs = require('fs');\nlet runs = 0;\nif (fs.existsSync('runs')) {\n  runs = 7;\n}\nfs.writeFileSync('runs', '');\nfunction \
         part(n) {\n  const half = n / 2;\n  if (half > 0) {\n    throw new Error('half');\n  }\n}\npart(4 + runs);\n",
    );
    let Some(report) = why(&world, &world.work(), &["node", "flip.js"]) else { return };
    assert_eq!(writes(&report, "half"), [""; 0], "{report:#}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("another way"), "{report:#}");
}

#[test]
fn c_segfault() {
    let world = World::new([]);
    let folder = copied(&world, "c");
    assert!(Command::new("make").arg("-sC").arg(&folder).status().unwrap().success());
    let Some(report) = why(&world, &folder, &["./queue"]) else { return };
    assert_eq!(report["place"]["line"], marked("c/queue.c"), "{report:#}");
    assert!(report["exception"]["type"].as_str().unwrap().contains("SIGSEGV"), "{report:#}");
}

#[test]
fn cpp_exception() {
    let world = World::new([]);
    let folder = copied(&world, "cpp");
    assert!(Command::new("make").arg("-sC").arg(&folder).status().unwrap().success());
    let Some(report) = why(&world, &folder, &["./inventory"]) else { return };
    assert_eq!(report["place"]["line"], marked("cpp/inventory.cpp"), "{report:#}");
    assert_eq!(report["exception"]["type"], "std::out_of_range", "{report:#}");
}

#[test]
fn rust_test() {
    let world = World::new([]);
    names(&world, "rust", "src/lib.rs", &["cargo", "test", "--offline"], "panic: called `Result::unwrap()`");
}

#[test]
fn go_test() {
    let world = World::new([]);
    let report = names(&world, "go", "trip.go", &["go", "test", "."], "index out of range");
    // The head of a loop is where its variable is set, although the debugger does not stop there again.
    if let Some(report) = report {
        assert_eq!(writes(&report, "i"), ["13 2", "13 1", "13 0"], "{report:#}");
    }
}

#[test]
fn javascript_exception() {
    let world = World::new([]);
    let report = names(
        &world,
        "javascript",
        "schedule.js",
        &["node", "schedule.js"],
        "TypeError: Cannot read properties of null",
    );
    if let Some(report) = report {
        // What was passed has its history with the caller's variable.
        assert_eq!(report["values"][0]["origin"]["line"], 15, "{report:#}");
        let of_caller = report["frames"][1]["values"].as_array().unwrap();
        let talk = of_caller.iter().find(|value| value["name"] == "talk");
        let lines: Vec<Value> =
            talk.unwrap()["writes"].as_array().unwrap().iter().map(|write| write["line"].clone()).collect();
        assert_eq!(lines, [14, 14], "{report:#}");
    }
}

/// V8 does not pause at it.
#[test]
fn a_stack_that_overflows_in_node_is_told_by_what_it_printed() {
    let world = World::new([]);
    world.write("deep.js", "function down(n) {\n  return down(n + 1) + 1;\n}\ndown(0);\n");
    let Some(report) = why(&world, &world.work(), &["node", "deep.js"]) else { return };
    assert_eq!(report["exception"]["type"], "RangeError", "{report:#}");
    let line = report["place"]["line"].as_i64().unwrap();
    assert!((1..=2).contains(&line), "{report:#}");
}

#[test]
fn what_passes_passes_and_what_cannot_be_debugged_is_said() {
    let world = World::new([]);
    world.write("ok.py", "print('fine')\n");
    let run = |words: &[&str]| stepwell_why(&world, &world.work(), &[], words);
    let passed = run(&["python3", "ok.py"]);
    let text = String::from_utf8_lossy(&passed.stdout);
    if passed.status.success() {
        assert!(text.contains("it passed"), "{text}");
    }
    let refused = run(&["make", "all"]);
    let text = String::from_utf8_lossy(&refused.stderr);
    assert!(text.contains("error:") && text.contains("make"), "{text}");
    assert_ne!(refused.status.code(), Some(0));
}

#[test]
fn the_page_is_one_file_that_loads_nothing() {
    let world = World::new([]);
    let folder = copied(&world, "python");
    let page = folder.join("report.html");
    let output = stepwell_why(&world, &folder, &["--html", "report.html"], &["python3", "invoice.py"]);
    if !page.is_file() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(std::env::var_os("CI").is_none(), "{stderr}");
        eprintln!("skipped: {stderr}");
        return;
    }
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("<details open>") && html.contains("discount = discount_for(customer)"), "{html}");
    assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("<script"), "{html}");
}

#[test]
fn the_command_reads_what_is_piped_in() {
    let world = World::new([]);
    world.write(
        "sum.py",
        "import sys\ntotal = sum(int(line) for line in sys.stdin)\nprint(1 // (total - 6))\n",
    );
    world.write("numbers.txt", "1\n2\n3\n");
    let input = std::fs::File::open(world.work().join("numbers.txt")).unwrap();
    let output = world
        .command(&["why", "--quiet", "--json", "--", "python3", "sum.py"])
        .stdin(input)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["place"]["line"], 3, "{report:#}");
    let total = report["values"].as_array().unwrap().iter().find(|value| value["name"] == "total");
    assert_eq!(total.map(|total| &total["value"]), Some(&"6".into()), "{report:#}");
}

#[test]
fn a_command_that_cannot_be_debugged_has_an_exit_code_of_its_own() {
    let world = World::new([]);
    for words in [["no-such-program", "x"], ["sh", "-c"]] {
        let output = stepwell_why(&world, &world.work(), &[], &words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn signals_that_end_a_recorded_program_are_named() {
    let world = World::new([]);
    world.write("ends.py", "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n");
    world.write("ends.sh", "kill -TERM $$\n");
    world.write("chooses.py", "import sys\nsys.exit(143)\n");
    let signal = |words: &[&str]| why(&world, &world.work(), words).map(|report| report["signal"].clone());
    assert_eq!(signal(&["python3", "ends.py"]), Some("SIGTERM".into()));
    assert_eq!(signal(&["bash", "ends.sh"]), Some("SIGTERM".into()));
    assert_eq!(signal(&["python3", "chooses.py"]), Some(Value::Null));
}
