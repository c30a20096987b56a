//! What a task and its sub-tasks may spend, over all their runs.

use stepwell_agent::Budget;
use stepwell_protocol::{Command, ErrorKind, Part, RunEnd, TaskId};

use crate::harness::{Harness, Setup, Step, say};

fn budgeted(max_tokens: u64, turns: Vec<Vec<Step>>) -> Setup {
    Setup { budget: Budget { max_tokens: Some(max_tokens), max_cost_usd: None }, ..Setup::new(turns) }
}

fn more(task: &TaskId) -> Command {
    Command::SendMessage { task: task.clone(), parts: vec![Part::text("more")] }
}

#[tokio::test]
async fn a_budget_holds_for_the_task_over_resumes_and_for_its_tree() {
    // A root that used 15 tokens, and a sub-task that used 15 more.
    let harness = Harness::new(budgeted(40, vec![say("one"), say("two")]));
    harness.run("go").await;
    let child = TaskId::generate();
    let sub_task = Command::StartTask {
        task: child.clone(),
        prompt: vec![Part::text("a part of it")],
        workspace: "/work".into(),
        mode: None,
        model: None,
        permission_mode: None,
        parent: Some(harness.task.clone()),
    };
    harness.engine.submit(sub_task).await.unwrap();
    let session = harness.engine.session(&child).unwrap();
    assert_eq!(session.run_end().await, Some(RunEnd::Answered));
    drop(session);
    harness.engine.close(&child);

    // Another process knows what both used: 30, then 45.
    let harness = harness.restart(budgeted(40, vec![say("three"), say("never said")]));
    for expected in [Some(RunEnd::Answered), None] {
        harness.engine.submit(more(&harness.task)).await.unwrap();
        let session = harness.engine.session(&harness.task).unwrap();
        let end = session.run_end().await;
        match expected {
            Some(expected) => assert_eq!(end, Some(expected)),
            None => assert!(is_over_budget(end.as_ref()), "{end:?}"),
        }
    }

    // The sub-task, resumed alone, spends from the same budget.
    let harness = harness.restart(budgeted(40, vec![say("never said")]));
    harness.engine.submit(more(&child)).await.unwrap();
    let session = harness.engine.session(&child).unwrap();
    let end = session.run_end().await;
    assert!(is_over_budget(end.as_ref()), "{end:?}");
    assert!(harness.model.requests.lock().is_empty());
    drop(session);
    harness.engine.close(&child);

    // A larger budget lets it go on.
    let harness = harness.restart(budgeted(100, vec![say("four")]));
    harness.engine.submit(Command::ResumeTask { task: child.clone() }).await.unwrap();
    assert_eq!(harness.engine.session(&child).unwrap().run_end().await, Some(RunEnd::Answered));
}

fn is_over_budget(end: Option<&RunEnd>) -> bool {
    matches!(end, Some(RunEnd::Stopped { error }) if error.kind == ErrorKind::TokenBudget)
}
