//! Changing files: what each writing tool does, refuses and tells.

use expect_test::expect;
use serde_json::json;

use crate::bench::{Bench, free};

/// Fails unless the call succeeds.
async fn must(bench: &Bench, tool: &str, arguments: serde_json::Value) -> String {
    let result = bench.call(tool, arguments).await.result;
    assert!(result.is_success(), "{}", result.output);
    result.output
}

#[tokio::test]
async fn a_tolerant_edit_says_so_and_shows_what_it_did() {
    let bench = free();
    bench.put("m.rs", b"fn main() {\n    if true {\n        run();\n    }\n}\n");
    bench
        .check(
            "edit",
            json!({"file_path": "m.rs", "old_str": "if true {\n    run();\n}", "new_str": "if true {\n    run();\n    stop();\n}"}),
            expect![[r"
                edited `m.rs` at line 2 (+1 -0)
                note: matched ignoring indentation; the new text has the indentation of the file
                --- a/m.rs
                +++ b/m.rs
                @@ -1,5 +1,6 @@
                 fn main() {
                     if true {
                         run();
                +        stop();
                     }
                 }"]],
        )
        .await;
}

#[tokio::test]
async fn roo_codes_search_and_replace_has_expressions_and_ranges() {
    let bench = free();
    bench.put("a.txt", b"key1=a\nkey2=b\nKEY3=c\n");
    must(
        &bench,
        "search_and_replace",
        json!({"path": "a.txt", "search": "^key(\\d)=(.)", "replace": "$2=$1", "use_regex": "true", "ignore_case": true, "start_line": 2, "end_line": 3}),
    )
    .await;
    assert_eq!(bench.content("a.txt"), "key1=a\nb=2\nc=3\n");
    must(
        &bench,
        "edit_file",
        json!({"file_path": "a.txt", "old_string": "=", "new_string": ": ", "expected_replacements": 3}),
    )
    .await;
    assert_eq!(bench.content("a.txt"), "key1: a\nb: 2\nc: 3\n");
    for (arguments, told) in [
        (json!({"old_str": ":", "new_str": "=", "expected_replacements": 2}), "occurs 3 times"),
        (json!({"old_str": "(", "new_str": "x", "use_regex": true}), "no regular expression"),
        (json!({"old_str": "zzz", "new_str": "x", "use_regex": true}), "matches nothing"),
        (json!({"old_str": "b", "new_str": "x", "start_line": 9}), "lie outside it"),
        (json!({"old_str": "b", "new_str": "x", "ignore_case": true}), "needs `use_regex`"),
    ] {
        let mut arguments = arguments;
        arguments["file_path"] = "a.txt".into();
        let result = bench.call("edit", arguments).await.result;
        assert!(!result.is_success() && result.output.contains(told), "{}", result.output);
    }
    assert_eq!(bench.content("a.txt"), "key1: a\nb: 2\nc: 3\n");
}

#[tokio::test]
async fn lines_are_inserted_and_the_end_is_kept() {
    let bench = free();
    bench.put("a.txt", b"one\r\ntwo");
    bench
        .check(
            "insert_content",
            json!({"path": "a.txt", "line": 2, "content": "x\ny\n"}),
            expect!["edited `a.txt` at line 2 (+2 -0)"],
        )
        .await;
    must(&bench, "insert", json!({"file_path": "a.txt", "line": 0, "content": "end\n"})).await;
    assert_eq!(bench.content("a.txt"), "one\r\nx\r\ny\r\ntwo\r\nend");
    bench
        .check(
            "insert",
            json!({"file_path": "a.txt", "line": 9, "content": "x"}),
            expect!["ValidationError: `a.txt` has 5 lines, so nothing can be inserted before line 9; use 0 for the end of the file"],
        )
        .await;
    bench
        .check(
            "insert",
            json!({"file_path": "new.txt", "line": 0, "content": "x"}),
            expect!["created `new.txt` (1 line)"],
        )
        .await;
    assert_eq!(bench.content("new.txt"), "x\r\n", "as the file beside it");
}

#[tokio::test]
async fn blocks_are_applied_all_or_none() {
    let bench = free();
    bench.put("a.rs", b"fn a() {}\nfn b() {}\nfn c() {}\n");
    let diff = "<<<<<<< SEARCH\n:start_line:3\n-------\nfn c() {}\n=======\nfn c(x: u8) {}\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\nfn a() {}\n=======\nfn a() {\n    b();\n}\n>>>>>>> REPLACE\n";
    bench
        .check(
            "apply_diff",
            json!({"path": "a.rs", "diff": diff}),
            expect!["edited `a.rs` 2 times, first at line 1 (+4 -2)"],
        )
        .await;
    let now = "fn a() {\n    b();\n}\nfn b() {}\nfn c(x: u8) {}\n";
    assert_eq!(bench.content("a.rs"), now);
    let diff = "<<<<<<< SEARCH\nfn b() {}\n=======\nfn b(x: u8) {}\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nfn z() {}\n=======\nfn y() {}\n>>>>>>> REPLACE\n";
    bench
        .check(
            "apply_diff",
            json!({"file_path": "a.rs", "diff": diff}),
            expect![[r"
                ValidationError: 1 of 2 blocks could not be applied to `a.rs`; nothing was changed
                block 2: the search text does not occur in `a.rs`; the nearest text is at line 4:
                     4	fn b() {}
                copy it exactly, white space included"]],
        )
        .await;
    let overlap = "<<<<<<< SEARCH\nfn b() {}\n=======\nfn x() {}\n>>>>>>> REPLACE\n<<<<<<< SEARCH\n}\nfn b() {}\n=======\n}\n>>>>>>> REPLACE\n";
    bench
        .check(
            "apply_diff",
            json!({"file_path": "a.rs", "diff": overlap}),
            expect![
                "ValidationError: two blocks for `a.rs` overlap; nothing was changed; make them one block"
            ],
        )
        .await;
    bench.put("b.rs", b"x\n");
    let files = json!([
        {"path": "b.rs", "diff": "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE"},
        {"path": "a.rs", "diff": "<<<<<<< SEARCH\nnone of it\n=======\ny\n>>>>>>> REPLACE"},
    ]);
    assert!(!bench.call("apply_diff", json!({"files": files})).await.result.is_success());
    assert_eq!((bench.content("a.rs").as_str(), bench.content("b.rs").as_str()), (now, "x\n"));
    let args = "<file><path>b.rs</path><diff><content>\n<<<<<<< SEARCH\nx\n=======\nz\n>>>>>>> REPLACE\n</content></diff></file>";
    must(&bench, "apply_diff", json!({"args": args})).await;
    assert_eq!(bench.content("b.rs"), "z\n");
}

#[tokio::test]
async fn write_refuses_what_is_not_the_whole_file() {
    let bench = free();
    let long: String = (0..60).map(|line| format!("line {line}\n")).collect::<Vec<_>>().concat();
    bench.put("a.py", long.as_bytes());
    bench
        .check(
            "write",
            json!({"file_path": "a.py", "content": "x = 1\n"}),
            expect!["ValidationError: `a.py` exists and you have not read it, so nothing was written; read it first, or set `overwrite` to replace it unseen"],
        )
        .await;
    must(&bench, "read", json!({"file_path": "a.py", "limit": 1})).await;
    bench
        .check(
            "write_to_file",
            json!({"path": "a.py", "content": "line 0\n# ... rest of code unchanged ...\n"}),
            expect!["ValidationError: `a.py` was not changed: line 2 of the new text stands for code that was left out (`# ... rest of code unchanged ...`); write the text in full, or use `edit` for the part that changes"],
        )
        .await;
    bench
        .check(
            "write_to_file",
            json!({"path": "a.py", "content": "line 0\nline 1\n", "line_count": 60}),
            expect!["ValidationError: `content` has 2 lines and `line_count` says 60: it seems to be cut off; nothing was written; send the whole content, in parts with `insert` if it is long"],
        )
        .await;
    assert_eq!(bench.content("a.py"), long);
    bench
        .check(
            "write_to_file",
            json!({"path": "a.py", "content": "```python\nx = 1\n```", "line_count": 1}),
            expect![[r"
                wrote `a.py` (1 line; +1 -60)
                note: the Markdown fence around the content was left out
                note: the file had 60 lines and has 1 now; if that was not meant, write it again in full"]],
        )
        .await;
    assert_eq!(bench.content("a.py"), "x = 1\n");
    bench.put("seen.txt", b"x\n");
    bench
        .check(
            "write",
            json!({"file_path": "seen.txt", "content": "y\n", "overwrite": true}),
            expect!["wrote `seen.txt` (1 line; +1 -1)"],
        )
        .await;
    bench
        .check(
            "edit",
            json!({"file_path": "a.py", "old_str": "x = 1", "new_str": "# ... existing code ..."}),
            expect!["ValidationError: `a.py` was not changed: line 1 of the new text stands for code that was left out (`# ... existing code ...`); write the text in full, or use `edit` for the part that changes"],
        )
        .await;
}

#[tokio::test]
async fn what_changed_behind_the_agents_back_is_noticed() {
    let bench = free();
    bench.put("a.txt", b"one\ntwo\nthree\n");
    must(&bench, "read", json!({"file_path": "a.txt"})).await;
    bench.put("a.txt", b"one\ntwo!\nthree\n");
    let refused = "ValidationError: `a.txt` was changed by someone else since you last read it; it has now:\n     2\ttwo!\n; read it again before you change it";
    for (tool, arguments) in [
        ("edit", json!({"file_path": "a.txt", "old_str": "three", "new_str": "3"})),
        ("write", json!({"file_path": "a.txt", "content": "x\n"})),
        ("insert", json!({"file_path": "a.txt", "line": 1, "content": "x\n"})),
        (
            "apply_diff",
            json!({"file_path": "a.txt", "diff": "<<<<<<< SEARCH\nthree\n=======\n3\n>>>>>>> REPLACE"}),
        ),
    ] {
        let result = bench.call(tool, arguments).await.result;
        assert_eq!(format!("ValidationError: {}", result.output), refused, "{tool}");
    }
    assert_eq!(bench.content("a.txt"), "one\ntwo!\nthree\n");
    must(&bench, "read", json!({"file_path": "a.txt"})).await;
    must(&bench, "edit", json!({"file_path": "a.txt", "old_str": "three", "new_str": "3"})).await;
    // Its own changes are no surprise, and touching a file without changing it is none either.
    bench.put("a.txt", b"one\ntwo!\n3\n");
    must(&bench, "edit", json!({"file_path": "a.txt", "old_str": "one", "new_str": "1"})).await;
    // A file that was never read may be edited: the text to replace shows that it is known.
    bench.put("b.txt", b"x\n");
    must(&bench, "edit", json!({"file_path": "b.txt", "old_str": "x", "new_str": "y"})).await;
}

#[tokio::test]
async fn a_hidden_secret_is_not_overwritten_by_its_placeholder() {
    let bench = free();
    let key = format!("sk-ant-api03-{}", "Ab1".repeat(30));
    bench.put(".env", format!("A=1\nKEY={key}\n").as_bytes());
    let shown = must(&bench, "read", json!({"file_path": ".env"})).await;
    assert!(shown.contains("[redacted:") && !shown.contains(&key), "{shown}");
    let copied: String = shown
        .lines()
        .map(|line| format!("{}\n", line.split_once('\t').expect("number").1))
        .collect::<Vec<_>>()
        .concat();
    let result = bench
        .call("write", json!({"file_path": ".env", "content": copied.replace("A=1", "A=2")}))
        .await
        .result;
    assert!(!result.is_success() && result.output.contains("a secret that was hidden"), "{}", result.output);
    must(&bench, "edit", json!({"file_path": ".env", "old_str": "A=1", "new_str": "A=2"})).await;
    assert_eq!(bench.content(".env"), format!("A=2\nKEY={key}\n"));
}

#[tokio::test]
async fn new_syntax_errors_are_told_and_old_ones_are_not() {
    let bench = free();
    bench.put("a.py", b"def a():\n    return (1)\n");
    let output = must(&bench, "edit", json!({"file_path": "a.py", "old_str": "(1)", "new_str": "(1"})).await;
    assert!(output.contains("seems to have broken the syntax") && output.contains("line "), "{output}");
    let output =
        must(&bench, "edit", json!({"file_path": "a.py", "old_str": "return", "new_str": "yield"})).await;
    assert!(!output.contains("syntax"), "{output}");
    let output = must(&bench, "edit", json!({"file_path": "a.py", "old_str": "(1", "new_str": "(2)"})).await;
    assert!(!output.contains("syntax"), "{output}");
}
