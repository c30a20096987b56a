//! What a screen begins with, and what a person does beside the model.

use serde_json::json;
use stepwell_protocol::{
    ApprovalAnswer, Command, CommandReply, ErrorKind, ExportFormat, Part, PermissionMode, Query, QueryReply,
    TaskId, TaskView,
};
use stepwell_transcript::{Entry, Transcript};

use crate::front_end::FrontEnd;
use crate::harness::{Harness, Setup, call, say, text_argument};

macro_rules! front_end {
    ($harness:expr) => {{
        let (to_engine, from_engine) = $harness.engine.connect().split();
        FrontEnd::new(to_engine, from_engine)
    }};
}

fn start(task: &TaskId) -> Command {
    Command::StartTask {
        task: task.clone(),
        prompt: vec![Part::text("first")],
        workspace: "/work".into(),
        mode: None,
        model: None,
        permission_mode: None,
        parent: None,
    }
}

fn asking() -> Harness {
    let touch = call(&[("touch", text_argument("it"))]);
    Harness::new(Setup { mode: PermissionMode::Default, ..Setup::new(vec![touch, say("one"), say("two")]) })
}

#[tokio::test]
async fn a_view_with_what_follows_it_is_the_whole_task() {
    let harness = asking();
    let mut front = front_end!(harness);
    front.hello(true).await;
    let task = harness.task.clone();
    front.command(start(&task)).await;
    front.follow(&task).await;
    let approval = front.until_asked(&task).await;

    // In the middle of a run: what waits is in the view.
    let view = task_view(&mut front, &task, 1000).await;
    assert_eq!(view.open_approvals.len(), 1);
    assert_eq!(view.item.waiting, 1);
    assert!(!view.more);
    assert_eq!(view.records.last().unwrap().seq, view.last_seq);
    let mut folded = Transcript::default();
    for record in &view.records {
        folded.apply(record);
    }

    front.approve(&task, approval, ApprovalAnswer::yes()).await;
    front.until_ended(&task).await;
    let newer = front.query(Query::History { task: task.clone(), before: None, limit: 1000 }).await;
    let QueryReply::History { records, .. } = newer else { panic!() };
    for record in records.iter().filter(|record| record.seq > view.last_seq) {
        folded.apply(record);
    }
    let whole = &front.transcripts[&task];
    assert_eq!(folded.items(), whole.items());
    assert_eq!(folded.summary, whole.summary);

    // A short page says that there is more, and what each request used is there all the same.
    let view = task_view(&mut front, &task, 2).await;
    assert_eq!((view.records.len(), view.more), (2, true));
    assert_eq!(view.requests.len(), 2);
}

async fn task_view<S, R>(front: &mut FrontEnd<S, R>, task: &TaskId, limit: u32) -> TaskView
where
    S: futures::Sink<stepwell_protocol::ClientMessage> + Unpin,
    R: futures::Stream<Item = stepwell_protocol::ServerMessage> + Unpin,
{
    match front.query(Query::TaskView { task: task.clone(), limit }).await {
        QueryReply::TaskView { view } => *view,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn who_answered_is_told_to_everybody() {
    let harness = asking();
    let mut front = front_end!(harness);
    front.hello(true).await;
    let task = harness.task.clone();
    front.command(start(&task)).await;
    front.follow(&task).await;
    let approval = front.until_asked(&task).await;
    // What the answer itself claims does not count.
    let yes = ApprovalAnswer { answered_from: Some("somebody else".into()), ..ApprovalAnswer::yes() };
    front.approve(&task, approval.clone(), yes).await;
    front.until_ended(&task).await;
    let from = front.transcripts[&task].items().iter().find_map(|item| match &item.entry {
        Entry::Approval { resolved: Some((answer, _)), .. } => answer.answered_from.clone(),
        _ => None,
    });
    assert_eq!(from.as_deref(), Some("front end"));
    // The second answer comes too late, and says so.
    let CommandReply::Failed { error } = front.approve(&task, approval, ApprovalAnswer::yes()).await else {
        panic!()
    };
    assert_eq!(error.kind, ErrorKind::Rejected);
}

#[tokio::test]
async fn a_call_of_the_person_runs_once_it_is_confirmed() {
    let harness = asking();
    let mut front = front_end!(harness);
    front.hello(true).await;
    let touch = |confirmed| Command::CallTool {
        workspace: "/work".into(),
        task: None,
        name: "touch".into(),
        arguments: json!({"text": "by hand"}),
        confirmed,
    };
    let CommandReply::NeedsConfirmation { request } = front.command(touch(false)).await else { panic!() };
    assert_eq!(request.call.name, "touch");
    let CommandReply::Tool { outcome, .. } = front.command(touch(true)).await else { panic!() };
    assert!(outcome.is_success(), "{}", outcome.output);
    let unknown = Command::CallTool {
        workspace: "/work".into(),
        task: None,
        name: "no_such_tool".into(),
        arguments: json!({}),
        confirmed: true,
    };
    let CommandReply::Tool { outcome, .. } = front.command(unknown).await else { panic!() };
    assert!(!outcome.is_success());
}

#[tokio::test]
async fn an_exported_task_can_be_imported() {
    let harness = asking();
    let mut front = front_end!(harness);
    front.hello(true).await;
    let task = harness.task.clone();
    front.command(start(&task)).await;
    front.follow(&task).await;
    let approval = front.until_asked(&task).await;
    front.approve(&task, approval, ApprovalAnswer::no(None)).await;
    front.until_ended(&task).await;
    let export = Query::ExportTask { task: task.clone(), format: ExportFormat::Json };
    let QueryReply::ExportTask { file_name, content, .. } = front.query(export).await else { panic!() };
    assert_eq!(file_name, "task-1.json");
    let import = |content: &str| Command::ImportTask { workspace: "/work".into(), content: content.into() };
    let CommandReply::Task { task: copy, number } = front.command(import(&content)).await else { panic!() };
    assert_eq!(number, 2);
    front.follow(&copy).await;
    assert_eq!(front.answers(&copy), ["one"]);
    let CommandReply::Failed { error } = front.command(import("{")).await else { panic!() };
    assert!(error.message.contains("JSON"), "{}", error.message);
}

#[tokio::test]
async fn a_window_that_is_loaded_again_finds_the_question_waiting() {
    let touch = call(&[("touch", text_argument("it"))]);
    let harness = Harness::new(Setup {
        mode: PermissionMode::Default,
        absence: std::time::Duration::from_secs(60),
        ..Setup::new(vec![touch, say("one")])
    });
    let task = harness.task.clone();
    let mut front = front_end!(harness);
    front.hello(true).await;
    front.command(start(&task)).await;
    // The window is gone before the model acts, and back before anybody is missed.
    drop(front);
    let mut front = front_end!(harness);
    front.hello(true).await;
    front.follow(&task).await;
    let approval = front.until_asked(&task).await;
    front.approve(&task, approval, ApprovalAnswer::yes()).await;
    front.until_ended(&task).await;
    assert_eq!(front.answers(&task), ["one"]);
}

#[tokio::test]
async fn a_task_of_another_process_can_be_looked_at() {
    let harness = asking();
    let mut front = front_end!(harness);
    front.hello(true).await;
    let task = harness.task.clone();
    front.command(start(&task)).await;
    front.follow(&task).await;
    front.until_asked(&task).await;
    // Another engine on the same store stands for another process: the task's log is locked.
    let other = harness.engine_beside();
    let (to_engine, from_engine) = other.connect().split();
    let mut onlooker = FrontEnd::new(to_engine, from_engine);
    let view = task_view(&mut onlooker, &task, 100).await;
    assert_eq!(view.open_approvals.len(), 1);
    assert!(!view.records.is_empty());
}
