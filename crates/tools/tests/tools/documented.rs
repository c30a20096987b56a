//! Every parameter that MemStack and Roo-Code document for a tool is accepted under its documented name and does what it says.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use stepwell_protocol::Risk;

use crate::bench::{Bench, free};

/// A tool, the parameters a document names, and a call that uses them all with a word of its result.
struct Documented {
    tool: &'static str,
    parameters: &'static [&'static str],
    calls: Vec<(Value, &'static str)>,
}

fn documented(
    tool: &'static str,
    parameters: &'static [&'static str],
    calls: Vec<(Value, &'static str)>,
) -> Documented {
    Documented { tool, parameters, calls }
}

/// What both documents describe and is not built yet.
const NOT_BUILT: &[&str] = &[
    "web_search",
    "web_scrape",
    "request_env_var",
    "get_env_var",
    "check_env_vars",
    "terminal",
    "desktop",
    "skill_loader",
    "skill_installer",
    "start_terminal",
    "stop_terminal",
    "get_terminal_status",
    "restart_terminal",
    "start_desktop",
    "stop_desktop",
    "get_desktop_status",
    "restart_desktop",
    "generate_tests",
    "run_slash_command",
    "skill",
    "generate_image",
    "browser_action",
    "fetch_instructions",
];

fn prepared() -> Bench {
    let bench = free();
    bench.put("src/shop.py", b"import os\n\nRATE = 2\n\n\ndef total(x):\n    return x * RATE\n\n\nclass Cart:\n    def pay(self):\n        return total(1)\n");
    bench.put("src/deep/other.py", b"def elsewhere():\n    pass\n");
    bench.put("lib/more.rs", b"pub fn retry_request() {}\n");
    bench.put("Cargo.toml", b"[package]\nname = \"shop\"\n\n[[bin]]\nname = \"x\"\n");
    bench.put("note.txt", b"one\ntwo\nthree\n");
    bench.put("odd.script", b"def odd():\n    pass\n");
    bench
}

fn memstack() -> Vec<Documented> {
    let patch = "--- a/note.txt\n+++ b/note.txt\n@@ -1,3 +1,3 @@\n one\n-2\n+deux\n three\n";
    vec![
        documented("analyze_coverage", &["path"], vec![]),
        documented(
            "export_artifact",
            &["file_path", "artifact_name"],
            vec![(json!({"file_path": "note.txt", "artifact_name": "Note"}), "kept `note.txt` as `Note`")],
        ),
        documented("list_artifacts", &[], vec![]),
        documented(
            "batch_export_artifacts",
            &["file_paths"],
            vec![(json!({"file_paths": ["note.txt"]}), "kept `note.txt`")],
        ),
        documented(
            "import_file",
            &["source_url", "dest_path"],
            vec![(json!({"source_url": "note.txt", "dest_path": "copied.txt"}), "wrote `copied.txt`")],
        ),
        documented(
            "import_files_batch",
            &["files"],
            vec![(
                json!({"files": [{"source_url": "note.txt", "dest_path": "more.txt"}]}),
                "wrote `more.txt`",
            )],
        ),
        documented("run_tests", &["path", "pattern"], vec![]),
        documented("git_diff", &["path", "staged"], vec![]),
        documented("git_log", &["limit", "path"], vec![]),
        documented("generate_commit", &["staged_only"], vec![]),
        documented("plan_enter", &["conversation_id", "title", "description"], vec![]),
        documented(
            "plan_update",
            &["plan_id", "content", "mode", "section_name", "explored_files", "critical_files"],
            vec![],
        ),
        documented("plan_exit", &["conversation_id", "plan_id", "approve", "summary"], vec![]),
        documented(
            "read",
            &["file_path", "offset", "limit"],
            vec![(json!({"file_path": "note.txt", "offset": 2, "limit": 1}), "two")],
        ),
        documented(
            "write",
            &["file_path", "content"],
            vec![(json!({"file_path": "new.txt", "content": "x\n"}), "new.txt")],
        ),
        documented(
            "edit",
            &["file_path", "old_str", "new_str"],
            vec![(json!({"file_path": "note.txt", "old_str": "two", "new_str": "2"}), "note.txt")],
        ),
        documented(
            "patch",
            &["file_path", "patch_content"],
            vec![(json!({"file_path": "note.txt", "patch_content": patch}), "note.txt")],
        ),
        documented(
            "glob",
            &["pattern", "path"],
            vec![(json!({"pattern": "*.py", "path": "src"}), "shop.py")],
        ),
        documented(
            "grep",
            &["pattern", "path", "-i", "-n", "-C"],
            vec![(json!({"pattern": "RATE =", "path": "src", "-i": true, "-n": true, "-C": 1}), "RATE")],
        ),
        documented(
            "list",
            &["path", "recursive"],
            vec![(json!({"path": "src", "recursive": true}), "other.py")],
        ),
        documented(
            "bash",
            &["command", "timeout", "working_dir"],
            vec![(json!({"command": "ls", "timeout": 20, "working_dir": "src"}), "shop.py")],
        ),
        documented(
            "ast_parse",
            &["file_path", "language"],
            vec![
                (json!({"file_path": "odd.script", "language": "python"}), "function_definition"),
                (json!({"file_path": "Cargo.toml"}), "table_array_element"),
            ],
        ),
        documented(
            "ast_find_symbols",
            &["file_path", "symbol_type"],
            vec![
                (json!({"file_path": "src/shop.py", "symbol_type": "class"}), "Cart"),
                (json!({"file_path": "src/shop.py", "symbol_type": "functions"}), "total"),
                (json!({"file_path": "Cargo.toml"}), "package.name"),
            ],
        ),
        documented(
            "ast_extract_function",
            &["file_path", "function_name"],
            vec![(json!({"file_path": "src/shop.py", "function_name": "total"}), "return x * RATE")],
        ),
        documented("ast_get_imports", &["file_path"], vec![(json!({"file_path": "src/shop.py"}), "os")]),
        documented(
            "code_index_build",
            &["path", "languages"],
            vec![
                (json!({"path": "src", "languages": ["python"]}), "holds 2 files of `src` in Python"),
                (json!({"languages": ["rust"]}), "holds 1 files in Rust"),
                (json!({"languages": ["klingon"]}), "`klingon` is no language"),
            ],
        ),
        documented("find_definition", &["symbol"], vec![(json!({"symbol": "total"}), "src/shop.py:6")]),
        documented("find_references", &["symbol"], vec![(json!({"symbol": "total"}), "return total(1)")]),
        documented("call_graph", &["function_name"], vec![(json!({"function_name": "total"}), "pay")]),
        documented("dependency_graph", &["file_path"], vec![(json!({"file_path": "src/shop.py"}), "")]),
        documented(
            "edit_by_ast",
            &["file_path", "edits"],
            vec![(
                json!({"file_path": "src/shop.py", "edits": [
                    {"operation": "replace_body", "symbol": "Cart.pay", "code": "return 2"},
                    {"operation": "delete", "symbol": "RATE"},
                ]}),
                "shop.py",
            )],
        ),
        documented(
            "batch_edit",
            &["edits"],
            vec![(
                json!({"edits": [{"file_path": "lib/more.rs", "old_str": "retry_request", "new_str": "again"}]}),
                "more.rs",
            )],
        ),
        documented(
            "preview_edit",
            &["file_path", "old_str", "new_str"],
            vec![(json!({"file_path": "note.txt", "old_str": "one", "new_str": "1"}), "+1")],
        ),
        documented(
            "ask_clarification",
            &["question", "clarification_type", "options", "allow_custom"],
            vec![(
                json!({"question": "Which?", "clarification_type": "approach", "allow_custom": false, "options": [{"id": "a", "label": "A", "description": "d", "recommended": true}]}),
                "A (option `a`)",
            )],
        ),
        documented(
            "request_decision",
            &["question", "decision_type", "options", "allow_custom", "default_option"],
            vec![(
                json!({"question": "Which?", "decision_type": "risk", "allow_custom": false, "default_option": "a", "options": [
                {"id": "a", "label": "A", "description": "d", "recommended": true, "estimated_time": "1h", "estimated_cost": "$1", "risks": ["r"]}]}),
                "A (option `a`)",
            )],
        ),
        documented(
            "todowrite",
            &["session_id", "action", "todos", "todo_id"],
            vec![
                (
                    json!({"session_id": "s", "action": "replace", "todos": [{"id": "a", "content": "one", "status": "pending", "priority": "high"}]}),
                    "[ ] a. one (high)",
                ),
                (
                    json!({"session_id": "s", "action": "add", "todos": [{"content": "two", "priority": "low"}]}),
                    "[ ] 2. two (low)",
                ),
                (
                    json!({"action": "update", "todo_id": "a", "todos": [{"status": "completed"}]}),
                    "[x] a. one (high)",
                ),
            ],
        ),
        documented(
            "todoread",
            &["session_id", "status", "priority"],
            vec![(json!({"session_id": "s", "status": "pending", "priority": "low"}), "two")],
        ),
    ]
}

fn roo() -> Vec<Documented> {
    let blocks = "<<<<<<< SEARCH\n:start_line:1\n-------\none\n=======\neins\n>>>>>>> REPLACE";
    let several = "<file><path>note.txt</path><diff><content>\n<<<<<<< SEARCH\neins\n=======\nuno\n>>>>>>> REPLACE\n</content></diff></file>";
    vec![
        documented(
            "execute_command",
            &["command", "cwd", "timeout"],
            vec![(json!({"command": "ls", "cwd": "src", "timeout": 20}), "shop.py")],
        ),
        documented(
            "read_file",
            &["path", "args", "mode", "offset", "limit", "line_range"],
            vec![
                (json!({"path": "note.txt", "mode": "slice", "offset": 2, "limit": 1}), "two"),
                (json!({"path": "note.txt", "line_range": "3-3"}), "three"),
                (
                    json!({"args": "<file><path>note.txt</path><line_range>2-2</line_range></file><file><path>odd.script</path></file>"}),
                    "def odd",
                ),
                (json!({"args": {"file": [{"path": "note.txt"}]}}), "three"),
            ],
        ),
        documented(
            "write_to_file",
            &["path", "content", "line_count"],
            vec![(json!({"path": "other.txt", "content": "x\n", "line_count": 1}), "other.txt")],
        ),
        documented(
            "apply_diff",
            &["path", "diff", "args"],
            vec![
                (json!({"path": "note.txt", "diff": blocks}), "note.txt"),
                (json!({"args": several}), "note.txt"),
            ],
        ),
        documented(
            "edit_file",
            &["file_path", "old_string", "new_string", "expected_replacements"],
            vec![(
                json!({"file_path": "note.txt", "old_string": "three", "new_string": "3", "expected_replacements": 1}),
                "note.txt",
            )],
        ),
        documented(
            "search_replace",
            &["file_path", "old_string", "new_string"],
            vec![(json!({"file_path": "note.txt", "old_string": "3", "new_string": "III"}), "note.txt")],
        ),
        documented(
            "search_and_replace",
            &["path", "search", "replace", "use_regex", "ignore_case", "start_line", "end_line"],
            vec![(
                json!({"path": "note.txt", "search": "i+", "replace": "3", "use_regex": true, "ignore_case": true, "start_line": 3, "end_line": 3}),
                "note.txt",
            )],
        ),
        documented(
            "insert_content",
            &["path", "line", "content"],
            vec![(json!({"path": "note.txt", "line": 0, "content": "four"}), "note.txt")],
        ),
        documented(
            "apply_patch",
            &["patch"],
            vec![(
                json!({"patch": "*** Begin Patch\n*** Update File: odd.script\n@@\n-def odd():\n+def even():\n*** End Patch"}),
                "odd.script",
            )],
        ),
        documented(
            "search_files",
            &["path", "regex", "file_pattern"],
            vec![(json!({"path": "src", "regex": "def \\w+", "file_pattern": "*.py"}), "def total")],
        ),
        documented(
            "list_files",
            &["path", "recursive"],
            vec![(json!({"path": ".", "recursive": true}), "shop.py")],
        ),
        documented(
            "list_code_definition_names",
            &["path"],
            vec![
                (json!({"path": "src"}), "# src/shop.py"),
                (json!({"path": "src/shop.py"}), "class Cart"),
                (json!({"path": "Cargo.toml"}), "bin.name"),
                (json!({"path": "."}), "# Cargo.toml"),
            ],
        ),
        documented(
            "codebase_search",
            &["query", "path"],
            vec![
                (json!({"query": "retry a request", "path": "lib"}), "lib/more.rs"),
                (json!({"query": "retry a request", "path": "src"}), "Nothing is about"),
            ],
        ),
        documented(
            "ask_followup_question",
            &["question", "follow_up"],
            vec![
                (json!({"question": "Which?", "follow_up": [{"text": "This", "mode": "code"}]}), "This"),
                (
                    json!({"question": "Which?", "follow_up": "<suggest>That</suggest><suggest mode=\"ask\">Other</suggest>"}),
                    "That",
                ),
            ],
        ),
        documented("update_todo_list", &["todos"], vec![(json!({"todos": "[x] a\n[-] b"}), "[-] 2. b")]),
        documented("attempt_completion", &["result"], vec![(json!({"result": "done"}), "complete")]),
        documented("read_command_output", &["artifact_id"], vec![]),
        documented("switch_mode", &["mode_slug", "reason"], vec![]),
        documented("new_task", &["mode", "message", "todos"], vec![]),
    ]
}

#[tokio::test]
async fn documented_parameters_are_accepted_and_do_what_they_say() {
    for tools in [memstack(), roo()] {
        let bench = prepared();
        for one in tools {
            let tool = bench.executor.registry().get(one.tool).unwrap_or_else(|| panic!("{}", one.tool));
            // No parameter is unknown, whatever its value would be.
            let all: Value = one.parameters.iter().map(|name| ((*name).to_owned(), Value::Null)).collect();
            if let Ok(prepared) = tool.arguments().prepare(&all, Risk::Read) {
                assert_eq!(prepared.notes, Vec::<String>::new(), "{}", one.tool);
            }
            let used: BTreeSet<&str> = one
                .calls
                .iter()
                .flat_map(|(arguments, _)| arguments.as_object().into_iter().flatten())
                .map(|(name, _)| name.as_str())
                .collect();
            assert!(
                one.calls.is_empty() || one.parameters.iter().all(|name| used.contains(name)),
                "{}: no call uses all of {:?}",
                one.tool,
                one.parameters
            );
            for (arguments, expected) in one.calls {
                let text = bench.call(one.tool, arguments.clone()).await.result.output;
                assert!(text.contains(expected), "{} {arguments}: {text}", one.tool);
                assert!(!text.contains("unknown argument"), "{} {arguments}: {text}", one.tool);
            }
        }
    }
}

#[test]
fn tools_that_are_documented_and_not_built_are_known_to_be() {
    let bench = free();
    let built: Vec<&&str> =
        NOT_BUILT.iter().filter(|name| bench.executor.registry().get(name).is_some()).collect();
    assert!(built.is_empty(), "built by now, so put them into the table: {built:?}");
}

#[tokio::test]
async fn an_unknown_parameter_is_told_with_what_may_be_meant() {
    let bench = prepared();
    for (tool, arguments, told) in [
        (
            "list",
            json!({"path": "src", "recursiv": true}),
            "unknown argument `recursiv` was ignored; did you mean `recursive`?",
        ),
        ("bash", json!({"comand": "ls"}), "`comand` is unknown; did you mean `command`?"),
        ("todowrite", json!({"todo": []}), "`todo` is unknown; did you mean `todos`?"),
        ("grep", json!({"pattern": "x", "zebra": 1}), "unknown argument `zebra` was ignored"),
    ] {
        let text = bench.call(tool, arguments.clone()).await.result.output;
        assert!(text.contains(told), "{tool} {arguments}: {text}");
    }
}
