//! Plans from the outside: a model that tries every way around one, and the doors that show, approve and edit it.

use expect_test::expect;
use serde_json::{Value, json};
use stepwell_protocol::{Event, PlanStatus};
use stepwell_test_support::{MCP_SERVER, ScriptedCall, Turn, call};
use stepwell_transcript::TaskSummary;

use crate::world::{World, files_below};

const BYPASS: [&str; 2] = ["--permission-mode", "bypassPermissions"];

const DOCUMENT: &str = "# Plan: Greet the world\n\nThe greeting is missing.\n\n## Steps\n\n\
1. Write the greeting\n   - Expected: `cat hello.txt` shows it\n2. Read it again\n   - Expected: it is still there\n";

fn write_plan() -> ScriptedCall {
    call(
        "plan_update",
        json!({
            "content": DOCUMENT,
            "mode": "replace",
            "explored_files": ["README.md"],
            "critical_files": [{"path": "hello.txt", "type": "create"}],
        }),
    )
}

fn planned() -> [Turn; 2] {
    [
        Turn::calls([write_plan()]),
        Turn::calls([call("plan_exit", json!({"conversation_id": "c", "summary": "Two steps."}))]),
    ]
}

fn write_hello() -> ScriptedCall {
    call("write", json!({"file_path": "hello.txt", "content": "hello\n"}))
}

fn end_step(what: &str, evidence: &str) -> ScriptedCall {
    call("step_complete", json!({"result": what, "evidence": evidence}))
}

/// What the model read of the calls of its first turn.
fn attempts(world: &World, mode: &[&str]) -> Vec<String> {
    let output = world.output(&[&["run", "--quiet", "--plan-only"], mode, &["go"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    let results = world.server.last_request().tool_results();
    results.iter().map(|result| result.text.clone()).collect()
}

fn snapshot(world: &World) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    files_below(&world.work()).into_iter().filter(|(path, _)| !path.ends_with("mcp.log")).collect()
}

#[test]
fn no_tool_changes_anything_before_approval() {
    let edit = json!({"file_path": "a.txt", "old_str": "old", "new_str": "new"});
    let patch = "*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch";
    let tries = [
        call("write", json!({"file_path": "made.txt", "content": "x"})),
        call("edit", edit.clone()),
        call("batch_edit", json!({"edits": [edit]})),
        call("patch", json!({"patch_content": patch})),
        call(
            "apply_diff",
            json!({"path": "a.txt", "diff": "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE"}),
        ),
        call("insert", json!({"path": "a.txt", "line": 1, "content": "new"})),
        call("edit_by_ast", json!({"file_path": "a.py", "target": "f", "operation": "delete"})),
        call(
            "tool_chain",
            json!({"steps": [{"tool": "write", "arguments": {"file_path": "made.txt", "content": "x"}}]}),
        ),
        call(
            "bash",
            json!({"command": "echo new > a.txt; rm -f a.py; touch made.txt; mkdir made; cat a.txt"}),
        ),
        call("bash", json!({"command": "touch later.txt; echo tried", "run_in_background": true})),
        call("bash", json!({"command": "git init . 2>&1; sed -i s/old/new/ a.txt"})),
        call("bash", json!({"command": "stepwell plan approve; stepwell config trust; true"})),
        call("switch_mode", json!({"mode_slug": "code", "reason": "to write"})),
        call("plan_exit", json!({"plan_id": "plan_other"})),
        call("step_complete", json!({"result": "done", "evidence": "seen"})),
    ];
    let again = [
        call("write", json!({"file_path": "made.txt", "content": "y"})),
        call("bash", json!({"command": "echo new >> a.txt"})),
        // Harmless twins: looking is what planning is for.
        call("read", json!({"file_path": "a.txt"})),
        call("grep", json!({"pattern": "old"})),
        call("bash", json!({"command": "cat a.txt && echo kept > /tmp/note && cat /tmp/note"})),
        call("todowrite", json!({"todos": [{"content": "look"}]})),
    ];
    let world = World::new([
        Turn::calls(tries),
        Turn::calls(again),
        Turn::text("I could not."),
        Turn::text("I still could not."),
    ]);
    world.write("a.txt", "old\n");
    world.write("a.py", "def f():\n    return 1\n");
    let before = snapshot(&world);
    let results = attempts(&world, &BYPASS);
    for (index, result) in
        results.iter().enumerate().take(7).chain(results.iter().enumerate().skip(15).take(1))
    {
        assert!(result.contains("nothing is changed before the plan is approved"), "{index}: {result}");
    }
    assert!(results[7].contains("there is no tool `write`"), "{}", results[7]);
    assert!(results[8].contains("Read-only file system") && results[8].contains("old"), "{}", results[8]);
    assert!(results[12].contains("the mode is `code`"), "{}", results[12]);
    assert!(results[13].contains("there is no plan `plan_other`"), "{}", results[13]);
    assert!(results[14].contains("no plan is being carried out"), "{}", results[14]);
    assert!(results[16].contains("Read-only file system"), "{}", results[16]);
    assert!(results[17].contains("old") && results[18].contains("a.txt"), "{results:#?}");
    assert!(results[19].contains("old") && results[19].contains("kept"), "{}", results[19]);
    assert!(!results[20].contains("not allowed"), "{}", results[20]);
    assert_eq!(snapshot(&world), before);
    let plan = TaskSummary::of(&world.log(&world.only_task())).plan.unwrap();
    assert_eq!((plan.status, plan.goal.as_str()), (PlanStatus::Draft, "What the user asked for"));
    // Nor is the model shown what it may not do.
    let names = world.server.requests()[0].tool_names();
    assert!(!names.contains(&"write".to_owned()) && names.contains(&"plan_update".to_owned()), "{names:?}");
}

#[test]
fn no_debugger_changes_anything_before_approval() {
    let found = std::process::Command::new("python3").args(["-c", "import debugpy"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("CI").is_none(), "python3 with debugpy is missing");
        eprintln!("skipped: python3 with debugpy is missing");
        return;
    }
    let write = "open('made.txt', 'w').write('x')";
    // A program of the person's, outside of every sandbox.
    let mut other = std::process::Command::new("python3")
        .args(["-c", "input()"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let world = World::new([
        Turn::calls([
            call("start_debugging", json!({"program": "look.py", "stop_on_entry": true})),
            call("evaluate_expression", json!({"expression": write})),
            call(
                "evaluate_expression",
                json!({"expression": "__import__('os').system('touch made.txt')", "context": "repl"}),
            ),
            call("evaluate_expression", json!({"expression": "40 + 2"})),
            call("start_debugging", json!({"program": "write.py"})),
            call("debug_failure", json!({"command": "python3 write.py"})),
            call("start_debugging", json!({"process_id": other.id()})),
        ]),
        Turn::text("I looked."),
        Turn::text("I looked."),
    ]);
    world.write("look.py", "x = 40\nprint(x + 2)\n");
    world.write("write.py", &format!("{write}\n"));
    let results = attempts(&world, &BYPASS);
    assert!(results[1].contains("Read-only file system"), "{results:#?}");
    assert!(results[3].contains("42"), "{results:#?}");
    assert!(results[4].contains("Read-only file system"), "{results:#?}");
    assert!(results[6].contains("before the plan is approved"), "{results:#?}");
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(!world.work().join("made.txt").exists(), "{results:#?}");
}

#[test]
fn mcp_tools_run_before_approval_only_where_they_read() {
    let use_tool = |tool: &str| {
        let arguments = json!({"server_name": "test", "tool_name": tool, "arguments": {"text": "hi"}});
        call("use_mcp_tool", arguments)
    };
    let world = World::new([
        Turn::calls([use_tool("echo"), use_tool("content")]),
        Turn::calls([call("mcp__test__echo", json!({"text": "a"})), call("mcp__test__content", json!({}))]),
        Turn::text("done"),
        Turn::text("done"),
    ]);
    world.write("bin/server.py", MCP_SERVER);
    let script = json!({"tools": ["echo", "content"], "read_only": ["content"]});
    let config = std::fs::read_to_string(world.config().join("config.toml")).unwrap();
    world.set_config(&format!(
        "{config}\n[mcp_servers.test]\ncommand = \"python3\"\nargs = [\"bin/server.py\", '{script}', \"mcp.log\"]\n"
    ));
    let results = attempts(&world, &BYPASS);
    assert!(!results[0].contains("echo: hi") && !results[2].contains("echo: a"), "{results:#?}");
    assert!(results[2].contains("only those MCP tools that say they read"), "{results:#?}");
    for twin in [&results[1], &results[3]] {
        assert!(!twin.contains("before the plan"), "{results:#?}");
    }
    let log = std::fs::read_to_string(world.work().join("mcp.log")).unwrap();
    let called: Vec<&str> = log.lines().filter(|line| line.contains("tools/call")).collect();
    assert!(called.len() == 2 && called.iter().all(|line| line.contains("content")), "{log}");
}

#[test]
fn a_hook_that_allows_or_rewrites_calls_does_not_lift_the_plan() {
    let answer = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": {"command": "touch made.txt", "file_path": "made.txt", "content": "x"},
    }});
    let world = World::new([
        Turn::calls([call("bash", json!({"command": "ls"})), write_hello()]),
        Turn::text("done"),
        Turn::text("done"),
    ]);
    let config = std::fs::read_to_string(world.config().join("config.toml")).unwrap();
    world.set_config(&format!(
        "{config}\n[[hooks.PreToolUse]]\nhooks = [{{ type = \"command\", command = '''echo '{answer}' ''' }}]\n"
    ));
    let results = attempts(&world, &[]);
    assert!(results[0].contains("Read-only file system"), "{results:#?}");
    assert!(results[1].contains("before the plan is approved"), "{results:#?}");
    assert!(!world.work().join("made.txt").exists() && !world.work().join("hello.txt").exists());
}

#[test]
fn a_plan_is_made_shown_edited_approved_and_carried_out() {
    let world = World::new(planned());
    world.check(
        &["run", "--mode", "plan", "Greet the world"],
        expect![[r#"
            exit code: 3
            --- stdout
            the plan "Greet the world" waits for approval

            # Plan: Greet the world

            The greeting is missing.

            ## Steps

            1. [ ] Write the greeting
               - Expected: `cat hello.txt` shows it
            2. [ ] Read it again
               - Expected: it is still there

            ## Critical files

            - create `hello.txt`

            ## Explored files

            - `README.md`
            --- stderr
            ● plan_update
            ● plan_exit

            hint: look at it with `stepwell plan show 1`, then `stepwell plan approve 1` and `stepwell run --resume 1`
            2 turns, 20 in, 10 out, [TIME]; resume with `stepwell run --resume 1`
        "#]],
    );
    world.check(
        &["plan", "show"],
        expect![[r#"
        exit code: 0
        --- stdout
        Greet the world
        draft: not approved yet
          [ ] 1  Write the greeting
                 expected: `cat hello.txt` shows it
          [ ] 2  Read it again
                 expected: it is still there

        document: [ROOT]/data/tasks/[TASK]/plan.md
    "#]],
    );
    assert!(!world.work().join("hello.txt").exists());
    // An edit that cannot be used is told with its line and changes nothing.
    let broken = DOCUMENT.replace("   - Expected: it is still there\n", "");
    let output = world.given(&["plan", "edit", "--file", "-"], &broken);
    let shown = world.show(&output);
    assert!(shown.starts_with("exit code: 2") && shown.contains("line 9: the step has no line"), "{shown}");
    let edited = DOCUMENT.replace("Read it again", "Look at it once more");
    let output = world.given(&["plan", "edit", "--file", "-"], &edited);
    let shown = world.show(&output);
    assert!(shown.contains("[ ] 2  Look at it once more"), "{shown}");
    world.check(
        &["plan", "approve"],
        expect![[r#"
        exit code: 0
        --- stdout
        the plan is approved
        --- stderr
        go on with `stepwell run --resume 1`
    "#]],
    );
    world.server.script([
        Turn::calls([write_hello()]),
        Turn::calls([end_step("wrote it", "`cat hello.txt` printed hello")]),
        Turn::text("It is there.\nChecked: hello.txt still says hello"),
    ]);
    world.check(
        &["run", "--resume", "1", "--permission-mode", "acceptEdits"],
        expect![[r#"
            exit code: 0
            --- stdout
            It is there.
            Checked: hello.txt still says hello
            --- stderr
            [>] step 1 of 2: Write the greeting
            ● write hello.txt
              @@ -0,0 +1 @@
              +hello
            ● step_complete wrote it
            [x] step 1 completed: `cat hello.txt` printed hello
            [>] step 2 of 2: Look at it once more
            [x] step 2 completed: hello.txt still says hello
            3 turns, 30 in, 15 out, [TIME]; resume with `stepwell run --resume 1`
        "#]],
    );
    assert_eq!(std::fs::read_to_string(world.work().join("hello.txt")).unwrap(), "hello\n");
    let request = world.server.last_request();
    assert!(request.last_user_text().contains("Now carry out step 2 of 2"), "{}", request.last_user_text());
    assert!(request.last_user_text().contains("Look at it once more"));
    world.check(
        &["plan", "show", "1"],
        expect![[r#"
        exit code: 0
        --- stdout
        Greet the world
        completed, 2 of 2 done
          [x] 1  Write the greeting
                 checked: `cat hello.txt` printed hello
          [x] 2  Look at it once more
                 checked: hello.txt still says hello

        document: [ROOT]/data/tasks/[TASK]/plan.md
    "#]],
    );
    let output = world.output(&["plan", "show", "1", "--json"]);
    let view: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(view["plan"]["status"], "completed");
    assert_eq!(view["plan"]["steps"][0]["evidence"], "`cat hello.txt` printed hello");
    assert_eq!(view["plan"]["critical_files"], json!([{"path": "hello.txt", "type": "create"}]));
    world.check(
        &["plan", "show", "1", "--document"],
        expect![[r#"
            exit code: 0
            --- stdout
            # Plan: Greet the world

            The greeting is missing.

            ## Steps

            1. [x] Write the greeting
               - Expected: `cat hello.txt` shows it
               - Result: wrote it
               - Checked: `cat hello.txt` printed hello
            2. [x] Look at it once more
               - Expected: it is still there
               - Result: It is there.
               - Checked: hello.txt still says hello
        "#]],
    );
}

#[test]
fn a_plan_can_be_printed_alone_and_approved_by_policy() {
    let world = World::new(planned());
    let output = world.output(&["run", "--quiet", "--plan-only", "Greet the world"]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    assert!(text.starts_with("# Plan: Greet the world\n"), "{text}");
    assert!(text.contains("## Critical files\n\n- create `hello.txt`\n"), "{text}");

    let rest = [
        Turn::calls([write_hello(), end_step("wrote it", "saw it")]),
        Turn::calls([call("step_complete", json!({"status": "failed", "result": "it is gone"}))]),
    ];
    let world = World::new(planned().into_iter().chain(rest));
    let arguments =
        ["run", "--quiet", "--mode", "plan", "--approve-plan", "--permission-mode", "acceptEdits", "Greet"];
    world.check(&arguments, expect![[r#"
        exit code: 1
        --- stdout
        step 2 of the plan failed: it is gone

        1. [x] Write the greeting
        2. [!] Read it again
        --- stderr

        hint: try it again with `stepwell run --resume 1`, skip it with `stepwell plan skip 1`, or change the plan with `stepwell plan edit 1`
    "#]]);
    world.check(
        &["plan", "skip"],
        expect![[r#"
        exit code: 0
        --- stdout
        the step is skipped
        --- stderr
        go on with `stepwell run --resume 1`
    "#]],
    );
    world.check(
        &["plan", "show"],
        expect![[r#"
            exit code: 0
            --- stdout
            Greet the world
            executing, 2 of 2 done
              [x] 1  Write the greeting
                     checked: saw it
              [-] 2  Read it again
                     skipped: left out by the person; it had failed: it is gone

            document: [ROOT]/data/tasks/[TASK]/plan.md
        "#]],
    );
    world.check(
        &["plan", "approve"],
        expect![[r#"
            exit code: 1
            --- stderr
            error: there is no plan that waits for approval

            hint: `stepwell plan show` tells how far it is, `stepwell plan edit` opens its document
        "#]],
    );
}

#[test]
fn a_killed_run_goes_on_at_the_right_step() {
    let turns = [Turn::calls([write_hello(), end_step("wrote it", "saw it")]), Turn::silent()];
    let world = World::new(planned().into_iter().chain(turns));
    let arguments =
        ["run", "--mode", "plan", "--approve-plan", "--permission-mode", "acceptEdits", "Greet the world"];
    let mut child = world.spawn(&arguments);
    world.server.wait_for_requests(4, std::time::Duration::from_secs(60));
    child.kill().unwrap();
    child.wait().unwrap();
    world.server.script([Turn::calls([end_step("read it", "it says hello")]), Turn::text("Both done.")]);
    let output = world.output(&["run", "--quiet", "--resume", "1", "--permission-mode", "acceptEdits"]);
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\nBoth done.\n");
    let log = world.log(&world.only_task());
    let ended: Vec<u32> = log
        .iter()
        .filter_map(|record| match &record.event {
            Event::StepComplete { step, .. } => Some(*step),
            _ => None,
        })
        .collect();
    assert_eq!(ended, [1, 2]);
    let requests = world.server.requests();
    let resumed = &requests[requests.len() - 2];
    assert!(resumed.last_user_text().contains("Now carry out step 2 of 2"), "{}", resumed.last_user_text());
}

#[test]
fn a_program_on_standard_input_approves_a_plan_with_words() {
    let rest = [Turn::calls([end_step("wrote it", "saw it")]), Turn::text("Checked: it is there")];
    let world = World::new(planned().into_iter().chain(rest));
    let arguments =
        ["run", "--mode", "plan", "--input-format", "stream-json", "--output-format", "stream-json", "Greet"];
    let mut child = world.command(&arguments).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut states = Vec::new();
    for line in std::io::BufRead::lines(output) {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let event = &line["event"];
        if event["type"] == "approval_requested" {
            let approval = &event["request"]["id"];
            assert_eq!(event["request"]["call"]["name"], "plan_exit", "{line}");
            let answer =
                json!({"type": "approval", "approval": approval, "answer": "yes", "reason": "go slowly"});
            std::io::Write::write_all(&mut input, format!("{answer}\n").as_bytes()).unwrap();
        }
        if event["type"] == "agent_state_changed" {
            states.push(event["state"].clone());
        }
        if line["type"] == "result" {
            break;
        }
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    assert!(states.contains(&json!({"status": "planning"})), "{states:?}");
    assert!(states.contains(&json!({"status": "executing", "step": 2, "total": 2})), "{states:?}");
    let told = &world.server.requests()[2].tool_results();
    assert!(told.last().unwrap().text.contains("go slowly"), "{told:?}");
}

#[test]
fn a_task_without_a_plan_says_so() {
    let world = World::new([Turn::text("hi")]);
    world.output(&["run", "hello"]);
    world.check(
        &["plan", "show"],
        expect![[r#"
        exit code: 2
        --- stderr
        error: task 1 has no plan

        hint: `stepwell run --mode plan` begins with one
    "#]],
    );
    let task = world.only_task();
    assert!(!world.log(&task).iter().any(|record| matches!(record.event, Event::Plan { .. })));
}
