//! Sub-tasks and sub-agents: results, limits, questions, cancel and crashes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stepwell_agent::Budget;
use stepwell_agent::subagent::SubtaskLimits;
use stepwell_llm::Request;
use stepwell_protocol::{ApprovalAnswer, Command, Event, EventRecord, PermissionMode, Role, Seq, TaskId};

use tokio::sync::{Barrier, Semaphore};

use crate::harness::{Ended, Harness, Setup, Step, call, say, text_argument, usage};

fn task(agent: &str, prompt: &str) -> (&'static str, Value) {
    ("task", json!({ "agent": agent, "prompt": prompt }))
}

/// A model that answers by who asks: scripts by the first message of the conversation.
fn by_prompt(scripts: &[(&str, Vec<Vec<Step>>)]) -> impl Fn(&Request) -> Option<Vec<Step>> + use<> {
    let scripts: Vec<(String, Vec<Vec<Step>>)> =
        scripts.iter().map(|(prompt, turns)| ((*prompt).to_owned(), turns.clone())).collect();
    move |request| {
        let first = request.messages.first()?.text();
        let (_, turns) = scripts.iter().find(|(prompt, _)| first.starts_with(prompt.as_str()))?;
        let said = request.messages.iter().filter(|message| message.role == Role::Assistant).count();
        turns.get(said).cloned()
    }
}

fn scripted(scripts: &[(&str, Vec<Vec<Step>>)]) -> Setup {
    Setup { answer: Some(Arc::new(by_prompt(scripts))), ..Setup::new(Vec::new()) }
}

fn results(request: &Request) -> Vec<String> {
    let results = request.messages.iter().flat_map(|message| message.tool_results());
    results.map(|result| result.output.clone()).collect()
}

fn children(events: &[Event]) -> Vec<TaskId> {
    let started = events.iter().filter_map(|event| match event {
        Event::SubtaskStarted { task, .. } => Some(task.clone()),
        _ => None,
    });
    started.collect()
}

#[tokio::test]
async fn the_parent_gets_the_answer_of_the_sub_agent_and_its_own_context_stays_apart() {
    let harness = Harness::new(scripted(&[
        ("find", vec![call(&[task("explorer", "where is it?")]), say("it is in a.rs")]),
        ("where", vec![call(&[("look", text_argument("a.rs"))]), say("in a.rs:3")]),
    ]));
    let (end, events) = harness.run("find it").await;
    assert_eq!(end, Ended::Answered("it is in a.rs".into()));
    let requests = harness.model.requests.lock();
    let last = requests.last().unwrap();
    assert_eq!(results(last), ["in a.rs:3"]);
    let of_child = requests.iter().find(|request| request.messages[0].text() == "where is it?").unwrap();
    assert!(of_child.system.contains("explorer"), "it has its own role");
    let names: Vec<&str> = of_child.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(names.contains(&"look") && !names.contains(&"touch"), "it only reads: {names:?}");
    assert!(!names.contains(&"task"), "it starts no others: {names:?}");
    let progress = events.iter().any(
        |record| matches!(&record.event, Event::ToolProgress { text, .. } if text.contains("explorer: look")),
    );
    assert!(progress, "what it does is shown while the parent waits");
    let log = harness.log();
    assert_eq!(children(&log).len(), 1);
    assert!(log.iter().any(|event| matches!(event, Event::SubtaskEnded { .. })));
}

#[tokio::test]
async fn a_sub_agent_cannot_call_what_its_limits_leave_out() {
    let harness = Harness::new(scripted(&[
        ("go", vec![call(&[task("explorer", "change it")]), say("done")]),
        (
            "change",
            vec![
                call(&[("touch", text_argument("a.rs"))]),
                call(&[("task", json!({"agent": "coder", "prompt": "you do it"}))]),
                say("I could not"),
            ],
        ),
    ]));
    harness.run("go").await;
    assert_eq!(harness.calls.load(Ordering::SeqCst), 0, "neither by itself nor through another");
    let requests = harness.model.requests.lock();
    let refused = requests.iter().flat_map(results).filter(|text| text.contains("not available here"));
    assert!(refused.count() >= 2);
}

#[tokio::test]
async fn more_rights_than_the_parent_need_approval() {
    let scripts: &[(&str, Vec<Vec<Step>>)] = &[
        ("go", vec![call(&[task("coder", "change it")]), say("done")]),
        ("change", vec![call(&[("touch", text_argument("a.rs"))]), say("changed")]),
    ];
    // In a mode that only reads, a coder may do more: nobody is there to allow it.
    let reading = Setup { mode: PermissionMode::Default, task_mode: Some("ask"), ..scripted(scripts) };
    let harness = Harness::new(reading);
    harness.run("go").await;
    assert!(children(&harness.log()).is_empty());
    // Within the same rights it starts unasked; its own calls are still asked about.
    let coding = Setup { mode: PermissionMode::Default, ..scripted(scripts) };
    let harness = Harness::new(coding);
    harness.run("go").await;
    assert_eq!(children(&harness.log()).len(), 1);
    assert_eq!(harness.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn questions_of_a_sub_agent_reach_whoever_follows_the_root() {
    let setup = Setup {
        mode: PermissionMode::Default,
        ..scripted(&[
            ("go", vec![call(&[task("coder", "change it")]), say("done")]),
            ("change", vec![call(&[("touch", text_argument("a.rs"))]), say("changed")]),
        ])
    };
    let harness = Harness::new(setup);
    let _present = harness.engine.attend(&harness.task);
    let session = harness.start("go").await;
    let mut follower = harness.engine.follow(&harness.task, Seq(0)).await.unwrap();
    let request = loop {
        let record = follower.next().await.unwrap().unwrap();
        if let Event::ApprovalRequested { request } = &record.event {
            break request.clone();
        }
    };
    let from = request.from.expect("the sub-task is named");
    assert_eq!(from.name, "coder");
    let answer = ApprovalAnswer::yes();
    let command = Command::Approve { task: harness.task.clone(), approval: request.id, answer };
    harness.engine.submit(command).await.unwrap();
    assert_eq!(harness.run_end(&session).await, Some(Ended::Answered("done".into())));
    assert_eq!(harness.calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn sub_agents_run_side_by_side_within_the_limit() {
    let running = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let calls: Vec<(&str, Value)> = (0..8).map(|n| task("explorer", &format!("part {n}"))).collect();
    let parent = vec![call(&calls), say("all done")];
    let scripts = by_prompt(&[("go", parent)]);
    let counted = Arc::clone(&running);
    // Fewer than four at a time would never meet.
    let barrier = Arc::new(Barrier::new(4));
    let answer = move |request: &Request| {
        if let Some(turn) = scripts(request) {
            return Some(turn);
        }
        let now = counted.0.fetch_add(1, Ordering::SeqCst) + 1;
        counted.1.fetch_max(now, Ordering::SeqCst);
        let counted = Arc::clone(&counted);
        let text = request.messages[0].text();
        let done = Step::Then(Arc::new(move || {
            counted.0.fetch_sub(1, Ordering::SeqCst);
        }));
        let mut turn = vec![Step::Meet(Arc::clone(&barrier)), done];
        turn.extend(say(&format!("{text} is done")));
        Some(turn)
    };
    let limits = SubtaskLimits { parallel: 4, ..SubtaskLimits::default() };
    let setup = Setup { answer: Some(Arc::new(answer)), subtasks: limits, ..Setup::new(Vec::new()) };
    let harness = Harness::new(setup);
    let (end, _) = harness.run("go").await;
    assert_eq!(end, Ended::Answered("all done".into()));
    assert_eq!(running.1.load(Ordering::SeqCst), 4, "four at a time, not more and not fewer");
    let requests = harness.model.requests.lock();
    let expected: Vec<String> = (0..8).map(|n| format!("part {n} is done")).collect();
    assert_eq!(results(requests.last().unwrap()), expected, "in the order of the calls");
}

#[tokio::test]
async fn cancelling_the_root_ends_every_sub_agent() {
    let calls: Vec<(&str, Value)> = (0..8).map(|n| task("explorer", &format!("part {n}"))).collect();
    let scripts = by_prompt(&[("go", vec![call(&calls)])]);
    let hanging = Arc::new(Semaphore::new(0));
    let counted = Arc::clone(&hanging);
    let answer = move |request: &Request| {
        let counted = Arc::clone(&counted);
        let count = Step::Then(Arc::new(move || counted.add_permits(1)));
        scripts(request).or_else(|| Some(vec![count, Step::Hang]))
    };
    let limits = SubtaskLimits { parallel: 8, ..SubtaskLimits::default() };
    let setup = Setup { answer: Some(Arc::new(answer)), subtasks: limits, ..Setup::new(Vec::new()) };
    let harness = Harness::new(setup);
    let session = harness.start("go").await;
    let all = tokio::time::timeout(Duration::from_secs(20), hanging.acquire_many(8)).await;
    drop(all.unwrap().unwrap());
    let begun = Instant::now();
    harness.engine.submit(Command::Cancel { task: harness.task.clone() }).await.unwrap();
    assert_eq!(harness.run_end(&session).await, Some(Ended::Cancelled));
    println!("8 sub-agents ended {} ms after the cancel", begun.elapsed().as_millis());
    for child in children(&harness.log()) {
        assert!(harness.engine.session(&child).is_err(), "no sub-task is left open");
    }
}

#[tokio::test]
async fn the_budget_of_the_root_stops_the_tree() {
    let spend = |tokens| {
        vec![usage(tokens, 0), Step::Give(stepwell_llm::Delta::Stop(stepwell_llm::StopReason::EndTurn))]
    };
    let mut look = call(&[("look", text_argument("a"))]);
    look.retain(|step| !matches!(step, Step::Give(stepwell_llm::Delta::Usage(_))));
    look.insert(0, usage(400, 0));
    let setup = Setup {
        budget: Budget { max_tokens: Some(1_000), max_cost_usd: None },
        ..scripted(&[
            ("go", vec![call(&[task("explorer", "look around")]), say("never said")]),
            ("look", vec![look.clone(), look.clone(), look, spend(1)]),
        ])
    };
    let harness = Harness::new(setup);
    let (end, _) = harness.run("go").await;
    // The share of the sub-task is half of what was left; the root goes on with the rest.
    assert_eq!(end, Ended::Answered("never said".into()));
    let requests = harness.model.requests.lock();
    let told = results(requests.last().unwrap()).join("");
    assert!(told.contains("share of the budget is used up"), "{told}");
    assert_eq!(requests.iter().filter(|request| request.messages[0].text() == "look around").count(), 2);
}

#[tokio::test]
async fn sub_tasks_start_sub_tasks_only_so_deep() {
    let deeper = |prompt: &str| call(&[("new_task", json!({"mode": "code", "message": prompt}))]);
    let harness = Harness::new(Setup {
        subtasks: SubtaskLimits { depth: 2, ..SubtaskLimits::default() },
        ..scripted(&[
            ("zero", vec![deeper("one"), say("0")]),
            ("one", vec![deeper("two"), say("1")]),
            ("two", vec![deeper("three"), say("2")]),
            ("three", vec![say("3")]),
        ])
    });
    harness.run("zero").await;
    let requests = harness.model.requests.lock();
    assert!(requests.iter().all(|request| request.messages[0].text() != "three"));
    let refused = requests.iter().flat_map(results).any(|text| text.contains("no deeper"));
    assert!(refused);
}

/// Everything durable of a task and its sub-tasks.
fn whole_log(harness: &Harness) -> Vec<Event> {
    let mut all = harness.log();
    for child in children(&all) {
        let records: Vec<EventRecord> = stepwell_store::read_log(&harness.home, &child).unwrap_or_default();
        all.extend(records.into_iter().map(|record| record.event));
    }
    all
}

#[tokio::test]
async fn the_whole_stack_resumes_after_a_crash_at_any_request() {
    let scripts: &[(&str, Vec<Vec<Step>>)] = &[
        ("go", vec![call(&[task("coder", "part a"), task("coder", "part b")]), say("all done")]),
        ("part a", vec![call(&[("look", text_argument("a"))]), say("a is done")]),
        ("part b", vec![call(&[("look", text_argument("b"))]), say("b is done")]),
    ];
    // The process dies while the n-th request is answered.
    for dies_at in (1..=6).cycle().take(60) {
        let asked = Arc::new(AtomicUsize::new(0));
        let (scripts_then, count) = (by_prompt(scripts), Arc::clone(&asked));
        let dying = move |request: &Request| {
            let number = count.fetch_add(1, Ordering::SeqCst) + 1;
            if number >= dies_at { Some(vec![Step::Hang]) } else { scripts_then(request) }
        };
        let setup = Setup { answer: Some(Arc::new(dying)), ..Setup::new(Vec::new()) };
        let harness = Harness::new(setup);
        harness.start("go").await;
        tokio::time::timeout(Duration::from_secs(20), harness.reached.notified()).await.unwrap();
        let harness =
            harness.crash(Setup { answer: Some(Arc::new(by_prompt(scripts))), ..Setup::new(Vec::new()) });
        let resume = Command::ResumeTask { task: harness.task.clone() };
        harness.engine.submit(resume).await.unwrap();
        let session = harness.engine.session(&harness.task).unwrap();
        let end = harness.run_end(&session).await;
        assert_eq!(end, Some(Ended::Answered("all done".into())), "dies at {dies_at}");
        let last = harness.model.requests.lock().last().unwrap().clone();
        assert_eq!(results(&last), ["a is done", "b is done"], "dies at {dies_at}");
        assert!(children(&harness.log()).len() <= 2, "no sub-task is started twice: {dies_at}");
        let answers =
            whole_log(&harness).iter().filter(|event| matches!(event, Event::Answer { .. })).count();
        assert_eq!(answers, 3, "each answers once: {dies_at}");
    }
}

#[tokio::test]
async fn a_loop_in_sub_agents_stops_the_tree() {
    let look = || call(&[("look", text_argument("the same"))]);
    let harness = Harness::new(scripted(&[
        ("go", vec![call(&[task("explorer", "look")]), say("enough")]),
        ("look", (0..12).map(|_| look()).chain([say("never")]).collect()),
    ]));
    let (end, _) = harness.run("go").await;
    assert_eq!(end, Ended::Answered("enough".into()));
    let requests = harness.model.requests.lock();
    let told = results(requests.last().unwrap()).join("");
    assert!(told.contains("has not finished"), "{told}");
    assert!(harness.calls.load(Ordering::SeqCst) <= 4);
}
