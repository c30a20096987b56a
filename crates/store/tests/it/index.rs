//! The list and the search: right after any change, and never a reason to fail.

use std::fs;
use std::time::Instant;

use stepwell_protocol::{Event, MessageId, TaskState, Usage};
use stepwell_store::{
    Error, Home, Index, Refreshed, SortOrder, TaskLog, TaskQuery, TaskSort, delete_task, read_log,
    rename_task, set_favourite, to_markdown,
};

use crate::runs::{answer, info, task_with, temp_home, user};

fn ids(index: &mut Index, query: &TaskQuery) -> Vec<String> {
    index.list(query).unwrap().iter().map(|row| row.id.to_string()).collect()
}

fn texts(index: &mut Index, text: &str) -> Vec<String> {
    let hits = index.search(text, 10).unwrap();
    hits.iter().map(|hit| format!("{}: {}", hit.task, hit.snippet)).collect()
}

#[test]
fn only_what_was_added_is_read() {
    let (_folder, home) = temp_home();
    task_with(&home, "one", &[user("u1", "fix the parser")]);
    task_with(&home, "two", &[user("u1", "write docs")]);
    let mut index = Index::open(&home).unwrap();
    assert_eq!(index.refresh().unwrap(), Refreshed { read: 0, removed: 0 });

    let mut log = TaskLog::open(&home, &"one".into()).unwrap().log;
    let usage = Usage { input_tokens: 7, output_tokens: 2, cost_usd: Some(0.5), ..Usage::default() };
    log.append(&[
        Event::Usage { model: "m".into(), usage },
        Event::StateChanged { state: TaskState::Completed },
        answer("a1", "the tokenizer was wrong"),
    ])
    .unwrap();
    assert_eq!(index.refresh().unwrap(), Refreshed { read: 1, removed: 0 });
    let row = index.resolve("one").unwrap();
    assert_eq!((row.input_tokens, row.output_tokens, row.cost_usd), (7, 2, Some(0.5)));
    assert_eq!((row.state, row.title.as_str()), (TaskState::Completed, "fix the parser"));
    assert_eq!(row.size, log.bytes());
    assert_eq!(texts(&mut index, "tokenizer"), ["one: the tokenizer was wrong"]);
    assert_eq!(index.search("tokenizer", 1).unwrap()[0].message, Some("a1".into()));

    log.append(&[Event::HistoryRewound { to_before: "u1".into() }, user("u2", "start over")]).unwrap();
    index.refresh().unwrap();
    assert!(texts(&mut index, "tokenizer").is_empty(), "what was taken back is not found");
    assert_eq!(texts(&mut index, "start ov").len(), 1, "words may be unfinished");
}

#[test]
fn lists_are_filtered_and_sorted() {
    let (_folder, home) = temp_home();
    for (number, (id, workspace)) in [("a", "/x"), ("b", "/y"), ("c", "/x")].into_iter().enumerate() {
        let mut created = info(id);
        created.workspace = workspace.into();
        created.number = number as u32 + 1;
        created.created_at.0 += number as i64;
        created.title = format!("task {id}");
        let mut log = TaskLog::create(&home, created).unwrap().log;
        log.append(&[user("u", &format!("question of {id} {}", "long ".repeat(number * 100)))]).unwrap();
    }
    set_favourite(&home, &"a".into(), true).unwrap();
    rename_task(&home, &"b".into(), "Zebra").unwrap();
    let mut index = Index::open(&home).unwrap();
    let all = TaskQuery::all();
    let by = |sort, order| TaskQuery { sort, order, ..TaskQuery::all() };
    assert_eq!(ids(&mut index, &by(TaskSort::Created, SortOrder::Ascending)), ["a", "b", "c"]);
    assert_eq!(ids(&mut index, &by(TaskSort::Size, SortOrder::Descending)), ["c", "b", "a"]);
    assert_eq!(ids(&mut index, &by(TaskSort::Title, SortOrder::Ascending)), ["a", "c", "b"]);
    assert_eq!(ids(&mut index, &TaskQuery { favourite: Some(true), ..all.clone() }), ["a"]);
    assert_eq!(ids(&mut index, &TaskQuery { text: Some("zebra".into()), ..all.clone() }), ["b"]);
    assert_eq!(ids(&mut index, &TaskQuery { text: Some("task b".into()), ..all.clone() }), [""; 0]);
    let mut in_x = TaskQuery { workspace: Some("/x".into()), ..by(TaskSort::Number, SortOrder::Ascending) };
    assert_eq!(ids(&mut index, &in_x), ["a", "c"]);
    in_x.limit = Some(1);
    in_x.offset = 1;
    assert_eq!(ids(&mut index, &in_x), ["c"]);
    assert!(ids(&mut index, &TaskQuery { state: Some(TaskState::Failed), ..all.clone() }).is_empty());
    assert_eq!(index.latest("/y").unwrap().unwrap().id.as_str(), "b");
    assert!(index.latest("/z").unwrap().is_none());

    delete_task(&home, &"b".into()).unwrap();
    assert_eq!(index.refresh().unwrap().removed, 1);
    assert!(texts(&mut index, "zebra").is_empty());
    assert_eq!(index.rebuild().unwrap().read, 2);
}

#[test]
fn a_task_at_work_without_a_process_is_interrupted() {
    let (_folder, home) = temp_home();
    for (id, state) in [
        ("ran", TaskState::Running),
        ("waited", TaskState::Waiting),
        ("paused", TaskState::Paused),
        ("done", TaskState::Completed),
    ] {
        task_with(&home, id, &[user("u", "question"), Event::StateChanged { state }]);
    }
    let bytes = || fs::read(home.log_path(&"ran".into()).unwrap()).unwrap();
    let before = bytes();
    let held = TaskLog::open(&home, &"waited".into()).unwrap();
    let mut index = Index::open(&home).unwrap();
    let mut states = || -> Vec<String> {
        let query = TaskQuery { sort: TaskSort::Title, ..TaskQuery::all() };
        let mut shown: Vec<String> = index
            .list(&query)
            .unwrap()
            .iter()
            .map(|row| format!("{} {}", row.id, row.state_name()))
            .collect();
        shown.sort();
        shown
    };
    assert_eq!(states(), ["done completed", "paused paused", "ran interrupted", "waited waiting"]);
    drop(held);
    assert_eq!(states()[3], "waited interrupted");
    assert_eq!(bytes(), before, "looking changes nothing");
    fs::remove_file(home.task_dir(&"ran".into()).unwrap().join("lock")).unwrap();
    assert_eq!(states()[2], "ran interrupted");
    assert_eq!(index.resolve("ran").unwrap().state_name(), "interrupted");
    let text = to_markdown(&home, &read_log(&home, &"ran".into()).unwrap());
    assert!(text.contains("state: interrupted"), "{text}");
}

#[test]
fn a_search_finds_each_place_once_and_keeps_tasks_together() {
    let (_folder, home) = temp_home();
    for (number, id, title, said) in [
        (3, "both", "needle in title", &["needle in title", "no", "needle again, with many other words"][..]),
        (4, "title", "a needle", &["something else"]),
        (5, "message", "", &["the needle"]),
    ] {
        let mut created = info(id);
        (created.number, created.title) = (number, title.into());
        let mut log = TaskLog::create(&home, created).unwrap().log;
        for (place, text) in said.iter().enumerate() {
            log.append(&[user(&format!("u{place}"), text)]).unwrap();
        }
    }
    let hits = Index::open(&home).unwrap().search("needle", 10).unwrap();
    let mut shown: Vec<String> = hits
        .iter()
        .map(|hit| {
            format!("#{} {:?} {}", hit.number, hit.message.as_ref().map(MessageId::as_str), hit.snippet)
        })
        .collect();
    let tasks: Vec<u32> = hits.iter().map(|hit| hit.number).collect();
    assert_eq!(tasks.chunk_by(|one, other| one == other).count(), 3, "{tasks:?}");
    shown.sort();
    assert_eq!(
        shown,
        [
            "#3 Some(\"u0\") needle in title",
            "#3 Some(\"u2\") needle again, with many other words",
            "#4 None a needle",
            "#5 Some(\"u0\") the needle",
        ]
    );
}

#[test]
fn a_reference_to_many_tasks_names_ten_of_them() {
    let (_folder, home) = temp_home();
    for number in 10..22 {
        let mut created = info(&format!("abc{number}"));
        (created.number, created.title) = (number, "two\nlines \u{1b}[31m".into());
        TaskLog::create(&home, created).unwrap();
    }
    let mut index = Index::open(&home).unwrap();
    assert_eq!(index.count(&TaskQuery { limit: Some(3), ..TaskQuery::all() }).unwrap(), 12);
    assert_eq!(index.count(&TaskQuery { favourite: Some(true), ..TaskQuery::all() }).unwrap(), 0);
    let text = index.resolve("abc").unwrap_err().to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 12, "{text}");
    assert_eq!(lines[0], "`abc` could be any of these tasks:");
    assert!(lines[1].starts_with("  #") && lines[1].ends_with(" two lines [31m"), "{text}");
    assert_eq!(lines[11], "  … and more");
    let two = index.resolve("abc2").unwrap_err().to_string();
    assert_eq!(two.lines().count(), 3, "{two}");
}

#[test]
fn chinese_is_found_by_any_two_characters() {
    let (_folder, home) = temp_home();
    task_with(&home, "zh", &[user("u1", "请修复登录页面的错误 (login bug)"), answer("a1", "已经修好了")]);
    task_with(&home, "ja", &[user("u1", "テストが失敗する")]);
    let mut index = Index::open(&home).unwrap();
    for (query, found) in [
        ("登录", "zh"),
        ("页面的错", "zh"),
        ("修好", "zh"),
        ("失敗", "ja"),
        ("テスト", "ja"),
        ("修复 login", "zh"),
    ] {
        let hits = index.search(query, 10).unwrap();
        assert_eq!(hits.iter().map(|hit| hit.task.as_str()).collect::<Vec<_>>(), [found], "{query}");
    }
    assert!(index.search("录登", 10).unwrap().is_empty(), "order matters");
    assert!(texts(&mut index, "登录")[0].contains("修复登录页面"));
}

#[test]
fn a_task_is_known_by_id_prefix_and_number() {
    let (_folder, home) = temp_home();
    for (number, id) in [(3, "abc1"), (4, "abc2"), (5, "3def")] {
        let mut created = info(id);
        created.number = number;
        TaskLog::create(&home, created).unwrap();
    }
    let mut index = Index::open(&home).unwrap();
    for (reference, id) in [("abc1", "abc1"), ("3", "abc1"), ("#4", "abc2"), ("3d", "3def"), (" 5 ", "3def")]
    {
        assert_eq!(index.resolve(reference).unwrap().id.as_str(), id);
    }
    let ambiguous = index.resolve("abc").unwrap_err();
    assert!(matches!(&ambiguous, Error::AmbiguousTask { candidates, .. } if candidates.len() == 2));
    assert!(ambiguous.to_string().contains("#3 abc1"), "{ambiguous}");
    assert!(matches!(index.resolve("%"), Err(Error::UnknownTask { .. })));
    assert!(matches!(index.resolve(""), Err(Error::UnknownTask { .. })));
}

#[test]
fn a_bad_index_file_is_never_the_persons_problem() {
    let (_folder, home) = temp_home();
    task_with(&home, "one", &[user("u1", "find me")]);
    let path = home.index_path();
    let check = |home: &Home| {
        let mut index = Index::open(home).unwrap();
        assert_eq!(texts(&mut index, "find").len(), 1);
        index.is_kept()
    };
    assert!(check(&home), "missing");

    fs::write(&path, "this is no database, and long enough to be read as one".repeat(100)).unwrap();
    assert!(check(&home), "damaged");
    let kept = fs::read_dir(home.root())
        .unwrap()
        .any(|entry| entry.unwrap().file_name().to_string_lossy().starts_with("index.damaged-"));
    assert!(kept, "moved aside");

    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[200..middle].fill(0xA5);
    fs::write(&path, bytes).unwrap();
    check(&home);

    for version in [0, -1] {
        let other = rusqlite::Connection::open(&path).unwrap();
        other.pragma_update(None, "user_version", version).unwrap();
        drop(other);
        assert!(check(&home), "older");
    }
    let other = rusqlite::Connection::open(&path).unwrap();
    other.pragma_update(None, "user_version", 99).unwrap();
    drop(other);
    assert!(!check(&home), "newer: left alone and passed over");

    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(!check(&home), "no file at all");
}

#[test]
fn a_locked_index_is_passed_over() {
    let (_folder, home) = temp_home();
    task_with(&home, "one", &[user("u1", "find me")]);
    Index::open(&home).unwrap();
    let other = rusqlite::Connection::open(home.index_path()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    task_with(&home, "two", &[user("u1", "find me too")]);
    let mut index = Index::open(&home).unwrap();
    assert!(!index.is_kept());
    assert_eq!(texts(&mut index, "find").len(), 2);
}

#[test]
fn a_damaged_log_does_not_hide_the_others() {
    let (_folder, home) = temp_home();
    task_with(&home, "good", &[user("u1", "fine")]);
    let bad = task_with(&home, "bad", &[user("u1", "broken"), answer("a", "x")]);
    let path = home.log_path(&bad).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("junk\n{text}")).unwrap();
    fs::create_dir_all(home.task_dir(&"empty".into()).unwrap()).unwrap();
    let mut index = Index::open(&home).unwrap();
    assert_eq!(ids(&mut index, &TaskQuery::all()), ["good"]);
    fs::write(&path, text).unwrap();
    index.refresh().unwrap();
    assert_eq!(index.list(&TaskQuery::all()).unwrap().len(), 2);
}

/// Ten thousand tasks: the second look costs a listing and a stat each.
#[test]
fn ten_thousand_tasks_are_looked_at_quickly() {
    let (_folder, home) = temp_home();
    let first = task_with(&home, "t0", &[user("u1", "a short question"), answer("a1", "an answer")]);
    let lines = fs::read(home.log_path(&first).unwrap()).unwrap();
    for number in 1..10_000 {
        let dir = home.task_dir(&format!("t{number}").as_str().into()).unwrap();
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("log.jsonl"), &lines).unwrap();
    }
    let start = Instant::now();
    let mut index = Index::open(&home).unwrap();
    let built = start.elapsed();
    task_with(&home, "new", &[user("u1", "one more")]);
    let start = Instant::now();
    assert_eq!(index.refresh().unwrap().read, 1);
    let refreshed = start.elapsed();
    let start = Instant::now();
    assert_eq!(index.list(&TaskQuery { limit: Some(50), ..TaskQuery::all() }).unwrap().len(), 50);
    eprintln!(
        "10,000 tasks: built in {built:?}, refreshed in {refreshed:?}, listed in {:?}",
        start.elapsed()
    );
}
