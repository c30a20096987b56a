//! Damaged tasks made usable again.

use std::fs;

use stepwell_protocol::{Event, TaskId};
use stepwell_store::{Error, Home, Index, TaskLog, read_log, repair_task};

use crate::runs::{answer, task_with, temp_home, user};

fn log_text(home: &Home, id: &TaskId) -> String {
    fs::read_to_string(home.log_path(id).unwrap()).unwrap()
}

/// Puts a line that is no record before the line with this number.
fn damage(home: &Home, id: &TaskId, before: usize) -> String {
    let text = log_text(home, id);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(before - 1, "junk");
    fs::write(home.log_path(id).unwrap(), lines.join("\n") + "\n").unwrap();
    text
}

/// R08: a damaged record costs itself alone.
#[test]
fn the_records_on_both_sides_of_the_damage_are_kept() {
    let (_folder, home) = temp_home();
    let id = task_with(&home, "bad", &[user("u1", "first"), answer("a1", "one"), user("u2", "second")]);
    let mut index = Index::open(&home).unwrap();
    let text = damage(&home, &id, 4);
    let error = read_log(&home, &id).unwrap_err();
    assert!(error.hint().unwrap().contains("`stepwell tasks repair TASK`"), "{error}");
    index.refresh().unwrap();
    assert_eq!(index.resolve("bad").unwrap().title, "first", "a damaged task can still be named");

    let repaired = repair_task(&home, &id).unwrap();
    // The task itself, three messages, and a sentence where the damage was.
    assert_eq!((repaired.records, repaired.salvaged, repaired.was_whole()), (5, 1, false));
    let rest = fs::read_to_string(repaired.rest.unwrap()).unwrap();
    assert!(text.ends_with(rest.strip_prefix("junk\n").unwrap()), "{rest}");
    let records = read_log(&home, &id).unwrap();
    let events: Vec<_> = records.iter().map(|record| record.event.clone()).collect();
    assert_eq!(events[1..3], [user("u1", "first"), answer("a1", "one")]);
    assert!(matches!(&events[3], Event::Notice { text } if text.contains("damaged here")), "{events:?}");
    assert_eq!(events[4], user("u2", "second"));
    assert!(repair_task(&home, &id).unwrap().was_whole(), "a second time there is nothing to do");
}

#[test]
fn lost_content_is_replaced_for_good() {
    let (_folder, home) = temp_home();
    let (lost, whole) = ("l".repeat(9000), "w".repeat(9000));
    let id = task_with(&home, "blobs", &[user("u1", &lost), answer("a1", &whole)]);
    for entry in fs::read_dir(home.blobs_dir(&id).unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if fs::read_to_string(&path).unwrap() == lost {
            fs::remove_file(path).unwrap();
        }
    }
    let error = TaskLog::open(&home, &id).unwrap_err();
    assert!(error.hint().unwrap().contains("`stepwell tasks repair TASK`"), "{error}");
    let before = log_text(&home, &id);

    let repaired = repair_task(&home, &id).unwrap();
    assert_eq!((repaired.records, &repaired.rest), (3, &None));
    assert_eq!(fs::read_to_string(repaired.before_loss.unwrap()).unwrap(), before);
    let records = TaskLog::open(&home, &id).unwrap().records;
    assert_eq!(records[2].event, answer("a1", &whole), "what was not lost is as it was");
    assert!(repair_task(&home, &id).unwrap().was_whole());
}

#[test]
fn what_cannot_be_repaired_is_left_alone() {
    let (_folder, home) = temp_home();
    let id = task_with(&home, "open", &[user("u1", "x")]);
    let held = TaskLog::open(&home, &id).unwrap();
    assert!(repair_task(&home, &id).unwrap_err().is_busy());
    drop(held);
    damage(&home, &id, 1);
    let damaged = log_text(&home, &id);
    let error = repair_task(&home, &id).unwrap_err();
    assert!(matches!(error, Error::Damaged { good_records: 0, .. }), "{error}");
    assert!(!error.hint().unwrap().contains("repair"), "a hint that leads nowhere");
    assert_eq!(log_text(&home, &id), damaged);
    assert!(matches!(repair_task(&home, &"none".into()), Err(Error::UnknownTask { .. })));
}
