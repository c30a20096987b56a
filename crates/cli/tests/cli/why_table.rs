//! Every program of `fixtures/why` through every door: `why`, `debug_failure` over MCP, and the agent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};
use stepwell_test_support::{Turn, call};

use crate::mcp::Talker;
use crate::why::{stepwell_why, toolchains};
use crate::world::World;

const LANGUAGES: [&str; 8] = ["python", "bash", "c", "cpp", "rust", "go", "javascript", "ruby"];

#[derive(Deserialize)]
struct Table {
    program: Vec<Program>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    folder: String,
    command: Vec<String>,
    #[serde(default)]
    build: Vec<String>,
    failure: Option<usize>,
    place: String,
    says: String,
    #[serde(default)]
    says_also: Vec<String>,
    test: Option<String>,
    failures: Option<usize>,
    exit_code: Option<i64>,
    #[serde(default)]
    values: BTreeMap<String, String>,
    #[serde(default)]
    callers: BTreeMap<String, String>,
    #[serde(default)]
    writes: BTreeMap<String, String>,
    #[serde(default)]
    hidden: Vec<String>,
    #[serde(default)]
    unseen: Vec<String>,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/why").canonicalize().unwrap()
}

fn programs(language: &str) -> Vec<Program> {
    let text = std::fs::read_to_string(fixtures().join("expected.toml")).unwrap();
    let table: Table = toml::from_str(&text).unwrap();
    let of_language = |program: &Program| program.folder.split('/').next() == Some(language);
    table.program.into_iter().filter(of_language).collect()
}

impl Program {
    /// Copies the program's folder and builds it there.
    fn prepared(&self, world: &World) -> PathBuf {
        let folder = world.work().join(&self.folder);
        if !folder.exists() {
            std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
            let from = fixtures().join(&self.folder);
            assert!(Command::new("cp").arg("-r").arg(from).arg(&folder).status().unwrap().success());
        }
        if let Some((compiler, arguments)) = self.build.split_first() {
            let built = Command::new(compiler).args(arguments).current_dir(&folder).output().unwrap();
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        }
        folder
    }

    /// The arguments of `debug_failure`.
    fn arguments(&self) -> Value {
        let mut arguments = json!({
            "command": self.command.join(" "), "cwd": self.folder, "writes": true, "timeout": 120,
        });
        if let Some(failure) = self.failure {
            arguments["failure"] = failure.into();
        }
        arguments
    }

    /// Checks a report against the table's row.
    fn check(&self, report: &Value) {
        let context = format!("{:?} {:?}\n{report:#}", self.command, self.failure);
        assert_eq!(report["verdict"], "failed", "{context}");
        assert_eq!(place_of(&report["place"]), self.place, "{context}");
        let summary = report["summary"].as_str().unwrap();
        let message = report["exception"]["message"].as_str().unwrap_or_default();
        assert!(summary.contains(&self.says) || message.contains(&self.says), "{context}");
        let whole = report.to_string();
        for text in &self.says_also {
            assert!(whole.contains(text), "{text} is missing: {context}");
        }
        for text in &self.unseen {
            assert!(!whole.contains(text), "{text} is there: {context}");
        }
        if let Some(test) = &self.test {
            assert!(report["test"].as_str().unwrap_or_default().starts_with(test.as_str()), "{context}");
        }
        if let Some(count) = self.failures {
            assert_eq!(report["failures"].as_array().map_or(0, Vec::len), count, "{context}");
        }
        if let Some(code) = self.exit_code {
            assert_eq!(report["exit_code"], code, "{context}");
        }
        for (name, value) in &self.values {
            assert_eq!(value_of(report, name).as_deref(), Some(value.as_str()), "{name}: {context}");
        }
        for (name, value) in &self.callers {
            let rows = report["frames"][1]["variables"].as_array().unwrap();
            let row = rows.iter().find(|row| row["name"] == name.as_str());
            assert_eq!(row.map(|row| &row["value"]), Some(&Value::from(value.as_str())), "{name}: {context}");
        }
        for name in &self.hidden {
            assert_eq!(value_of(report, name), None, "{name}: {context}");
        }
    }

    /// Checks the lines that set the values, where the report followed them.
    fn check_writes(&self, report: &Value) {
        // A parameter was passed; how it came to be is told with the caller's variable.
        for (name, place) in &self.writes {
            let first = histories(report)
                .filter(|row| row["name"] == name.as_str())
                .find_map(|row| row["writes"].get(0));
            assert_eq!(first.map(place_of).as_ref(), Some(place), "{name}: {report:#}");
        }
    }
}

fn place_of(place: &Value) -> String {
    let file = place["file"].as_str().map(Path::new).and_then(Path::file_name).unwrap_or_default();
    format!("{}:{}", file.to_string_lossy(), place["line"])
}

/// The values of the failing line and of the lines that called it.
fn histories(report: &Value) -> impl Iterator<Item = &Value> {
    let own = report["values"].as_array().into_iter().flatten();
    let frames = report["frames"].as_array().into_iter().flatten();
    own.chain(frames.flat_map(|frame| frame["values"].as_array().into_iter().flatten()))
}

/// A value of the failing line, or of another variable of its frame.
fn value_of(report: &Value, name: &str) -> Option<String> {
    let own = report["values"].as_array().into_iter().flatten();
    let frame = report["frames"][0]["variables"].as_array().into_iter().flatten();
    let row = own.chain(frame).find(|row| row["name"] == name)?;
    row["value"].as_str().map(str::to_owned)
}

/// Asks `why` about every program of a language.
fn why_tells_the_truth(language: &str) {
    let world = World::new([]);
    let programs = programs(language);
    assert!(!programs.is_empty(), "{language}");
    for program in programs {
        let folder = program.prepared(&world);
        let number = program.failure.map(|number| number.to_string());
        let mut options = vec!["--json"];
        if let Some(number) = &number {
            options.extend(["--failure", number.as_str()]);
        }
        let words: Vec<&str> = program.command.iter().map(String::as_str).collect();
        let output = stepwell_why(&world, &folder, &options, &words);
        let stderr = String::from_utf8_lossy(&output.stderr);
        if stderr.contains("cannot be used") || stderr.contains("there is no program") {
            assert!(std::env::var_os("CI").is_none(), "{stderr}");
            eprintln!("skipped: {stderr}");
            return;
        }
        assert_eq!(output.status.code(), Some(1), "{:?}: {stderr}", program.command);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        program.check(&report);
        program.check_writes(&report);
    }
}

#[test]
fn why_tells_the_truth_of_python() {
    why_tells_the_truth("python");
}

#[test]
fn why_tells_the_truth_of_bash() {
    why_tells_the_truth("bash");
}

#[test]
fn why_tells_the_truth_of_c() {
    why_tells_the_truth("c");
}

#[test]
fn why_tells_the_truth_of_cpp() {
    why_tells_the_truth("cpp");
}

#[test]
fn why_tells_the_truth_of_rust() {
    why_tells_the_truth("rust");
}

#[test]
fn why_tells_the_truth_of_go() {
    why_tells_the_truth("go");
}

#[test]
fn why_tells_the_truth_of_javascript() {
    why_tells_the_truth("javascript");
}

#[test]
fn why_tells_the_truth_of_ruby() {
    why_tells_the_truth("ruby");
}

#[test]
fn debug_failure_over_mcp_tells_the_same() {
    let world = World::new([]);
    let programs: Vec<Program> = LANGUAGES.iter().flat_map(|language| programs(language)).collect();
    for program in &programs {
        program.prepared(&world);
    }
    assert!(programs.len() >= 40, "{}", programs.len());
    let mut client = Talker::start_with(&world, &[], &toolchains());
    client.hello("2025-06-18", json!({}));
    for program in &programs {
        let answer = client.call("debug_failure", program.arguments());
        let report = &answer["result"]["structuredContent"]["failure"];
        assert!(report.is_object(), "{:?}: {answer:#}", program.command);
        program.check(report);
        program.check_writes(report);
    }
}

#[test]
fn the_agent_reads_the_same() {
    for language in LANGUAGES {
        let program = programs(language).remove(0);
        let turns = [Turn::calls([call("debug_failure", program.arguments())]), Turn::text("I see.")];
        let world = World::new(turns);
        program.prepared(&world);
        let mode = ["run", "--permission-mode", "bypassPermissions", "find out why it fails"];
        let output = world.command(&mode).envs(toolchains()).output().unwrap();
        assert!(output.status.success(), "{language}: {}", String::from_utf8_lossy(&output.stderr));
        let read = world.server.requests().last().unwrap().body.to_string();
        let (file, line) = program.place.split_once(':').unwrap();
        assert!(read.contains(&format!("{file}:{line}")), "{language}: {read}");
        for value in program.values.keys() {
            assert!(read.contains(value.as_str()), "{value} of {language}: {read}");
        }
    }
}

/// A watchpoint stops behind the writing instruction, and Node's steps leave a callee into the middle of a statement:
/// neither may be named in place of the line that wrote.
#[test]
fn watching_names_the_line_that_wrote() {
    let rows = [
        ("c", "average.c", 5, "total", ["average.c:6 in sum: 0 -> 4", "average.c:6 in sum: 4 -> 9"]),
        (
            "javascript",
            "accumulate.js",
            8,
            "acc",
            ["accumulate.js:9 in run: 0 -> 2", "accumulate.js:9 in run: 2 -> 6"],
        ),
    ];
    for (language, file, line, name, expected) in rows {
        let world = World::new([]);
        let program = programs(language).into_iter().find(|program| program.place.starts_with(file)).unwrap();
        program.prepared(&world);
        let mut client = Talker::start_with(&world, &[], &toolchains());
        client.hello("2025-06-18", json!({}));
        client
            .call("set_breakpoint", json!({"file_path": format!("{language}/{file}"), "line_number": line}));
        let start = json!({"command": program.command.join(" "), "cwd": program.folder});
        let stopped = client.call("start_debugging", start);
        assert_eq!(stopped["result"]["structuredContent"]["status"], "stopped", "{stopped:#}");
        let answer = client.call("debug_watch", json!({"expression": name}));
        let watched = &answer["result"]["structuredContent"];
        let writes = watched["writes"].as_array().unwrap_or_else(|| panic!("{answer:#}"));
        for (write, expected) in writes.iter().zip(expected) {
            assert!(write.as_str().unwrap().contains(expected), "{watched:#}");
        }
        assert_eq!(writes.len(), 3, "{watched:#}");
    }
}

#[test]
fn a_recorded_program_reads_the_input_it_is_given() {
    let world = World::new([]);
    world.write(
        "sum.py",
        "import sys\nnumbers = [int(line) for line in sys.stdin]\nprint(1 // (sum(numbers) - 6))\n",
    );
    let mut client = Talker::start_with(&world, &[], &toolchains());
    client.hello("2025-06-18", json!({}));
    let answer = client.call("debug_failure", json!({"command": "python3 sum.py", "stdin": "1\n2\n3\n"}));
    let report = &answer["result"]["structuredContent"]["failure"];
    assert_eq!(value_of(report, "numbers").as_deref(), Some("[1, 2, 3]"), "{answer:#}");
}

/// The trace of a long script is emptied now and then; what it says at the end stays true.
#[test]
fn a_long_bash_script_is_told_by_its_last_command() {
    let world = World::new([]);
    world.write(
        "long.sh",
        "set -e\npad=$(printf 'x%.0s' {1..4000})\nfor ((i = 0; i < 6000; i++)); do\n  : \"$pad\"\ndone\nlast=7\ntest \"$last\" = 8\n",
    );
    let output = stepwell_why(&world, &world.work(), &["--json"], &["bash", "long.sh"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(place_of(&report["place"]), "long.sh:7", "{report:#}");
    assert_eq!(value_of(&report, "last").as_deref(), Some("\"7\""), "{report:#}");
}

#[test]
fn a_program_that_hangs_is_told_where_each_thread_waits() {
    let world = World::new([]);
    world.write(
        "wait.py",
        "import threading\nlock = threading.Lock()\ndef work():\n    with lock:\n        pass\nlock.acquire()\nworker = threading.Thread(target=work)\nworker.start()\nworker.join()\n",
    );
    world.write("wait.sh", "name=x\nwait_for() {\n  while true; do\n    sleep 0.01\n  done\n}\nwait_for\n");
    let hang = |words: &[&str]| -> Value {
        let output = stepwell_why(&world, &world.work(), &["--json", "--timeout", "2"], words);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let python = hang(&["python3", "wait.py"]);
    assert_eq!((&python["verdict"], place_of(&python["place"])), (&"hangs".into(), "wait.py:9".to_owned()));
    let blocked: Vec<String> =
        python["blocked"].as_array().unwrap().iter().map(|thread| place_of(&thread["place"])).collect();
    assert_eq!(blocked, ["wait.py:4"], "{python:#}");
    let bash = hang(&["bash", "wait.sh"]);
    assert_eq!(bash["verdict"], "hangs", "{bash:#}");
    assert!(["wait.sh:3", "wait.sh:4"].contains(&place_of(&bash["place"]).as_str()), "{bash:#}");
}
