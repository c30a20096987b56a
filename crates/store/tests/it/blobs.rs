//! Long content lives beside the log and comes back as it was, or is said to be lost.

use std::fs;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use stepwell_protocol::{Event, EventRecord};
use stepwell_store::{Error, OnDamage, TaskLog, read_log, read_log_prefix};

use crate::runs::{action, call, success, task_with, temp_home, user};

fn arbitrary_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "\\PC{0,12}",
        Just("$blob".to_owned()),
        Just("x".repeat(5000)),
        Just("中".repeat(3000)),
        Just("\u{0}\u{7f}\u{2028}".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let key = prop_oneof!["\\PC{0,6}", "\\$*blob", Just("bytes".to_owned())];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_json_comes_back_as_it_was(arguments in arbitrary_json()) {
        let (_folder, home) = temp_home();
        let event = action("m", call("c", "tool", arguments));
        let id = task_with(&home, "json", std::slice::from_ref(&event));
        let read = read_log(&home, &id).unwrap();
        prop_assert_eq!(&read[1].event, &event);
    }
}

#[test]
fn what_is_deeply_nested_comes_back() {
    let (_folder, home) = temp_home();
    let mut arguments = json!("core");
    for _ in 0..126 {
        arguments = json!([arguments]);
    }
    let event = action("m", call("c", "tool", arguments));
    let id = task_with(&home, "deep", std::slice::from_ref(&event));
    assert_eq!(read_log(&home, &id).unwrap()[1].event, event);
}

#[test]
fn the_same_content_is_kept_once_and_the_log_stays_small() {
    let (_folder, home) = temp_home();
    let long = "line of output\n".repeat(10_000);
    let call = call("c", "bash", json!({"command": "make"}));
    let events: Vec<Event> = (0..20).map(|_| success(&call, &long)).collect();
    let id = task_with(&home, "same", &events);
    let blobs: Vec<_> = fs::read_dir(home.blobs_dir(&id).unwrap()).unwrap().collect();
    assert_eq!(blobs.len(), 1);
    assert!(fs::metadata(home.log_path(&id).unwrap()).unwrap().len() < 20 * 400);
    assert_eq!(read_log(&home, &id).unwrap()[20].event, events[19]);
}

#[test]
fn lost_or_altered_content_is_named() {
    let (_folder, home) = temp_home();
    let id = task_with(&home, "lost", &[user("u", &"q".repeat(9000))]);
    let blob = fs::read_dir(home.blobs_dir(&id).unwrap()).unwrap().next().unwrap().unwrap().path();

    fs::write(&blob, "q".repeat(8999) + "x").unwrap();
    let error = read_log(&home, &id).unwrap_err();
    assert!(matches!(error, Error::BlobCorrupt { .. }), "{error}");
    assert!(error.to_string().contains(blob.to_str().unwrap()));
    assert!(error.hint().unwrap().contains("backup"));

    fs::remove_file(&blob).unwrap();
    assert!(matches!(TaskLog::open(&home, &id), Err(Error::BlobMissing { .. })));
    let kept = TaskLog::open_with(&home, &id, OnDamage::KeepPrefix).unwrap().records;
    assert_eq!(kept, read_log_prefix(&home, &id).unwrap());
    let Some(EventRecord { event: Event::UserMessage { message }, .. }) = kept.last() else { panic!() };
    assert!(message.text().starts_with("[content lost: blob "), "{}", message.text());
}

#[test]
fn a_damaged_copy_is_written_anew_when_the_content_comes_again() {
    let (_folder, home) = temp_home();
    let long = user("u", &"q".repeat(9000));
    let id = task_with(&home, "again", std::slice::from_ref(&long));
    let blob = fs::read_dir(home.blobs_dir(&id).unwrap()).unwrap().next().unwrap().unwrap().path();
    fs::write(&blob, "short").unwrap();
    let mut log = TaskLog::open_with(&home, &id, OnDamage::KeepPrefix).unwrap().log;
    log.append(&[long]).unwrap();
    assert_eq!(read_log(&home, &id).unwrap().len(), 3);
}
