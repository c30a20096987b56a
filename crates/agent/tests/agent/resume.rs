//! Tasks that go on later: after a crash, after an edit, with two processes.

use stepwell_agent::Error;
use stepwell_llm::Delta;
use stepwell_protocol::{Command, Event, Part, Role};

use crate::harness::{Ended as RunEnd, Harness, Setup, Step, call, say, text_argument};

#[tokio::test]
async fn an_edited_message_takes_back_what_followed() {
    let harness = Harness::new(Setup::new(vec![say("wrong"), say("right")]));
    harness.run("first words").await;
    let session = harness.engine.session(&harness.task).unwrap();
    let message = session.messages()[0].id.clone();
    let edit =
        Command::EditMessage { task: harness.task.clone(), message, parts: vec![Part::text("better words")] };
    harness.engine.submit(edit).await.unwrap();
    assert_eq!(harness.run_end(&session).await, Some(RunEnd::Answered("right".into())));
    let requests = harness.model.requests.lock();
    let texts: Vec<String> = requests.last().unwrap().messages.iter().map(|message| message.text()).collect();
    assert_eq!(texts, ["better words"]);
    assert!(
        harness
            .log()
            .iter()
            .any(|event| matches!(event, Event::Answer { content, .. } if content == "wrong"))
    );
}

#[tokio::test]
async fn a_new_process_finds_the_whole_conversation() {
    let harness = Harness::new(Setup::new(vec![call(&[("look", text_argument("a"))]), say("one")]));
    harness.run("go").await;
    let harness = harness.restart(Setup::new(vec![say("two")]));
    let more = Command::SendMessage { task: harness.task.clone(), parts: vec![Part::text("more")] };
    harness.engine.submit(more).await.unwrap();
    let session = harness.engine.session(&harness.task).unwrap();
    assert_eq!(harness.run_end(&session).await, Some(RunEnd::Answered("two".into())));
    let requests = harness.model.requests.lock();
    let roles: Vec<Role> = requests[0].messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Assistant, Role::User]);
}

#[tokio::test]
async fn a_task_is_open_in_one_process_at_a_time() {
    let harness = Harness::new(Setup::new(vec![vec![Step::Give(Delta::Text("x".into())), Step::Hang]]));
    harness.start("go").await;
    harness.reached.notified().await;
    let second = stepwell_store::TaskLog::open(&harness.home, &harness.task);
    assert!(second.is_err_and(|error| error.is_busy()));
}

#[tokio::test]
async fn commands_for_tasks_that_are_not_there_are_errors() {
    let harness = Harness::new(Setup::new(Vec::new()));
    let unknown = stepwell_protocol::TaskId::new("nowhere");
    assert!(matches!(
        harness.engine.submit(Command::Cancel { task: unknown.clone() }).await,
        Err(Error::NotOpen { .. })
    ));
    let resume = harness.engine.submit(Command::ResumeTask { task: unknown }).await;
    assert!(matches!(resume, Err(Error::Store(_))), "{resume:?}");
}
