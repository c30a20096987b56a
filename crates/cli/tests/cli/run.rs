//! `stepwell run` from the outside.

use expect_test::expect;
use serde_json::{Value, json};
use stepwell_protocol::Event;
use stepwell_test_support::{Turn, call};

use crate::world::World;

#[test]
fn an_answer_is_all_that_standard_output_has() {
    let world = World::new([
        Turn::calls([call("bash", json!({"command": "echo hello from bash"}))]).with_text("I look first."),
        Turn::text("It says hello."),
    ]);
    world.check(
        &["run", "--permission-mode", "bypassPermissions", "what does it say?"],
        expect![[r#"
            exit code: 0
            --- stdout
            It says hello.
            --- stderr
            I look first.
            ● bash echo hello from bash
              hello from bash
            2 turns, 20 in, 10 out, [TIME]; resume with `stepwell run --resume 1`
        "#]],
    );
    let requests = world.server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[1].tool_results()[0].text.contains("hello from bash"));
    world.server.finish();
}

#[test]
fn work_is_done_in_the_repository() {
    let world = World::new([
        Turn::calls([call("read", json!({"file_path": "main.py"})), call("list", json!({}))]),
        Turn::calls([call("edit", json!({"file_path": "main.py", "old_str": "1 / 0", "new_str": "1"}))]),
        Turn::calls([call("write", json!({"file_path": "new/file.txt", "content": "made\n"}))]),
        Turn::calls([call("attempt_completion", json!({"result": "Fixed it."}))]),
    ]);
    world.write("main.py", "print(1 / 0)\n");
    world.check(
        &["run", "--quiet", "--permission-mode", "acceptEdits", "fix it"],
        expect![[r"
            exit code: 0
            --- stdout
            Fixed it.
        "]],
    );
    assert_eq!(std::fs::read_to_string(world.work().join("main.py")).unwrap(), "print(1)\n");
    assert_eq!(std::fs::read_to_string(world.work().join("new/file.txt")).unwrap(), "made\n");
}

#[test]
fn what_needs_approval_is_refused_and_told_by_the_exit_code() {
    let world = World::new([
        Turn::calls([call("bash", json!({"command": "touch made"}))]),
        Turn::text("I was not allowed to."),
    ]);
    let output = world.output(&["run", "--quiet", "touch it"]);
    assert_eq!(output.status.code(), Some(3), "{}", world.show(&output));
    assert!(!world.work().join("made").exists());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--permission-mode"), "{}", world.show(&output));
}

#[test]
fn the_turn_limit_has_its_own_exit_code_and_can_be_resumed() {
    let look = |word: &str| Turn::calls([call("bash", json!({"command": format!("echo {word}")}))]);
    let world = World::new([look("a"), look("b"), Turn::text("done after all")]);
    let output = world.output(&["run", "--permission-mode", "bypassPermissions", "--max-turns", "2", "go"]);
    assert_eq!(output.status.code(), Some(4), "{}", world.show(&output));
    let output = world.output(&["run", "--quiet", "--permission-mode", "bypassPermissions", "--resume"]);
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\ndone after all\n");
    assert_eq!(world.server.last_request().tool_results().len(), 2);
}

#[test]
fn a_task_can_go_on_with_another_model() {
    let world = World::new([Turn::text("one"), Turn::text("two"), Turn::text("three")]);
    world.output(&["run", "first"]);
    world.output(&["run", "--model", "mock/other", "--resume", "1", "second"]);
    assert_eq!(world.server.last_request().model(), "other");
    world.output(&["run", "--resume", "and once more"]);
    assert_eq!(world.server.last_request().model(), "other", "the choice is kept");
    assert_eq!(world.server.last_request().last_user_text(), "and once more");
}

#[test]
fn json_is_one_object_and_stream_json_one_per_event() {
    let world = World::new([Turn::text("yes"), Turn::text("yes")]);
    let output = world.output(&["run", "--output-format", "json", "well?"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["result"], "yes");
    assert_eq!(value["is_error"], false);
    assert_eq!(value["num_turns"], 1);
    assert_eq!(value["usage"]["input_tokens"], 10);
    assert!(output.stderr.is_empty(), "{}", world.show(&output));

    let output = world.output(&["run", "--output-format", "stream-json", "well?"]);
    let kinds: Vec<String> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            value["event"]["type"].as_str().unwrap_or(value["type"].as_str().unwrap()).to_owned()
        })
        .filter(|kind| kind != "token" && kind != "agent_state_changed")
        .collect();
    expect!["init task_created user_message state_changed usage state_changed answer run_ended result"]
        .assert_eq(&kinds.join(" "));
}

#[test]
fn a_fork_leaves_the_original_alone() {
    let world = World::new([Turn::text("one"), Turn::text("two")]);
    world.output(&["run", "first"]);
    let original = world.only_task();
    let before = world.log(&original).len();
    let output = world.output(&["run", "--quiet", "--fork", original.as_str(), "second"]);
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\ntwo\n");
    assert_eq!(world.log(&original).len(), before);
    let texts: Vec<String> =
        world.server.last_request().messages().iter().map(|message| message.text.clone()).collect();
    assert_eq!(texts[texts.len() - 3..], ["first", "one", "second"]);
}

#[test]
fn a_key_is_nowhere_in_what_is_kept() {
    let world = World::new([
        Turn::calls([call("bash", json!({"command": "echo the key is mock-key-value; env"}))]),
        Turn::text("seen"),
    ]);
    let output = world.output(&["run", "--permission-mode", "bypassPermissions", "go"]);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    let sent = world.server.last_request().tool_results()[0].text.clone();
    assert!(sent.contains("[redacted:") && !sent.contains("mock-key-value"), "{sent}");
    // The command itself is what the model wrote; what came back from it holds no key.
    for (path, bytes) in crate::world::files_below(&world.data()) {
        let text = String::from_utf8_lossy(&bytes);
        for line in text.lines().filter(|line| line.contains("\"observation\"")) {
            assert!(!line.contains("mock-key-value"), "{}: {line}", path.display());
        }
    }
}

#[test]
fn all_four_formats_do_the_same_work() {
    for (kind, url) in [
        ("openai-chat", "openai"),
        ("openai-responses", "openai"),
        ("anthropic", "anthropic"),
        ("gemini", "gemini"),
    ] {
        let world = World::new([
            Turn::calls([
                call("bash", json!({"command": "echo one"})),
                call("bash", json!({"command": "echo two"})),
            ])
            .with_reasoning("let me see"),
            Turn::text("done"),
        ]);
        let base_url = match url {
            "openai" => world.server.openai_url(),
            "anthropic" => world.server.anthropic_url(),
            _ => world.server.gemini_url(),
        };
        world.set_config(&format!(
            "model = \"mock/mock-model\"\n[providers.mock]\nkind = \"{kind}\"\nbase_url = \"{base_url}\"\napi_key_env = \"MOCK_KEY\"\n"
        ));
        let output = world.output(&["run", "--quiet", "--permission-mode", "bypassPermissions", "go"]);
        assert_eq!(world.show(&output), "exit code: 0\n--- stdout\ndone\n", "{kind}");
        let results: Vec<String> = world
            .server
            .last_request()
            .tool_results()
            .iter()
            .map(|result| result.text.trim().to_owned())
            .collect();
        assert!(results[0].contains("one") && results[1].contains("two"), "{kind}: {results:?}");
        world.server.finish();
    }
}

#[test]
fn a_model_that_writes_xml_can_call_tools() {
    let world = World::new([
        Turn::text("I will look.\n<bash>\n<command>echo via xml</command>\n</bash>"),
        Turn::text("It printed its line."),
    ]);
    let config = std::fs::read_to_string(world.config().join("config.toml")).unwrap();
    world.set_config(&format!("{config}tool_calls = \"xml\"\n"));
    let output = world.output(&["run", "--quiet", "--permission-mode", "bypassPermissions", "go"]);
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\nIt printed its line.\n");
    let last = world.server.last_request();
    assert!(last.messages().iter().any(|message| message.text.contains("via xml")), "{:?}", last.messages());
}

/// Each form that models of other agents write runs the tool; none is taken for the final answer.
#[test]
fn xml_calls_by_alias_and_in_other_forms_run_tools() {
    let forms = [
        ("<execute_command>\n<command>echo by-alias</command>\n<cwd>.</cwd>\n</execute_command>", "by-alias"),
        ("<read_file>\n<path>a.txt</path>\n</read_file>", "content of a"),
        (
            "<read_file>\n<args>\n<file>\n<path>a.txt</path>\n</file>\n<file><path>b.txt</path><line_range>2-2</line_range></file>\n</args>\n</read_file>",
            "second of b",
        ),
        ("<read>\n<files>\n<file><path>b.txt</path></file>\n</files>\n</read>", "first of b"),
        ("<search_files>\n<path>.</path>\n<regex>second of .</regex>\n</search_files>", "b.txt"),
        ("<list_files><path>.</path><recursive>false</recursive></list_files>", "a.txt"),
        ("<list_code_definition_names>\n<path>.</path>\n</list_code_definition_names>", "greet"),
        ("<bash><args><command>echo wrapped</command></args></bash>", "wrapped"),
        ("<bash><comand>echo no</comand></bash>", "did you mean `command`?"),
        ("<update_todo_list>\n<todos>\n[x] one\n[ ] two\n</todos>\n</update_todo_list>", "[ ] 2. two"),
        (
            "<tool_call>{\"name\": \"execute_command\", \"arguments\": {\"command\": \"echo as-json\"}}</tool_call>",
            "as-json",
        ),
        (
            "<function=execute_command><parameter=command>echo as-function</parameter></function>",
            "as-function",
        ),
    ];
    let world = World::new(forms.iter().map(|(text, _)| Turn::text(*text)).chain([Turn::text("All done.")]));
    world.write("a.txt", "content of a\n");
    world.write("b.txt", "first of b\nsecond of b\n");
    world.write("c.py", "def greet():\n    pass\n");
    let config = std::fs::read_to_string(world.config().join("config.toml")).unwrap();
    world.set_config(&format!("{config}tool_calls = \"xml\"\n"));
    let output = world.output(&["run", "--quiet", "--permission-mode", "bypassPermissions", "go"]);
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\nAll done.\n");
    let requests = world.server.requests();
    for ((text, expected), after) in forms.iter().zip(&requests[1..]) {
        let messages = after.messages();
        let result = messages.last().unwrap_or_else(|| panic!("{text}: no result"));
        assert!(result.text.contains(expected), "{text}: {}", result.text);
    }
    // Every example in the prompt is filled.
    let first = requests[0].body.to_string();
    assert!(first.contains("<read>\\n<file_path>src/main.rs</file_path>\\n</read>"), "{first}");
    assert!(!first.contains(">...<"), "{first}");
}

#[test]
fn a_chinese_locale_is_spoken_to_in_chinese() {
    let world =
        World::new([Turn::calls([call("bash", json!({"command": "touch made"}))]), Turn::text("完成")]);
    let output = world.command(&["run", "做吧"]).env("LANG", "zh_CN.UTF-8").output().unwrap();
    expect![[r#"
        exit code: 3
        --- stdout
        完成
        --- stderr
        ● bash touch made
          这里没有人可以询问，因此拒绝该调用：当前权限模式不直接允许
        错误： 未经批准，已拒绝：运行 `touch made`

        提示： 可在设置的 `[permissions]` 中写 `allow = ["bash(touch *)"]` 来允许，或用 `--permission-mode bypassPermissions` 允许所有同类操作
        2 轮，输入 20，输出 10，[TIME]；用 `stepwell run --resume 1` 继续
    "#]]
    .assert_eq(&world.show(&output));
}

#[test]
fn a_reader_that_goes_away_ends_the_run() {
    use std::io::{BufRead, BufReader};
    let world = World::new([]);
    world.server.respond_with(|request| {
        let turn = request.tool_results().len();
        Turn::calls([call("bash", json!({"command": format!("echo {turn}")}))])
    });
    let mut child = world.spawn(&[
        "run",
        "--output-format",
        "stream-json",
        "--permission-mode",
        "bypassPermissions",
        "go",
    ]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().is_some());
    drop(lines);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", world.show(&output));
}

/// C6: what changed between two runs of a task is noticed as what changes during one.
#[test]
fn a_file_that_changed_before_a_resume_is_not_edited_unread() {
    let edit = |old: &str| {
        Turn::calls([call("edit", json!({"file_path": "a.txt", "old_str": old, "new_str": "new"}))])
    };
    let write = || Turn::calls([call("write", json!({"file_path": "b.txt", "content": "written\n"}))]);
    let read = |path: &str| call("read", json!({"file_path": path}));
    let world = World::new([
        Turn::calls([read("a.txt"), read("b.txt")]),
        Turn::text("read"),
        edit("two"),
        write(),
        Turn::calls([read("a.txt")]),
        edit("two"),
        Turn::text("done"),
    ]);
    world.write("a.txt", "one\ntwo\n");
    world.write("b.txt", "b\n");
    assert_eq!(world.output(&["run", "read"]).status.code(), Some(0));
    world.write("a.txt", "changed\ntwo\n");
    world.output(&["run", "--resume", "1", "--permission-mode", "bypassPermissions", "edit"]);
    let log = world.log(&world.only_task());
    let results: Vec<(String, bool)> = log
        .iter()
        .filter_map(|record| match &record.event {
            Event::Observation { result } => Some((result.output.clone(), result.is_success())),
            _ => None,
        })
        .collect();
    assert!(
        !results[2].1 && results[2].0.contains("changed by someone else since you last read it"),
        "{results:?}"
    );
    // What did not change needs no second look.
    assert!(results[3].1, "{results:?}");
    assert!(results[5].1, "{results:?}");
    assert_eq!(std::fs::read_to_string(world.work().join("a.txt")).unwrap(), "changed\nnew\n");
    assert_eq!(std::fs::read_to_string(world.work().join("b.txt")).unwrap(), "written\n");
}
