//! The log on the disk: torn ends, damage, locks, formats, and what an append costs.

use std::fs;
use std::time::Instant;

use expect_test::expect;
use serde_json::json;
use stepwell_protocol::{Event, MessageId, Seq, TaskId};
use stepwell_store::{
    Error, Home, LogReader, ModelHistory, OnDamage, OpenedLog, TaskLog, check_history, read_info, read_log,
    read_log_prefix,
};
use stepwell_transcript::{Entry, Item, ToolCard, Transcript};

use crate::runs::{answer, call, info, success, task_with, temp_home, user};

fn three_records(home: &Home) -> TaskId {
    task_with(home, "task", &[user("u1", "first"), answer("a1", "second")])
}

#[test]
fn a_line_looks_like_this() {
    let (_folder, home) = temp_home();
    let id = three_records(&home);
    let text = fs::read_to_string(home.log_path(&id).unwrap()).unwrap();
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["v"], 1);
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let keys: Vec<_> = last.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["seq", "ts", "crc", "event"]);
    assert_eq!(last["event"], json!({"type":"answer","message_id":"a1","content":"second","origin":"text"}));
}

#[test]
fn whatever_a_power_loss_leaves_at_the_end_is_cut_off() {
    let tails: [&[u8]; 7] = [
        b"{\"seq\":4,\"ts\":17",
        b"\0\0\0\0\0\0\0\0",
        b"\0\0\0\0\n\0\0\0\0\n",
        b"garbage\nmore garbage\n",
        b"{\"seq\":4,\"ts\":1760000000000,\"crc\":1,\"event\":{\"type\":\"notice\",\"text\":\"x\"}}\n",
        b"\xff\xfe\xfd\n",
        b"{}\n",
    ];
    for tail in tails {
        let (_folder, home) = temp_home();
        let id = three_records(&home);
        let path = home.log_path(&id).unwrap();
        let good = fs::read(&path).unwrap();
        fs::write(&path, [&good, tail].concat()).unwrap();
        assert_eq!(read_log(&home, &id).unwrap().len(), 3, "a reader stops before it");
        let OpenedLog { mut log, records } = TaskLog::open(&home, &id).unwrap();
        assert_eq!(records.len(), 3);
        assert_eq!(fs::read(&path).unwrap(), good);
        assert_eq!(log.append(&[user("u2", "on")]).unwrap()[0].seq, Seq(4));
        assert_eq!(read_log(&home, &id).unwrap().len(), 4);
    }
}

#[test]
fn damage_in_the_middle_is_named_and_left_alone() {
    let (_folder, home) = temp_home();
    let id = three_records(&home);
    let path = home.log_path(&id).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("first", "fir5t")).unwrap();
    let damaged = fs::read(&path).unwrap();
    for result in [TaskLog::open(&home, &id).map(|opened| opened.records), read_log(&home, &id)] {
        let error = result.unwrap_err();
        let message = error.to_string().replace(path.to_str().unwrap(), "LOG");
        expect!["`LOG` is damaged at line 2: its checksum does not fit; 1 records before it are whole"]
            .assert_eq(&message);
        assert!(error.hint().unwrap().contains("backup"));
    }
    assert_eq!(fs::read(&path).unwrap(), damaged);
    assert_eq!(read_log_prefix(&home, &id).unwrap().len(), 1);

    let OpenedLog { mut log, records } = TaskLog::open_with(&home, &id, OnDamage::KeepPrefix).unwrap();
    assert_eq!(records.len(), 1);
    log.append(&[user("u9", "goes on")]).unwrap();
    let kept = fs::read_dir(home.task_dir(&id).unwrap())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .find(|name| name.starts_with("log.cut-at-"));
    assert!(kept.is_some(), "what was cut is kept");
}

#[test]
fn a_missing_or_doubled_line_is_damage() {
    for order in [&[0, 2][..], &[0, 0, 1, 2]] {
        let (_folder, home) = temp_home();
        let id = three_records(&home);
        let path = home.log_path(&id).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let reordered: String = order.iter().map(|index| lines[*index]).collect();
        fs::write(&path, reordered).unwrap();
        let error = TaskLog::open(&home, &id).unwrap_err();
        assert!(error.to_string().contains("stands where record 2 belongs"), "{error}");
    }
}

#[test]
fn an_event_of_the_future_is_never_cut_off() {
    let (_folder, home) = temp_home();
    let id = three_records(&home);
    let path = home.log_path(&id).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    // The checksum of a line with an event this program does not know, as a newer one would write it.
    let event = r#"{"type":"teleported","to":"moon"}"#;
    let crc = crc32(&[&4u64.to_le_bytes()[..], &5i64.to_le_bytes()[..], event.as_bytes()].concat());
    let future = format!("{text}{{\"seq\":4,\"ts\":5,\"crc\":{crc},\"event\":{event}}}\n");
    fs::write(&path, &future).unwrap();
    let error = TaskLog::open(&home, &id).unwrap_err();
    assert!(matches!(error, Error::UnknownEvent { line: 4, .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), future);

    fs::write(&path, text.replacen("{\"v\":1,", "{\"v\":9,", 1)).unwrap();
    for error in [TaskLog::open(&home, &id).map(drop), read_log(&home, &id).map(drop)] {
        assert!(matches!(error, Err(Error::NewerFormat { found: 9, supported: 1, .. })), "{error:?}");
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 },
        )
    })
}

#[test]
fn one_process_writes_and_others_follow() {
    let (_folder, home) = temp_home();
    let OpenedLog { mut log, .. } = TaskLog::create(&home, info("shared")).unwrap();
    let id = TaskId::from("shared");
    match TaskLog::open(&home, &id) {
        Err(Error::Busy { pid, .. }) => assert_eq!(pid, Some(std::process::id())),
        other => panic!("{other:?}"),
    }
    let mut follower = LogReader::open(&home, &id, Seq(2)).unwrap();
    assert!(follower.poll_new().unwrap().is_empty());
    let written = log.append(&[user("u1", "hello"), answer("a1", "hi")]).unwrap();
    assert_eq!(follower.poll_new().unwrap(), written);
    assert!(follower.poll_new().unwrap().is_empty());
    drop(log);
    assert_eq!(TaskLog::open(&home, &id).unwrap().log.last_seq(), Seq(3), "the lock goes with its holder");
}

#[test]
fn a_follower_keeps_up_with_a_writer_at_work() {
    let (_folder, home) = temp_home();
    let OpenedLog { mut log, mut records } = TaskLog::create(&home, info("busy")).unwrap();
    let mut follower = LogReader::open(&home, &"busy".into(), Seq(0)).unwrap();
    let seen = std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut seen = Vec::new();
            while seen.len() < 1001 {
                seen.extend(follower.poll_new().unwrap());
            }
            seen
        });
        for number in 0..1000 {
            let text = "x".repeat(number * 7 % 6000);
            records.extend(log.append(&[user("u", &text)]).unwrap());
        }
        reader.join().unwrap()
    });
    assert_eq!(seen, records);
}

#[test]
fn a_long_first_line_is_read_whole() {
    let (_folder, home) = temp_home();
    let long = |letter: &str| letter.repeat(4096);
    let mut created = info("long");
    (created.title, created.mode, created.model) = (long("t"), long("m"), long("o"));
    created.workspace = long("w");
    let mut log = TaskLog::create(&home, created.clone()).unwrap().log;
    log.append(&[user("u", "and more")]).unwrap();
    let path = home.log_path(&"long".into()).unwrap();
    let first = fs::read(&path).unwrap().iter().position(|byte| *byte == b'\n').unwrap();
    assert!(first > 16 * 1024, "{first}");
    assert_eq!(read_info(&home, &"long".into()).unwrap(), created);
    drop(log);
    fs::write(&path, "x".repeat(40_000)).unwrap();
    assert!(matches!(read_info(&home, &"long".into()), Err(Error::NoRecords { .. })), "no line at all");
}

#[test]
fn an_old_format_is_brought_up_to_date_and_kept() {
    let (_folder, home) = temp_home();
    let id = TaskId::from("old");
    let old = include_bytes!("../fixtures/log-format-0.jsonl");
    let path = home.log_path(&id).unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, [&old[..], b"{\"n\":7,\"at\":17600"].concat()).unwrap();

    let before = read_log(&home, &id).unwrap();
    assert_eq!(read_info(&home, &id).unwrap().number, 7);
    let mut follower = LogReader::open(&home, &id, Seq(0)).unwrap();
    assert_eq!(follower.poll_new().unwrap(), before, "readable without being touched");

    let OpenedLog { mut log, records } = TaskLog::open(&home, &id).unwrap();
    assert_eq!(records, before);
    let added = log.append(&[user("u2", "thanks")]).unwrap();
    assert_eq!(follower.poll_new().unwrap(), added, "a follower goes over to the new file");
    drop(log);
    assert_eq!(TaskLog::open(&home, &id).unwrap().records[..6], before);
    assert_eq!(fs::read(path.with_file_name("log.v0.jsonl")).unwrap(), old);
    let messages = ModelHistory::of(&before).messages();
    assert_eq!(messages.len(), 4);
    check_history(&messages).unwrap();
}

/// Logs that the last build before typed details wrote: an edit with its diff, and approvals that the policy refused.
#[test]
fn logs_of_the_build_before_open_and_fold_as_before() {
    for (log, diffs, refused) in [
        (&include_bytes!("../fixtures/log-untyped-details-edits.jsonl")[..], 1, 0),
        (&include_bytes!("../fixtures/log-untyped-details-approvals.jsonl")[..], 1, 2),
    ] {
        let (_folder, home) = temp_home();
        let id = TaskId::from("before");
        let path = home.log_path(&id).unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, log).unwrap();
        let OpenedLog { log: opened, records } = TaskLog::open(&home, &id).unwrap();
        assert_eq!(opened.last_seq().0 as usize, records.len());
        check_history(&ModelHistory::of(&records).messages()).unwrap();

        let transcript = Transcript::of(&records);
        let cards: Vec<&ToolCard> = transcript
            .items()
            .iter()
            .filter_map(|item| match &item.entry {
                Entry::Tool(card) => Some(card.as_ref()),
                _ => None,
            })
            .collect();
        assert_eq!(cards.len(), 4);
        assert!(cards.iter().all(|card| card.result.is_some()));
        let changed: Vec<String> =
            cards.iter().filter_map(|card| card.result.as_ref()?.detail.as_ref()?.diff()).collect();
        assert_eq!(changed.len(), diffs);
        assert!(changed[0].contains("+    return DISCOUNTS.get(customer, 0.0)"), "{changed:?}");
        let is_refused = |item: &&Item| matches!(&item.entry, Entry::Approval { resolved: Some((answer, _)), .. } if !answer.is_yes());
        assert_eq!(transcript.items().iter().filter(is_refused).count(), refused);
        let answer = transcript.items().iter().rev().find_map(|item| match &item.entry {
            Entry::Answer { content, unfinished: false, .. } => Some(content.as_str()),
            _ => None,
        });
        assert!(answer.unwrap().contains("exit code 0"));
        // The file itself is as it was: nothing needed to be rewritten.
        drop(opened);
        assert_eq!(fs::read(&path).unwrap(), log);
    }
}

#[test]
fn what_is_not_there_is_said_plainly() {
    let (_folder, home) = temp_home();
    let missing = TaskLog::open(&home, &"nope".into()).unwrap_err();
    expect!["there is no task `nope`"].assert_eq(&missing.to_string());
    assert!(matches!(TaskLog::open(&home, &"../evil".into()), Err(Error::InvalidTaskId { .. })));
    TaskLog::create(&home, info("twice")).unwrap();
    assert!(matches!(TaskLog::create(&home, info("twice")), Err(Error::TaskExists { .. })));
    let mut log = TaskLog::open(&home, &"twice".into()).unwrap().log;
    let token = Event::Token { message_id: MessageId::from("m"), offset: 0, content: "x".into() };
    let error = log.append(&[user("u", "kept?"), token]).unwrap_err();
    expect!["a `token` event is transient and does not belong in the log"].assert_eq(&error.to_string());
    assert_eq!(read_log(&home, &"twice".into()).unwrap().len(), 1, "a batch is whole or not there");
}

#[test]
fn numbers_are_never_given_twice() {
    let (_folder, home) = temp_home();
    let mut taken: Vec<u32> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..25).map(|_| home.allocate_number().unwrap()).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    taken.sort_unstable();
    assert_eq!(taken, (1..=100).collect::<Vec<_>>());

    let (_folder, home) = temp_home();
    let mut with_number = info("numbered");
    with_number.number = 41;
    TaskLog::create(&home, with_number).unwrap();
    assert_eq!(home.allocate_number().unwrap(), 42, "a lost counter is found again in the logs");
}

/// A turn writes about its own size, and the ten-thousandth append writes what the tenth did.
#[test]
fn an_append_costs_the_same_however_long_the_log() {
    let (_folder, home) = temp_home();
    let OpenedLog { mut log, .. } = TaskLog::create(&home, info("long")).unwrap();
    let call = call("c1", "bash", json!({"command": "true"}));
    let event = success(&call, &"o".repeat(300));
    let mut time = |count: usize| {
        let before = log.bytes();
        let start = Instant::now();
        for _ in 0..count {
            log.append(std::slice::from_ref(&event)).unwrap();
        }
        (start.elapsed(), log.bytes() - before)
    };
    let (_, first_bytes) = time(1000);
    let (early, _) = time(1000);
    time(8000);
    let (late, last_bytes) = time(1000);
    eprintln!("1,000 appends: {early:?} at record 1,000, {late:?} at record 10,000");
    assert!(last_bytes < first_bytes + first_bytes / 50, "{first_bytes} {last_bytes}");
    assert!(first_bytes / 1000 < 300 + 200);
}
