//! What `stepwell run` is given and gives beside the request and the answer.

use expect_test::expect;
use serde_json::{Value, json};
use stepwell_test_support::{Turn, call};

use crate::world::{World, files_below};

const SCHEMA: &str =
    r#"{"type": "object", "required": ["count"], "properties": {"count": {"type": "integer"}}}"#;

#[test]
fn what_is_piped_follows_the_prompt_and_is_marked() {
    for (arguments, file, input, expected) in [
        (
            &["run", "why", "now?"][..],
            "",
            "line 1\nline 2\n",
            "why now?\n\n<stdin>\nline 1\nline 2\n</stdin>",
        ),
        (&["run", "--prompt-file", "task.md"], "why?\n", "log\n", "why?\n\n<stdin>\nlog\n</stdin>"),
        (&["run", "why?"], "", "", "why?"),
        (&["run", "why?"], "", " \n", "why?"),
        (&["run"], "", "the request\n", "the request\n"),
        (&["run", "before", "-", "after"], "", "log", "before\n\nlog after"),
    ] {
        let world = World::new([Turn::text("so")]);
        world.write("task.md", file);
        let output = world.given(arguments, input);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", world.show(&output));
        assert_eq!(world.server.last_request().last_user_text(), expected, "{arguments:?}");
    }
}

#[test]
fn settings_of_the_command_line_are_over_all_files() {
    let world = World::new([]);
    world.set_config("model = \"openai/gpt\"\nmax_turns = 5\n");
    let settings = |arguments: &[&str]| -> Vec<String> {
        let output = world.output(&[arguments, &["config", "show", "--json"]].concat());
        let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = shown["settings"].as_array().unwrap().iter();
        rows.filter(|row| row["source"] == "command line")
            .map(|row| format!("{}={}", row["name"].as_str().unwrap(), row["value"]))
            .collect()
    };
    assert_eq!(settings(&[]), [""; 0]);
    let given = settings(&["-c", "max_turns=7", "--config", "sandbox.enabled=false", "-c", "model=mock/x"]);
    assert_eq!(given[..2], ["max_turns=7", "model=\"mock/x\""]);
    assert!(given[2].starts_with("sandbox={") && given[2].contains("\"enabled\":false"), "{given:?}");
}

#[test]
fn settings_of_the_command_line_reach_every_command() {
    let world = World::new([
        Turn::calls([call("bash", json!({"command": "touch made"}))]),
        Turn::text("done"),
        Turn::text("shorter"),
    ]);
    let rule = "permissions.allow=[\"bash(touch *)\"]";
    let output = world.output(&["permissions", "test", "touch made"]);
    assert_eq!(output.status.code(), Some(3), "{}", world.show(&output));
    let output = world.output(&["permissions", "test", "touch made", "-c", rule]);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    let output = world.output(&["run", "--quiet", "-c", rule, "touch it"]);
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\ndone\n");
    assert!(world.work().join("made").exists());
    // A flag that says the same is the plainer word.
    world.output(&["run", "--quiet", "--model", "mock/flag", "-c", "model=mock/setting", "x"]);
    assert_eq!(world.server.last_request().model(), "flag");
}

#[test]
fn a_wrong_setting_of_the_command_line_is_told_as_one_of_a_file() {
    let world = World::new([]);
    for (word, told) in [
        ("max_turns=many", "max_turns"),
        ("modle=x", "`model`"),
        ("sandbox.enabeld=true", "did you mean `sandbox.enabled`?"),
        ("max_turns", "there is no `=`"),
        ("permissions.allow=[\"bash(\"]", "of the command line"),
        ("permission_mode=yolo", "of the command line"),
    ] {
        let output = world.output(&["tool", "list", "-c", word]);
        let text = world.show(&output);
        assert_eq!(output.status.code(), Some(2), "{word}: {text}");
        assert!(text.contains(told) && text.contains("hint:"), "{word}: {text}");
    }
}

#[test]
fn appended_instructions_end_the_system_prompt() {
    let world = World::new([Turn::text("ok")]);
    world.write("AGENTS.md", "Use tabs.\n");
    world.output(&["run", "--append-system-prompt", "Answer in one word.", "x"]);
    let system = world.server.last_request().system_text();
    assert!(system.trim_end().ends_with("## From the command line\nAnswer in one word."), "{system}");
}

#[test]
fn an_answer_that_fits_its_schema_is_given_alone() {
    for (turns, requests) in [
        (vec!["{\"count\": 3}"], 1),
        (vec!["```json\n{\"count\": 3}\n```"], 1),
        (vec!["There are three.", "{\"count\": 3}"], 2),
        (vec!["{\"count\": \"three\"}", "{\"count\": 3}"], 2),
    ] {
        let world = World::new(turns.iter().map(|text| Turn::text(*text)));
        world.write("schema.json", SCHEMA);
        let output = world.output(&["run", "--quiet", "--output-schema", "schema.json", "count"]);
        assert_eq!(world.show(&output), "exit code: 0\n--- stdout\n{\"count\": 3}\n", "{turns:?}");
        assert_eq!(world.server.requests().len(), requests, "{turns:?}");
        assert!(world.server.requests()[0].system_text().contains("\"integer\""));
    }
}

#[test]
fn an_answer_that_never_fits_has_its_own_exit_code() {
    let world = World::new([Turn::text("three"), Turn::text("{\"count\": \"three\"}")]);
    world.write("schema.json", SCHEMA);
    world.check(
        &["run", "--quiet", "--output-schema", "schema.json", "-o", "answer.json", "count"],
        expect![[r#"
            exit code: 5
            --- stderr
            error: the answer does not fit the schema, also after it was asked for again:
              /count: "three" is not of type "integer"
        "#]],
    );
    let correction = world.server.last_request().last_user_text();
    assert!(correction.contains("no JSON"), "{correction}");
    assert!(!world.work().join("answer.json").exists());
    world.server.finish();

    let world = World::new([Turn::text("three"), Turn::text("four"), Turn::text("{\"count\": 4}")]);
    world.write("schema.json", SCHEMA);
    let run = ["run", "--output-format", "json", "--output-schema", "schema.json", "count"];
    let result: Value = serde_json::from_slice(&world.output(&run).stdout).unwrap();
    assert_eq!((&result["subtype"], &result["exit_code"]), (&json!("error_output_schema"), &json!(5)));
    assert_eq!(result["schema_errors"].as_array().unwrap().len(), 1, "{result}");
    let result: Value = serde_json::from_slice(&world.output(&run).stdout).unwrap();
    assert_eq!((&result["structured_output"], &result["is_error"]), (&json!({"count": 4}), &json!(false)));
}

#[test]
fn a_schema_goes_to_a_provider_that_can_hold_to_it() {
    let world = World::new([Turn::text("{\"count\": 3}")]);
    world.write("schema.json", SCHEMA);
    world.set_config(&format!(
        "model = \"mock/mock-model\"\n[providers.mock]\nkind = \"openai-responses\"\nbase_url = \"{}\"\napi_key_env = \"MOCK_KEY\"\n",
        world.server.openai_url()
    ));
    let output = world.output(&["run", "--quiet", "--output-schema", "schema.json", "count"]);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    let body = world.server.last_request().body.clone();
    assert_eq!(body["text"]["format"]["schema"], serde_json::from_str::<Value>(SCHEMA).unwrap(), "{body}");
}

#[test]
fn a_schema_that_is_none_is_told_before_anything_is_sent() {
    let world = World::new([]);
    for content in ["{", "[]", "{\"type\": \"nonsense\"}", "{\"$ref\": \"#/missing\"}"] {
        world.write("schema.json", content);
        let output = world.output(&["run", "--output-schema", "schema.json", "x"]);
        let text = world.show(&output);
        assert!(output.status.code() == Some(2) && text.contains("schema.json"), "{content}: {text}");
    }
    assert_eq!(world.output(&["run", "--output-schema", "absent.json", "x"]).status.code(), Some(2));
    assert!(world.server.requests().is_empty() && files_below(&world.data()).is_empty());
}

#[test]
fn the_answer_is_also_written_to_a_file() {
    let world = World::new([
        Turn::calls([call("bash", json!({"command": "echo looking"}))]).with_text("I look."),
        Turn::text("It works."),
    ]);
    std::fs::create_dir(world.work().join("out")).unwrap();
    world.write("out/answer.txt", "old");
    let run = ["run", "--permission-mode", "bypassPermissions", "-o", "out/answer.txt", "go"];
    let output = world.output(&run);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "It works.\n");
    assert_eq!(std::fs::read_to_string(world.work().join("out/answer.txt")).unwrap(), "It works.\n");
    assert_eq!(std::fs::read_dir(world.work().join("out")).unwrap().count(), 1);
    for path in ["absent/answer.txt", "out", "/dev/null"] {
        let output = world.output(&["run", "--output-last-message", path, "x"]);
        assert_eq!(output.status.code(), Some(2), "{path}: {}", world.show(&output));
    }
    assert_eq!(world.server.requests().len(), 2, "nothing is sent for a file that cannot be written");
}

#[test]
fn an_ephemeral_run_leaves_nothing_behind() {
    let world = World::new([
        Turn::calls([call("write", json!({"file_path": "made.txt", "content": "made\n"}))]),
        Turn::calls([call("bash", json!({"command": "seq 100000"}))]),
        Turn::text("Made."),
    ]);
    world.write("src/lib.py", "def f():\n    return 1\n");
    let temporary = world.config().parent().unwrap().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let run = ["run", "--ephemeral", "--permission-mode", "bypassPermissions", "secret request"];
    let output = world.command(&run).env("TMPDIR", &temporary).output().unwrap();
    let text = world.show(&output);
    assert!(
        output.status.code() == Some(0) && text.contains("Made.") && !text.contains("--resume"),
        "{text}"
    );
    assert_eq!(std::fs::read_to_string(world.work().join("made.txt")).unwrap(), "made\n");
    assert_eq!(files_below(&world.data()), []);
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
    assert!(!world.config().parent().unwrap().join(".local").exists(), "not even in the log");
    assert!(world.show(&world.output(&["tasks", "list", "--all"])).contains("no tasks"));
    for arguments in [["run", "--ephemeral", "--resume", "1"], ["run", "--ephemeral", "--fork", "1"]] {
        assert_eq!(world.output(&arguments).status.code(), Some(2));
    }
}

#[test]
fn text_output_shows_how_commands_went_and_the_todo_list() {
    let todo = |first: &str, second: &str| {
        call(
            "todowrite",
            json!({"todos": [
                {"id": "1", "content": "look", "status": first},
                {"id": "2", "content": "mend", "status": second},
            ]}),
        )
    };
    let world = World::new([
        Turn::calls([todo("in_progress", "pending")]),
        Turn::calls([call("bash", json!({"command": "seq 7; echo oh no >&2; exit 3"}))]),
        Turn::calls([todo("completed", "in_progress")]),
        Turn::text("done"),
    ]);
    world.check(
        &["run", "--permission-mode", "bypassPermissions", "go"],
        expect![[r#"
        exit code: 0
        --- stdout
        done
        --- stderr
        ● todowrite
          [>] look
          [ ] mend
        ● bash seq 7; echo oh no >&2; exit 3
          … 2 more lines
          3
          4
          5
          6
          7
          oh no
          exit code 3
        ● todowrite
          [x] look
          [>] mend
        4 turns, 40 in, 20 out, [TIME]; resume with `stepwell run --resume 1`
    "#]],
    );
}
