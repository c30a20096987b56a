//! Patches in both forms, batches, previews: all or nothing.

use std::os::unix::fs::PermissionsExt;

use expect_test::expect;
use serde_json::{Value, json};
use stepwell_protocol::{ApprovalAnswer, PermissionMode};
use stepwell_tool_runtime::{CallFacts, PermissionJudge, Verdict};
use stepwell_workspace::files::{self, Privacy};

use crate::bench::{Bench, free};

async fn must(bench: &Bench, tool: &str, arguments: Value) -> String {
    let result = bench.call(tool, arguments).await.result;
    assert!(result.is_success(), "{}", result.output);
    result.output
}

async fn refused(bench: &Bench, tool: &str, arguments: Value, told: &str) {
    let result = bench.call(tool, arguments).await.result;
    assert!(!result.is_success() && result.output.contains(told), "{}", result.output);
}

fn mode(bench: &Bench, path: &str) -> u32 {
    stepwell_workspace::files::metadata(&bench.path(path)).expect("a file").permissions().mode() & 0o777
}

#[tokio::test]
async fn git_patches_create_change_rename_and_delete() {
    let bench = free();
    bench.put("src/a.rs", b"fn a() {}\nfn b() {}\n");
    bench.put("old name.txt", b"one\ntwo\n");
    bench.put("gone.txt", b"x\n");
    bench.put("run.sh", b"#!/bin/sh\n");
    let patch = "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,3 @@\n fn a() {}\n-fn b() {}\n+fn b(x: u8) {}\n+fn c() {}\ndiff --git a/old name.txt b/new name.txt\nsimilarity index 50%\nrename from old name.txt\nrename to new name.txt\n--- a/old name.txt\n+++ b/new name.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\ndiff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/bin/tool b/bin/tool\nnew file mode 100755\n--- /dev/null\n+++ b/bin/tool\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+true\n\\ No newline at end of file\ndiff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n-- \n2.43.0\n";
    let output = must(&bench, "patch", json!({ "patch_content": patch })).await;
    expect![[r"
        edited `src/a.rs` at line 1 (+2 -1)
        moved `old name.txt` to `new name.txt` (+1 -1)
        created `bin/tool` (2 lines)
        `run.sh` had this content already (1 line)
        note: the file is a program now
        deleted `gone.txt` (1 line)"]]
    .assert_eq(&output);
    assert_eq!(bench.content("src/a.rs"), "fn a() {}\nfn b(x: u8) {}\nfn c() {}\n");
    assert_eq!(bench.content("new name.txt"), "one\n2\n");
    assert_eq!(bench.content("bin/tool"), "#!/bin/sh\ntrue");
    assert!(!bench.path("old name.txt").exists() && !bench.path("gone.txt").exists());
    assert_ne!(mode(&bench, "bin/tool") & 0o100, 0);
    assert_ne!(mode(&bench, "run.sh") & 0o100, 0);
}

#[tokio::test]
async fn hunks_are_found_although_numbers_are_wrong() {
    let bench = free();
    let text: String = (1..=40).map(|line| format!("line {line}\n")).collect::<Vec<_>>().concat();
    bench.put("a.txt", text.as_bytes());
    let patch = "--- a.txt\n+++ a.txt\n@@ -3,9 +3,1 @@\n line 19\n-line 20\n+LINE 20\n line 21\n@@ @@\n-line 33\n+LINE 33\n";
    must(&bench, "patch", json!({"file_path": "a.txt", "patch_content": patch})).await;
    let expected = text.replace("line 20\n", "LINE 20\n").replace("line 33\n", "LINE 33\n");
    assert_eq!(bench.content("a.txt"), expected);
    let patch = "@@ -1,2 +1,2 @@\n line 1\n-line 2\n+2\n@@ -5,1 +5,1 @@\n-line 999\n+x\n";
    bench
        .check(
            "patch",
            json!({"file_path": "a.txt", "patch_content": patch}),
            expect![[r"
                ValidationError: the patch could not be applied to `a.txt`; nothing was changed
                hunk 2: its old text does not occur in `a.txt`; the nearest text is at line 9:
                     9	line 9
                copy it exactly, white space included"]],
        )
        .await;
    assert_eq!(bench.content("a.txt"), expected);
    for (patch, told) in [
        ("hello", "it is no patch"),
        ("@@ -1 +1 @@\n-line 1\n+x\noops\n@@ -1 +1 @@", "the hunk at line 5"),
        ("@@ -1,3 +1,3 @@\n-line 1\n+x\noops\n", "line 4 of the patch begins with neither"),
        ("--- a\n+++ b\nGIT binary patch\n", "binary"),
        ("--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-line 1\n+line 1\n", "changes nothing"),
    ] {
        refused(&bench, "patch", json!({"file_path": "a.txt", "patch_content": patch}), told).await;
    }
    refused(&bench, "patch", json!({"patch_content": "@@ -1 +1 @@\n-line 1\n+x\n"}), "names no file").await;
    assert_eq!(bench.content("a.txt"), expected);
}

#[tokio::test]
async fn the_begin_patch_form() {
    let bench = free();
    bench.put(
        "a.py",
        b"class A:\n    def run(self):\n        return 1\n\nclass B:\n    def run(self):\n        return 1\n",
    );
    bench.put("b.txt", b"x\n");
    bench.put("c.txt", b"one\ntwo\nthree\n");
    let patch = "*** Begin Patch\n*** Update File: a.py\n@@ class B:\n@@     def run(self):\n-        return 1\n+        return 2\n*** Add File: new/d.txt\n+hello\n+\n+world\n*** Delete File: b.txt\n*** Update File: c.txt\n*** Move to: e.txt\n one\n-two\n+2\n three\n+four\n*** End of File\n*** End Patch\n";
    must(&bench, "apply_patch", json!({"patch": patch})).await;
    assert_eq!(
        bench.content("a.py"),
        "class A:\n    def run(self):\n        return 1\n\nclass B:\n    def run(self):\n        return 2\n"
    );
    assert_eq!(bench.content("new/d.txt"), "hello\n\nworld\n");
    assert_eq!(bench.content("e.txt"), "one\n2\nthree\nfour\n");
    assert!(!bench.path("b.txt").exists() && !bench.path("c.txt").exists());
    let wrap = |body: &str| format!("*** Begin Patch\n{body}\n*** End Patch");
    for (patch, told) in [
        (
            wrap("*** Update File: a.py\n@@     def run(self):\n-        return 1\n+        return 3"),
            "2 times",
        ),
        (
            wrap("*** Update File: a.py\n     def run(self):\n-        return 9\n+        return 3"),
            "does not occur",
        ),
        (
            wrap("*** Update File: a.py\n@@ class Z:\n-        return 1\n+        return 3"),
            "is not in `a.py`",
        ),
        (wrap("*** Update File: a.py\n@@ class A:\n+    x = 1"), "does not say where"),
        (wrap("*** Add File: a.py\n+x"), "which exists"),
        (wrap("*** Delete File: none.txt"), "does not exist"),
        (wrap("*** Update File: e.txt\n*** Move to: a.py\n-one\n+1"), "which exists"),
        (wrap("*** Update File: ../out.txt\n-one\n+1"), "outside the workspace"),
        (wrap("*** Add File: x.txt\nno plus"), "does not begin with `+`"),
        (wrap("*** Update File: e.txt"), "says nothing"),
        ("*** Begin Patch\n*** Add File: x.txt\n+x\n".to_owned(), "ends before"),
        ("*** Begin Patch\n*** End Patch".to_owned(), "names no file"),
    ] {
        refused(&bench, "patch", json!({"patch_content": patch}), told).await;
    }
    assert!(!bench.path("x.txt").exists());
}

#[tokio::test]
async fn a_batch_is_made_as_a_whole_or_not_at_all() {
    let bench = free();
    bench.put("a.txt", b"one\ntwo\n");
    bench.put("b.txt", b"three\n");
    let good = json!([
        {"file_path": "a.txt", "old_str": "one", "new_str": "1"},
        {"file_path": "a.txt", "old_str": "1\ntwo", "new_str": "1\n2"},
        {"path": "b.txt", "old_string": "three", "new_string": "3"},
    ]);
    let output = must(&bench, "batch_edit", json!({ "edits": good })).await;
    expect![[r"
        edited `a.txt` 2 times, first at line 1 (+2 -2)
        edited `b.txt` at line 1 (+1 -1)"]]
    .assert_eq(&output);
    assert_eq!((bench.content("a.txt"), bench.content("b.txt")), ("1\n2\n".to_owned(), "3\n".to_owned()));
    let bad = json!([
        {"file_path": "a.txt", "old_str": "1", "new_str": "one"},
        {"file_path": "b.txt", "old_str": "nothing", "new_str": "x"},
        {"file_path": "c.txt", "old_str": "x", "new_str": "y"},
    ]);
    let result = bench.call("batch_edit", json!({ "edits": bad })).await.result;
    assert!(
        result.output.starts_with("2 of 3 edits cannot be made; nothing was changed\nedit 2: "),
        "{}",
        result.output
    );
    assert_eq!((bench.content("a.txt"), bench.content("b.txt")), ("1\n2\n".to_owned(), "3\n".to_owned()));
}

#[tokio::test]
async fn a_write_that_fails_takes_back_those_before_it() {
    let bench = free();
    bench.put("a.txt", b"one\n");
    bench.put("blocked", b"a file, no folder\n");
    // The second file cannot be made: its folder is a file.
    let patch = "*** Begin Patch\n*** Update File: a.txt\n-one\n+1\n*** Add File: fresh.txt\n+x\n*** Add File: blocked/b.txt\n+x\n*** Delete File: blocked\n*** End Patch";
    let result = bench.call("patch", json!({"patch_content": patch})).await.result;
    assert!(!result.is_success(), "{}", result.output);
    assert_eq!(bench.content("a.txt"), "one\n");
    assert_eq!(bench.content("blocked"), "a file, no folder\n");
    assert!(!bench.path("fresh.txt").exists());
    let patch = patch.replace("blocked/b.txt", "free/b.txt");
    must(&bench, "patch", json!({"patch_content": patch})).await;
    assert_eq!((bench.content("a.txt"), bench.content("free/b.txt")), ("1\n".to_owned(), "x\n".to_owned()));
}

#[tokio::test]
async fn a_preview_changes_nothing() {
    let bench = crate::bench::bench(stepwell_protocol::PermissionMode::Plan);
    bench.put("a.py", b"def a():\n    return 1\n");
    bench
        .check(
            "preview_edit",
            json!({"file_path": "a.py", "old_str": "return 1", "new_str": "return (1"}),
            expect![[r"
                nothing was changed; this would be the change:
                --- a/a.py
                +++ b/a.py
                @@ -1,2 +1,2 @@
                 def a():
                -    return 1
                +    return (1
                warning: `a.py` would have a syntax error: line 2, column 5: cannot be parsed: return (1
            "]],
        )
        .await;
    for arguments in [
        json!({"file_path": "a.py", "diff": "<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n>>>>>>> REPLACE"}),
        json!({"patch_content": "--- a/a.py\n+++ b/a.py\n@@ -2 +2 @@\n-    return 1\n+    return 2\n"}),
        json!({"edits": [{"file_path": "a.py", "old_str": "1", "new_str": "2"}]}),
    ] {
        let output = must(&bench, "preview_edit", arguments).await;
        assert!(output.contains("+    return 2"), "{output}");
    }
    refused(&bench, "preview_edit", json!({"file_path": "a.py"}), "exactly one of").await;
    assert_eq!(bench.content("a.py"), "def a():\n    return 1\n");
}

#[tokio::test]
async fn the_person_and_the_judge_see_every_path() {
    let bench = crate::bench::bench(stepwell_protocol::PermissionMode::Default);
    bench.put("a.txt", b"one\n");
    bench.put(".git/hooks/x", b"x\n");
    bench.put("link.txt", b"");
    let link = bench.path("hooks");
    std::os::unix::fs::symlink(".git/hooks", link).expect("linked");
    let patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: sub/b.txt\n-one\n+1\n*** Add File: .GIT/config\n+x\n*** Add File: hooks/post-commit\n+x\n*** End Patch";
    bench.call("patch", json!({"patch_content": patch})).await;
    bench.call("batch_edit", json!({"edits": [{"file_path": "a.txt", "old_str": "one", "new_str": "y"}, {"file_path": "hooks/x", "old_str": "x", "new_str": "y"}]})).await;
    bench.call("write", json!({"file_path": "hooks/y", "content": "x"})).await;
    let approvals = bench.host.approvals.lock();
    let shown: Vec<Vec<String>> = approvals.iter().map(|request| request.preview.paths.clone()).collect();
    assert_eq!(
        shown,
        [
            vec!["sub/b.txt", "a.txt", ".GIT/config", "hooks/post-commit", ".git/hooks/post-commit"],
            vec!["a.txt", "hooks/x", ".git/hooks/x"],
            vec!["hooks/y", ".git/hooks/y"],
        ]
    );
}

#[tokio::test]
async fn nobody_is_asked_about_an_edit_that_cannot_be_made() {
    let bench = crate::bench::bench(stepwell_protocol::PermissionMode::Default);
    bench.put("a.txt", b"one\n");
    let edit = json!({"edits": [{"file_path": "a.txt", "old_str": "zzz", "new_str": "y"}]});
    let outcome = bench.call("batch_edit", edit).await;
    assert!(outcome.result.output.contains("`old_str` does not occur"), "{}", outcome.result.output);
    assert!(bench.host.approvals.lock().is_empty());
}

/// Says yes, and somebody else writes to the file at the same moment.
struct MeddledWith(std::path::PathBuf);

#[async_trait::async_trait]
impl PermissionJudge for MeddledWith {
    async fn judge(&self, _: &CallFacts) -> Verdict {
        let written = files::write_atomic(&self.0, b"one and more\n", Privacy::Shared);
        written.expect("written");
        Verdict::Allow
    }

    fn granted(&self, _: &CallFacts, _: &ApprovalAnswer) -> Result<(), String> {
        Ok(())
    }

    fn mode(&self) -> PermissionMode {
        PermissionMode::Default
    }

    fn set_mode(&self, _: PermissionMode) {}
}

#[tokio::test]
async fn a_file_that_changes_while_the_call_is_judged_is_not_overwritten() {
    let mut bench = crate::bench::free();
    bench.put("a.txt", b"one\n");
    bench.env.permission = std::sync::Arc::new(MeddledWith(bench.path("a.txt")));
    let edit = json!({"file_path": "a.txt", "old_str": "one", "new_str": "two"});
    let output = bench.call("edit", edit).await.result.output;
    assert!(output.contains("was changed by someone else after this call was planned"), "{output}");
    assert_eq!(bench.content("a.txt"), "one and more\n");
}
