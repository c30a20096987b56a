//! A process that is killed at any moment loses nothing it acknowledged.

use std::io::{BufRead, BufReader};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stepwell_protocol::{Event, EventRecord, TaskId};
use stepwell_store::{ModelHistory, check_history};
use stepwell_test_support::{Turn, call};

use crate::world::World;

const KILLS: u32 = 200;
const TURNS: usize = 5;

/// Calls a command for some turns, then answers at length, so that a kill can fall into an answer too.
fn next_turn(results: usize) -> Turn {
    if results < TURNS {
        Turn::calls([call("bash", json!({"command": format!("echo step-{results}; echo more >&2")}))])
            .with_text(format!("step {results}"))
    } else {
        Turn::text("The work is done, and this is told in many words. ".repeat(40)).chunk_size(20)
    }
}

/// A small generator: the moments differ from kill to kill and are the same in every run of the test.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Runs the binary, kills it after `life` if it still lives, and gives the durable events it had acknowledged.
fn run_and_kill(world: &World, arguments: &[&str], life: Option<Duration>) -> (Vec<EventRecord>, bool) {
    let mut child = world.spawn(arguments);
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let (lines, received) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in stdout.split(b'\n').map_while(Result::ok) {
            if lines.send(line).is_err() {
                break;
            }
        }
    });
    let deadline = life.map(|life| Instant::now() + life);
    let mut acknowledged = Vec::new();
    let mut ended = false;
    loop {
        let left = deadline
            .map_or(Duration::from_secs(60), |deadline| deadline.saturating_duration_since(Instant::now()));
        match received.recv_timeout(left) {
            Ok(line) => acknowledged.extend(durable(&line)),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                assert!(deadline.is_some(), "the run does not end");
                break;
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                ended = true;
                break;
            }
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    acknowledged.extend(received.iter().filter_map(|line| durable(&line)));
    reader.join().unwrap();
    (acknowledged, ended)
}

/// A printed line that tells of a durable event. A line cut by the kill tells of nothing.
fn durable(line: &[u8]) -> Option<EventRecord> {
    let value: Value = serde_json::from_slice(line).ok()?;
    (value["type"] == "event").then_some(())?;
    let record: EventRecord = serde_json::from_value(value).unwrap();
    record.event.is_durable().then_some(record)
}

/// Everything acknowledged stands in the log once, in order, unchanged; nothing in the log is torn.
fn check(world: &World, task: &TaskId, acknowledged: &[EventRecord]) {
    let log = world.log(task);
    for (index, record) in log.iter().enumerate() {
        assert_eq!(record.seq.0, index as u64 + 1, "the log has a gap");
    }
    for record in acknowledged {
        let kept = &log[record.seq.0 as usize - 1];
        assert_eq!(kept.event, record.event, "record {} changed", record.seq);
    }
}

/// Whether the kill came after the first message was recorded; before that there is nothing to go on with.
fn has_message(world: &World, task: &TaskId) -> bool {
    stepwell_store::read_log(&world.home(), task)
        .is_ok_and(|log| log.iter().any(|record| matches!(record.event, Event::UserMessage { .. })))
}

#[test]
fn two_hundred_kills_lose_nothing() {
    let world = World::new([]);
    world.server.respond_with(|request| next_turn(request.tool_results().len()));
    let run = ["run", "--permission-mode", "bypassPermissions", "--output-format", "stream-json", "go"];
    // How long a whole run takes here and now; the moments are spread over it.
    let started = Instant::now();
    let (whole, ended) = run_and_kill(&world, &run, None);
    let whole_run = started.elapsed();
    assert!(ended && matches!(whole.last().unwrap().event, Event::Answer { .. }), "{:?}", whole.last());
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let (mut kills, mut in_the_middle) = (0, 0);
    while kills < KILLS {
        let known = world.home().task_ids().unwrap();
        let mut acknowledged = Vec::new();
        let mut task: Option<TaskId> = None;
        // One task lives through several kills before it is allowed to end.
        for attempt in 0..4 {
            let life = whole_run.mul_f64((random(&mut state) % 1000) as f64 / 1000.0);
            let (more, ended) = match &task {
                None => run_and_kill(&world, &run, Some(life)),
                Some(task) => {
                    let resume = [
                        "run",
                        "--permission-mode",
                        "bypassPermissions",
                        "--output-format",
                        "stream-json",
                        "--resume",
                        task.as_str(),
                    ];
                    let life = (attempt < 3).then_some(life);
                    run_and_kill(&world, &resume, life)
                }
            };
            kills += u32::from(!ended);
            in_the_middle += u32::from(!ended && !more.is_empty());
            acknowledged.extend(more);
            task =
                task.or_else(|| world.home().task_ids().unwrap().into_iter().find(|id| !known.contains(id)));
            match &task {
                Some(task) if has_message(&world, task) => check(&world, task, &acknowledged),
                _ => {
                    let said =
                        acknowledged.iter().any(|record| matches!(record.event, Event::UserMessage { .. }));
                    assert!(!said, "the message was acknowledged, and it is not there");
                    task = None;
                    break;
                }
            }
            if ended {
                break;
            }
        }
        if let Some(task) = &task {
            let log = world.log(task);
            let last = &log.last().unwrap().event;
            assert!(matches!(last, Event::Answer { .. }), "the task did not end with an answer: {last:?}");
            check_history(&ModelHistory::of(&log).messages()).unwrap();
        }
    }
    assert!(in_the_middle > KILLS / 4, "only {in_the_middle} of {kills} kills fell into the work");
}
