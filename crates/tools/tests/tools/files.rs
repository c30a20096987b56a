//! Reading, writing, changing and listing files.

use expect_test::expect;
use serde_json::json;
use stepwell_protocol::PermissionMode;
use stepwell_workspace::files;

use crate::bench::{bench, free};

#[tokio::test]
async fn read_shows_lines_and_says_what_is_left() {
    let bench = free();
    bench.put("a.txt", b"one\r\ntwo\nthree");
    bench
        .check_exact("read", json!({"file_path": "a.txt"}), "     1\tone\n     2\ttwo\n     3\tthree\n")
        .await;
    bench
        .check_exact(
            "read_file",
            json!({"path": "a.txt", "offset": "2", "limit": 1}),
            "     2\ttwo\n(more lines follow; go on with offset 3)",
        )
        .await;
    bench
        .check_exact(
            "read",
            json!({"file_path": "a.txt", "offset": 9}),
            "(the file has 3 lines; offset 9 lies behind its end)",
        )
        .await;
    bench.put("empty", b"");
    bench.check_exact("read", json!({"file_path": "empty"}), "(the file is empty)").await;
    bench.put("blob", &[1, 0, 2]);
    bench.check_exact("read", json!({"file_path": "blob"}), "(binary file, 3 bytes; not shown)").await;
    bench.put("latin", b"caf\xe9\n");
    bench.check_exact("read", json!({"file_path": "latin"}), "     1\tcaf\u{e9}\n").await;
    bench.put("broken", b"ab\x81\x01\n");
    bench
        .check_exact(
            "read",
            json!({"file_path": "broken"}),
            "     1\tab\u{fffd}\u{1}\n(the file is not UTF-8; what could not be read is shown as \u{fffd})",
        )
        .await;
    bench.put("wide", "é".repeat(5000).as_bytes());
    let wide = bench.call("read", json!({"file_path": "wide"})).await.result.output;
    assert_eq!(wide.matches('é').count(), 2000);
}

#[tokio::test]
async fn read_shows_images_and_artifacts() {
    let bench = free();
    bench.put("dot.png", b"\x89PNG\r\n\x1a\n0000");
    let image = bench.call("read", json!({"file_path": "dot.png"})).await.result;
    assert_eq!(
        (image.output.as_str(), image.images[0].media_type.as_str()),
        ("(image/png, 12 bytes)", "image/png")
    );
    let artifact = bench.host.artifacts.join("art_1.txt");
    files::write_atomic(&artifact, b"kept", files::Privacy::Private).expect("written");
    bench.check_exact("read", json!({"file_path": artifact}), "     1\tkept\n").await;
}

#[tokio::test]
async fn a_cancel_ends_the_reading_of_a_huge_file() {
    let bench = free();
    bench.put("huge.log", &b"line\n".repeat(4000));
    // Reading this would take minutes; on the disk it has 20 KB.
    bench.call("bash", json!({"command": "truncate -s 1T huge.log"})).await;
    let read = bench.call("read", json!({"file_path": "huge.log", "offset": 5000}));
    let (outcome, ()) = tokio::join!(read, async { bench.env.cancel.cancel() });
    assert_eq!(outcome.result.output, "reading `huge.log` was stopped");
}

#[tokio::test]
async fn errors_say_what_to_do() {
    let bench = free();
    bench.put("src/config.rs", b"x");
    bench
        .check(
            "read",
            json!({"file_path": "config.rs"}),
            expect!["ExecutionError: `config.rs` does not exist; similar files: src/config.rs"],
        )
        .await;
    bench
        .check(
            "read",
            json!({"file_path": "zzz.toml"}),
            expect![
                "ExecutionError: `zzz.toml` does not exist; list the folder or search for the file by name"
            ],
        )
        .await;
    bench
        .check(
            "read",
            json!({"file_path": "../artifacts/../x"}),
            expect!["PermissionError: `../artifacts/../x` lies outside the workspace ($TMP/ws); nothing outside it may be read or written"],
        )
        .await;
    bench
        .check(
            "read",
            json!({"file_path": "src"}),
            expect!["ValidationError: `$TMP/ws/src` is a folder; use `list` to see what is in it"],
        )
        .await;
    bench.check("write", json!({"file_path": "/etc/x", "content": ""}), expect!["PermissionError: `/etc/x` lies outside the workspace ($TMP/ws); nothing outside it may be read or written"]).await;
    bench
        .check(
            "bash",
            json!({"command": "ls", "cwd": ".."}),
            expect!["PermissionError: working_dir: `..` lies outside the workspace"],
        )
        .await;
}

#[tokio::test]
async fn links_out_and_missing_folders_are_named_as_such() {
    let bench = free();
    bench.put("src/a.txt", b"x");
    bench.call("bash", json!({"command": "ln -s ../artifacts out; ln -s /etc/hostname notes.txt"})).await;
    let leads_out = |path: &str| {
        format!(
            "`{path}` leads outside the workspace ($TMP/ws) through a symbolic link; nothing outside it may be read or written"
        )
    };
    for (tool, arguments, expected) in [
        ("read", json!({"file_path": "notes.txt"}), leads_out("notes.txt")),
        ("write", json!({"file_path": "notes.txt", "content": "x"}), leads_out("notes.txt")),
        ("list", json!({"path": "out"}), leads_out("out")),
        (
            "list",
            json!({"path": "src/no/such"}),
            "`src/no/such` does not exist; list `src` to see which folders there are".into(),
        ),
        (
            "list",
            json!({"path": "nosuch"}),
            "`nosuch` does not exist; list `.` to see which folders there are".into(),
        ),
    ] {
        let output = bench.call(tool, arguments).await.result.output;
        assert_eq!(output.replace(&bench.folder.path().display().to_string(), "$TMP"), expected);
    }
}

#[tokio::test]
async fn a_private_key_is_hidden_wherever_a_file_is_shown() {
    let bench = free();
    let body = [
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
        "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
        "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3S",
        "C2dVMvDuictGeurT8jNbvJZHtCSuYEvu",
    ];
    let pem = format!("-----BEGIN {0}-----\n{1}\n-----END {0}-----\nafter\n", "PRIVATE KEY", body.join("\n"));
    bench.put("key.pem", pem.as_bytes());
    let hidden = "[redacted:private-key]";
    let numbered = |numbers: std::ops::RangeInclusive<usize>| {
        let lines: Vec<String> = numbers.map(|number| format!("{number:>6}\t{hidden}\n")).collect();
        lines.concat() + "     7\tafter\n"
    };
    bench.check_exact("read", json!({"file_path": "key.pem"}), &numbered(1..=6)).await;
    bench.check_exact("read", json!({"file_path": "key.pem", "offset": 4}), &numbered(4..=6)).await;
    for (tool, arguments) in [
        (
            "edit",
            json!({"file_path": "key.pem", "old_str": "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3X", "new_str": "x"}),
        ),
        ("edit", json!({"file_path": "key.pem", "old_str": "after", "new_str": "behind"})),
        ("edit", json!({"file_path": "key.pem", "old_str": body[1], "new_str": "BKcwggSj"})),
        ("write", json!({"file_path": "copy.pem", "content": pem})),
        ("write", json!({"file_path": "key.pem", "content": "nothing\n"})),
    ] {
        let result = bench.call(tool, arguments).await.result;
        let shown = format!("{} {:?}", result.output, result.detail);
        assert!(!body.iter().any(|line| shown.contains(line)), "{shown}");
    }
    assert_eq!(bench.content("key.pem"), "nothing\n");
}

#[tokio::test]
async fn write_makes_folders_keeps_the_form_and_shows_the_change() {
    let bench = free();
    bench
        .check(
            "write",
            json!({"file_path": "a/b.txt", "content": "x\ny\n"}),
            expect!["created `a/b.txt` (2 lines)"],
        )
        .await;
    let outcome = bench.call("write", json!({"file_path": "a/b.txt", "content": "x\nz\n"})).await;
    assert_eq!(outcome.result.output, "wrote `a/b.txt` (2 lines; +1 -1)");
    let diff = outcome.result.detail.expect("detail").diff().expect("text");
    expect![[r"
        --- a/a/b.txt
        +++ b/a/b.txt
        @@ -1,2 +1,2 @@
         x
        -y
        +z
    "]]
    .assert_eq(&diff);
    bench
        .check(
            "write",
            json!({"file_path": "a/b.txt", "content": "x\nz\n"}),
            expect!["`a/b.txt` had this content already (2 lines)"],
        )
        .await;
    bench.put("dos.txt", b"\xEF\xBB\xBFone\r\ntwo\r\n");
    bench.call("read", json!({"file_path": "dos.txt"})).await;
    bench.call("write", json!({"file_path": "dos.txt", "content": "1\n2\n"})).await;
    assert_eq!(bench.content("dos.txt"), "\u{feff}1\r\n2\r\n");
}

#[tokio::test]
async fn edit_is_exact_and_helps_when_it_cannot_be() {
    let bench = free();
    bench.put("m.rs", b"fn main() {\n    let a = 1;\n    let b = 1;\n}\n");
    bench
        .check(
            "edit",
            json!({"file_path": "m.rs", "old_str": "let a = 1", "new_str": "let a = 2"}),
            expect!["edited `m.rs` at line 2 (+1 -1)"],
        )
        .await;
    bench
        .check(
            "edit",
            json!({"path": "m.rs", "old_string": "let ", "new_string": "let mut "}),
            expect!["ValidationError: `old_str` occurs 2 times in `m.rs`, at lines 2, 3; add lines around it until it is unique, or set `replace_all`"],
        )
        .await;
    bench
        .check(
            "edit",
            json!({"file_path": "m.rs", "old_str": "  let b  = 2;\n}", "new_str": "x"}),
            expect![[r"
                ValidationError: `old_str` does not occur in `m.rs`; the nearest text is at line 3:
                     3	    let b = 1;
                     4	}
                copy it exactly, white space included"]],
        )
        .await;
    bench
        .check(
            "edit",
            json!({"file_path": "m.rs", "old_str": "let ", "new_str": "let mut ", "replace_all": "true"}),
            expect!["edited `m.rs` 2 times, first at line 2 (+2 -2)"],
        )
        .await;
    assert_eq!(bench.content("m.rs"), "fn main() {\n    let mut a = 2;\n    let mut b = 1;\n}\n");
    bench.put("dos.txt", b"one\r\ntwo\r\nthree");
    bench
        .check(
            "edit",
            json!({"file_path": "dos.txt", "old_str": "one\ntwo", "new_str": "1\n2\n2b"}),
            expect!["edited `dos.txt` at line 1 (+3 -2)"],
        )
        .await;
    assert_eq!(bench.content("dos.txt"), "1\r\n2\r\n2b\r\nthree");
    bench
        .check(
            "edit",
            json!({"file_path": "m.rs", "old_str": "x", "new_str": "x"}),
            expect!["ValidationError: `old_str` and `new_str` are the same"],
        )
        .await;
}

#[tokio::test]
async fn list_shows_what_is_there() {
    let bench = free();
    for (path, content) in [("a/b.txt", "12345"), ("c.txt", ""), (".gitignore", "out\n"), ("out/x", "")] {
        bench.put(path, content.as_bytes());
    }
    bench.check("list", json!({}), expect![".gitignore (4 B)\na/\nc.txt (0 B)\n"]).await;
    bench
        .check(
            "list_files",
            json!({"path": ".", "recursive": true}),
            expect![".gitignore (4 B)\na/\na/b.txt (5 B)\nc.txt (0 B)\n"],
        )
        .await;
    bench
        .check(
            "list",
            json!({"recursive": true, "limit": 1}),
            expect![".gitignore (4 B)\n(there is more; list a subfolder or raise the limit)"],
        )
        .await;
    bench
        .check("list", json!({"path": "c.txt"}), expect!["ValidationError: `$TMP/ws/c.txt` is no folder"])
        .await;
}

#[tokio::test]
async fn what_a_person_is_shown_before_a_change() {
    let bench = bench(PermissionMode::Default);
    bench.put("a.txt", b"old\n");
    bench.call("edit", json!({"file_path": "a.txt", "old_str": "old", "new_str": "new"})).await;
    bench.call("bash", json!({"command": "cargo test\nrm x"})).await;
    bench.call("bash", json!({"command": "r\u{200b}m -rf x"})).await;
    let approvals = bench.host.approvals.lock();
    let shown: Vec<String> = approvals
        .iter()
        .map(|request| {
            let preview = &request.preview;
            let change = preview.diff.as_ref().or(preview.command.as_ref()).cloned().unwrap_or_default();
            format!("{} ({})\n{change}", preview.summary, request.reason)
        })
        .collect();
    expect![[r#"
        Edit `a.txt` (default mode asks before changes to files)
        --- a/a.txt
        +++ b/a.txt
        @@ -1 +1 @@
        -old
        +new

        Run `cargo test …` (it would run without a sandbox: a test of the tools alone; default mode asks before commands: `cargo test`, `rm x`)
        cargo test
        rm x
        Run `r\u{200b}m -rf x` (it would run without a sandbox: a test of the tools alone; the command holds hidden characters: U+200B (takes no room); the name of its program holds unusual characters: `r\u{200b}m -rf x`)
        r<hidden>m -rf x"#]]
    .assert_eq(&shown.join("\n").replace('\u{200b}', "<hidden>"));
    drop(approvals);
    assert_eq!(bench.content("a.txt"), "old\n");
}

#[tokio::test]
async fn grep_and_glob_find_what_is_there() {
    let bench = free();
    bench.put("src/main.rs", b"fn main() {\n    greet();\n}\n\nfn greet() {}\n");
    bench.put("src/lib.rs", b"pub fn greet_all() {}\n");
    bench.put("notes/long.txt", format!("{}greet{}\n", "x".repeat(5000), "y".repeat(5000)).as_bytes());
    bench.put(".gitignore", b"*.log\n");
    bench.put("a.log", b"greet\n");
    bench
        .check(
            "grep",
            json!({"pattern": "greet\\(", "context": 1}),
            expect![[r#"
        src/main.rs
             1- fn main() {
             2:     greet();
             3- }
             4- 
             5: fn greet() {}
    "#]],
        )
        .await;
    bench
        .check(
            "search_files",
            json!({"path": "src", "regex": "fn \\w+", "file_pattern": "lib.*"}),
            expect![[r#"
                src/lib.rs
                     1: pub fn greet_all() {}
            "#]],
        )
        .await;
    bench
        .check(
            "grep",
            json!({"pattern": "greet", "output_mode": "count"}),
            expect![[r#"
        notes/long.txt: 1
        src/lib.rs: 1
        src/main.rs: 2
    "#]],
        )
        .await;
    bench
        .check(
            "grep",
            json!({"pattern": "fn", "limit": 1, "offset": 1}),
            expect![[r#"
        src/main.rs
             1: fn main() {
        (3 matching lines in 2 files; more lines follow, go on with offset 2 or narrow the search)"#]],
        )
        .await;
    bench
        .check(
            "grep",
            json!({"pattern": "greet", "output_mode": "files", "limit": 2}),
            expect![[r#"
            notes/long.txt
            src/lib.rs
            (3 matching files; more files follow, go on with offset 2 or narrow the search)"#]],
        )
        .await;
    bench
        .check("grep", json!({"pattern": "nowhere_at_all"}), expect!["(nothing matches `nowhere_at_all`)"])
        .await;
    bench
        .check(
            "grep",
            json!({"pattern": "("}),
            expect![[r#"
        ValidationError: `(` cannot be searched for: regex parse error:
            (?:()
            ^
        error: unclosed group; mend the pattern, or search for plain text instead"#]],
        )
        .await;
    bench.check("grep", json!({"pattern": "x", "path": "../out"}), expect!["PermissionError: `../out` lies outside the workspace ($TMP/ws); nothing outside it may be read or written"]).await;
    bench
        .check(
            "glob",
            json!({"pattern": "src/*.rs"}),
            expect![[r#"
        src/lib.rs
        src/main.rs"#]],
        )
        .await;
    bench.check("glob", json!({"pattern": "*.log"}), expect!["(no file matches `*.log`)"]).await;
    bench.check("glob", json!({"pattern": "*.log", "include_ignored": true}), expect!["a.log"]).await;
}

#[tokio::test]
async fn grep_shows_no_line_of_a_private_key() {
    let bench = free();
    let key = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n{}\n-----END PRIVATE KEY-----\nafter\n",
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
        "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu"
    );
    bench.put("key.txt", key.as_bytes());
    bench
        .check(
            "grep",
            json!({"pattern": "^M|after"}),
            expect![[r#"
        key.txt
             2: [redacted:private-key]
             3: [redacted:private-key]
             5: after
    "#]],
        )
        .await;
    // However large the file is, and wherever in it the key lies.
    let large = format!("{}{key}{}", "filler of no interest\n".repeat(100_000), "x".repeat(3 << 20));
    bench.put("key.txt", large.as_bytes());
    bench
        .check(
            "grep",
            json!({"pattern": "^M|after"}),
            expect![[r#"
        key.txt
        100002: [redacted:private-key]
        100003: [redacted:private-key]
        100005: after
    "#]],
        )
        .await;
}
