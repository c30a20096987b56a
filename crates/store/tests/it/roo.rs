//! Roo-Code's files: accepted by its own schemas, and read back.

use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;
use stepwell_protocol::{
    AnswerOrigin, AnsweredBy, ErrorKind, ErrorReport, Event, Part, Question, QuestionAnswer, QuestionKind,
    QuestionOption, Role, Usage,
};
use stepwell_store::{
    Error, Home, RooTask, TaskFolds, check_history, export_roo, import_roo, import_task, read_log,
};

use crate::runs::{
    action, answer, call, events, failure, success, task_with, temp_home, thought, turns, user,
};

/// The folder with `check-task.mjs` and Roo-Code's published schemas.
fn checker() -> Option<PathBuf> {
    let found = std::env::var_os("STEPWELL_ROO_CHECK").map(PathBuf::from);
    let found = found.filter(|dir| dir.join("node_modules/@roo-code/types").exists());
    if found.is_none() {
        let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(!in_ci, "CI must set STEPWELL_ROO_CHECK to the folder of the Roo-Code validator");
        eprintln!("skipped: STEPWELL_ROO_CHECK does not name the folder of the Roo-Code validator");
    }
    found
}

fn check_with_schemas(checker: &Path, task: &RooTask) {
    let folder = tempfile::tempdir().unwrap();
    task.write(folder.path()).unwrap();
    let script = checker.join("check-task.mjs");
    let output = Command::new("node").arg(script).arg(folder.path()).arg("--strict").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

fn every_kind_of_event() -> Vec<Event> {
    let calls = [
        call("c1", "read", json!({"file_path": "a.rs", "offset": 1})),
        call("c2", "write", json!({"file_path": "b.rs", "content": "x"})),
        call("c3", "edit", json!({"file_path": "b.rs", "old_str": "x", "new_str": "y"})),
        call("c4", "grep", json!({"pattern": "fn", "path": "src"})),
        call("c5", "list", json!({"path": ".", "recursive": true})),
        call("c6", "bash", json!({"command": "make", "working_dir": "/w"})),
        call("c7", "debug_trace", json!({"function": "main"})),
        call("c8", "use_mcp_tool", json!({"server_name": "s", "tool_name": "t", "arguments": {}})),
        call("c9", "todowrite", json!({"todos": [{"id": "1", "content": "do"}]})),
        call("c10", "read", json!("no object")),
    ];
    let question = Question {
        id: "q".into(),
        kind: QuestionKind::Continue,
        text: "Which?".into(),
        context: None,
        options: vec![QuestionOption { id: "o".into(), label: "This".into(), ..QuestionOption::default() }],
        allow_custom: true,
        default_option: None,
        timeout_seconds: None,
        from: None,
    };
    let mut events = vec![
        user("u1", "why?"),
        Event::Usage {
            model: "m".into(),
            usage: Usage { input_tokens: 9, output_tokens: 1, cost_usd: Some(0.01), ..Usage::default() },
        },
        thought("a1", "Looking."),
    ];
    events.extend(calls.iter().map(|call| action("a1", call.clone())));
    events.extend(calls.iter().take(9).map(|call| success(call, "fine")));
    events.push(failure(&calls[9], "the arguments are no object"));
    events.extend([
        Event::QuestionAsked { question },
        Event::QuestionAnswered {
            id: "q".into(),
            answer: QuestionAnswer::new(Some("o".into()), None, AnsweredBy::Person),
        },
        Event::ModeChanged { mode: "debug".into(), reason: None },
        Event::ContextTruncated { dropped_messages: 4, estimated_tokens: 100 },
        Event::Error {
            error: ErrorReport { kind: ErrorKind::LlmRateLimit, message: "slow down".into(), hint: None },
        },
        Event::Notice { text: "a hook spoke".into() },
        answer("a2", "Because."),
        user("u2", "thanks"),
        Event::Answer { message_id: "a3".into(), content: "done".into(), origin: AnswerOrigin::Completion },
    ]);
    events
}

fn reread(home: &Home, id: &str, task: &RooTask) -> TaskFolds {
    import_task(home, &id.into(), import_roo(task).unwrap()).unwrap();
    TaskFolds::of(&read_log(home, &id.into()).unwrap())
}

/// Texts, calls and results, without what Roo-Code's form has no place for.
fn comparable(folds: &TaskFolds) -> Vec<(Role, Vec<String>)> {
    let part = |part: &Part| match part {
        Part::Text { text } => format!("text {text}"),
        Part::Reasoning { text, .. } => format!("reasoning {text}"),
        Part::Image { image } => format!("image {}", image.data),
        Part::ToolCall { call } => format!("call {} {} {}", call.id, call.name, call.arguments),
        Part::ToolResult { result } => {
            format!("result {} {} {} {}", result.call_id, result.tool, result.is_success(), result.output)
        }
    };
    let messages = folds.model.messages();
    messages.iter().map(|message| (message.role, message.parts.iter().map(part).collect())).collect()
}

#[test]
fn roo_codes_own_schemas_accept_an_export() {
    let Some(checker) = checker() else { return };
    let (_folder, home) = temp_home();
    let id = task_with(&home, "everything", &every_kind_of_event());
    check_with_schemas(&checker, &export_roo(&read_log(&home, &id).unwrap()).unwrap());
}

#[test]
fn tools_go_by_roo_codes_names() {
    let (_folder, home) = temp_home();
    let id = task_with(&home, "names", &every_kind_of_event());
    let task = export_roo(&read_log(&home, &id).unwrap()).unwrap();
    let api: serde_json::Value = serde_json::from_str(&task.api_conversation_history).unwrap();
    let calls: Vec<String> = api[1]["content"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|block| block["type"] == "tool_use")
        .map(|block| format!("{} {}", block["name"].as_str().unwrap(), block["input"]))
        .collect();
    expect![[r#"
        read_file {"path":"a.rs","offset":1}
        write_to_file {"path":"b.rs","content":"x"}
        search_and_replace {"file_path":"b.rs","old_string":"x","new_string":"y"}
        search_files {"regex":"fn","path":"src"}
        list_files {"path":".","recursive":true}
        execute_command {"command":"make","cwd":"/w"}
        debug_trace {"function":"main"}
        use_mcp_tool {"server_name":"s","tool_name":"t","arguments":{}}
        update_todo_list {"todos":[{"id":"1","content":"do"}]}
        read {"_raw":"no object"}"#]]
    .assert_eq(&calls.join("\n"));
}

#[test]
fn what_was_exported_comes_back() {
    let (_folder, home) = temp_home();
    let id = task_with(&home, "everything", &every_kind_of_event());
    let original = TaskFolds::of(&read_log(&home, &id).unwrap());
    let folder = tempfile::tempdir().unwrap();
    export_roo(&read_log(&home, &id).unwrap()).unwrap().write(folder.path()).unwrap();
    let copy = reread(&home, "copy", &RooTask::read(folder.path()).unwrap());
    assert_eq!(comparable(&copy), comparable(&original));
    assert_eq!(copy.transcript.summary.totals.usage, original.transcript.summary.totals.usage);
    assert_eq!(
        (copy.transcript.summary.model, copy.transcript.summary.mode),
        (original.transcript.summary.model, original.transcript.summary.mode)
    );
    let workspace = |folds: &Option<stepwell_protocol::TaskInfo>| folds.as_ref().unwrap().workspace.clone();
    assert_eq!(workspace(&copy.transcript.summary.info), workspace(&original.transcript.summary.info));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn any_run_goes_to_roo_code_and_back(turns in turns("[a-z$é中 \n\"<>]{1,12}".boxed())) {
        let (_folder, home) = temp_home();
        let id = task_with(&home, "source", &events(&turns));
        let records = read_log(&home, &id).unwrap();
        let copy = reread(&home, "copy", &export_roo(&records).unwrap());
        prop_assert_eq!(comparable(&copy), comparable(&TaskFolds::of(&records)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn roo_codes_own_schemas_accept_any_run(turns in turns("[a-z]{0,12}".boxed())) {
        if let Some(checker) = checker() {
            let (_folder, home) = temp_home();
            let id = task_with(&home, "source", &events(&turns));
            check_with_schemas(&checker, &export_roo(&read_log(&home, &id).unwrap()).unwrap());
        }
    }
}

fn fixture(name: &str) -> RooTask {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    RooTask::read(&dir).unwrap()
}

#[test]
fn a_task_of_the_xml_time_is_read() {
    let (_folder, home) = temp_home();
    let folds = reread(&home, "xml", &fixture("roo-xml-era"));
    let messages = folds.model.messages();
    check_history(&messages).unwrap();
    assert_eq!(messages[0].text(), "fix the date bug");
    assert_eq!(messages[2].text(), "[read_file for 'src/date.ts'] Result:1 | export const day = 1");
    assert_eq!(messages.len(), 4);
    let info = folds.transcript.summary.info.unwrap();
    assert_eq!((info.title.as_str(), info.workspace.as_str()), ("fix the date bug", "/home/someone/app"));
    assert_eq!((info.mode.as_str(), info.created_at.0), ("debug", 1_729_000_000_000));
    assert_eq!(folds.transcript.summary.totals.usage.input_tokens, 900);
}

#[test]
fn a_task_with_native_calls_and_a_summary_is_read() {
    let (_folder, home) = temp_home();
    let folds = reread(&home, "native", &fixture("roo-native"));
    let messages = folds.model.messages();
    check_history(&messages).unwrap();
    let shown: Vec<String> =
        comparable(&folds).iter().map(|(role, parts)| format!("{role:?}: {}", parts.join(" | "))).collect();
    expect![[r#"
        User: text Summary: the parser was read and the bug is in line 4.
        User: text here is a picture | image iVBORw0KGgo=
        Assistant: reasoning two files | text Reading both. | call toolu_1 read {"file_path":"a.rs","offset":1,"limit":50} | call toolu_2 bash {"command":"cargo test","working_dir":"crates/a"}
        Tool: result toolu_1 read true 1 | fn a() | result toolu_2 bash false exit 101
        Assistant: call toolu_3 write {"file_path":"a.rs","content":"fn a() {}"}
        Tool: result toolu_3 write false `write` was interrupted: Stepwell stopped before its result was recorded. It may have had effects; check what it changed before you run it again."#]]
    .assert_eq(&shown.join("\n"));
    assert_eq!(messages[3].tool_results().next().unwrap().images.len(), 1);
}

#[test]
fn bad_files_are_named() {
    let only = |text: &str| RooTask {
        api_conversation_history: text.into(),
        ui_messages: None,
        history_item: Some("{ not json".into()),
        task_metadata: None,
    };
    assert!(import_roo(&only("[]")).unwrap().messages.is_empty(), "the list's entry is done without");
    assert!(matches!(import_roo(&only("[{")), Err(Error::InvalidJson { .. })));
    for (text, problem) in [
        (
            r#"[{"content":"x"}]"#,
            "message 1 of `api_conversation_history.json` is damaged: missing field `role`",
        ),
        (
            r#"[{"role":"robot","content":"x"}]"#,
            "message 1 of `api_conversation_history.json` is damaged: it has the role `robot`",
        ),
        (
            r#"[{"role":"user","content":7}]"#,
            "message 1 of `api_conversation_history.json` is damaged: its `content` is neither text nor a list",
        ),
    ] {
        assert_eq!(import_roo(&only(text)).unwrap_err().to_string(), problem);
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(RooTask::read(folder.path()), Err(Error::DataCorruption { .. })));
}
