//! What a door can do with the protocol alone, and what followers cost.

use std::sync::Arc;

use stepwell_llm::Delta;
use stepwell_protocol::{
    ApprovalAnswer, ClientMessage, Command, CommandReply, ErrorKind, Event, Part, PermissionMode, Query,
    QueryReply, RequestId, Seq, ServerMessage, TaskFilter, TaskId, TaskState,
};
use stepwell_transcript::{Entry, Transcript};

use crate::front_end::FrontEnd;
use crate::harness::{Harness, Setup, Step, call, say, text_argument};

fn start(task: &TaskId, prompt: &str) -> Command {
    Command::StartTask {
        task: task.clone(),
        prompt: vec![Part::text(prompt)],
        workspace: "/work".into(),
        mode: None,
        model: None,
        permission_mode: None,
        parent: None,
    }
}

macro_rules! front_end {
    ($harness:expr) => {{
        let (to_engine, from_engine) = $harness.engine.connect().split();
        FrontEnd::new(to_engine, from_engine)
    }};
}

#[test]
fn the_front_end_knows_the_protocol_and_the_transcript_alone() {
    let source = include_str!("front_end.rs");
    let ours = source.lines().filter(|line| line.contains("stepwell_") || line.contains("crate::"));
    for line in ours {
        let allowed =
            line.starts_with("use stepwell_protocol::") || line.starts_with("use stepwell_transcript::");
        assert!(allowed, "{line}");
    }
}

#[tokio::test]
async fn a_front_end_does_everything_with_the_protocol_alone() {
    let touch = || call(&[("touch", text_argument("it"))]);
    let harness = Harness::new(Setup {
        mode: PermissionMode::Default,
        ..Setup::new(vec![touch(), say("one"), say("two"), touch(), say("three"), say("four"), say("five")])
    });
    let mut front = front_end!(harness);
    front.hello(true).await;
    front.follow_tasks().await;

    // Starts, and approves with words the model reads.
    let task = harness.task.clone();
    let reply = front.command(start(&task, "first")).await;
    assert_eq!(reply, CommandReply::Task { task: task.clone(), number: 1 });
    front.follow(&task).await;
    let approval = front.until_asked(&task).await;
    let yes = ApprovalAnswer { reason: Some("but mind the tests".into()), ..ApprovalAnswer::yes() };
    assert_eq!(front.approve(&task, approval, yes).await, CommandReply::Done);
    front.until_ended(&task).await;
    assert_eq!(front.answers(&task), ["one"]);
    assert!(front.results(&task)[0].contains("The person approved this and says: but mind the tests"));

    // Lists, with the present state, also from the feed of all tasks.
    let QueryReply::Tasks { tasks, total } =
        front.query(Query::Tasks { filter: TaskFilter::default() }).await
    else {
        panic!()
    };
    assert_eq!((tasks.len(), total), (1, 1));
    assert_eq!((tasks[0].title.as_str(), tasks[0].state), ("first", TaskState::Completed));
    front.until(|front| (front.list.get(&task)?.state == TaskState::Completed).then_some(())).await;

    // Edits a message: the conversation begins anew from there.
    let message = front.first_message(&task).unwrap();
    let edit = Command::EditMessage { task: task.clone(), message, parts: vec![Part::text("better")] };
    assert_eq!(front.command(edit).await, CommandReply::Done);
    front.until(|front| (front.answers(&task) == ["two"]).then_some(())).await;
    front.until_ended(&task).await;

    // Forks, and follows two tasks.
    let copy = TaskId::generate();
    let fork = Command::ForkTask { task: task.clone(), new_task: copy.clone(), message: None };
    assert_eq!(front.command(fork).await, CommandReply::Task { task: copy.clone(), number: 2 });
    front.follow(&copy).await;

    // Changes permission mode, mode and model in a task.
    let accept =
        Command::SetPermissionMode { task: copy.clone(), permission_mode: PermissionMode::AcceptEdits };
    assert_eq!(front.command(accept).await, CommandReply::Done);
    for command in [
        Command::SetMode { task: copy.clone(), mode: "ask".into() },
        Command::SetModel { task: copy.clone(), model: "test/other".into() },
    ] {
        assert_eq!(front.command(command).await, CommandReply::Done);
    }
    for (command, kind) in [
        (Command::SetMode { task: copy.clone(), mode: "nonsense".into() }, ErrorKind::Rejected),
        (Command::SetModel { task: copy.clone(), model: "unknown/x".into() }, ErrorKind::LlmUnknownModel),
        (Command::UndoCondensing { task: copy.clone() }, ErrorKind::Rejected),
    ] {
        let CommandReply::Failed { error } = front.command(command).await else { panic!() };
        assert_eq!(error.kind, kind, "{}", error.message);
    }
    front.say(&copy, "go on").await;
    front.until(|front| (front.answers(&copy).last()? == "three").then_some(())).await;
    let transcript = &front.transcripts[&copy];
    assert_eq!(transcript.summary.mode, "ask");
    assert_eq!(transcript.summary.model, "test/other");
    assert_eq!(transcript.summary.permission_mode, Some(PermissionMode::AcceptEdits));
    assert!(
        !transcript.items().iter().any(|item| matches!(&item.entry, Entry::Approval { resolved: None, .. })),
        "acceptEdits asks about no edit"
    );
    front.say(&task, "and here").await;
    front.until(|front| (front.answers(&task).last()? == "four").then_some(())).await;

    // Pages of history, newest first.
    let page = |before| Query::History { task: task.clone(), before, limit: 3 };
    let QueryReply::History { records, more } = front.query(page(None)).await else { panic!() };
    assert_eq!((records.len(), more), (3, true));
    let QueryReply::History { records: older, .. } = front.query(page(Some(records[0].seq))).await else {
        panic!()
    };
    assert_eq!(older[2].seq.next(), records[0].seq);

    // What else lists need.
    let workspace = || "/work".to_owned();
    let QueryReply::Modes { modes } = front.query(Query::Modes { workspace: workspace() }).await else {
        panic!()
    };
    let slugs: Vec<&str> = modes.iter().map(|mode| mode.slug.as_str()).collect();
    assert_eq!(slugs, ["code", "architect", "ask", "debug", "orchestrator", "plan"]);
    let QueryReply::Models { models } = front.query(Query::Models { workspace: workspace() }).await else {
        panic!()
    };
    assert_eq!(models[0].name, "test/scripted");
    let QueryReply::Tools { tools } = front.query(Query::Tools { workspace: workspace() }).await else {
        panic!()
    };
    assert!(tools.iter().any(|tool| tool.name == "touch"));
    let QueryReply::Commands { commands } = front.query(Query::Commands).await else { panic!() };
    assert!(commands.iter().any(|command| command.name == "edit_message"));
    // Nothing was kept here, and the refusal says so.
    let undo = front.command(Command::Undo { workspace: workspace(), count: 1, force: false }).await;
    assert!(matches!(undo, CommandReply::Failed { error } if error.message.contains("no checkpoints")));

    // Deletes.
    assert_eq!(front.command(Command::DeleteTask { task: copy.clone() }).await, CommandReply::Done);
    front.until(|front| (!front.list.contains_key(&copy)).then_some(())).await;
}

#[tokio::test]
async fn who_joins_while_an_answer_streams_sees_all_of_it() {
    let pieces = ["Hel", "lo, ", "你好", "!"].map(|piece| Step::Give(Delta::Text(piece.into())));
    let harness = Harness::new(Setup::new(vec![pieces.into_iter().chain([Step::Hang]).collect()]));
    let session = harness.start("go").await;
    harness.reached.notified().await;
    let mut front = front_end!(harness);
    front.follow(&harness.task).await;
    let task = harness.task.clone();
    front.until(|front| (front.answers(&task).last()? == "Hello, 你好!").then_some(())).await;
    session.cancel();
    front.until_ended(&task).await;
    assert_eq!(front.answers(&task), ["Hello, 你好!"]);
}

#[tokio::test]
async fn arguments_of_a_call_can_be_seen_while_the_model_writes_them() {
    let id = stepwell_protocol::ToolCallId::new("c1");
    let steps = vec![
        Step::Give(Delta::CallStart { index: 0, id: id.clone(), name: "touch".into() }),
        Step::Give(Delta::CallArguments { index: 0, json: r#"{"text": "ha"#.into() }),
        Step::Hang,
    ];
    let harness = Harness::new(Setup::new(vec![steps]));
    let session = harness.start("go").await;
    harness.reached.notified().await;
    let mut front = front_end!(harness);
    front.follow(&harness.task).await;
    let task = harness.task.clone();
    let forming = front.until(|front| front.transcripts.get(&task)?.activity.forming.first().cloned()).await;
    assert_eq!((forming.name.as_str(), forming.arguments.as_str()), ("touch", r#"{"text": "ha"#));
    session.cancel();
    front.until_ended(&task).await;
    assert!(front.transcripts[&task].activity.forming.is_empty());
}

#[tokio::test]
async fn doors_that_open_a_task_at_the_same_moment_both_get_it() {
    let harness = Harness::new(Setup::new(vec![say("one")]));
    harness.run("go").await;
    let harness = harness.restart(Setup::new(vec![]));
    let open = || {
        let (engine, task) = (harness.engine.clone(), harness.task.clone());
        tokio::spawn(async move { engine.open(&task).await.map(|session| Arc::as_ptr(&session) as usize) })
    };
    let opened: Vec<_> = futures::future::join_all((0..8).map(|_| open())).await;
    let sessions: Vec<usize> = opened.into_iter().map(|opened| opened.unwrap().unwrap()).collect();
    assert!(sessions.windows(2).all(|pair| pair[0] == pair[1]), "{sessions:?}");
}

#[tokio::test]
async fn attendance_follows_who_is_connected() {
    let turns = vec![
        call(&[("touch", text_argument("it"))]),
        say("refused"),
        call(&[("touch", text_argument("it"))]),
        say("done"),
    ];
    let harness = Harness::new(Setup { mode: PermissionMode::Default, ..Setup::new(turns) });
    let task = harness.task.clone();
    // A door at which nobody sits does not make the run wait.
    let mut script = front_end!(harness);
    script.command(start(&task, "go")).await;
    script.follow(&task).await;
    script.until_ended(&task).await;
    assert_eq!(script.answers(&task), ["refused"]);
    // A person comes to the same task by another door.
    let mut person = front_end!(harness);
    person.hello(true).await;
    person.follow(&task).await;
    script.say(&task, "again").await;
    let approval = person.until_asked(&task).await;
    person.approve(&task, approval, ApprovalAnswer::yes()).await;
    person.until(|front| (front.answers(&task).last()? == "done").then_some(())).await;
}

/// A long answer in pieces.
fn long_answer(pieces: usize, bytes: usize) -> (Vec<Step>, String) {
    let piece = |index: usize| format!("{index:>8}").repeat(bytes / 8);
    let text: String = (0..pieces).map(piece).collect();
    let steps = (0..pieces).map(|index| Step::Give(Delta::Text(piece(index))));
    let end = [Step::Give(Delta::Stop(stepwell_llm::StopReason::EndTurn))];
    (steps.chain(end).collect(), text)
}

#[tokio::test]
async fn a_door_that_does_not_read_is_told_that_it_lags_and_catches_up() {
    let (steps, text) = long_answer(64, 128 * 1024);
    let harness = Harness::new(Setup::new(vec![steps]));
    let connection = harness.engine.connect();
    let task = harness.task.clone();
    assert!(connection.send(ClientMessage::Command { id: RequestId(1), command: start(&task, "go") }).await);
    assert!(
        connection.send(ClientMessage::Follow { id: RequestId(2), task: task.clone(), after: Seq(0) }).await
    );
    // The run ends although this door reads nothing.
    let session = loop {
        match harness.engine.session(&task) {
            Ok(session) => break session,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    harness.run_end(&session).await.unwrap();
    let mut connection = connection;
    let (mut transcript, mut lagged) = (Transcript::default(), 0);
    loop {
        let message = connection.next().await.unwrap();
        let ServerMessage::Event { record, .. } = message else { continue };
        lagged += usize::from(matches!(record.event, Event::Lagged));
        transcript.apply(&record);
        let answered = transcript
            .items()
            .iter()
            .any(|item| matches!(&item.entry, Entry::Answer { unfinished: false, .. }));
        if answered {
            break;
        }
    }
    assert!(lagged > 0, "8 MB do not fit into a queue of 1 MiB");
    let Some(Entry::Answer { content, .. }) = transcript.items().last().map(|item| &item.entry) else {
        panic!()
    };
    assert!(*content == text, "the answer is whole");
}

#[tokio::test]
async fn the_end_of_a_subtask_is_told_to_its_parent() {
    let harness = Harness::new(Setup::new(vec![say("parent"), say("child")]));
    harness.start("go").await;
    let mut front = front_end!(harness);
    front.follow(&harness.task).await;
    front.until_ended(&harness.task.clone()).await;
    let child = TaskId::generate();
    let Command::StartTask { task, prompt, workspace, mode, model, permission_mode, .. } =
        start(&child, "help")
    else {
        panic!()
    };
    let parent = Some(harness.task.clone());
    let command = Command::StartTask { task, prompt, workspace, mode, model, permission_mode, parent };
    front.command(command).await;
    let task = harness.task.clone();
    let end = front
        .until(|front| {
            front.transcripts.get(&task)?.items().iter().find_map(|item| match &item.entry {
                Entry::Subtask { task, end, .. } if *task == child => end.clone(),
                _ => None,
            })
        })
        .await;
    assert_eq!(end, stepwell_protocol::RunEnd::Answered);
}
