//! Undo of every kind of change, and nothing but that.

#![allow(clippy::disallowed_methods, reason = "tests act as the person and the agent do")]

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use proptest::prelude::*;

use super::*;

struct World {
    _dirs: (tempfile::TempDir, tempfile::TempDir),
    home: Home,
    folder: PathBuf,
}

impl World {
    fn new() -> Self {
        let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        Self {
            home: Home::new(home.path()),
            folder: folder.path().canonicalize().unwrap(),
            _dirs: (home, folder),
        }
    }

    fn open(&self) -> Checkpoints {
        Checkpoints::open(&self.home, &self.folder, CheckpointLimits::default()).unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.join(path)).ok()
    }

    /// A call of the agent that changes anything.
    fn call(&self, checkpoints: &mut Checkpoints, act: impl FnOnce()) -> u64 {
        assert_eq!(checkpoints.folder(), self.folder);
        let begun = checkpoints.begin(cause(), Scope::Everything).unwrap();
        act();
        checkpoints.end(&begun).unwrap();
        begun.id
    }

    fn undo(&self, checkpoints: &mut Checkpoints, selection: Selection) -> Restored {
        assert_eq!(checkpoints.folder(), self.folder);
        let plan = checkpoints.plan(&selection, false).unwrap();
        checkpoints.apply(&plan).unwrap()
    }

    /// Everything in the folder: kind, permissions, content.
    fn picture(&self) -> BTreeMap<PathBuf, (char, u32, Vec<u8>)> {
        let mut picture = BTreeMap::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = std::fs::symlink_metadata(&path).unwrap();
                let mode = metadata.permissions().mode() & 0o7777;
                let shown = if metadata.is_dir() {
                    folders.push(path.clone());
                    ('d', mode, Vec::new())
                } else if metadata.is_symlink() {
                    ('l', 0, std::fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec())
                } else {
                    ('f', mode, std::fs::read(&path).unwrap())
                };
                picture.insert(path, shown);
            }
        }
        picture
    }
}

fn cause() -> Cause {
    Cause { task: "t1".into(), call: "c1".into(), tool: "bash".into(), summary: "Run `x`".into() }
}

#[test]
fn what_a_command_did_is_taken_back_and_brought_back() {
    let world = World::new();
    world.write("kept.txt", "one\ntwo\n");
    world.write("gone/deep/file.txt", "deep");
    world.write("script.sh", "#!/bin/sh\n");
    symlink("kept.txt", world.folder.join("link")).unwrap();
    std::fs::create_dir(world.folder.join("empty")).unwrap();
    let before = world.picture();

    let mut checkpoints = world.open();
    world.call(&mut checkpoints, || {
        world.write("kept.txt", "one\nTWO\n");
        std::fs::remove_dir_all(world.folder.join("gone")).unwrap();
        std::fs::remove_dir(world.folder.join("empty")).unwrap();
        world.write("new/folder/file.txt", "new");
        std::fs::set_permissions(world.folder.join("script.sh"), PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::remove_file(world.folder.join("link")).unwrap();
        world.write("link", "now a file");
    });
    let after = world.picture();

    let undone = world.undo(&mut checkpoints, Selection::LastCalls(1));
    assert_eq!(undone.obstacles, []);
    assert_eq!(world.picture(), before);
    // A fresh process can take the restore back.
    world.undo(&mut world.open(), Selection::LastRestore);
    assert_eq!(world.picture(), after);
    // And the call can be undone again.
    world.undo(&mut world.open(), Selection::LastCalls(1));
    assert_eq!(world.picture(), before);
    assert!(world.undo(&mut checkpoints, Selection::LastCalls(1)).id.is_none(), "nothing is left to undo");
}

#[test]
fn the_persons_own_work_is_spared() {
    let world = World::new();
    world.write("shared.txt", "a\n");
    let mut checkpoints = world.open();
    world.call(&mut checkpoints, || {
        world.write("shared.txt", "agent\n");
        world.write("made.txt", "agent\n");
        world.write("folder/made.txt", "agent\n");
    });
    world.write("shared.txt", "agent and person\n");
    world.write("mine.txt", "person\n");
    world.write("folder/mine.txt", "person\n");

    let undone = world.undo(&mut checkpoints, Selection::LastCalls(1));
    assert_eq!(
        undone.obstacles,
        [("shared.txt".into(), Obstacle::ChangedSince), ("folder".into(), Obstacle::NotEmpty)]
    );
    assert_eq!(world.read("shared.txt").as_deref(), Some("agent and person\n"));
    assert_eq!(world.read("mine.txt").as_deref(), Some("person\n"));
    assert_eq!(world.read("folder/mine.txt").as_deref(), Some("person\n"));
    assert_eq!(world.read("made.txt"), None);
    assert_eq!(world.read("folder/made.txt"), None);

    // By force the shared file goes back too, and even that can be undone.
    let plan = checkpoints.plan(&Selection::Since(1), true).unwrap();
    checkpoints.apply(&plan).unwrap();
    assert_eq!(world.read("shared.txt").as_deref(), Some("a\n"));
    world.undo(&mut checkpoints, Selection::LastRestore);
    assert_eq!(world.read("shared.txt").as_deref(), Some("agent and person\n"));
}

#[test]
fn everything_since_a_checkpoint_takes_the_persons_work_along() {
    let world = World::new();
    world.write("a.txt", "1");
    let mut checkpoints = world.open();
    let first = world.call(&mut checkpoints, || world.write("a.txt", "2"));
    world.write("a.txt", "3");
    world.write("mine.txt", "x");
    world.call(&mut checkpoints, || world.write("b.txt", "4"));
    world.undo(&mut checkpoints, Selection::EverythingSince(first));
    assert_eq!(world.read("a.txt").as_deref(), Some("1"));
    assert_eq!((world.read("b.txt"), world.read("mine.txt")), (None, None));
    world.undo(&mut checkpoints, Selection::LastRestore);
    assert_eq!(world.read("a.txt").as_deref(), Some("3"));
    assert_eq!(world.read("mine.txt").as_deref(), Some("x"));
}

#[test]
fn a_file_tool_needs_no_look_at_the_whole_folder() {
    let world = World::new();
    world.write("a.txt", "old");
    world.write("other.txt", "x");
    let mut checkpoints = world.open();
    let begun =
        checkpoints.begin(cause(), Scope::Paths(vec!["a.txt".into(), "new/deep/b.txt".into()])).unwrap();
    world.write("a.txt", "new");
    world.write("new/deep/b.txt", "new");
    world.write("other.txt", "not looked at");
    let changes = checkpoints.end(&begun).unwrap().changes;
    let paths: Vec<_> = changes.iter().map(|change| change.path.display().to_string()).collect();
    assert_eq!(paths, ["a.txt", "new", "new/deep", "new/deep/b.txt"]);
    world.undo(&mut checkpoints, Selection::LastCalls(1));
    assert_eq!(world.read("a.txt").as_deref(), Some("old"));
    assert!(!world.folder.join("new").exists());
    assert_eq!(world.read("other.txt").as_deref(), Some("not looked at"));
}

#[test]
fn a_call_whose_process_was_killed_can_be_undone() {
    let world = World::new();
    world.write("a.txt", "old");
    let mut checkpoints = world.open();
    checkpoints.begin(cause(), Scope::Everything).unwrap();
    world.write("a.txt", "half done");
    drop(checkpoints);
    // The journal as a process that is gone would have left it.
    let journal = world.home.checkpoints_dir(&world.folder).join("journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let gone = text.replace(&format!("\"process\":{}", std::process::id()), "\"process\":4194304");
    assert_ne!(text, gone);
    std::fs::write(&journal, gone + "{\"record\":\"ended\",\"id\":1,\"cha").unwrap();

    let mut checkpoints = world.open();
    let undone = world.undo(&mut checkpoints, Selection::LastCalls(1));
    assert_eq!(undone.changes.len(), 1);
    assert_eq!(world.read("a.txt").as_deref(), Some("old"));
}

#[test]
fn large_files_are_told_of_and_left_alone() {
    let world = World::new();
    world.write("large.bin", &"x".repeat(3000));
    world.write("small.txt", "s");
    let limits = CheckpointLimits { largest_file: 1000, ..CheckpointLimits::default() };
    let mut checkpoints = Checkpoints::open(&world.home, &world.folder, limits).unwrap();
    let begun = checkpoints.begin(cause(), Scope::Everything).unwrap();
    assert_eq!(begun.too_large, [("large.bin".into(), 3000)]);
    world.write("large.bin", &"y".repeat(4000));
    world.write("small.txt", "t");
    checkpoints.end(&begun).unwrap();
    let again = checkpoints.begin(cause(), Scope::Everything).unwrap();
    assert_eq!(again.too_large, [], "said once");
    let undone = world.undo(&mut checkpoints, Selection::LastCalls(1));
    assert_eq!(undone.obstacles, [("large.bin".into(), Obstacle::NotKept)]);
    assert_eq!(world.read("small.txt").as_deref(), Some("s"));
    assert_eq!(world.read("large.bin").unwrap().len(), 4000);
}

/// What a command did that no undo brings back is told when it has ended.
#[test]
fn what_undo_does_not_cover_is_told() {
    type Act = fn(&World);
    let repository = |world: &World, folder: &str| {
        world.write(&format!("{folder}.git/HEAD"), "ref: refs/heads/main\n");
        world.write(&format!("{folder}.git/objects/pack/pack-1.pack"), "x");
    };
    let rows: [(&str, Act, Lost); 9] = [
        ("nothing", |_| {}, Lost::default()),
        ("an ordinary commit", |world| world.write(".git/objects/ab/cd", "x"), Lost::default()),
        (
            "packing anew",
            |world| {
                std::fs::remove_file(world.folder.join(".git/objects/pack/pack-1.pack")).unwrap();
                world.write(".git/objects/pack/pack-2.pack", "y");
            },
            Lost::default(),
        ),
        (
            "history removed",
            |world| std::fs::remove_dir_all(world.folder.join(".git")).unwrap(),
            Lost { repositories: vec![("".into(), RepositoryDamage::Removed)], ..Lost::default() },
        ),
        (
            "history of a nested repository removed",
            |world| std::fs::remove_dir_all(world.folder.join("nested/.git")).unwrap(),
            Lost { repositories: vec![("nested".into(), RepositoryDamage::Removed)], ..Lost::default() },
        ),
        (
            "no head",
            |world| world.write("nested/.git/HEAD", ""),
            Lost { repositories: vec![("nested".into(), RepositoryDamage::Head)], ..Lost::default() },
        ),
        (
            "a pack deleted",
            |world| std::fs::remove_file(world.folder.join(".git/objects/pack/pack-1.pack")).unwrap(),
            Lost { repositories: vec![("".into(), RepositoryDamage::Objects)], ..Lost::default() },
        ),
        (
            "a pipe made",
            |world| {
                let made = Command::new("mkfifo").arg(world.folder.join("pipe")).status().unwrap();
                assert!(made.success());
            },
            Lost { special: vec!["pipe".into()], ..Lost::default() },
        ),
        (
            "a large file deleted and another made",
            |world| {
                std::fs::remove_file(world.folder.join("large.bin")).unwrap();
                world.write("larger.bin", &"x".repeat(5000));
            },
            Lost { too_large: vec!["large.bin".into(), "larger.bin".into()], ..Lost::default() },
        ),
    ];
    for (what, act, expected) in rows {
        let world = World::new();
        repository(&world, "");
        repository(&world, "nested/");
        world.write("large.bin", &"x".repeat(3000));
        let limits = CheckpointLimits { largest_file: 1000, ..CheckpointLimits::default() };
        let mut checkpoints = Checkpoints::open(&world.home, &world.folder, limits).unwrap();
        let begun = checkpoints.begin(cause(), Scope::Everything).unwrap();
        act(&world);
        assert_eq!(checkpoints.end(&begun).unwrap().lost, expected, "{what}");
    }
}

/// A process that was killed while it wrote leaves its half behind; nobody else knows what it is.
#[test]
fn temporary_files_of_killed_writes_are_removed() {
    let world = World::new();
    world.write("a.txt", "a");
    world.write("deep/.stepwell-4194304-7", "half");
    let of_the_living = format!(".stepwell-{}-1", std::process::id());
    world.write(&of_the_living, "being written");
    world.write(".stepwell-notes", "the person's own");
    let mut checkpoints = world.open();
    let begun = checkpoints.begin(cause(), Scope::Everything).unwrap();
    assert_eq!(checkpoints.end(&begun).unwrap(), CallEnded::default());
    assert_eq!(world.read("deep/.stepwell-4194304-7"), None);
    assert_eq!(world.read(&of_the_living).as_deref(), Some("being written"));
    assert_eq!(world.read(".stepwell-notes").as_deref(), Some("the person's own"));
}

#[test]
fn a_folder_over_the_limit_is_refused_and_its_files_can_still_be_kept() {
    let world = World::new();
    for number in 0..20 {
        world.write(&format!("{number}.txt"), "x");
    }
    let limits = CheckpointLimits { most_entries: 10, ..CheckpointLimits::default() };
    let mut checkpoints = Checkpoints::open(&world.home, &world.folder, limits).unwrap();
    let refused = checkpoints.begin(cause(), Scope::Everything);
    assert!(matches!(refused, Err(Error::TooLargeForCheckpoints { .. })));
    let begun = checkpoints.begin(cause(), Scope::Paths(vec!["1.txt".into()])).unwrap();
    world.write("1.txt", "y");
    assert_eq!(checkpoints.end(&begun).unwrap().changes.len(), 1);
}

/// Attack G08: a folder that became a link out of the workspace.
#[test]
fn a_restore_never_writes_through_a_link() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("file.txt"), "canary").unwrap();
    world.write("d/file.txt", "inside");
    let mut checkpoints = world.open();
    world.call(&mut checkpoints, || {
        std::fs::remove_dir_all(world.folder.join("d")).unwrap();
        symlink(outside.path(), world.folder.join("d")).unwrap();
    });
    world.undo(&mut checkpoints, Selection::LastCalls(1));
    assert_eq!(world.read("d/file.txt").as_deref(), Some("inside"));
    assert!(!world.folder.join("d").is_symlink());

    // Swapped by somebody else: refused, nothing outside is touched.
    world.call(&mut checkpoints, || world.write("d/file.txt", "changed"));
    let plan = checkpoints.plan(&Selection::LastCalls(1), true).unwrap();
    std::fs::remove_dir_all(world.folder.join("d")).unwrap();
    symlink(outside.path(), world.folder.join("d")).unwrap();
    assert!(checkpoints.apply(&plan).is_err());
    assert_eq!(std::fs::read_to_string(outside.path().join("file.txt")).unwrap(), "canary");
}

#[test]
fn one_hunk_of_a_file_can_be_taken_back() {
    let world = World::new();
    let old = (1..=40).map(|line| format!("line {line}\n")).collect::<Vec<_>>().concat();
    let new = old.replace("line 3\n", "LINE 3\n").replace("line 30\n", "LINE 30\nmore\n");
    world.write("a.txt", &old);
    let mut checkpoints = world.open();
    world.call(&mut checkpoints, || world.write("a.txt", &new));
    let mut plan = checkpoints.plan(&Selection::LastCalls(1), false).unwrap();
    let hunks = checkpoints.hunks(&plan.steps[0]).unwrap();
    assert_eq!(hunks.len(), 2);
    assert!(hunks[1].text.contains("-LINE 30\n-more\n+line 30\n"), "{}", hunks[1].text);
    checkpoints.keep_hunks(&mut plan, Path::new("a.txt"), &[2]).unwrap();
    checkpoints.apply(&plan).unwrap();
    assert_eq!(world.read("a.txt").unwrap(), old.replace("line 3\n", "LINE 3\n"));
}

#[test]
fn old_checkpoints_are_given_up_and_the_rest_still_works() {
    let world = World::new();
    world.write("a.txt", "start");
    let mut checkpoints = world.open();
    for number in 0..200 {
        let noise: String =
            (0..2000).map(|at| char::from(b'a' + ((at * 7 + number * 13) % 26) as u8)).collect();
        world.call(&mut checkpoints, || world.write("a.txt", &format!("{number}{noise}")));
    }
    let bytes = checkpoints.disk_bytes();
    drop(checkpoints);
    let limits = CheckpointLimits { disk: 20_000, ..CheckpointLimits::default() };
    let mut checkpoints = Checkpoints::open(&world.home, &world.folder, limits).unwrap();
    assert!(checkpoints.disk_bytes() < bytes, "{bytes}");
    assert!(checkpoints.list().unwrap().len() < 200);
    let now = world.read("a.txt").unwrap();
    world.undo(&mut checkpoints, Selection::LastCalls(1));
    assert!(world.read("a.txt").unwrap().starts_with("198"));
    world.undo(&mut checkpoints, Selection::LastRestore);
    assert_eq!(world.read("a.txt").unwrap(), now);
}

/// A journal is read when it is opened, so it is bounded in length as well as the contents are in size.
#[test]
fn a_long_journal_loses_its_beginning() {
    let world = World::new();
    world.write("a.txt", "start");
    let mut checkpoints = world.open();
    world.call(&mut checkpoints, || world.write("a.txt", "one"));
    checkpoints.save().unwrap();
    drop(checkpoints);
    let path = world.home.checkpoints_dir(&world.folder).join("journal.jsonl");
    let line = std::fs::read_to_string(&path).unwrap().lines().next().unwrap().to_owned();
    assert!(line.contains("\"id\":1,"), "{line}");
    let mut text = std::fs::read_to_string(&path).unwrap();
    for id in 2..12_000 {
        text.push_str(&line.replace("\"id\":1,", &format!("\"id\":{id},")));
        text.push_str(&format!("\n{{\"record\":\"ended\",\"id\":{id},\"changes\":{{\"count\":0}}}}\n"));
    }
    std::fs::write(&path, &text).unwrap();
    let mut checkpoints = world.open();
    let left = checkpoints.list().unwrap();
    assert!((20..=6_000).contains(&left.len()), "{}", left.len());
    assert_eq!(left.last().unwrap().id, 11_999);
    assert!(std::fs::metadata(&path).unwrap().len() < text.len() as u64 * 6 / 10);
    let id = world.call(&mut checkpoints, || world.write("a.txt", "two"));
    assert_eq!(id, 12_000);
    world.undo(&mut checkpoints, Selection::LastCalls(1));
    assert_eq!(world.read("a.txt").unwrap(), "one");
}

#[test]
fn two_processes_share_one_folder() {
    let world = World::new();
    world.write("a.txt", "0");
    let (mut one, mut two) = (world.open(), world.open());
    world.call(&mut one, || world.write("a.txt", "1"));
    world.call(&mut two, || world.write("a.txt", "2"));
    world.call(&mut one, || world.write("a.txt", "3"));
    world.undo(&mut two, Selection::LastCalls(2));
    assert_eq!(world.read("a.txt").as_deref(), Some("1"));
    world.undo(&mut one, Selection::LastCalls(1));
    assert_eq!(world.read("a.txt").as_deref(), Some("0"));
}

#[test]
fn a_damaged_store_loses_only_what_is_damaged() {
    let world = World::new();
    world.write("a.txt", "one");
    let mut checkpoints = world.open();
    world.call(&mut checkpoints, || world.write("a.txt", "two"));
    checkpoints.save().unwrap();
    drop(checkpoints);
    let store = world.home.checkpoints_dir(&world.folder);
    std::fs::write(store.join("known"), b"garbage").unwrap();
    std::fs::remove_file(store.join("00000000.index")).unwrap();
    let mut checkpoints = world.open();
    world.undo(&mut checkpoints, Selection::LastCalls(1));
    assert_eq!(world.read("a.txt").as_deref(), Some("one"));
}

/// The person's repository is byte for byte as it was, with nested repositories and submodules in it.
#[test]
fn a_repository_is_never_written_to() {
    let world = World::new();
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args(["-c", "user.name=x", "-c", "user.email=x@x", "-c", "protocol.file.allow=always"])
            .args(arguments)
            .current_dir(&world.folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", &world.folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    world.write("a.txt", "1\n");
    git(&["init", "-q", "."]);
    git(&["init", "-q", "nested"]);
    world.write("nested/n.txt", "n\n");
    git(&["-C", "nested", "add", "."]);
    git(&["-C", "nested", "commit", "-qm", "n"]);
    git(&["submodule", "--quiet", "add", "./nested", "sub"]);
    git(&["add", "a.txt"]);
    git(&["commit", "-qm", "first"]);
    world.write("a.txt", "2\n");
    git(&["stash", "-q"]);
    world.write("staged.txt", "s\n");
    git(&["add", "staged.txt"]);
    world.write(".git/hooks/post-checkout", "#!/bin/sh\ntouch pwned\n");
    let repository = || -> BTreeMap<PathBuf, (char, u32, Vec<u8>)> {
        let inside = |path: &Path| path.components().any(|part| part.as_os_str() == ".git");
        world.picture().into_iter().filter(|(path, _)| inside(path)).collect()
    };
    let before = repository();
    assert!(before.len() > 50);

    let mut checkpoints = world.open();
    world.call(&mut checkpoints, || {
        world.write("a.txt", "3\n");
        world.write("nested/n.txt", "changed\n");
        world.write("sub/n.txt", "changed\n");
        std::fs::remove_file(world.folder.join("staged.txt")).unwrap();
    });
    world.undo(&mut checkpoints, Selection::LastCalls(1));
    assert_eq!(repository(), before);
    assert_eq!(world.read("nested/n.txt").as_deref(), Some("n\n"));
    assert_eq!(world.read("sub/n.txt").as_deref(), Some("n\n"));
    assert_eq!(world.read("staged.txt").as_deref(), Some("s\n"));
    assert_eq!(world.read("pwned"), None);
}

#[derive(Clone, Debug)]
enum Act {
    Write(u8, u8),
    Remove(u8),
    Folder(u8),
    Mode(u8, bool),
}

/// Names of every kind, with folders in which others are.
fn name(number: u8) -> PathBuf {
    use std::ffi::OsStr;
    let names: [&[u8]; 8] =
        [b"a", b"b/c", b"b/d/e", b"odd\nname", b"bytes\xff", b"b", b"f/-g", b"\xe4\xb8\xad\xe6\x96\x87"];
    PathBuf::from(OsStr::from_bytes(names[usize::from(number) % names.len()]))
}

fn act(world: &World, act: &Act) {
    let path = |number: &u8| world.folder.join(name(*number));
    match act {
        Act::Write(number, text) => {
            let path = path(number);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).ok();
            }
            std::fs::write(path, [*text; 10]).ok();
        }
        Act::Remove(number) => {
            let path = path(number);
            std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path)).ok();
        }
        Act::Folder(number) => std::fs::create_dir_all(path(number)).unwrap_or_default(),
        Act::Mode(number, executable) => {
            let mode = if *executable { 0o755 } else { 0o644 };
            if path(number).is_file() {
                std::fs::set_permissions(path(number), PermissionsExt::from_mode(mode)).unwrap();
            }
        }
    }
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let one = prop_oneof![
        (0_u8..8, any::<u8>()).prop_map(|(number, text)| Act::Write(number, text)),
        (0_u8..8).prop_map(Act::Remove),
        (0_u8..8).prop_map(Act::Folder),
        (0_u8..8, any::<bool>()).prop_map(|(number, executable)| Act::Mode(number, executable)),
    ];
    prop::collection::vec(one, 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever calls do, undoing them one by one shows every state in between again, and redoing the restores
    /// brings the last one back.
    #[test]
    fn undo_goes_back_through_every_state(start in acts(), calls in prop::collection::vec(acts(), 1..5)) {
        let world = World::new();
        for one in &start {
            act(&world, one);
        }
        let mut checkpoints = world.open();
        let mut states = vec![world.picture()];
        for call in &calls {
            world.call(&mut checkpoints, || call.iter().for_each(|one| act(&world, one)));
            states.push(world.picture());
        }
        let last = world.picture();
        let mut restores = 0;
        while let Some(state) = states.pop() {
            if state == world.picture() {
                continue;
            }
            // Calls that changed nothing are passed over.
            let undone = world.undo(&mut checkpoints, Selection::LastCalls(1));
            prop_assert_eq!(&undone.obstacles, &[]);
            prop_assert!(undone.id.is_some());
            restores += 1;
            prop_assert_eq!(world.picture(), state);
        }
        for _ in 0..restores {
            world.undo(&mut world.open(), Selection::LastRestore);
        }
        prop_assert_eq!(world.picture(), last);
        world.undo(&mut checkpoints, Selection::Since(1));
    }
}
