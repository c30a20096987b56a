//! Trees of every shape: ignored, linked, oddly named.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn scan(tree: &Tree) -> BTreeMap<PathBuf, Seen> {
    let options = ScanOptions { most_entries: 10_000, largest_ignored: 100, is_known: &|_| false };
    tree.scan(&options).unwrap().entries.into_iter().collect()
}

fn names(tree: &Tree) -> Vec<String> {
    scan(tree).keys().map(|path| path.display().to_string()).collect()
}

#[test]
fn everything_but_git_and_ignored_folders_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(".gitignore", "target/\n*.log\n!keep.log\n.env\n");
    write(".git/info/exclude", "private/\n");
    write(".git/config", "");
    write("private/x", "");
    write("target/big", "");
    write("src/main.rs", "fn main() {}");
    write("src/.gitignore", "generated\n");
    write("src/generated/x", "");
    write("small.log", "short");
    write("large.log", &"x".repeat(1000));
    write("keep.log", &"x".repeat(1000));
    write(".env", "KEY=1");
    write("node_modules/a/b", "");
    write("nested/.git/HEAD", "");
    write("nested/file", "");
    symlink("/etc", dir.path().join("link")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        dir.path().join("fifo"),
        FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let tree = Tree::open(dir.path()).unwrap();
    assert_eq!(
        names(&tree),
        [
            ".env",
            ".gitignore",
            "keep.log",
            "link",
            "nested",
            "nested/file",
            "small.log",
            "src",
            "src/.gitignore",
            "src/main.rs"
        ]
    );
}

#[test]
fn a_tree_over_the_limit_says_so() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..50 {
        std::fs::create_dir(dir.path().join(number.to_string())).unwrap();
        std::fs::write(dir.path().join(format!("{number}/x")), "").unwrap();
    }
    let options = ScanOptions { most_entries: 10, largest_ignored: 0, is_known: &|_| false };
    assert!(Tree::open(dir.path()).unwrap().scan(&options).unwrap().is_too_large);
}

#[test]
fn odd_names_come_back_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let long = "x".repeat(255);
    let odd: [&[u8]; 6] =
        [b"new\nline", b"tab\t\"quote\"", b"-rf", b"bytes\xff\xfe", b" blank ", long.as_bytes()];
    let tree = Tree::open(dir.path()).unwrap();
    for name in odd {
        tree.put_file(Path::new(OsStr::from_bytes(name)), name, 0o640).unwrap();
    }
    let found = scan(&tree);
    assert_eq!(found.len(), odd.len());
    for name in odd {
        let path = Path::new(OsStr::from_bytes(name));
        assert_eq!(found[path].mode, 0o640);
        assert_eq!(tree.read(path, 1000).unwrap().0, name);
        tree.remove(path, SeenKind::File).unwrap();
        assert_eq!(tree.look(path).unwrap(), None);
    }
}

#[test]
fn a_link_is_never_a_way_out() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("canary"), "as it was").unwrap();
    symlink(outside.path(), dir.path().join("d")).unwrap();
    let tree = Tree::open(dir.path()).unwrap();
    let path = Path::new("d/canary");
    assert_eq!(tree.look(path).unwrap(), None);
    assert!(tree.read(path, 100).is_err());
    assert!(tree.put_file(path, b"x", 0o644).is_err());
    assert!(tree.put_file(Path::new("../x"), b"x", 0o644).is_err());
    assert!(tree.remove(path, SeenKind::File).is_err());
    assert!(tree.put_folder(Path::new("d/new"), 0o755).is_err());
    assert_eq!(std::fs::read_to_string(outside.path().join("canary")).unwrap(), "as it was");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);

    // The same with a real folder in its place.
    tree.remove(Path::new("d"), SeenKind::Link).unwrap();
    tree.put_folder(Path::new("d"), 0o755).unwrap();
    tree.put_file(path, b"inside", 0o755).unwrap();
    assert_eq!(tree.read(path, 100).unwrap().0, b"inside");
    let mode = std::fs::metadata(dir.path().join(path)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    tree.set_mode(path, 0o600).unwrap();
    assert_eq!(tree.look(path).unwrap().unwrap().mode, 0o600);
    assert!(matches!(tree.read(path, 3), Err(Error::TooLarge { .. })));
    tree.put_link(Path::new("l"), b"nowhere\xff").unwrap();
    assert_eq!(tree.read_link(Path::new("l")).unwrap(), b"nowhere\xff");
}
