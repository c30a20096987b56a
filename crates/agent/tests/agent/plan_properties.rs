//! Properties 5, 6 and 7: random plans, random edits of the document, and a kill at a random moment of every run.

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use stepwell_agent::PlanApproval;
use stepwell_protocol::{
    Command, Event, EventRecord, PermissionMode, Plan, PlanId, PlanStatus, PlanStep, Seq, StepStatus, TaskId,
};
use stepwell_store::Home;
use stepwell_tool_runtime::LoopLimits;
use stepwell_transcript::TaskSummary;

use crate::harness::{Harness, Setup, Step, call, say, text_argument};
use crate::plan_tools::{done, exit, failed, write_plan};

/// What happens in one life of the process, and to the document after it.
#[derive(Clone, Debug)]
struct Life {
    /// Durable events after which the process is killed.
    events: usize,
    /// Which steps fail, in turn.
    fails: Vec<bool>,
    edits: Vec<Edit>,
}

#[derive(Clone, Debug)]
enum Edit {
    Insert(usize, String),
    DeleteLine(usize),
    Mark(usize, char),
    Reword(usize, String),
    Swap(usize, usize),
    Garbage(String),
    DeleteFile,
}

fn edits() -> impl Strategy<Value = Edit> {
    prop_oneof![
        3 => (0..30_usize, "[a-z]{1,8}").prop_map(|(at, text)| Edit::Insert(at, text)),
        2 => (0..30_usize).prop_map(Edit::DeleteLine),
        3 => (0..8_usize, prop::sample::select(vec![' ', 'x', '-', '!', '>'])).prop_map(|(at, mark)| Edit::Mark(at, mark)),
        3 => (0..8_usize, "[a-z]{1,8}").prop_map(|(at, text)| Edit::Reword(at, text)),
        2 => (0..30_usize, 0..30_usize).prop_map(|(a, b)| Edit::Swap(a, b)),
        1 => "[a-z#0-9.\n\\[\\] -]{0,30}".prop_map(Edit::Garbage),
        1 => Just(Edit::DeleteFile),
    ]
}

fn lives() -> impl Strategy<Value = (Vec<String>, Vec<Life>)> {
    let life = (
        2..60_usize,
        prop::collection::vec(prop::bool::weighted(0.15), 6),
        prop::collection::vec(edits(), 0..3),
    )
        .prop_map(|(events, fails, edits)| Life { events, fails, edits });
    (prop::collection::vec("[a-z]{1,8}", 1..5), prop::collection::vec(life, 1..4))
}

/// The turns of a model that plans where it must, and carries out the rest.
fn turns(plan: Option<&Plan>, steps: &[String], fails: &[bool]) -> Vec<Vec<Step>> {
    let mut turns = Vec::new();
    if plan.is_none_or(|plan| plan.status == PlanStatus::Draft) {
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        turns.push(call(&[("touch", text_argument("too early"))]));
        turns.push(call(&[write_plan(&steps)]));
        turns.push(call(&[exit(), ("touch", text_argument("too early"))]));
    }
    for fails in fails.iter().chain(&[false; 8]) {
        turns.push(call(&[("touch", text_argument("it"))]));
        turns.push(call(&[if *fails { failed("it did not work") } else { done("it") }]));
    }
    turns.push(say("done"));
    turns
}

fn summary(home: &Home, task: &TaskId) -> TaskSummary {
    stepwell_store::read_log(home, task).map(|records| TaskSummary::of(&records)).unwrap_or_default()
}

/// One life: starts or resumes the task and is killed after so many durable events, or when the run ends.
fn live(folder: &Arc<tempfile::TempDir>, task: &TaskId, steps: &[String], life: &Life) {
    let home = Home::new(folder.path());
    let known = summary(&home, task);
    let setup = Setup {
        plans: true,
        plan_approval: PlanApproval::Approve,
        mode: PermissionMode::AcceptEdits,
        loop_limits: LoopLimits::OFF,
        ..Setup::new(turns(known.plan.as_ref(), steps, &life.fails))
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let harness = Harness::in_folder(setup, Arc::clone(folder), task.clone());
        let from = known.last_seq;
        if known.info.is_none() {
            harness.start_in("Mend the parser", Some("plan")).await;
        } else {
            harness.engine.open(task).await.unwrap();
            harness.engine.submit(Command::ResumeTask { task: task.clone() }).await.unwrap();
        }
        let mut follower = harness.engine.follow(task, from).await.unwrap();
        let mut seen = 0;
        while let Some(record) = follower.next().await.unwrap() {
            if matches!(record.event, Event::RunEnded { .. }) {
                break;
            }
            seen += usize::from(record.event.is_durable());
            if seen >= life.events {
                break;
            }
        }
    });
    // Whatever was going on ends here, at whichever point it had come to.
    runtime.shutdown_timeout(std::time::Duration::from_secs(10));
}

#[expect(clippy::disallowed_methods, reason = "the person's editor is no part of the product")]
fn apply(home: &Home, task: &TaskId, edits: &[Edit]) {
    let path = home.plan_path(task).unwrap();
    for edit in edits {
        let Ok(text) = std::fs::read_to_string(&path) else { return };
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let steps: Vec<usize> =
            (0..lines.len()).filter(|at| lines[*at].starts_with(|c: char| c.is_ascii_digit())).collect();
        let step = |at: usize| steps.get(at % steps.len().max(1)).copied();
        match edit {
            Edit::Insert(at, text) => {
                let at = at % (lines.len() + 1);
                lines.insert(at, format!("9. [ ] {text}\n   - Expected: {text}"));
            }
            Edit::DeleteLine(at) if !lines.is_empty() => drop(lines.remove(at % lines.len())),
            Edit::Mark(at, mark) => {
                if let Some(at) = step(*at)
                    && let Some(start) = lines[at].find('[')
                {
                    // Garbage may end in a bracket, or have a long character behind it.
                    let old = lines[at][start + 1..].chars().next().map_or(0, char::len_utf8);
                    lines[at].replace_range(start + 1..start + 1 + old, &mark.to_string());
                }
            }
            Edit::Reword(at, text) => {
                if let Some(at) = step(*at) {
                    lines[at].push_str(text);
                }
            }
            Edit::Swap(a, b) if !lines.is_empty() => {
                let (a, b) = (a % lines.len(), b % lines.len());
                lines.swap(a, b);
            }
            Edit::Garbage(text) => lines.push(text.clone()),
            Edit::DeleteFile => {
                std::fs::remove_file(&path).unwrap();
                return;
            }
            Edit::DeleteLine(_) | Edit::Swap(..) => {}
        }
        std::fs::write(&path, lines.join("\n")).unwrap();
    }
}

/// All lives of a task, and a last one that is not killed.
fn history(steps: &[String], lives: &[Life]) -> Vec<EventRecord> {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let (home, task) = (Home::new(folder.path()), TaskId::generate());
    for life in lives {
        live(&folder, &task, steps, life);
        apply(&home, &task, &life.edits);
    }
    let last = Life { events: usize::MAX, fails: Vec::new(), edits: Vec::new() };
    live(&folder, &task, steps, &last);
    stepwell_store::read_log(&home, &task).unwrap()
}

/// Every state of the plan, with the event that made it.
fn states(records: &[EventRecord]) -> Vec<(Option<Plan>, Event)> {
    let mut summary = TaskSummary::default();
    let state = |record: &EventRecord| {
        summary.apply(record);
        (summary.plan.clone(), record.event.clone())
    };
    records.iter().map(state).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Every step of every plan says what is to be done and what is expected of it.
    #[test]
    fn property_5_every_step_says_what_it_does_and_what_is_expected((steps, lives) in lives()) {
        for (plan, _) in states(&history(&steps, &lives)) {
            for (step, id) in plan.iter().flat_map(|plan| &plan.steps).zip(1..) {
                prop_assert!(!step.description.trim().is_empty() && !step.expected_outcome.trim().is_empty());
                prop_assert!(id > 0 && step.id > 0);
            }
        }
    }

    /// Steps run in order and one at a time, each ends with `step_complete`, and nothing is changed outside of them.
    #[test]
    fn property_6_steps_run_in_order_and_each_ends_with_step_complete((steps, lives) in lives()) {
        let mut running: Option<(PlanId, u32)> = None;
        let mut ended: HashMap<(PlanId, u32), StepStatus> = HashMap::new();
        let records = history(&steps, &lives);
        for (plan, event) in states(&records) {
            let Some(plan) = plan else { continue };
            if let Event::StepComplete { step, status, .. } = &event {
                let key = (plan.id.clone(), *step);
                if *status != StepStatus::Skipped {
                    prop_assert_eq!(running.take(), Some(key.clone()), "only the running step ends");
                }
                ended.insert(key, *status);
            }
            let now: Vec<&PlanStep> =
                plan.steps.iter().filter(|step| step.status == StepStatus::Running).collect();
            prop_assert!(now.len() <= 1, "one step at a time");
            if let Some(step) = now.first() {
                prop_assert_eq!(plan.status, PlanStatus::Executing, "an approved plan");
                let before = &plan.steps[..step.id as usize - 1];
                prop_assert!(before.iter().all(|step| step.status.is_done()), "{:?}", plan.steps);
                let key = (plan.id.clone(), step.id);
                if let Some(other) = &running {
                    prop_assert_eq!(other, &key, "a step ended without `step_complete`");
                }
                running = Some(key);
            }
            for step in plan.steps.iter().filter(|step| step.status == StepStatus::Completed) {
                prop_assert_eq!(ended.get(&(plan.id.clone(), step.id)), Some(&StepStatus::Completed));
                prop_assert!(step.evidence.is_some(), "it says what was seen");
            }
            if let Event::Observation { result } = &event
                && result.tool == "touch" && result.is_success()
            {
                let ended = matches!(plan.status, PlanStatus::Completed | PlanStatus::Failed);
                prop_assert!(running.is_some() || ended, "changed outside of a step");
                prop_assert!(result.output.contains("it"), "{}", result.output);
            }
        }
    }

    /// Whatever the document says: a completed step stays, word for word and in its place.
    #[test]
    fn property_7_completed_steps_never_change((steps, lives) in lives()) {
        let mut completed: HashMap<(PlanId, u32), PlanStep> = HashMap::new();
        for (plan, _) in states(&history(&steps, &lives)) {
            let Some(plan) = plan else { continue };
            for (_, step) in completed.iter().filter(|((id, _), _)| *id == plan.id) {
                prop_assert_eq!(plan.steps.get(step.id as usize - 1), Some(step));
            }
            for step in plan.steps.into_iter().filter(|step| step.status == StepStatus::Completed) {
                completed.insert((plan.id.clone(), step.id), step);
            }
        }
    }
}

#[test]
fn lives_reach_every_phase_of_a_plan() {
    let steps = ["one".to_owned(), "two".to_owned()];
    let records = history(&steps, &[Life { events: 12, fails: Vec::new(), edits: Vec::new() }]);
    let plan = TaskSummary::of(&records).plan.unwrap();
    assert_eq!((plan.status, plan.steps.len()), (PlanStatus::Completed, 2), "{plan:?}");
    assert!(records.last().unwrap().seq > Seq(12));
}
