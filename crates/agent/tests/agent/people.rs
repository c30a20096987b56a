//! Approvals, questions and queued messages.

use std::sync::atomic::Ordering;
use std::time::Duration;

use stepwell_agent::Error;
use stepwell_llm::Delta;
use stepwell_protocol::{
    ApprovalAnswer, ApprovalId, ApprovalSource, Command, ErrorClass, Event, Part, PermissionMode, Seq,
};

use crate::harness::{Ended as RunEnd, Harness, Setup, Step, call, say, text_argument};

fn asking() -> Setup {
    let turns = vec![call(&[("touch", text_argument("it"))]), say("ok")];
    Setup { mode: PermissionMode::Default, ..Setup::new(turns) }
}

#[tokio::test]
async fn headless_refuses_by_policy_and_says_so() {
    let harness = Harness::new(asking());
    let (end, _) = harness.run("go").await;
    assert_eq!(end, RunEnd::Answered("ok".into()));
    assert_eq!(harness.calls.load(Ordering::SeqCst), 0, "nothing may run without approval");
    let log = harness.log();
    assert!(log.iter().any(|event| {
        matches!(
            event,
            Event::ApprovalResolved { source: ApprovalSource::Policy, answer, .. } if !answer.is_yes()
        )
    }));
    assert!(log.iter().any(|event| {
        matches!(event, Event::Observation { result } if result.error.as_ref().unwrap().class == ErrorClass::PermissionError)
    }));
}

/// Waits for the request for approval.
async fn request(harness: &Harness) -> ApprovalId {
    let mut follower = harness.engine.follow(&harness.task, Seq(0)).await.unwrap();
    loop {
        let record = follower.next().await.unwrap().unwrap();
        if let Event::ApprovalRequested { request } = &record.event {
            return request.id.clone();
        }
    }
}

#[tokio::test]
async fn a_person_says_yes_once() {
    let harness = Harness::new(asking());
    let _present = harness.engine.attend(&harness.task);
    let session = harness.start("go").await;
    let approval = request(&harness).await;
    let yes = || Command::Approve {
        task: harness.task.clone(),
        approval: approval.clone(),
        answer: ApprovalAnswer::yes(),
    };
    harness.engine.submit(yes()).await.unwrap();
    assert_eq!(harness.run_end(&session).await, Some(RunEnd::Answered("ok".into())));
    assert_eq!(harness.calls.load(Ordering::SeqCst), 1);
    // The same word again has nothing to answer.
    assert!(matches!(harness.engine.submit(yes()).await, Err(Error::NoSuchRequest { .. })));
}

#[tokio::test]
async fn a_yes_for_the_session_holds_for_the_next_message_too() {
    let touch = || call(&[("touch", text_argument("it"))]);
    let turns = vec![touch(), say("ok"), touch(), say("again")];
    let harness = Harness::new(Setup { mode: PermissionMode::Default, ..Setup::new(turns) });
    let _present = harness.engine.attend(&harness.task);
    let session = harness.start("go").await;
    let approval = request(&harness).await;
    let answer = ApprovalAnswer::yes_for_session();
    harness.engine.submit(Command::Approve { task: harness.task.clone(), approval, answer }).await.unwrap();
    assert_eq!(harness.run_end(&session).await, Some(RunEnd::Answered("ok".into())));
    let more = Command::SendMessage { task: harness.task.clone(), parts: vec![Part::text("once more")] };
    harness.engine.submit(more).await.unwrap();
    assert_eq!(harness.run_end(&session).await, Some(RunEnd::Answered("again".into())));
    assert_eq!(harness.calls.load(Ordering::SeqCst), 2);
    let asked = harness.log().iter().filter(|event| matches!(event, Event::ApprovalRequested { .. })).count();
    assert_eq!(asked, 1);
}

#[tokio::test]
async fn a_queued_message_never_approves() {
    let harness = Harness::new(asking());
    let _present = harness.engine.attend(&harness.task);
    let session = harness.start("go").await;
    let approval = request(&harness).await;
    let said = Command::SendMessage { task: harness.task.clone(), parts: vec![Part::text("yes, do it")] };
    harness.engine.submit(said).await.unwrap();
    assert!(session.is_running());
    assert_eq!(harness.calls.load(Ordering::SeqCst), 0);
    let no = ApprovalAnswer::no(Some("not that file".into()));
    harness
        .engine
        .submit(Command::Approve { task: harness.task.clone(), approval, answer: no })
        .await
        .unwrap();
    assert_eq!(harness.run_end(&session).await, Some(RunEnd::Answered("ok".into())));
    assert_eq!(harness.calls.load(Ordering::SeqCst), 0);
    // The message was delivered with the next turn, and the reason reached the model.
    let requests = harness.model.requests.lock();
    let last = &requests.last().unwrap().messages;
    assert_eq!(last.last().unwrap().text(), "yes, do it");
    let told = last
        .iter()
        .flat_map(|message| message.tool_results())
        .any(|result| result.output.contains("not that file"));
    assert!(told);
}

#[tokio::test(start_paused = true)]
async fn a_person_who_is_away_is_not_waited_for_for_ever() {
    let harness = Harness::new(Setup { approval_deadline: Duration::from_secs(600), ..asking() });
    let _present = harness.engine.attend(&harness.task);
    let (end, _) = harness.run("go").await;
    assert_eq!(end, RunEnd::Answered("ok".into()));
    assert!(
        harness.log().iter().any(|event| {
            matches!(event, Event::ApprovalResolved { source: ApprovalSource::Timeout, .. })
        })
    );
}

#[tokio::test]
async fn a_message_typed_while_the_agent_answers_gets_its_own_answer() {
    let harness = Harness::new(Setup::new(vec![
        vec![Step::Give(Delta::Text("first".into())), Step::Hang],
        say("second"),
    ]));
    let session = harness.start("go").await;
    harness.reached.notified().await;
    let more = Command::SendMessage { task: harness.task.clone(), parts: vec![Part::text("and this")] };
    harness.engine.submit(more).await.unwrap();
    session.cancel();
    harness.run_end(&session).await;
    harness.engine.submit(Command::ResumeTask { task: harness.task.clone() }).await.unwrap();
    assert_eq!(harness.run_end(&session).await, Some(RunEnd::Answered("second".into())));
    let requests = harness.model.requests.lock();
    let texts: Vec<String> = requests.last().unwrap().messages.iter().map(|message| message.text()).collect();
    assert_eq!(texts, ["go", "first", "and this"]);
}
