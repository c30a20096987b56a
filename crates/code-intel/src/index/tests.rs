//! The index over changes, damage and odd files.

#![allow(clippy::disallowed_methods, reason = "tests make files to look at")]

use proptest::prelude::*;
use stepwell_workspace::Workspace;

use super::*;
use crate::facts::Kind;

/// A workspace with these files, and its index, up to date.
pub(crate) fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(folder.path(), path, text.as_bytes());
    }
    let index = open(folder.path());
    (folder, index)
}

fn open(folder: &Path) -> Index {
    let root = folder.join("work");
    std::fs::create_dir_all(&root).unwrap();
    let workspace = Workspace::open(&root, &[]).unwrap();
    let mut index = Index::open(&folder.join("data"), &workspace).unwrap();
    index.refresh(&|_, _| {}, &|| false).unwrap();
    index
}

fn write(folder: &Path, path: &str, text: &[u8]) {
    let path = folder.join("work").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn refresh(index: &mut Index) -> Refreshed {
    index.refresh(&|_, _| {}, &|| false).unwrap()
}

fn names(index: &Index, path: &str) -> Vec<String> {
    let outline = index.outline(index.named(path).unwrap());
    outline.definitions.iter().map(|definition| definition.name.clone()).collect()
}

#[test]
fn only_what_changed_is_read_again_and_nothing_is_stale() {
    let (folder, mut index) = workspace(&[("a.py", "def one(): pass\n"), ("b/c.py", "def two(): pass\n")]);
    assert_eq!(names(&index, "b/c.py"), ["two"]);
    write(folder.path(), "b/c.py", b"def six(): pass\n");
    write(folder.path(), "b/new.py", b"def new(): pass\n");
    std::fs::remove_file(folder.path().join("work/a.py")).unwrap();
    let refreshed = refresh(&mut index);
    assert_eq!((refreshed.files, refreshed.removed), (2, 1));
    assert_eq!(names(&index, "b/c.py"), ["six"]);
    assert_eq!(names(&index, "b/new.py"), ["new"]);
    assert!(index.named("a.py").is_err());
    assert!(index.defining("two").is_empty() && index.defining("one").is_empty());
    // Another process finds it all.
    let other = open(folder.path());
    assert_eq!(names(&other, "b/c.py"), ["six"]);
}

#[test]
fn a_hundred_edits_are_each_seen_by_the_next_question() {
    const FILES: usize = 5;
    let user = |path: &str| format!("from {path} import f0\n\nf0()\n");
    let (folder, mut index) = workspace(&[]);
    for number in 0..FILES {
        write(folder.path(), &format!("m{number}.py"), b"def f0(): pass\n");
        write(folder.path(), &format!("user{number}.py"), user(&format!("m{number}")).as_bytes());
    }
    refresh(&mut index);
    for round in 1..=100 {
        let (module, path) = (format!("m{}", round % FILES), format!("m{}.py", round % FILES));
        // The same length each time, and often within one tick of the clock. The function moves by a line or is
        // called otherwise, so that the user's name means it in another place or nothing.
        let is_there = round % 3 != 0;
        let name = if is_there { "f0" } else { "g0" };
        let text =
            if round % 2 == 0 { format!("\ndef {name}(): pass") } else { format!("def {name}(): pass\n") };
        write(folder.path(), &path, text.as_bytes());
        refresh(&mut index);
        assert_eq!(names(&index, &path), [name], "{round}");
        let resolver = crate::resolve::Resolver::new(&index);
        let asked = index.named(&format!("user{}.py", round % FILES)).unwrap();
        let found = resolver.definition_at(asked, 3, 1).unwrap().found().to_vec();
        let found = found.iter().find(|found| index.path(found.file) == path);
        let line = found.filter(|found| found.definition.kind == Kind::Function);
        let line = line.map(|found| found.definition.at.line);
        assert_eq!(line, is_there.then_some(if round % 2 == 0 { 2 } else { 1 }), "{module}, {round}");
        if let Some(found) = found.filter(|_| is_there) {
            let uses = resolver.references(found);
            assert_eq!(uses.iter().filter(|one| one.file == asked).count(), 2, "{round}");
        }
    }
}

#[test]
fn a_damaged_or_foreign_file_is_built_anew() {
    let (folder, index) = workspace(&[("a.py", "def one(): pass\n")]);
    drop(index);
    let file = || {
        let entries = std::fs::read_dir(folder.path().join("data")).unwrap().flatten();
        entries
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|end| end == "sqlite"))
            .unwrap()
    };
    for damage in [
        &b"this is no database, and it is longer than a header of one would be......................"[..],
        b"",
    ] {
        std::fs::write(file(), damage).unwrap();
        let index = open(folder.path());
        assert!(index.is_kept());
        assert_eq!(names(&index, "a.py"), ["one"]);
    }
    let connection = rusqlite::Connection::open(file()).unwrap();
    connection.pragma_update(None, "user_version", 9999).unwrap();
    drop(connection);
    assert_eq!(names(&open(folder.path()), "a.py"), ["one"]);
}

#[test]
fn a_damaged_outline_is_read_from_the_source_and_written_anew() {
    let (folder, index) = workspace(&[("a.py", "def one(): pass\n"), ("b.py", "def two(): pass\n")]);
    drop(index);
    let data = std::fs::read_dir(folder.path().join("data")).unwrap().flatten();
    let file =
        data.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|end| end == "sqlite"));
    let connection = rusqlite::Connection::open(file.unwrap()).unwrap();
    let damage = |outline: &[u8]| {
        connection.execute("UPDATE files SET outline = ?1 WHERE path = 'a.py'", [outline]).unwrap();
    };
    let stored = || -> Vec<u8> {
        connection.query_row("SELECT outline FROM files WHERE path = 'a.py'", [], |row| row.get(0)).unwrap()
    };
    let sound = stored();
    for outline in [&b""[..], b"\x05\0\0\0no lz4", &lz4_flex::compress_prepend_size(&[0xff; 40])] {
        damage(outline);
        let index = open(folder.path());
        assert_eq!(names(&index, "a.py"), ["one"]);
        assert_eq!(names(&index, "b.py"), ["two"]);
        drop(index);
        assert_eq!(names(&open(folder.path()), "a.py"), ["one"]);
        assert_eq!(stored(), sound);
    }
}

#[test]
fn what_another_process_has_read_anew_is_not_taken_for_what_was_there() {
    let (folder, mut index) = workspace(&[("a.py", "def one(): pass\n")]);
    write(folder.path(), "a.py", b"def two(): pass\n\ndef three(): pass\n");
    let other = open(folder.path());
    assert_eq!(names(&other, "a.py"), ["two", "three"]);
    refresh(&mut index);
    assert_eq!(names(&index, "a.py"), ["two", "three"]);
    // FilesRead, with the content it had: known without being read, here and there.
    write(folder.path(), "a.py", b"def two(): pass\n\ndef three(): pass\n");
    refresh(&mut index);
    assert_eq!(names(&index, "a.py"), ["two", "three"]);
    assert_eq!(names(&open(folder.path()), "a.py"), ["two", "three"]);
}

#[test]
fn a_build_that_was_ended_goes_on_where_it_was() {
    const MORE: usize = 50;
    let (folder, mut index) = workspace(&[]);
    for number in 0..READ_AT_ONCE + MORE {
        write(folder.path(), &format!("f{number}.py"), b"def one(): pass\n");
    }
    let done = std::sync::atomic::AtomicUsize::new(0);
    let count = |so_far: usize, all: usize| {
        assert_eq!(all, READ_AT_ONCE + MORE);
        done.fetch_max(so_far, std::sync::atomic::Ordering::Relaxed);
    };
    let is_ended = || done.load(std::sync::atomic::Ordering::Relaxed) > READ_AT_ONCE;
    assert!(matches!(index.refresh(&count, &is_ended), Err(Error::Cancelled)));
    drop(index);
    let workspace = Workspace::open(&folder.path().join("work"), &[]).unwrap();
    let mut index = Index::open(&folder.path().join("data"), &workspace).unwrap();
    assert!(index.entries().count() >= READ_AT_ONCE);
    let refreshed = refresh(&mut index);
    assert_eq!(refreshed.files, READ_AT_ONCE + MORE);
}

#[test]
fn without_a_place_for_its_file_the_index_lives_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("data"), "a file, no folder").unwrap();
    write(folder.path(), "a.py", b"def one(): pass\n");
    let index = open(folder.path());
    assert!(!index.is_kept());
    assert_eq!(names(&index, "a.py"), ["one"]);
}

#[test]
fn what_is_ignored_minified_large_or_no_text_is_left_out_and_said() {
    let long = format!("var a = [{}];\n", "1,".repeat(20_000));
    let bundle = format!("/* A bundle. */\n{}", format!("{};\n", "f(1);".repeat(200)).repeat(20));
    let picture = format!(
        "def draw(): pass\n\nPICTURE = \"{}\"\n{}",
        "QUJD".repeat(10_000),
        "# A comment.\n".repeat(500)
    );
    let large = "# comment\n".repeat(300_000);
    let (folder, mut index) = workspace(&[
        (".gitignore", "built/\n"),
        ("built/out.py", "def built(): pass\n"),
        ("node_modules/x/index.js", "function module() {}\n"),
        ("min.js", &long),
        ("bundle.js", &bundle),
        ("picture.py", &picture),
        ("large.py", &large),
        ("ok.py", "def ok(): pass\n"),
        ("script", "#!/usr/bin/env python3\ndef tool(): pass\n"),
        ("notes.txt", "def no(): pass\n"),
    ]);
    write(folder.path(), "binary.py", &[0, 159, 146, 150, 0, 1, 2, 3]);
    refresh(&mut index);
    assert!(
        index.defining("built").is_empty()
            && index.defining("module").is_empty()
            && index.defining("no").is_empty()
    );
    assert_eq!(names(&index, "ok.py"), ["ok"]);
    assert_eq!(names(&index, "script"), ["tool"]);
    assert_eq!(names(&index, "picture.py"), ["draw", "PICTURE"]);
    for (path, reason) in [
        ("min.js", "minified"),
        ("bundle.js", "minified"),
        ("large.py", "2 MiB"),
        ("binary.py", "no text"),
        ("gone.py", "does not exist"),
    ] {
        let error = index.named(path).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert!(index.named("../outside.py").is_err());
    // What is left out is remembered, also after somebody has asked what it says.
    let omitted = refresh(&mut index).omitted;
    assert_eq!(omitted, 4);
    for (id, _) in index.entries() {
        index.outline(id);
    }
    drop(index);
    let workspace = Workspace::open(&folder.path().join("work"), &[]).unwrap();
    let kept = Index::open(&folder.path().join("data"), &workspace).unwrap();
    assert_eq!(kept.entries().filter(|(_, entry)| entry.omission.is_some()).count(), omitted);
}

#[test]
fn a_cancelled_build_says_so_and_can_go_on() {
    let (_folder, mut index) = workspace(&[("a.py", "def one(): pass\n")]);
    index.clear();
    assert!(matches!(index.refresh(&|_, _| {}, &|| true), Err(Error::Cancelled)));
    refresh(&mut index);
    assert_eq!(names(&index, "a.py"), ["one"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn an_outline_is_read_back_as_it_was(text in "(def [a-z]{1,4}\\(x\\):\n    y = x\n|class [A-Z]{1,3}\\(B, C\\):\n    z: int = 1\n|import [a-z]{1,3}\\.b as c\n|from \\.q import r\n){0,8}") {
        let facts = facts::read(Language::Python, &text).unwrap();
        let outline = codec::outline(facts);
        prop_assert_eq!(codec::decode(&codec::encode(&outline)), Some(outline));
    }

    #[test]
    fn bytes_that_are_no_outline_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        codec::decode(&bytes);
    }
}
