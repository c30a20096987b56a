//! Forks, names and deletion.

use std::fs;
use std::os::unix::fs::MetadataExt;

use proptest::prelude::*;
use serde_json::json;
use stepwell_protocol::{Event, Message, MessageId, TaskId, Usage};
use stepwell_store::{
    Error, ModelHistory, OnDamage, TaskFolds, TaskLog, check_history, delete_task, fork, read_log,
    rename_task, resume,
};

use crate::runs::{action, answer, call, events, info, success, task_with, temp_home, thought, turns, user};

#[test]
fn a_fork_shares_history_up_to_a_message() {
    let (_folder, home) = temp_home();
    let read = call("c1", "read", json!({}));
    let usage = Usage { input_tokens: 5, ..Usage::default() };
    let long = "q".repeat(9000);
    let source = task_with(
        &home,
        "source",
        &[
            user("u1", &long),
            thought("a1", "look"),
            action("a1", read.clone()),
            success(&read, "text"),
            Event::Usage { model: "m".into(), usage },
            answer("a2", "done"),
            user("u2", "more"),
            Event::TaskRenamed { title: "Named".into() },
        ],
    );
    let forked = TaskId::from("forked");
    let made = fork(&home, &source, &forked, Some(&MessageId::from("a1"))).unwrap();
    assert_eq!(
        (made.forked_from, made.root, made.title.as_str()),
        (Some(source.clone()), forked.clone(), "Named")
    );
    let folds = TaskFolds::of(&TaskLog::open(&home, &forked).unwrap().records);
    let ids: Vec<String> = folds.model.messages().iter().map(|message| message.id.to_string()).collect();
    assert_eq!(ids, ["u1", "a1", "a1.results"]);
    assert_eq!(folds.model.messages()[0].text(), long);
    assert_eq!(folds.transcript.summary.totals.usage, Usage::default(), "what was used was used once");
    let blob = fs::read_dir(home.blobs_dir(&forked).unwrap()).unwrap().next().unwrap().unwrap();
    assert_eq!(blob.metadata().unwrap().nlink(), 2, "content is shared on the disk too");

    delete_task(&home, &source).unwrap();
    assert_eq!(read_log(&home, &forked).unwrap().len(), 6, "and survives its source");
    let unknown = fork(&home, &forked, &"x".into(), Some(&"u2".into())).unwrap_err();
    assert!(matches!(unknown, Error::UnknownMessage { .. }), "{unknown}");
    assert!(matches!(fork(&home, &source, &"x".into(), None), Err(Error::UnknownTask { .. })));
}

#[test]
fn a_task_that_is_open_elsewhere_is_left_alone() {
    let (_folder, home) = temp_home();
    let open = TaskLog::create(&home, info("open")).unwrap();
    let id = TaskId::from("open");
    assert!(rename_task(&home, &id, "x").unwrap_err().is_busy());
    assert!(delete_task(&home, &id).unwrap_err().is_busy());
    fork(&home, &id, &"copy".into(), None).unwrap();
    drop(open);
    rename_task(&home, &id, "x").unwrap();
    delete_task(&home, &id).unwrap();
    assert!(matches!(delete_task(&home, &id), Err(Error::UnknownTask { .. })));
    assert!(!home.task_dir(&id).unwrap().exists());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_fork_at_any_message_is_a_valid_beginning(turns in turns("[a-z]{0,8}".boxed())) {
        let (_folder, home) = temp_home();
        let source = task_with(&home, "source", &events(&turns));
        let whole = ModelHistory::of(&read_log(&home, &source).unwrap()).messages();
        let parts = |messages: &[std::sync::Arc<Message>]| -> Vec<_> {
            messages.iter().map(|message| (message.id.clone(), message.parts.clone())).collect()
        };
        for (index, message) in whole.iter().enumerate() {
            let id = TaskId::from(format!("fork{index}"));
            fork(&home, &source, &id, Some(&message.id)).unwrap();
            let forked = resume(&home, &id, OnDamage::Refuse).unwrap();
            prop_assert!(forked.repairs.is_empty());
            let messages = forked.folds.model.messages();
            check_history(&messages).unwrap();
            let with_results = whole.get(index + 1).is_some_and(|next| next.tool_results().next().is_some());
            let end = if with_results { index + 2 } else { index + 1 };
            prop_assert_eq!(parts(&messages), parts(&whole[..end]));
        }
    }
}
