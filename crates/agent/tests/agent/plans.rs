//! Plans from the engine's side: held until approved, carried out step by step, edited on the way.

use std::sync::atomic::Ordering;

use stepwell_agent::PlanApproval;
use stepwell_protocol::{
    AgentState, AnsweredBy, ApprovalAnswer, Command, ErrorKind, Event, Part, PermissionMode, Plan,
    PlanDecision, PlanStatus, Query, QueryReply, QuestionAnswer, Seq, StepStatus, TaskId,
};

use stepwell_tool_runtime::LoopLimits;

use crate::harness::{Ended, Harness, Setup, Step, call, say, text_argument};
use crate::plan_tools::{document, done, exit, failed, planned, write_plan};

fn touch() -> (&'static str, serde_json::Value) {
    ("touch", text_argument("it"))
}

fn setup(turns: Vec<Vec<Step>>) -> Setup {
    Setup { plans: true, mode: PermissionMode::AcceptEdits, ..Setup::new(turns) }
}

/// A run that approves its plan by itself.
fn approving(steps: &[&str], turns: Vec<Vec<Step>>) -> Setup {
    let turns = planned(steps).into_iter().chain(turns).collect();
    Setup { plan_approval: PlanApproval::Approve, ..setup(turns) }
}

async fn run_plan(harness: &Harness) -> Ended {
    let session = harness.start_in("Mend the parser", Some("plan")).await;
    harness.run_end(&session).await.unwrap()
}

async fn resume(harness: &Harness) -> Ended {
    harness.engine.submit(Command::ResumeTask { task: harness.task.clone() }).await.unwrap();
    let session = harness.engine.session(&harness.task).unwrap();
    harness.run_end(&session).await.unwrap()
}

async fn decide(harness: &Harness, decision: PlanDecision) {
    let command = Command::DecidePlan { task: harness.task.clone(), decision };
    harness.engine.submit(command).await.unwrap();
}

fn plan(harness: &Harness) -> Plan {
    harness.engine.session(&harness.task).unwrap().read_summary(|summary| summary.plan.clone().unwrap())
}

fn marks(plan: &Plan) -> String {
    plan.steps.iter().map(|step| step.status.mark()).collect()
}

fn path(harness: &Harness) -> std::path::PathBuf {
    harness.home.plan_path(&harness.task).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "the person's editor is no part of the product")]
fn edit(harness: &Harness, change: impl FnOnce(String) -> String) {
    let path = path(harness);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, change(text)).unwrap();
}

fn completed(log: &[Event]) -> Vec<(u32, StepStatus)> {
    let step = |event: &Event| match event {
        Event::StepComplete { step, status, .. } => Some((*step, *status)),
        _ => None,
    };
    log.iter().filter_map(step).collect()
}

fn results(log: &[Event]) -> Vec<String> {
    let result = |event: &Event| match event {
        Event::Observation { result } => Some(result.output.clone()),
        _ => None,
    };
    log.iter().filter_map(result).collect()
}

fn notices(log: &[Event]) -> String {
    let text = |event: &Event| match event {
        Event::Notice { text } => Some(format!("{text}\n")),
        _ => None,
    };
    log.iter().filter_map(text).collect()
}

#[tokio::test]
async fn a_person_approves_with_words_and_the_steps_run_in_order() {
    let turns = planned(&["one", "two"]).into_iter().chain([
        call(&[touch(), done("one")]),
        call(&[touch()]),
        call(&[done("two")]),
        say("both are done"),
    ]);
    let harness = Harness::new(setup(turns.collect()));
    let _present = harness.engine.attend(&harness.task);
    harness.model.hold();
    let session = harness.start_in("Mend the parser", Some("plan")).await;
    let mut follower = harness.engine.follow(&harness.task, Seq(0)).await.unwrap();
    harness.model.release();
    let mut states = Vec::new();
    while let Some(record) = follower.next().await.unwrap() {
        match &record.event {
            Event::AgentStateChanged { state } if states.last() != Some(state) => states.push(state.clone()),
            Event::ApprovalRequested { request } => {
                assert!(request.preview.summary.contains("Mend it"), "{request:?}");
                let answer =
                    ApprovalAnswer { reason: Some("mind the tests".into()), ..ApprovalAnswer::yes() };
                let approval = request.id.clone();
                let command = Command::Approve { task: harness.task.clone(), approval, answer };
                harness.engine.submit(command).await.unwrap();
            }
            Event::RunEnded { .. } => break,
            _ => {}
        }
    }
    assert_eq!(harness.run_end(&session).await, Some(Ended::Answered("both are done".into())));
    assert_eq!(harness.calls.load(Ordering::SeqCst), 2);
    assert_eq!(completed(&harness.log()), [(1, StepStatus::Completed), (2, StepStatus::Completed)]);
    let plan = plan(&harness);
    assert_eq!((plan.status, plan.steps[1].evidence.as_deref()), (PlanStatus::Completed, Some("saw two")));
    for state in [
        AgentState::Planning,
        AgentState::Executing { step: 1, total: 2 },
        AgentState::Executing { step: 2, total: 2 },
    ] {
        assert!(states.contains(&state), "{states:?}");
    }
    assert!(results(&harness.log())[1].contains("mind the tests"));
    // The tools follow the plan: none that changes things before approval, none of planning afterwards.
    let names = |request: usize| -> Vec<String> {
        harness.model.requests.lock()[request].tools.iter().map(|tool| tool.name.clone()).collect()
    };
    assert_eq!(names(0), ["fail", "finish", "look", "plan_exit", "plan_update"]);
    assert_eq!(names(2), ["fail", "finish", "look", "plan_enter", "step_complete", "touch"]);
    assert_eq!(names(5), ["fail", "finish", "look", "plan_enter", "touch"]);
}

#[tokio::test]
async fn without_a_person_the_plan_waits_and_goes_on_after_approval() {
    let harness = Harness::new(setup(planned(&["one"])));
    let Ended::Stopped(error) = run_plan(&harness).await else { panic!("it must wait") };
    assert_eq!(error.kind, ErrorKind::NeedsPerson);
    assert!(error.hint.unwrap().contains("stepwell plan approve"));
    // Nothing but the person's word changes that.
    let again = vec![call(&[touch()]), call(&[exit()])];
    let harness = harness.restart(setup(again));
    harness.engine.open(&harness.task).await.unwrap();
    assert!(matches!(resume(&harness).await, Ended::Stopped(_)));
    assert_eq!(harness.calls.load(Ordering::SeqCst), 0);
    assert!(results(&harness.log()).iter().any(|text| text.contains("before the plan is approved")));
    let harness = harness.restart(setup(vec![call(&[touch(), done("one")]), say("done")]));
    decide(&harness, PlanDecision::Approve).await;
    assert_eq!(resume(&harness).await, Ended::Answered("done".into()));
    assert_eq!(harness.calls.load(Ordering::SeqCst), 1);
    assert_eq!(plan(&harness).status, PlanStatus::Completed);
}

#[tokio::test]
async fn nothing_is_changed_around_the_plan_in_one_turn() {
    let enter = ("plan_enter", text_argument("Mend it"));
    let turns = vec![
        call(&[touch(), enter, touch()]),
        call(&[write_plan(&["one", "two"]), touch(), exit(), touch()]),
        call(&[touch(), done("one"), touch()]),
        call(&[done("two"), touch()]),
        call(&[touch()]),
        say("done"),
    ];
    let harness = Harness::new(Setup {
        plan_approval: PlanApproval::Approve,
        loop_limits: LoopLimits::OFF,
        ..setup(turns)
    });
    let (end, _) = harness.run("go").await;
    assert_eq!(end, Ended::Answered("done".into()));
    // Before the plan, in its first step, and after its end.
    assert_eq!(harness.calls.load(Ordering::SeqCst), 3);
    let refused: Vec<String> =
        results(&harness.log()).into_iter().filter(|text| text.contains("nothing is changed")).collect();
    assert_eq!(refused.len(), 5, "{refused:#?}");
    assert!(refused[0].contains("nothing is changed before the plan is approved"), "{refused:#?}");
    assert!(refused[2].contains("no step of the plan is under way"), "{refused:#?}");
}

#[tokio::test]
async fn a_plan_can_be_all_that_is_wanted() {
    let harness =
        Harness::new(Setup { plan_approval: PlanApproval::Keep, ..setup(planned(&["one", "two"])) });
    let Ended::Answered(text) = run_plan(&harness).await else { panic!("the plan is the answer") };
    assert!(text.starts_with("# Plan: Mend it\n\nSome prose.\n"), "{text}");
    assert!(text.contains("2. [ ] two\n   - Expected: two is seen\n"), "{text}");
    assert_eq!(plan(&harness).status, PlanStatus::Draft);
    let QueryReply::Plan { plan: Some(view) } =
        harness.engine.query(Query::Plan { task: harness.task.clone() }).await.unwrap()
    else {
        panic!("a plan")
    };
    assert_eq!((view.document, view.edited, view.faults), (text, false, Vec::new()));
    assert_eq!(std::path::Path::new(&view.path), path(&harness));
}

#[tokio::test]
async fn a_failed_step_stops_the_run_and_is_tried_again_on_resume() {
    let setup_one = approving(&["one", "two"], vec![call(&[failed("no disk")])]);
    let harness = Harness::new(setup_one);
    let Ended::Stopped(error) = run_plan(&harness).await else { panic!("it must stop") };
    assert_eq!(error.kind, ErrorKind::StepFailed);
    assert_eq!(error.message, "step 1 of the plan failed: no disk");
    assert_eq!(marks(&plan(&harness)), "! ");
    let harness = harness.restart(setup(vec![call(&[done("one")]), say("Checked: two, with my eyes")]));
    harness.engine.open(&harness.task).await.unwrap();
    assert_eq!(resume(&harness).await, Ended::Answered("Checked: two, with my eyes".into()));
    let log = harness.log();
    assert_eq!(
        completed(&log),
        [(1, StepStatus::Failed), (1, StepStatus::Completed), (2, StepStatus::Completed)]
    );
    assert_eq!(plan(&harness).steps[1].evidence.as_deref(), Some("two, with my eyes"));
}

/// Answers the question about a failed step.
async fn after_failure(turns: Vec<Vec<Step>>, answer: QuestionAnswer) -> (Harness, Ended) {
    let harness = Harness::new(approving(&["one", "two"], turns));
    let _present = harness.engine.attend(&harness.task);
    let session = harness.start_in("Mend the parser", Some("plan")).await;
    let mut follower = harness.engine.follow(&harness.task, Seq(0)).await.unwrap();
    while let Some(record) = follower.next().await.unwrap() {
        if let Event::QuestionAsked { question } = &record.event {
            let (task, question) = (harness.task.clone(), question.id.clone());
            harness.engine.submit(Command::AnswerQuestion { task, question, answer }).await.unwrap();
            break;
        }
    }
    let end = harness.run_end(&session).await.unwrap();
    (harness, end)
}

fn option(option: &str) -> QuestionAnswer {
    QuestionAnswer::new(Some(option.into()), None, AnsweredBy::Person)
}

#[tokio::test]
async fn a_person_decides_about_a_failed_step() {
    let fails = || call(&[failed("no disk")]);
    let rest = || vec![fails(), call(&[done("two")]), say("done")];
    let (harness, end) = after_failure(rest(), option("skip")).await;
    assert_eq!((end, marks(&plan(&harness))), (Ended::Answered("done".into()), "-x".into()));
    let again = vec![fails(), call(&[done("one")]), call(&[done("two")]), say("done")];
    let (harness, end) = after_failure(again, option("retry")).await;
    assert_eq!((end, marks(&plan(&harness))), (Ended::Answered("done".into()), "xx".into()));
    let (harness, end) = after_failure(rest(), option("stop")).await;
    assert!(matches!(end, Ended::Stopped(_)), "{end:?}");
    assert_eq!(plan(&harness).status, PlanStatus::Failed);
    // A change goes back to planning: nothing is changed until the new plan is approved.
    let changed = vec![
        fails(),
        call(&[touch()]),
        call(&[write_plan(&["other"]), exit()]),
        call(&[touch(), done("other")]),
        say("done"),
    ];
    let words = QuestionAnswer::new(None, Some("use the other way".into()), AnsweredBy::Person);
    let (harness, end) = after_failure(changed, words).await;
    assert_eq!((end, marks(&plan(&harness))), (Ended::Answered("done".into()), "x".into()));
    assert_eq!(harness.calls.load(Ordering::SeqCst), 1);
    let requests = harness.model.requests.lock();
    assert!(format!("{:?}", requests[3].messages).contains("use the other way"));
}

#[tokio::test]
async fn a_step_ends_only_with_what_was_seen() {
    let bare = ("step_complete", text_argument("did it"));
    let turns = vec![call(&[bare]), say("I did it."), say("Really."), say("Trust me."), say("unreachable")];
    let harness = Harness::new(approving(&["one"], turns));
    let Ended::Stopped(error) = run_plan(&harness).await else { panic!("no evidence") };
    assert_eq!(error.message, "step 1 of the plan failed: nobody said how the expected outcome was checked");
    assert!(results(&harness.log())[2].contains("say how its expected outcome was checked"));
}

#[tokio::test]
async fn edits_of_the_document_count_from_the_next_step_on() {
    let harness =
        Harness::new(approving(&["one", "two", "three"], vec![call(&[done("one")]), vec![Step::Hang]]));
    let session = harness.start_in("Mend the parser", Some("plan")).await;
    harness.reached.notified().await;
    // Step 2 runs; step 1 is done. Neither can be changed, everything after them can.
    edit(&harness, |text| {
        text.replace("1. [x] one", "1. [x] ONE")
            .replace("3. [ ] three", "3. [ ] another\n   - Expected: it is seen\n4. [-] three")
            .replace("Some prose.", "Better prose.")
    });
    session.cancel();
    harness.run_end(&session).await;
    drop(session);
    let turns = vec![call(&[done("two")]), call(&[done("another")]), say("done")];
    let harness = harness.restart(setup(turns));
    harness.engine.open(&harness.task).await.unwrap();
    assert_eq!(resume(&harness).await, Ended::Answered("done".into()));
    let plan = plan(&harness);
    let texts: Vec<&str> = plan.steps.iter().map(|step| step.description.as_str()).collect();
    assert_eq!((texts, marks(&plan)), (vec!["one", "two", "another", "three"], "xxx-".into()));
    let log = harness.log();
    assert!(notices(&log).contains("finished steps cannot be changed; restored in the plan: step 1\n"));
    edit(&harness, |text| {
        assert!(text.contains("Better prose.") && text.contains("1. [x] one\n"), "{text}");
        text
    });
}

#[tokio::test]
async fn a_broken_document_is_told_once_and_stops_nothing() {
    let turns = vec![call(&[done("one")]), call(&[done("two")]), say("done")];
    let harness = Harness::new(setup(planned(&["one", "two"])));
    run_plan(&harness).await;
    decide(&harness, PlanDecision::Approve).await;
    edit(&harness, |text| text.replace("   - Expected: two is seen\n", ""));
    let harness = harness.restart(setup(turns));
    harness.engine.open(&harness.task).await.unwrap();
    assert_eq!(resume(&harness).await, Ended::Answered("done".into()));
    assert_eq!(marks(&plan(&harness)), "xx");
    let told = notices(&harness.log());
    assert_eq!(told.matches("the plan document cannot be used").count(), 1, "{told}");
    assert!(told.contains("line 9: the step has no line `Expected: ...`"), "{told}");
    edit(&harness, |text| {
        assert!(text.contains("1. [ ] one"), "what the person wrote is not overwritten: {text}");
        text
    });
}

#[tokio::test]
async fn an_edit_while_planning_is_not_overwritten() {
    let harness = Harness::new(setup(vec![call(&[write_plan(&["one", "two"])]), vec![Step::Hang]]));
    let session = harness.start_in("Mend the parser", Some("plan")).await;
    harness.reached.notified().await;
    session.cancel();
    harness.run_end(&session).await;
    drop(session);
    let harness = harness.restart(setup(vec![
        call(&[("look", text_argument("around"))]),
        call(&[write_plan(&["mine"])]),
        call(&[exit()]),
    ]));
    harness.engine.open(&harness.task).await.unwrap();
    harness.model.hold();
    harness.engine.submit(Command::ResumeTask { task: harness.task.clone() }).await.unwrap();
    let mut follower = harness.engine.follow(&harness.task, Seq(0)).await.unwrap();
    let mut thinking = 0;
    // The person saves the document while the model writes its own.
    while thinking < 1 {
        let record = follower.next().await.unwrap().unwrap();
        thinking +=
            usize::from(matches!(record.event, Event::AgentStateChanged { state: AgentState::Planning }));
    }
    edit(&harness, |text| text.replace("2. [ ] two", "2. [ ] the person's"));
    harness.model.release();
    let session = harness.engine.session(&harness.task).unwrap();
    assert!(matches!(harness.run_end(&session).await, Some(Ended::Stopped(_))));
    let texts: Vec<String> = plan(&harness).steps.into_iter().map(|step| step.description).collect();
    let told = format!("{:?}", harness.model.requests.lock().last().unwrap().messages);
    assert!(told.contains("The user edited the plan document") && told.contains("the person's"), "{told}");
    // The model was told before it wrote, so what it wrote counts.
    assert_eq!(texts, ["mine"]);
}

#[tokio::test]
async fn a_broken_document_cannot_be_approved() {
    let harness = Harness::new(setup(planned(&["one"])));
    run_plan(&harness).await;
    edit(&harness, |text| text.replace("   - Expected: one is seen\n", ""));
    let approve = Command::DecidePlan { task: harness.task.clone(), decision: PlanDecision::Approve };
    let error = harness.engine.submit(approve).await.unwrap_err().report();
    assert!(error.message.contains("line 7: the step has no line"), "{}", error.message);
    assert_eq!(plan(&harness).status, PlanStatus::Draft);
}

#[tokio::test]
async fn a_front_end_edits_rejects_and_stops_a_plan() {
    let harness = Harness::new(setup(planned(&["one", "two"])));
    run_plan(&harness).await;
    let mut wanted = plan(&harness);
    wanted.steps.swap(0, 1);
    wanted.steps[1].description = "one, in another way".into();
    decide(&harness, PlanDecision::Edit { plan: wanted.clone() }).await;
    let texts: Vec<String> = plan(&harness).steps.into_iter().map(|step| step.description).collect();
    assert_eq!(texts, ["two", "one, in another way"]);
    wanted.steps[0].expected_outcome = " ".into();
    let edit =
        Command::DecidePlan { task: harness.task.clone(), decision: PlanDecision::Edit { plan: wanted } };
    assert!(harness.engine.submit(edit).await.is_err(), "every step says what is expected");
    decide(&harness, PlanDecision::Approve).await;
    decide(&harness, PlanDecision::Reject { reason: Some("too long".into()) }).await;
    assert_eq!(plan(&harness).status, PlanStatus::Draft);
    decide(&harness, PlanDecision::Stop).await;
    assert_eq!(plan(&harness).status, PlanStatus::Failed);
    // Who stops a plan may go on without one.
    let harness = harness.restart(setup(vec![call(&[touch()]), say("done")]));
    harness.engine.open(&harness.task).await.unwrap();
    assert_eq!(resume(&harness).await, Ended::Answered("done".into()));
    assert_eq!(harness.calls.load(Ordering::SeqCst), 1);
    assert!(format!("{:?}", harness.model.requests.lock()[0].messages).contains("too long"));
}

#[tokio::test]
async fn a_task_below_a_plan_is_held_by_it() {
    let harness = Harness::new(setup(planned(&["one"])));
    run_plan(&harness).await;
    let start = |task: &TaskId| Command::StartTask {
        task: task.clone(),
        prompt: vec![Part::text("help")],
        workspace: "/work".into(),
        mode: None,
        model: None,
        permission_mode: Some(PermissionMode::BypassPermissions),
        parent: Some(harness.task.clone()),
    };
    let child = TaskId::generate();
    let harness_turns = [call(&[touch()]), say("done")];
    let harness2 =
        Harness::in_folder(setup(harness_turns.into()), harness.folder.clone(), harness.task.clone());
    let command = start(&child);
    harness.engine.close(&harness.task);
    harness2.engine.open(&harness2.task).await.unwrap();
    harness2.engine.submit(command).await.unwrap();
    harness2.engine.session(&child).unwrap().run_end().await;
    assert_eq!(harness2.calls.load(Ordering::SeqCst), 0);
    harness2.engine.close(&child);
    harness2.engine.close(&harness2.task);
    // The same where only the lower task is opened: the log of the upper one speaks.
    let turns = vec![call(&[touch()]), say("done")];
    let harness3 = Harness::in_folder(setup(turns), harness.folder.clone(), child.clone());
    harness3.engine.open(&child).await.unwrap();
    assert!(matches!(resume(&harness3).await, Ended::Answered(_)));
    assert_eq!(harness3.calls.load(Ordering::SeqCst), 0);
    harness3.engine.close(&child);
    // An approved plan holds its sub-tasks only between its steps.
    let turns = vec![call(&[touch()]), say("done")];
    let harness4 = Harness::in_folder(setup(turns), harness.folder.clone(), harness.task.clone());
    harness4.engine.open(&harness4.task).await.unwrap();
    decide(&harness4, PlanDecision::Stop).await;
    harness4.engine.submit(Command::ResumeTask { task: child.clone() }).await.unwrap();
    harness4.engine.session(&child).unwrap().run_end().await;
    assert_eq!(harness4.calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn planning_can_begin_in_the_middle_and_old_plans_end() {
    let turns = [say("hello")].into_iter().chain(planned(&["one"])).collect();
    let harness = Harness::new(setup(turns));
    let (end, _) = harness.run("hi").await;
    assert_eq!(end, Ended::Answered("hello".into()));
    let harness = harness.restart(setup(planned(&["one"])));
    let set = Command::SetMode { task: harness.task.clone(), mode: "plan".into() };
    harness.engine.submit(set).await.unwrap();
    let send = Command::SendMessage { task: harness.task.clone(), parts: vec![Part::text("plan it")] };
    harness.engine.submit(send).await.unwrap();
    let session = harness.engine.session(&harness.task).unwrap();
    assert!(matches!(harness.run_end(&session).await, Some(Ended::Stopped(_))));
    assert_eq!(plan(&harness).steps.len(), 1);
    assert_eq!(document(&["one"]).lines().count(), 8);
}
