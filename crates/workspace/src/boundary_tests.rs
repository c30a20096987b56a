//! What a model may name and what it may not, on a real file system.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::time::{Duration, Instant};

use super::*;
use crate::search::WalkRules;
use crate::{Encoding, EntryKind, TextFile, Written};

/// A workspace beside a folder it must not reach.
struct House {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

fn house() -> House {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("ws");
    fs::create_dir_all(root.join("src")).expect("ws");
    fs::create_dir(folder.path().join("out")).expect("out");
    fs::write(folder.path().join("out/canary.txt"), "TOKEN").expect("canary");
    fs::write(root.join("src/main.rs"), "fn main() {}\n").expect("file");
    let workspace = Workspace::open(&root, &[]).expect("opened");
    House { folder, workspace }
}

impl House {
    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        self.workspace.place(path).and_then(|place| self.workspace.read(&place, 1 << 20))
    }

    fn write(&self, path: &str, content: &str) -> Result<Written> {
        self.workspace.place(path).and_then(|place| self.workspace.write(&place, content.as_bytes()))
    }
}

#[test]
fn paths_inside_work_in_every_spelling() {
    let house = house();
    let absolute = house.workspace.root().join("src/main.rs");
    for path in ["src/main.rs", "./src/main.rs", "src/../src/main.rs", absolute.to_str().expect("text")] {
        assert_eq!(house.read(path).expect(path), b"fn main() {}\n", "{path}");
    }
    symlink("src/main.rs", house.path("ws/link.rs")).expect("link");
    assert!(house.read("link.rs").is_ok(), "links inside are followed");
    assert_eq!(house.workspace.place("src/./main.rs").expect("placed").display(), "src/main.rs");
}

#[test]
fn nothing_outside_is_reached() {
    let house = house();
    symlink(house.path("out/canary.txt"), house.path("ws/notes.txt")).expect("link");
    symlink("../out", house.path("ws/vendor")).expect("link");
    symlink(house.path("out/a/b"), house.path("ws/d")).expect("link");
    symlink("/proc/self/root", house.path("ws/magic")).expect("link");
    let canary = house.path("out/canary.txt");
    for path in [
        "../out/canary.txt",
        "src/../../out/canary.txt",
        canary.to_str().expect("text"),
        "notes.txt",
        "vendor/canary.txt",
        "magic/etc/passwd",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        "/dev/fd/3",
        "/etc/passwd",
    ] {
        let error = house.read(path).expect_err(path);
        let by_link = ["notes.txt", "vendor/canary.txt", "magic/etc/passwd"].contains(&path);
        assert!(
            match error {
                Error::LinkOutside { .. } => by_link,
                Error::OutsideWorkspace { .. } | Error::BadPath { .. } => !by_link,
                _ => false,
            },
            "{path}: {error}"
        );
    }
    for path in ["vendor/new.txt", "d/c.txt", "d", "notes.txt", "../out/new.txt", "vendor/x/y.txt"] {
        house.write(path, "x").expect_err(path);
    }
    for path in
        ["~/.ssh/id_rsa", "$HOME/x", "file:///etc/passwd", "%2e%2e/out/canary.txt", "..\\out\\canary.txt"]
    {
        assert!(house.read(path).expect_err(path).is_not_found(), "{path} is a name like any other");
    }
    for path in ["", "a\0b"] {
        assert!(matches!(house.read(path), Err(Error::BadPath { .. })), "{path:?}");
    }
    assert_eq!(fs::read_to_string(&canary).expect("canary"), "TOKEN");
    assert_eq!(fs::read_dir(house.path("out")).expect("out").count(), 1);
}

#[test]
fn special_files_are_refused_at_once() {
    let house = house();
    let fifo = house.path("ws/fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("fifo");
    let start = Instant::now();
    assert!(matches!(house.read("fifo"), Err(Error::NotAFile { kind: "a FIFO", .. })));
    assert!(matches!(house.write("fifo", "x"), Err(Error::NotAFile { .. })));
    assert!(matches!(house.read("src"), Err(Error::IsAFolder { .. })));
    assert!(matches!(house.read("src/main.rs/x"), Err(Error::NotAFolder { .. })));
    assert!(matches!(house.write("src", "x"), Err(Error::IsAFolder { .. })));
    assert!(matches!(house.write(".", "x"), Err(Error::IsAFolder { .. })));
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_swapped_link_never_leads_out() {
    let house = house();
    let (root, canary) = (house.path("ws"), house.path("out/canary.txt"));
    fs::write(root.join("x"), "inside").expect("file");
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let swapper = {
        let stop = Arc::clone(&stop);
        std::thread::spawn(move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                fs::remove_file(root.join("y")).ok();
                symlink(&canary, root.join("y")).ok();
                fs::rename(root.join("y"), root.join("x")).ok();
                fs::write(root.join("z"), "inside").ok();
                fs::rename(root.join("z"), root.join("x")).ok();
            }
        })
    };
    for _ in 0..10_000 {
        if let Ok(content) = house.read("x") {
            assert_ne!(content, b"TOKEN");
        }
        house.write("x", "mine").ok();
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    swapper.join().expect("joined");
    assert_eq!(fs::read_to_string(house.path("out/canary.txt")).expect("canary"), "TOKEN");
}

#[test]
fn writing_keeps_modes_and_leaves_hard_links_alone() {
    let house = house();
    assert_eq!(house.write("a/b/c.txt", "new").expect("written"), Written::Created);
    assert_eq!(fs::read_to_string(house.path("ws/a/b/c.txt")).expect("file"), "new");

    let script = house.path("ws/run.sh");
    fs::write(&script, "old").expect("file");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).expect("mode");
    assert_eq!(house.write("run.sh", "new").expect("written"), Written::Replaced);
    assert_eq!(fs::metadata(&script).expect("file").mode() & 0o777, 0o750);

    fs::hard_link(house.path("out/canary.txt"), house.path("ws/hard")).expect("link");
    house.write("hard", "changed").expect("written");
    assert_eq!(fs::read_to_string(house.path("out/canary.txt")).expect("canary"), "TOKEN");

    symlink("run.sh", house.path("ws/alias")).expect("link");
    house.write("alias", "through").expect("written");
    assert_eq!(fs::read_to_string(&script).expect("file"), "through");
    assert!(fs::symlink_metadata(house.path("ws/alias")).expect("link").is_symlink());
    let left: Vec<_> =
        fs::read_dir(house.path("ws")).expect("ws").flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with(".stepwell-")), "{left:?}");
}

#[test]
fn reading_is_bounded_and_knows_text() {
    let house = house();
    fs::write(
        house.path("ws/utf16.txt"),
        TextFile { text: "hé\r\n".into(), encoding: Encoding::Utf16Little }.to_bytes().expect("bytes"),
    )
    .expect("file");
    fs::write(house.path("ws/blob"), [0u8, 1, 2]).expect("file");
    let place = |path: &str| house.workspace.place(path).expect("placed");
    let text = house.workspace.read_text(&place("utf16.txt"), 100).expect("text");
    assert_eq!(
        (text.text.as_str(), text.encoding, text.uses_crlf()),
        ("hé\r\n", Encoding::Utf16Little, true)
    );
    assert!(matches!(house.workspace.read_text(&place("blob"), 100), Err(Error::Binary { .. })));
    assert!(matches!(
        house.workspace.read(&place("src/main.rs"), 5),
        Err(Error::TooLarge { bytes: 13, limit: 5, .. })
    ));
    assert_eq!(house.workspace.peek(&place("blob")).expect("peeked"), (vec![0, 1, 2], 3));
}

#[test]
fn listing_respects_gitignore_and_its_bounds() {
    let house = house();
    for (path, content) in [
        (".gitignore", "target\n*.log\n"),
        ("target/x", ""),
        ("a.log", ""),
        ("b.txt", "12345"),
        (".hidden", ""),
    ] {
        house.write(path, content).expect(path);
    }
    symlink("/etc", house.path("ws/etc")).expect("link");
    let list = |depth, limit| {
        let place = house.workspace.place(".").expect("placed");
        let rules = WalkRules { depth, ..WalkRules::default() };
        house.workspace.list(&place, &rules, limit, &|| false).expect("listed")
    };
    let names = |depth| -> Vec<String> {
        list(depth, 100).entries.iter().map(|entry| entry.path.display().to_string()).collect()
    };
    assert_eq!(names(Some(1)), [".gitignore", ".hidden", "b.txt", "etc", "src"]);
    assert_eq!(names(None), [".gitignore", ".hidden", "b.txt", "etc", "src", "src/main.rs"]);
    let listing = list(None, 2);
    assert!(listing.more && listing.entries.len() == 2);
    let kinds: Vec<EntryKind> = list(Some(1), 100).entries.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds[2..], [EntryKind::File { bytes: 5 }, EntryKind::Link, EntryKind::Folder]);

    for (wanted, expected) in [
        ("main.rs", "src/main.rs"),
        ("lib/main.rs", "src/main.rs"),
        ("main.py", "src/main.rs"),
        ("src/mian.rs", "src/main.rs"),
    ] {
        let place = house.workspace.place(wanted).expect("placed");
        assert_eq!(house.workspace.similar_files(&place), [expected], "{wanted}");
    }
    let far = house.workspace.place("nothing_like_it.toml").expect("placed");
    assert_eq!(house.workspace.not_found_help(&far), "list the folder or search for the file by name");
}

#[test]
fn extra_roots_and_linked_roots_are_reached_by_absolute_paths() {
    let house = house();
    let (root, extra, link) = (house.path("ws"), house.path("out"), house.path("ws-link"));
    symlink(&root, &link).expect("link");
    let workspace = Workspace::open(&link, std::slice::from_ref(&extra)).expect("opened");
    for path in [extra.join("canary.txt"), link.join("src/main.rs"), root.join("src/main.rs")] {
        let place = workspace.place(path.to_str().expect("text")).expect("placed");
        assert!(workspace.read(&place, 100).is_ok(), "{}", path.display());
    }
    assert!(workspace.place("../out/canary.txt").is_err());
}

#[test]
fn a_write_keeps_mode_and_attributes_and_a_removal_takes_only_files() {
    let house = house();
    let main = house.path("ws/src/main.rs");
    fs::set_permissions(&main, fs::Permissions::from_mode(0o755)).expect("mode");
    let attribute = |path: &Path| {
        let mut value = vec![0; 64];
        rustix::fs::getxattr(path, "user.origin", &mut value).map(|length| value[..length].to_vec())
    };
    let flags = rustix::fs::XattrFlags::empty();
    let has_attributes = rustix::fs::setxattr(&main, "user.origin", b"somewhere", flags).is_ok();
    assert_eq!(house.write("src/main.rs", "fn main() { }\n").expect("written"), Written::Replaced);
    assert_eq!(fs::metadata(&main).expect("file").mode() & 0o7777, 0o755);
    if has_attributes {
        assert_eq!(attribute(&main).expect("kept"), b"somewhere");
    }
    let place = |path: &str| house.workspace.place(path).expect("inside");
    let program = house.workspace.write_as(&place("run.sh"), b"#!/bin/sh\n", crate::Executable::Yes);
    assert_eq!(program.expect("written"), Written::Created);
    assert_ne!(fs::metadata(house.path("ws/run.sh")).expect("file").mode() & 0o100, 0);

    symlink(house.path("out/canary.txt"), house.path("ws/link")).expect("link");
    for (path, told) in [("link", "a symbolic link"), ("src", "is a folder"), ("none", "does not exist")] {
        let refused = house.workspace.remove(&place(path)).expect_err(path).to_string();
        assert!(refused.contains(told), "{refused}");
    }
    house.workspace.remove(&place("run.sh")).expect("deleted");
    assert!(!house.path("ws/run.sh").exists() && house.path("out/canary.txt").exists());
}
