//! A run cut off at every byte of its log is whole again after a resume.

use std::fs;

use proptest::prelude::*;
use stepwell_protocol::{Event, EventRecord, Part, Role};
use stepwell_store::{
    Error, Home, LogReader, ModelHistory, OnDamage, TaskFolds, TaskLog, check_history, read_log,
    repair_events, resume,
};

use crate::runs::{events, task_with, temp_home, turns};

fn cut_task(bytes: &[u8]) -> (tempfile::TempDir, Home) {
    let (folder, home) = temp_home();
    let dir = home.task_dir(&"cut".into()).unwrap();
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("log.jsonl"), bytes).unwrap();
    (folder, home)
}

fn check_cut(bytes: &[u8], whole: &[EventRecord]) {
    let (_folder, home) = cut_task(bytes);
    let complete = bytes.split(|byte| *byte == b'\n').count() - 1;
    let opened = resume(&home, &"cut".into(), OnDamage::Refuse);
    if complete == 0 {
        assert!(matches!(opened, Err(Error::NoRecords { .. })), "{opened:?}");
        return;
    }
    let resumed = opened.unwrap();
    let on_disk = read_log(&home, &"cut".into()).unwrap();
    assert_eq!(on_disk[..complete], whole[..complete], "all complete records, once, in order");
    assert_eq!(on_disk[complete..], resumed.repairs[..]);
    let messages = resumed.folds.model.messages();
    assert_eq!(check_history(&messages), Ok(()), "{messages:#?}");
    assert!(resumed.folds.transcript.summary.open_approvals.is_empty());
    assert!(repair_events(&resumed.folds).is_empty(), "a repaired task needs no repair");
    // What streamed before the cut is kept.
    if let Some(EventRecord { event: Event::PartialAnswer { content, .. }, .. }) = whole[..complete].last()
        && !content.is_empty()
    {
        let last = messages.last().unwrap();
        assert_eq!(last.role, Role::Assistant);
        assert!(last.interrupted && last.text().ends_with(content.as_str()));
    }
}

proptest! {
    // Each case opens thousands of logs.
    #![proptest_config(ProptestConfig { cases: 4, max_shrink_iters: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_prefix_resumes(turns in turns("[a-z$é中 \n\"]{0,12}".boxed())) {
        let (_folder, home) = temp_home();
        let id = task_with(&home, "cut", &events(&turns));
        let whole = read_log(&home, &id).unwrap();
        let bytes = fs::read(home.log_path(&id).unwrap()).unwrap();
        for len in 0..=bytes.len() {
            check_cut(&bytes[..len], &whole);
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_record_prefix_folds_the_same_in_steps(turns in turns("[a-z]{0,8}".boxed())) {
        let (_folder, home) = temp_home();
        let id = task_with(&home, "steps", &events(&turns));
        let whole = read_log(&home, &id).unwrap();
        let mut steps = TaskFolds::default();
        for (index, record) in whole.iter().enumerate() {
            steps.apply(record);
            let at_once = TaskFolds::of(&whole[..=index]);
            prop_assert_eq!(steps.model.messages(), at_once.model.messages());
            prop_assert_eq!(steps.transcript.items(), at_once.transcript.items());
            prop_assert_eq!(&steps.transcript.summary, &at_once.transcript.summary);
        }
    }

    /// S3, property 14: a new conversation holds nothing of the ones before it.
    #[test]
    fn property_14_a_new_context_is_clear(first in turns("[a-z]{1,8}".boxed()), second in turns("[A-Z]{1,8}".boxed())) {
        let (_folder, home) = temp_home();
        let first = task_with(&home, "first", &events(&first));
        let alone = {
            let (_other_folder, other_home) = temp_home();
            let id = task_with(&other_home, "second", &events(&second));
            ModelHistory::of(&read_log(&other_home, &id).unwrap()).messages()
        };
        let before = ModelHistory::of(&read_log(&home, &first).unwrap()).messages();
        let id = task_with(&home, "second", &events(&second));
        let fresh = ModelHistory::default();
        prop_assert!(fresh.messages().is_empty());
        let after = ModelHistory::of(&read_log(&home, &id).unwrap()).messages();
        let texts = |messages: &[std::sync::Arc<stepwell_protocol::Message>]| -> Vec<Vec<Part>> {
            messages.iter().map(|message| message.parts.clone()).collect()
        };
        prop_assert_eq!(texts(&after), texts(&alone));
        for message in &before {
            prop_assert!(!after.iter().any(|other| std::sync::Arc::ptr_eq(message, other)));
        }
    }

    /// R08: one wrong byte anywhere: what opens is a beginning of what was written, never something else.
    #[test]
    fn one_wrong_byte_is_never_believed(turns in turns("[a-z]{0,8}".boxed()), places in prop::collection::vec((any::<prop::sample::Index>(), 1..=255u8), 40)) {
        let (_folder, home) = temp_home();
        let id = task_with(&home, "cut", &events(&turns));
        let whole = read_log(&home, &id).unwrap();
        let bytes = fs::read(home.log_path(&id).unwrap()).unwrap();
        for (place, change) in places {
            let mut wrong = bytes.clone();
            wrong[place.index(bytes.len())] ^= change;
            let (_other_folder, other) = cut_task(&wrong);
            for on_damage in [OnDamage::Refuse, OnDamage::KeepPrefix] {
                match TaskLog::open_with(&other, &"cut".into(), on_damage) {
                    Ok(opened) => prop_assert_eq!(&opened.records[..], &whole[..opened.records.len()]),
                    Err(Error::Damaged { .. } | Error::NoRecords { .. } | Error::NewerFormat { .. }) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }

    /// A reader that looks at any moments sees every record once.
    #[test]
    fn a_follower_sees_each_record_once(turns in turns("[a-z]{0,8}".boxed()), cuts in prop::collection::vec(0..10_000usize, 0..6)) {
        let (_folder, home) = temp_home();
        let id = task_with(&home, "cut", &events(&turns));
        let whole = read_log(&home, &id).unwrap();
        let bytes = fs::read(home.log_path(&id).unwrap()).unwrap();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % bytes.len()).collect();
        cuts.sort_unstable();
        cuts.push(bytes.len());
        let (_other_folder, other) = cut_task(b"");
        let mut follower = LogReader::open(&other, &"cut".into(), stepwell_protocol::Seq(0)).unwrap();
        let mut seen = Vec::new();
        for cut in cuts {
            fs::write(other.log_path(&"cut".into()).unwrap(), &bytes[..cut]).unwrap();
            seen.extend(follower.poll_new().unwrap());
        }
        prop_assert_eq!(seen, whole);
    }
}
