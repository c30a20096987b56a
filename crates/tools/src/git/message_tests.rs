//! Messages that rules write.

use expect_test::{Expect, expect};

use super::*;

fn change(kind: &str, path: &str, patch: &str) -> FileChange {
    let (old_path, path) = match path.split_once(" > ") {
        Some((old, new)) => (Some(old.to_owned()), new),
        None => (None, path),
    };
    let file = ChangedFile { path: path.to_owned(), old_path, added: Some(1), deleted: Some(1) };
    FileChange { file, kind: ChangeKind::of(kind), patch: patch.to_owned() }
}

fn check(subjects: &[&str], branch: &str, changes: &[FileChange], expected: &Expect) {
    let body = if subjects.iter().any(|subject| subject.contains("body")) { "It was missing" } else { "" };
    let messages: Vec<(&str, &str)> = subjects.iter().map(|subject| (*subject, body)).collect();
    let habits = CommitHabits::of(&messages);
    expected.assert_eq(&write(&MessageSource { changes, habits: &habits, branch }));
}

#[test]
fn messages_say_what_changed() {
    let plain = &["Add x", "Mend y"];
    check(plain, "main", &[change("A", "a/new.py", "")], &expect!["Add new.py"]);
    check(
        plain,
        "main",
        &[change("D", "a.py", ""), change("D", "b.py", "")],
        &expect!["Remove a.py and b.py"],
    );
    check(plain, "main", &[change("R100", "old.rs > new.rs", "")], &expect!["Rename old.rs to new.rs"]);
    check(plain, "main", &[change("R100", "a/x.rs > b/x.rs", "")], &expect!["Move x.rs to b"]);
    check(
        plain,
        "main",
        &[change("M", "Cargo.toml", "+x"), change("M", "Cargo.lock", "+x")],
        &expect!["Update dependencies"],
    );
    let patch =
        "--- a/shop.py\n+++ b/shop.py\n@@ -1,2 +1,5 @@ def pay(x):\n+    x\n+def total(x):\n+    return 1\n";
    check(plain, "main", &[change("M", "shop.py", patch)], &expect!["Add total in shop.py"]);
    let inner = "@@ -1,2 +1,5 @@ fn pay(x: u8) {\n-    1\n+    2\n";
    check(plain, "main", &[change("M", "src/shop.rs", inner)], &expect!["Change pay in shop.rs"]);
    let signature = "@@ -1 +1 @@\n-pub fn pay(x: u8) {\n+pub fn pay(x: u16) {\n";
    check(plain, "main", &[change("M", "src/shop.rs", signature)], &expect!["Change pay in shop.rs"]);
    check(plain, "main", &[change("M", "README.md", "+text")], &expect!["Update README.md"]);
}

#[test]
fn messages_keep_the_habits_of_the_repository() {
    let patch = "@@ -1 +1,2 @@\n+fn parse() {}\n";
    let changes = &[change("M", "crates/tools/src/a.rs", patch)];
    check(&["tools: Add x", "agent: Mend y"], "main", changes, &expect!["tools: Add parse in a.rs"]);
    check(
        &["feat(tools): add x", "fix(net): y"],
        "main",
        changes,
        &expect!["feat(tools): add parse in a.rs"],
    );
    check(&["feat: add x", "fix: y"], "fix/it", changes, &expect!["fix: add parse in a.rs"]);
    check(&["[core] Add x", "[net] Add z"], "main", changes, &expect!["[tools] Add parse in a.rs"]);
    check(
        &["ABC-1 Added x", "ABC-2 Changed y"],
        "feature/abc-77-more",
        changes,
        &expect!["ABC-77 Added parse in a.rs"],
    );
    check(&["docs: x", "feat: y"], "main", &[change("M", "docs/a.md", "")], &expect!["docs: update a.md"]);
    check(
        &["Add a body.", "Mend a body."],
        "main",
        &[change("M", "src/a.rs", patch), change("A", "src/b.rs", "")],
        &expect![[r"
            Add parse in src.

            - src/a.rs: add parse
            - src/b.rs: new"]],
    );
}

#[test]
fn subjects_are_never_too_long() {
    let names: Vec<FileChange> = (0..4)
        .map(|at| change("A", &format!("{}{at}.rs", "a_very_long_name_of_a_file_".repeat(2)), ""))
        .collect();
    let message = write(&MessageSource { changes: &names, habits: &CommitHabits::of(&[]), branch: "main" });
    assert!(message.chars().count() <= 72, "{message}");
}
