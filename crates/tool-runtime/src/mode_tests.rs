//! Modes: which tools they have, which files they may change, what they say when they refuse.

use std::path::Path;

use serde_json::json;
use stepwell_protocol::{Preview, TaskId};

use super::*;

fn facts(category: Category, risk: Risk, preview: Preview, arguments: Value) -> CallFacts {
    CallFacts {
        task: TaskId::generate(),
        tool: "tool".into(),
        aliases: &[],
        category,
        risk,
        arguments,
        preview,
        command: None,
    }
}

fn writes(path: &str) -> CallFacts {
    let preview = Preview { paths: vec![path.to_owned()], ..Preview::default() };
    facts(Category::Files, Risk::Write, preview, Value::Null)
}

fn documents_only() -> ModeLimits {
    let pattern = FilePattern::new(r"\.md$", Some("Markdown files".into())).unwrap();
    ModeLimits::new(
        "architect",
        [ToolGroup::Read, ToolGroup::Edit, ToolGroup::Mcp],
        EditScope::Matching(vec![pattern]),
    )
}

#[test]
fn file_patterns_hold_for_every_path_of_a_call() {
    let limits = documents_only();
    let refused = |path: &str| limits.refuses_call(&writes(path), Path::new("/w"));
    for allowed in ["docs/plan.md", "/w/README.md", "./a.md"] {
        assert_eq!(refused(allowed), None, "{allowed}");
    }
    for path in ["src/main.rs", "/w/a.md.rs", "md", "/elsewhere/main.rs"] {
        let reason = refused(path).unwrap();
        assert!(reason.contains("`architect` may only change Markdown files"), "{reason}");
    }
    let several = Preview { paths: vec!["a.md".into(), "b.rs".into()], ..Preview::default() };
    let several = facts(Category::Files, Risk::Write, several, Value::Null);
    assert!(limits.refuses_call(&several, Path::new("/w")).is_some());
}

#[test]
fn programs_get_a_read_only_workspace_or_are_refused() {
    let limits = ModeLimits::new("ask", [ToolGroup::Read, ToolGroup::Command], EditScope::Everything);
    // Without the group `edit` nothing may be changed, whatever the scope says.
    assert_eq!(limits.access(), WorkspaceAccess::ReadOnly);
    let confined = facts(Category::Shell, Risk::Execute, Preview::default(), Value::Null);
    assert_eq!(limits.refuses_call(&confined, Path::new("/w")), None);
    let preview = Preview { unconfined: Some("no sandbox was set up".into()), ..Preview::default() };
    let unconfined = facts(Category::Shell, Risk::Execute, preview, Value::Null);
    assert!(limits.refuses_call(&unconfined, Path::new("/w")).unwrap().contains("no sandbox was set up"));
    let code = ModeLimits::new("code", ToolGroup::ALL, EditScope::Everything);
    assert_eq!(code.access(), WorkspaceAccess::Full);
    assert_eq!(code.refuses_call(&unconfined, Path::new("/w")), None);
}

#[test]
fn paths_of_mcp_tools_are_judged_by_their_arguments() {
    let limits = documents_only();
    let call = |risk, arguments| facts(Category::External, risk, Preview::default(), arguments);
    let refused = |risk, arguments| limits.refuses_call(&call(risk, arguments), Path::new("/w")).is_some();
    assert!(refused(Risk::Execute, json!({"path": "src/main.rs"})));
    assert!(refused(Risk::Execute, json!({"edits": [{"file_path": "a.rs"}]})));
    assert!(refused(Risk::Execute, json!({"paths": ["a.md", "b.rs"]})));
    assert!(!refused(Risk::Execute, json!({"path": "notes.md"})));
    assert!(!refused(Risk::Execute, json!({"query": "src/main.rs"})));
    assert!(!refused(Risk::Read, json!({"path": "src/main.rs"})));
}

#[test]
fn patterns_that_are_wrong_or_too_large_are_told() {
    assert!(FilePattern::new("(", None).unwrap_err().contains("`(` is no pattern for files"));
    assert!(FilePattern::new(&"(a{1000}){1000}".repeat(4), None).is_err());
}
