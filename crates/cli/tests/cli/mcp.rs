//! `stepwell mcp`: the binary as clients start it.

mod config;
pub mod debug;
mod debug_classes;
mod debug_programs;
mod debug_schema;
mod http;
mod talker;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::world::World;
pub use talker::Talker;

/// Whether a process is there and runs.
fn is_alive(process: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    state.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// The number that a process of a sandbox has outside, by its number inside and the folder it runs in.
fn number_outside(inside: &str, folder: &std::path::Path) -> Option<String> {
    let folder = folder.canonicalize().unwrap();
    let mut all = std::fs::read_dir("/proc").unwrap().flatten();
    let found = all.find(|process| {
        let status = std::fs::read_to_string(process.path().join("status")).unwrap_or_default();
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
        let numbers: Vec<&str> = numbers.split_whitespace().collect();
        let runs_there = || std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == folder);
        numbers.len() > 1 && numbers.last() == Some(&inside) && runs_there()
    });
    Some(found?.file_name().to_string_lossy().into_owned())
}

/// The state of a process changes by itself; nothing tells when.
fn until_gone(process: &str) {
    let start = Instant::now();
    while is_alive(process) {
        assert!(start.elapsed() < Duration::from_secs(30), "process {process} goes on");
        std::thread::yield_now();
    }
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn tools_are_served_by_group() {
    let world = World::new([]);
    let table: [(&[&str], &[&str], &[&str]); 5] = [
        (&[], &[], &["read", "bash"]),
        (&["--tools", "files"], &["read", "write", "edit"], &["bash", "todoread", "attempt_completion"]),
        (&["--tools", "files", "--read-only"], &["read", "grep", "list"], &["write", "edit", "patch"]),
        (&["--tools", "shell,files"], &["bash", "process_kill", "read"], &["tool_chain"]),
        (&["--tools", "all"], &["bash", "read"], &["ask_clarification", "tool_chain"]),
    ];
    for (words, served, not_served) in table {
        let mut client = Talker::start(&world, words);
        client.hello("2025-06-18", json!({}));
        let listed = client.ask("tools/list", json!({}));
        let names = names(&listed);
        assert!(names.is_sorted(), "{names:?}");
        for name in served {
            assert!(names.iter().any(|known| known == name), "{words:?}: {name} in {names:?}");
        }
        for name in not_served {
            assert!(!names.iter().any(|known| known == name), "{words:?}: {name} in {names:?}");
            let refused = client.call(name, json!({}));
            assert_eq!(refused["error"]["code"], -32602, "{refused}");
        }
        client.end();
    }
}

#[test]
fn a_tool_that_a_rule_denies_is_not_listed() {
    let world = World::new([]);
    world.set_config("[permissions]\ndeny = [\"bash\", \"write_to_file\", \"read(secret/**)\"]\n");
    let mut client = Talker::start(&world, &["--tools", "files,shell"]);
    client.hello("2025-06-18", json!({}));
    let listed = names(&client.ask("tools/list", json!({})));
    assert!(listed.contains(&"read".to_owned()) && listed.contains(&"edit".to_owned()), "{listed:?}");
    for (name, rule) in [("bash", "bash"), ("write", "write_to_file")] {
        assert!(!listed.contains(&name.to_owned()), "{name} in {listed:?}");
        let refused = client.call(name, json!({}));
        let message = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{refused}"));
        assert!(message.contains(&format!("rule {rule} denies it")), "{message}");
    }
    client.end();
}

#[test]
fn every_version_reads_a_file() {
    let world = World::new([]);
    world.write("a.txt", "hello\n");
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Talker::start(&world, &["--tools", "files"]);
        client.hello(version, json!({}));
        let answer = client.call("read", json!({"file_path": "a.txt"}));
        assert!(text(&answer).contains("hello"), "{version}: {answer}");
        client.end();
    }
    let mut client = Talker::start(&world, &["--tools", "files"]);
    let answer = client.ask(
        "tools/call",
        json!({"name": "read", "arguments": {"file_path": "a.txt"}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}
        }}),
    );
    assert!(text(&answer).contains("hello"), "{answer}");
    client.end();
}

/// A call of a chosen group counts as asked for; what goes beyond it, and what the settings deny, does not.
#[test]
fn what_goes_beyond_a_call_is_asked_or_refused() {
    let world = World::new([]);
    world.set_config("[permissions]\ndeny = [\"bash(git push *)\"]\n");
    world.write("a.txt", "hello\n");
    world.write(".vscode/tasks.json", "{}\n");
    let bash = |command: &str| ("bash", json!({"command": command}));
    let write = |path: &str| ("write", json!({"file_path": path, "content": "x\n"}));
    let allowed = [bash("echo hi > b.txt && cat b.txt"), write("c.txt")];
    let asked =
        [bash("echo x > .git/config"), bash("touch /var/tmp/x"), bash("$RUN"), write(".vscode/extra.json")];
    let denied = [
        bash("git push origin main"),
        bash("rm -rf /"),
        ("read", json!({"file_path": "/etc/shadow"})),
        // Nobody is asked about what could not be done anyway.
        write("../../outside.txt"),
    ];
    let mut client = Talker::start(&world, &["--tools", "all"]);
    client.hello("2025-06-18", json!({}));
    for (tool, arguments) in &allowed {
        let answer = client.call(tool, arguments.clone());
        assert_eq!(answer["result"]["isError"], false, "{arguments}: {answer}");
    }
    for (tool, arguments) in &asked {
        let answer = client.call(tool, arguments.clone());
        assert!(text(&answer).contains("this client cannot ask the person"), "{arguments}: {answer}");
    }
    for (tool, arguments) in &denied {
        let answer = client.call(tool, arguments.clone());
        assert_eq!(answer["result"]["isError"], true, "{arguments}: {answer}");
        assert!(!text(&answer).contains("cannot ask"), "{arguments}: {answer}");
    }
    client.end();
    // A client that can ask is asked, and its person's word counts.
    let mut client = Talker::start(&world, &["--tools", "all"]);
    client.hello("2025-06-18", json!({"elicitation": {}}));
    for (answer, refused) in [("no", true), ("yes, this once", false)] {
        let id = client
            .request("tools/call", json!({"name": "write", "arguments": write(".vscode/extra.json").1}));
        let asked = client.next();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert!(asked["params"]["message"].as_str().unwrap().contains(".vscode"), "{asked}");
        let result = json!({"action": "accept", "content": {"answer": answer}});
        client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
        let done = client.answer_to(id);
        assert_eq!(done["result"]["isError"], refused, "{answer}: {done}");
    }
    assert!(world.work().join(".vscode/extra.json").exists());
    client.end();
}

#[test]
fn a_cancel_and_a_vanished_client_end_the_command() {
    let world = World::new([]);
    let sleep = json!({"name": "bash", "arguments": {"command": "echo $$ > pid; exec sleep 300"}});
    let process = |world: &World| -> String {
        let start = Instant::now();
        loop {
            // The command runs in a process namespace; its number outside is found by its command line.
            let found = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).find_map(|entry| {
                let folder = std::fs::read_link(entry.path().join("cwd")).ok()?;
                let line = std::fs::read(entry.path().join("cmdline")).ok()?;
                let is_it = folder == world.work().canonicalize().ok()? && line.starts_with(b"sleep\x00300");
                is_it.then(|| entry.file_name().to_string_lossy().into_owned())
            });
            if let Some(process) = found {
                return process;
            }
            assert!(start.elapsed() < Duration::from_secs(30), "the command does not start");
            std::thread::yield_now();
        }
    };
    let mut client = Talker::start(&world, &["--tools", "shell"]);
    client.hello("2025-06-18", json!({}));
    let id = client.request("tools/call", sleep.clone());
    let first = process(&world);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    until_gone(&first);
    let alive = client.call("bash", json!({"command": "echo still here"}));
    assert!(text(&alive).contains("still here"), "{alive}");
    // What runs in the background goes with the server too.
    let background = json!({"command": "exec sleep 300", "run_in_background": true});
    let started = client.call("bash", background);
    assert_eq!(started["result"]["isError"], false, "{started}");
    let second = process(&world);
    client.end();
    until_gone(&second);
    // Ends by signals, with a call open.
    for signal in ["TERM", "INT"] {
        let mut client = Talker::start(&world, &["--tools", "shell"]);
        client.hello("2025-06-18", json!({}));
        client.request("tools/call", sleep.clone());
        let process = process(&world);
        client.signal(signal);
        until_gone(&process);
        assert!(client.wait(), "{signal}: the server says it is done");
    }
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let world = World::new([]);
    for number in 0..20 {
        world.write(&format!("{number}.txt"), &format!("this is {number}\n"));
    }
    let mut client = Talker::start(&world, &["--tools", "files"]);
    client.hello("2025-11-25", json!({}));
    let ids: Vec<u64> = (0..20)
        .map(|number| {
            let arguments = json!({"file_path": format!("{number}.txt")});
            client.request("tools/call", json!({"name": "read", "arguments": arguments}))
        })
        .collect();
    let mut answers = std::collections::BTreeMap::new();
    for _ in &ids {
        let answer = client.next();
        answers.insert(answer["id"].as_u64().unwrap(), text(&answer).to_owned());
    }
    for (number, id) in ids.iter().enumerate() {
        assert!(answers[id].contains(&format!("this is {number}")), "{answers:?}");
    }
    client.end();
}

#[test]
fn a_key_is_shown_by_no_tool_and_a_bad_start_is_told() {
    let world = World::new([]);
    let mut client = Talker::start(&world, &["--tools", "shell"]);
    client.hello("2025-06-18", json!({}));
    let answer = client.call("bash", json!({"command": "echo mock-key-value"}));
    assert!(!answer.to_string().contains("mock-key-value"), "{answer}");
    client.end();
    for (words, expected) in [
        (&["--tools", "everything"][..], "everything"),
        (&["--workspace", "/no/such/folder"], "/no/such/folder"),
        (&["--http", "0.0.0.0:0"], "--allow-remote"),
        (&["--http", "--allow-remote"], "--token-file"),
        (&["--http", "nonsense"], "nonsense"),
        (&["--allow-remote"], "--http"),
    ] {
        let output = world.output(&[&["mcp"], words].concat());
        let shown = world.show(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {shown}");
        assert!(shown.contains(expected), "{words:?}: {shown}");
    }
}
