//! What clients see equals the log: after drops, and when there are many.

use std::time::Duration;

use stepwell_protocol::{ClientMessage, Event, EventRecord, RequestId, Seq, ServerMessage, TaskId};
use stepwell_transcript::Transcript;

use crate::engine::FakeEngine;
use crate::stand::{Socket, Stand};

const SOCKETS: usize = 40;
const TASKS: usize = 5;
const ROUNDS: usize = 4;

/// What a client has of a task.
#[derive(Default)]
struct Seen {
    transcript: Transcript,
    durable: Vec<EventRecord>,
    answers: usize,
}

impl Seen {
    fn take(&mut self, record: EventRecord) {
        self.transcript.apply(&record);
        if record.event.is_durable() {
            self.answers += usize::from(matches!(record.event, Event::Answer { .. }));
            self.durable.push(record);
        }
    }

    fn last(&self) -> Seq {
        self.durable.last().map_or(Seq(0), |record| record.seq)
    }
}

async fn follow(socket: &mut Socket, task: &TaskId, after: Seq) {
    socket.say(&ClientMessage::Follow { id: RequestId(1), task: task.clone(), after }).await;
}

/// Reads events of a task until there are so many answers or records.
async fn read(socket: &mut Socket, seen: &mut Seen, enough: impl Fn(&Seen, usize) -> bool) {
    let mut count = 0;
    while !enough(seen, count) {
        if let ServerMessage::Event { record, .. } = socket.hear().await {
            seen.take(record);
            count += 1;
        }
    }
}

fn shown(transcript: &Transcript) -> String {
    format!("{:?}", transcript.items())
}

#[tokio::test]
async fn a_drop_in_the_middle_of_an_answer_loses_and_doubles_nothing() {
    let stand = Stand::start(FakeEngine::with_tasks(1)).await;
    let task = TaskId::new("task-0");
    let mut seen = Seen::default();
    for round in 0..6 {
        let mut socket = stand.socket().await;
        follow(&mut socket, &task, seen.last()).await;
        assert!(matches!(socket.hear().await, ServerMessage::Following { .. }));
        let engine = stand.engine.clone();
        let answering = {
            let task = task.clone();
            tokio::spawn(async move { engine.answer(&task, round).await })
        };
        // The line is cut after a few tokens.
        read(&mut socket, &mut seen, |_, count| count == 3 + round * 5).await;
        drop(socket);
        answering.await.unwrap();
        let mut socket = stand.socket().await;
        follow(&mut socket, &task, seen.last()).await;
        read(&mut socket, &mut seen, |seen, _| seen.answers == round + 1).await;
    }
    let log = stand.engine.log(&task);
    assert_eq!(seen.durable, log);
    assert_eq!(shown(&seen.transcript), shown(&Transcript::of(&log)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fold_equals_the_log_with_many_sockets_and_tasks() {
    let stand = Stand::start(FakeEngine::with_tasks(TASKS)).await;
    let tasks: Vec<TaskId> = (0..TASKS).map(|number| TaskId::new(format!("task-{number}"))).collect();
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..SOCKETS {
        let mut socket = stand.socket().await;
        for task in &tasks {
            follow(&mut socket, task, Seq(0)).await;
            assert!(matches!(socket.hear().await, ServerMessage::Following { .. }));
        }
        let mut seen: Vec<Seen> = tasks.iter().map(|_| Seen::default()).collect();
        let tasks = tasks.clone();
        clients.spawn(async move {
            while seen.iter().any(|seen| seen.answers < ROUNDS) {
                if let ServerMessage::Event { task, record } = socket.hear().await {
                    let index = tasks.iter().position(|known| *known == task).unwrap();
                    seen[index].take(record);
                }
            }
            seen
        });
    }
    for task in tasks.clone() {
        let engine = stand.engine.clone();
        tokio::spawn(async move {
            for round in 0..ROUNDS {
                engine.answer(&task, round).await;
            }
        });
    }
    let mut count = 0;
    while let Some(seen) = tokio::time::timeout(Duration::from_secs(60), clients.join_next()).await.unwrap() {
        for (task, seen) in tasks.iter().zip(seen.unwrap()) {
            let log = stand.engine.log(task);
            assert_eq!(seen.durable, log);
            assert_eq!(shown(&seen.transcript), shown(&Transcript::of(&log)));
        }
        count += 1;
    }
    assert_eq!(count, SOCKETS);
}
