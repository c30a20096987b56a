//! Patterns and files of a repository that would end the process or never be done, and what the tools say to them.

use serde_json::json;

use crate::bench::free;

fn braces() -> String {
    format!("{}a{}", "{".repeat(20_000), "}".repeat(20_000))
}

#[tokio::test]
async fn r01_a_pattern_of_braces_is_refused_and_the_next_call_works() {
    let bench = free();
    bench.put("src/a.rs", b"needle\n");
    for (tool, arguments) in [
        ("glob", json!({"pattern": braces()})),
        ("glob", json!({"pattern": "{a,b}".repeat(5000)})),
        ("grep", json!({"pattern": "needle", "file_pattern": braces()})),
        ("grep", json!({"pattern": "(".repeat(20_000)})),
        ("grep", json!({"pattern": "a{1000}{1000}{1000}"})),
        (
            "edit",
            json!({"file_path": "src/a.rs", "old_str": "(".repeat(100_000), "new_str": "x", "regex": true}),
        ),
    ] {
        let outcome = bench.call(tool, arguments).await;
        assert!(outcome.result.error.is_some(), "{tool}: {}", outcome.result.output);
    }
    let twin = bench.call("glob", json!({"pattern": "**/*.{rs,toml}"})).await;
    assert!(twin.result.output.contains("src/a.rs"), "{}", twin.result.output);
}

#[tokio::test]
async fn hostile_files_of_a_repository_end_nothing() {
    let bench = free();
    bench.put("src/a.rs", b"needle\n");
    bench.put("ignored/b.rs", b"needle\n");
    bench.put(".gitignore", format!("ignored/\n{}\n", braces()).as_bytes());
    bench.put("src/.ignore", format!("{}\n", braces()).as_bytes());
    bench.put(
        ".editorconfig",
        format!("[*.{}]\nend_of_line = crlf\n[*]\nend_of_line = lf\n", braces()).as_bytes(),
    );
    for (tool, arguments) in [
        ("glob", json!({"pattern": "**/*.rs"})),
        ("grep", json!({"pattern": "needle"})),
        ("list", json!({"path": ".", "recursive": true})),
    ] {
        let outcome = bench.call(tool, arguments).await;
        let output = outcome.result.output;
        assert!(output.contains("a.rs") && !output.contains("b.rs"), "{tool}: {output}");
    }
    let written = bench.call("write", json!({"file_path": "src/new.rs", "content": "one\n"})).await;
    assert!(written.result.error.is_none(), "{:?}", written.result.error);
    assert_eq!(bench.content("src/new.rs"), "one\n");
}

#[tokio::test]
async fn arguments_nested_without_end_are_refused() {
    let bench = free();
    for text in
        ["[".repeat(100_000), "{\"a\":".repeat(100_000), format!("{{\"pattern\":{}", "[".repeat(100_000))]
    {
        let outcome = bench.call("glob", json!(text)).await;
        assert!(outcome.result.error.is_some());
    }
}
