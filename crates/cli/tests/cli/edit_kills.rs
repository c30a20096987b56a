//! An edit of many files that is killed at any moment has changed all of them or none, as soon as Stepwell is used again.

use std::io::BufReader;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::world::World;

const FILES: usize = 60;
const KILLS: u32 = 30;

/// How many files have the new name, and how many the old.
fn counted(world: &World) -> (usize, usize) {
    let texts =
        (0..FILES).map(|nth| std::fs::read_to_string(world.work().join(format!("m{nth}.py"))).unwrap());
    let texts: Vec<String> = texts.collect();
    let having = |word: &str| texts.iter().filter(|text| text.contains(word)).count();
    (having("renamed_name"), having("first_name"))
}

fn put(world: &World) {
    world.write("m0.py", "def first_name():\n    return 1\n");
    for nth in 1..FILES {
        world.write(
            &format!("m{nth}.py"),
            "from m0 import first_name\n\n\ndef use():\n    return first_name()\n",
        );
    }
}

#[test]
fn an_edit_that_is_killed_changes_all_files_or_none() {
    let world = World::new([]);
    put(&world);
    let call = json!({"operation": "rename", "symbol": "first_name", "new_name": "renamed_name"}).to_string();
    let rename = ["tool", "call", "edit_by_ast", &call, "--permission-mode", "bypassPermissions"];
    // Once to the end: how long it takes, and that it does what it should.
    let started = Instant::now();
    let output = world.output(&rename);
    let whole = started.elapsed();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(counted(&world), (FILES, 0));
    let notes = world.data().join("edits");
    let left = |notes: &std::path::Path| {
        let folders = std::fs::read_dir(notes).into_iter().flatten().flatten();
        let notes = folders.flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten());
        notes.filter(|note| note.path().extension().is_some_and(|ending| ending == "json")).count()
    };
    assert_eq!(left(&notes), 0, "nothing is noted any more");
    let (mut half, mut none, mut all) = (0, 0, 0);
    for nth in 0..KILLS {
        put(&world);
        let mut child = world.spawn(&rename);
        // The files are written towards the end, so most moments are there.
        let moment = whole.mul_f64(0.4 + 0.6 * f64::from(nth) / f64::from(KILLS));
        let deadline = Instant::now() + moment;
        let stdout = child.stdout.take().unwrap();
        let (ended, is_ended) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            std::io::copy(&mut BufReader::new(stdout), &mut std::io::sink()).ok();
            ended.send(()).ok();
        });
        // Every third kill comes as soon as the first file is seen to be written.
        while Instant::now() < deadline && is_ended.recv_timeout(Duration::from_millis(1)).is_err() {
            if nth % 3 == 0 && counted(&world).0 > 0 {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        reader.join().unwrap();
        let (new, old) = counted(&world);
        half += u32::from(new > 0 && old > 0);
        // Whatever is done next sees all or nothing.
        assert!(world.output(&["tool", "call", "list", "{}"]).status.success());
        match counted(&world) {
            (0, FILES) => none += 1,
            (FILES, 0) => all += 1,
            (new, old) => panic!("{new} files are changed and {old} are not"),
        }
        assert_eq!(left(&notes), 0, "what was noted is done");
    }
    eprintln!(
        "{KILLS} kills: {half} in the middle of writing; then {none} had changed nothing and {all} everything"
    );
    assert!(half > 0, "no kill fell between two files");
}
