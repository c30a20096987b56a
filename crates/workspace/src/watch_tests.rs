//! What a watch tells, and when it says that it cannot.

use super::*;

type Change<'a> = &'a dyn Fn();

fn watched(folders: &[&str]) -> (tempfile::TempDir, Watcher) {
    let root = tempfile::tempdir().unwrap();
    let mut watcher = Watcher::new().unwrap();
    watcher.add(root.path()).unwrap();
    for folder in folders {
        std::fs::create_dir(root.path().join(folder)).unwrap();
        watcher.add(&root.path().join(folder)).unwrap();
    }
    watcher.news();
    (root, watcher)
}

fn names(root: &Path, news: &News) -> Vec<String> {
    let relative = |path: &PathBuf| path.strip_prefix(root).unwrap().display().to_string();
    let mut names: Vec<String> = news.files.iter().map(relative).collect();
    names.sort();
    names
}

#[test]
fn every_change_of_a_file_is_told_before_the_call_returns() {
    let (root, mut watcher) = watched(&["a", "b"]);
    let at = |path: &str| root.path().join(path);
    let changes: [(Change<'_>, &[&str]); 5] = [
        (&|| std::fs::write(at("a/one.py"), "1").unwrap(), &["a/one.py"]),
        (&|| std::fs::write(at("a/one.py"), "2").unwrap(), &["a/one.py"]),
        (&|| std::fs::rename(at("a/one.py"), at("b/two.py")).unwrap(), &["a/one.py", "b/two.py"]),
        (&|| std::fs::remove_file(at("b/two.py")).unwrap(), &["b/two.py"]),
        (&|| (), &[]),
    ];
    for (change, expected) in changes {
        change();
        let news = watcher.news();
        assert_eq!(names(root.path(), &news), expected);
        assert!(!news.is_lost && !news.has_new_folder);
        assert_eq!(news.is_empty(), expected.is_empty());
    }
}

#[test]
fn new_folders_are_told_and_moved_ones_end_the_watch() {
    let (root, mut watcher) = watched(&["a"]);
    std::fs::create_dir(root.path().join("new")).unwrap();
    assert_eq!(watcher.news(), News { has_new_folder: true, ..News::default() });
    std::fs::write(root.path().join("new/unseen.py"), "").unwrap();
    assert!(watcher.news().is_empty(), "a folder is watched from the moment it is added on");
    // One that is gone is forgotten and can be watched again.
    std::fs::remove_dir(root.path().join("a")).unwrap();
    assert!(!watcher.news().is_lost && !watcher.is_watching(&root.path().join("a")));
    std::fs::create_dir(root.path().join("a")).unwrap();
    watcher.add(&root.path().join("a")).unwrap();
    std::fs::write(root.path().join("a/x.py"), "").unwrap();
    assert_eq!(names(root.path(), &watcher.news()), ["a/x.py"]);
    std::fs::rename(root.path().join("a"), root.path().join("moved")).unwrap();
    assert!(watcher.news().is_lost);
    assert!(watcher.news().is_lost, "it stays so");
}

#[test]
fn more_events_than_the_kernel_keeps_are_said_to_be_lost() {
    const MOST: usize = 200_000;
    let limit = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let limit: usize = limit.trim().parse().unwrap();
    if limit > MOST {
        println!("skipped: this machine keeps {limit} events");
        return;
    }
    let (root, mut watcher) = watched(&[]);
    let files = ["one.py", "two.py"].map(|name| std::fs::File::create(root.path().join(name)).unwrap());
    // By turns: the same event twice in a row is kept once.
    for _ in 0..=limit / 2 {
        for file in &files {
            std::os::unix::fs::FileExt::write_at(file, b"x", 0).unwrap();
        }
    }
    assert!(watcher.news().is_lost);
}

#[test]
fn what_cannot_be_told_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let mut watcher = Watcher::with_limit(1).unwrap();
    assert_eq!(watcher.add(&root.path().join("missing")), Err(Unwatchable::Missing));
    assert_eq!(watcher.add(Path::new("/proc/self")), Err(Unwatchable::Untold));
    watcher.add(root.path()).unwrap();
    watcher.add(root.path()).unwrap();
    let inner = root.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    assert_eq!(watcher.add(&inner), Err(Unwatchable::TooMany));
    // A link to a folder is not the folder.
    std::os::unix::fs::symlink(&inner, root.path().join("link")).unwrap();
    let mut watcher = Watcher::new().unwrap();
    assert_eq!(watcher.add(&root.path().join("link")), Err(Unwatchable::Missing));
}
