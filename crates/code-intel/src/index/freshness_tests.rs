//! No answer is older than the files, with the folders watched and without.

#![allow(clippy::disallowed_methods, reason = "tests make files to look at")]

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use stepwell_workspace::Workspace;

use super::super::Index;
use crate::resolve::Resolver;

fn open(folder: &Path, data: &str) -> Index {
    let workspace = Workspace::open(&folder.join("work"), &[]).unwrap();
    Index::open(&folder.join(data), &workspace).unwrap()
}

/// What each file defines.
fn known(index: &Index) -> BTreeMap<String, Vec<String>> {
    let names = |id| {
        let outline = index.outline(id);
        outline.definitions.iter().map(|definition| definition.name.clone()).collect()
    };
    index.entries().map(|(id, entry)| (entry.path.clone(), names(id))).collect()
}

fn asked(index: &mut Index) -> BTreeMap<String, Vec<String>> {
    index.ask(&|| false, |index| known(index)).unwrap()
}

/// Something that happens to the files between two questions.
#[derive(Clone, Debug)]
enum Change {
    /// Written in place, or made; of the same length each time.
    Write(usize, u8),
    /// Written elsewhere and put in its place, as editors do.
    Replace(usize, u8),
    Delete(usize),
    Rename(usize, usize),
    MakeFolder(usize),
    MoveFolder(usize, usize),
    DeleteFolder(usize),
    Ignore(Option<usize>),
    /// A link to a file, which changes when the file does.
    Link(usize, usize),
}

const FOLDERS: [&str; 6] = ["", "a/", "b/", "a/c/", "built/", "a/node_modules/"];
const FILES: usize = 18;

fn file(place: usize) -> String {
    format!("{}m{}.py", FOLDERS[place % FOLDERS.len()], place / FOLDERS.len())
}

fn folder(place: usize) -> &'static str {
    FOLDERS[1 + place % (FOLDERS.len() - 1)].trim_end_matches('/')
}

fn changes() -> impl Strategy<Value = Change> {
    let place = 0..FILES;
    prop_oneof![
        6 => (place.clone(), 0..10_u8).prop_map(|(at, name)| Change::Write(at, name)),
        3 => (place.clone(), 0..10_u8).prop_map(|(at, name)| Change::Replace(at, name)),
        2 => place.clone().prop_map(Change::Delete),
        2 => (place.clone(), place.clone()).prop_map(|(from, to)| Change::Rename(from, to)),
        1 => place.clone().prop_map(Change::MakeFolder),
        1 => (place.clone(), place.clone()).prop_map(|(from, to)| Change::MoveFolder(from, to)),
        1 => place.clone().prop_map(Change::DeleteFolder),
        1 => proptest::option::of(place.clone()).prop_map(Change::Ignore),
        1 => (place.clone(), place).prop_map(|(from, to)| Change::Link(from, to)),
    ]
}

/// Does it as far as it can be done.
fn change(root: &Path, change: &Change) {
    let text = |name: u8| format!("def f{name}(): pass\n");
    match change {
        Change::Write(at, name) => {
            std::fs::create_dir_all(root.join(file(*at)).parent().unwrap()).ok();
            std::fs::write(root.join(file(*at)), text(*name)).ok();
        }
        Change::Replace(at, name) => {
            let elsewhere = root.join(file(*at)).with_extension("py~");
            std::fs::write(&elsewhere, text(*name)).ok();
            std::fs::rename(&elsewhere, root.join(file(*at))).ok();
        }
        Change::Delete(at) => drop(std::fs::remove_file(root.join(file(*at)))),
        Change::Rename(from, to) => {
            std::fs::rename(root.join(file(*from)), root.join(file(*to))).ok();
        }
        Change::MakeFolder(at) => drop(std::fs::create_dir_all(root.join(folder(*at)))),
        Change::MoveFolder(from, to) => {
            std::fs::rename(root.join(folder(*from)), root.join(folder(*to))).ok();
        }
        Change::DeleteFolder(at) => drop(std::fs::remove_dir_all(root.join(folder(*at)))),
        Change::Ignore(at) => {
            let rules = at.map(file).unwrap_or_default();
            std::fs::write(root.join(".gitignore"), format!("built/\n{rules}\n")).ok();
        }
        Change::Link(from, to) => {
            // One that names the whole path is refused when it is read, even where it leads into the workspace.
            let up = "../".repeat(file(*to).matches('/').count());
            let near =
                if from % 3 == 0 { root.join(file(*from)) } else { format!("{up}{}", file(*from)).into() };
            std::os::unix::fs::symlink(near, root.join(file(*to))).ok();
        }
    }
}

#[test]
fn a_thousand_changes_are_each_seen_by_the_next_question() {
    const CHANGES: usize = 1000;
    let mut runner = TestRunner::default();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("work");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(folder.path().join("nowhere"), "").unwrap();
    let (mut watched, mut looking) = (open(folder.path(), "data"), open(folder.path(), "shared"));
    watched.watch();
    let mut made = Vec::new();
    let mut was_watched = 0;
    for _ in 0..CHANGES {
        made.push(changes().new_tree(&mut runner).unwrap().current());
        change(&root, made.last().unwrap());
        let told = asked(&mut watched);
        was_watched += usize::from(watched.is_watched());
        // A fresh index, with nothing it could know from before.
        let expected = known_fresh(folder.path());
        let newest = &made[made.len().saturating_sub(12)..];
        assert_eq!(told, expected, "after {} changes, the last {newest:?}", made.len());
        assert_eq!(asked(&mut looking), expected, "without a watch, the last {newest:?}");
    }
    // The test is worth nothing where the watch is never on.
    assert!(was_watched > CHANGES / 2, "watched at {was_watched} questions only");
}

fn known_fresh(folder: &Path) -> BTreeMap<String, Vec<String>> {
    // Where a file stands in the way of its folder, nothing is kept.
    let mut index = open(folder, "nowhere");
    index.refresh(&|_, _| {}, &|| false).unwrap();
    known(&index)
}

/// What is found at last when these are done one after the other, by a watch and without one.
fn found_after(changes: &[Change]) -> [BTreeMap<String, Vec<String>>; 2] {
    let files = [(".gitignore", "built/\n"), ("m0.py", "def f0(): pass\n"), ("built/x.py", "")];
    let (folder, mut watched) = watched(&files);
    let root = folder.path().join("work");
    // Long ago: a file that has just been written is read again in any case.
    let old = std::fs::File::options().write(true).open(root.join("m0.py")).unwrap();
    old.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let mut looking = open(folder.path(), "shared");
    let mut found = [asked(&mut watched), asked(&mut looking)];
    for one in changes {
        change(&root, one);
        found = [asked(&mut watched), asked(&mut looking)];
    }
    found
}

#[test]
fn a_link_that_led_nowhere_is_found_when_it_leads_somewhere() {
    // To built/m0.py, in a folder that nobody watches.
    for found in found_after(&[Change::Link(4, 6), Change::Write(4, 7)]) {
        assert_eq!(found["m1.py"], ["f7"]);
    }
}

#[test]
fn a_link_to_a_folder_is_no_file_until_one_is_there() {
    let (folder, mut watched) = watched(&[(".gitignore", "built/\n"), ("built/x/y.py", "")]);
    let root = folder.path().join("work");
    let mut looking = open(folder.path(), "shared");
    std::os::unix::fs::symlink("built/x", root.join("script")).unwrap();
    for index in [&mut watched, &mut looking] {
        assert!(!asked(index).contains_key("script"));
    }
    std::fs::remove_dir_all(root.join("built/x")).unwrap();
    std::fs::write(root.join("built/x"), "#!/bin/sh\nrun() { :; }\n").unwrap();
    for index in [&mut watched, &mut looking] {
        assert_eq!(asked(index)["script"], ["run"]);
    }
}

#[test]
fn a_file_that_takes_the_place_of_a_link_to_it_is_read() {
    // The link names the whole path, which is refused.
    for found in found_after(&[Change::Link(0, 6), Change::Rename(0, 6)]) {
        assert_eq!(found["m1.py"], ["f0"]);
    }
}

fn watched(files: &[(&str, &str)]) -> (tempfile::TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join("work").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut index = open(folder.path(), "data");
    index.watch();
    // The watch begins with the second question.
    asked(&mut index);
    assert!(!index.is_watched());
    asked(&mut index);
    assert!(index.is_watched());
    (folder, index)
}

#[test]
fn lost_events_lead_to_a_look_at_everything() {
    const MOST: usize = 200_000;
    let limit = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let limit: usize = limit.trim().parse().unwrap();
    if limit > MOST {
        println!("skipped: this machine keeps {limit} events");
        return;
    }
    let (folder, mut index) = watched(&[("a.py", "def one(): pass\n"), ("b.py", "x = 1\n")]);
    let root = folder.path().join("work");
    let noise = ["b.py", "c.py"].map(|name| std::fs::File::create(root.join(name)).unwrap());
    for _ in 0..=limit / 2 {
        for file in &noise {
            std::os::unix::fs::FileExt::write_at(file, b"y", 0).unwrap();
        }
    }
    // The event of this one finds no room.
    std::fs::write(root.join("a.py"), "def two(): pass\n").unwrap();
    let told = asked(&mut index);
    assert_eq!(told["a.py"], ["two"]);
    assert!(index.is_watched(), "a new watch has begun");
    std::fs::write(root.join("a.py"), "def six(): pass\n").unwrap();
    assert_eq!(asked(&mut index)["a.py"], ["six"]);
}

#[test]
fn ignored_folders_are_not_watched_and_ignored_files_do_not_matter() {
    let (folder, mut index) = watched(&[
        (".gitignore", "built/\nlocal.py\n"),
        ("a.py", "def one(): pass\n"),
        ("built/x.py", "def x(): pass\n"),
        ("node_modules/y/index.js", "function y() {}\n"),
    ]);
    let root = folder.path().join("work");
    for path in ["built/x.py", "built/new.py", "node_modules/y/index.js", "node_modules/z.js", "local.py"] {
        std::fs::write(root.join(path), "other = 1\n").unwrap();
        let told = asked(&mut index);
        assert_eq!(told.keys().collect::<Vec<_>>(), ["a.py"], "{path}");
    }
    assert!(index.is_watched());
    // What is no longer ignored is found, with what is in it.
    std::fs::write(root.join(".gitignore"), "local.py\n").unwrap();
    let told = asked(&mut index);
    assert_eq!(told.keys().collect::<Vec<_>>(), ["a.py", "built/new.py", "built/x.py"]);
    std::fs::write(root.join("built/x.py"), "def z(): pass\n").unwrap();
    assert_eq!(asked(&mut index)["built/x.py"], ["z"]);
}

#[test]
fn a_change_without_an_event_is_found_before_the_answer_is_given() {
    let (folder, mut index) = watched(&[("a.py", "def one(): pass\n")]);
    let (root, outside) = (folder.path().join("work"), folder.path().join("outside.py"));
    // By a second name of the file, in a folder that is not watched: the link itself is told of, later writes are not.
    std::fs::hard_link(root.join("a.py"), &outside).unwrap();
    asked(&mut index);
    for name in ["two", "six", "ten"] {
        std::fs::write(&outside, format!("def {name}(): pass\n")).unwrap();
        let found = index.ask(&|| false, |index| {
            // Looks into the file, by a name that it has not yet.
            let defined = known(index);
            (defined["a.py"].clone(), Resolver::new(index).definitions_named(name).len())
        });
        assert_eq!(found.unwrap(), (vec![name.to_owned()], 1));
    }
}

#[test]
fn files_are_read_ahead_and_still_seen_to_change() {
    const LONGEST: std::time::Duration = std::time::Duration::from_secs(60);
    let (folder, mut index) = watched(&[("a.py", "def one(): pass\n"), ("b.py", "import a\n\na.one()\n")]);
    let started = std::time::Instant::now();
    while !index.has_read_ahead() {
        assert!(started.elapsed() < LONGEST, "the files were not read");
        std::thread::yield_now();
    }
    let uses = |index: &mut Index, name: &str| {
        let asked = index.ask(&|| false, |index| {
            let resolver = Resolver::new(index);
            let found = resolver.definitions_named(name);
            found.iter().flat_map(|one| resolver.references(one)).map(|one| one.occurrence.at.line).collect()
        });
        asked.unwrap()
    };
    let lines: Vec<u32> = uses(&mut index, "one");
    assert_eq!(lines, [3]);
    std::fs::write(folder.path().join("work/b.py"), "import a\n\n\n\na.one()\n").unwrap();
    assert_eq!(uses(&mut index, "one"), [5]);
}
