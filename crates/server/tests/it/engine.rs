//! An engine for the tests: tasks with a log in memory, answers in tokens, one approval.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use futures::channel::mpsc as futures_mpsc;
use stepwell_protocol::{
    AnswerOrigin, ClientMessage, Command, CommandReply, ErrorKind, ErrorReport, Event, EventRecord, Message,
    MessageId, Part, Query, QueryReply, Role, Seq, ServerMessage, TaskId, Timestamp,
};
use stepwell_server::{Connect, connect_with};
use tokio::sync::{broadcast, mpsc};

/// Tokens of an answer.
pub const TOKENS: usize = 40;

#[derive(Clone, Default)]
pub struct FakeEngine {
    tasks: Arc<Mutex<HashMap<TaskId, Task>>>,
}

struct Task {
    log: Vec<EventRecord>,
    live: broadcast::Sender<EventRecord>,
}

impl FakeEngine {
    pub fn with_tasks(count: usize) -> Self {
        let engine = Self::default();
        for number in 0..count {
            let task = Task { log: Vec::new(), live: broadcast::channel(4096).0 };
            engine.tasks.lock().unwrap().insert(TaskId::new(format!("task-{number}")), task);
        }
        engine
    }

    pub fn log(&self, task: &TaskId) -> Vec<EventRecord> {
        self.tasks.lock().unwrap()[task].log.clone()
    }

    /// Appends a durable event, or tells a transient one.
    pub fn tell(&self, task: &TaskId, event: Event) {
        let mut tasks = self.tasks.lock().unwrap();
        let task = tasks.get_mut(task).unwrap();
        let last = task.log.last().map_or(Seq(0), |record| record.seq);
        let seq = if event.is_durable() { last.next() } else { last };
        let record = EventRecord { seq, ts: Timestamp(0), event };
        if record.event.is_durable() {
            task.log.push(record.clone());
        }
        task.live.send(record).ok();
    }

    /// A message of the person and the answer to it, in tokens.
    pub async fn answer(&self, task: &TaskId, round: usize) {
        let message = Message {
            id: MessageId::new(format!("u{round}")),
            role: Role::User,
            parts: vec![Part::text("hello")],
            ts: Timestamp(0),
            interrupted: false,
        };
        self.tell(task, Event::UserMessage { message });
        let message_id = MessageId::new(format!("m{round}"));
        let mut content = String::new();
        for number in 0..TOKENS {
            let token = format!("word{number} ");
            let offset = content.len() as u64;
            content.push_str(&token);
            self.tell(task, Event::Token { message_id: message_id.clone(), offset, content: token });
            tokio::task::yield_now().await;
        }
        self.tell(task, Event::Answer { message_id, content, origin: AnswerOrigin::Text });
    }

    pub fn connect(&self) -> Connect {
        let engine = self.clone();
        connect_with(move || {
            let (to_engine, inbox) = futures_mpsc::channel::<ClientMessage>(64);
            let (outbox, from_engine) = mpsc::channel(64);
            tokio::spawn(engine.clone().converse(inbox, outbox));
            let stream = futures::stream::unfold(from_engine, async |mut from_engine| {
                Some((from_engine.recv().await?, from_engine))
            });
            (to_engine, stream)
        })
    }

    async fn converse(
        self,
        mut inbox: futures_mpsc::Receiver<ClientMessage>,
        outbox: mpsc::Sender<ServerMessage>,
    ) {
        while let Some(message) = inbox.next().await {
            let said = match message {
                ClientMessage::Query { id, query: Query::Tasks { .. } } => {
                    ServerMessage::QueryReply { id, reply: QueryReply::Tasks { tasks: Vec::new(), total: 7 } }
                }
                ClientMessage::Query { id, .. } => {
                    ServerMessage::QueryReply { id, reply: QueryReply::Failed { error: unsupported() } }
                }
                ClientMessage::Command { id, command: Command::SendMessage { task, .. } } => {
                    let engine = self.clone();
                    tokio::spawn(async move { engine.answer(&task, 0).await });
                    ServerMessage::CommandReply { id, reply: CommandReply::Done }
                }
                ClientMessage::Command { id, .. } => {
                    ServerMessage::CommandReply { id, reply: CommandReply::Failed { error: unsupported() } }
                }
                ClientMessage::Follow { id, task, after } => {
                    let found = self
                        .tasks
                        .lock()
                        .unwrap()
                        .get(&task)
                        .map(|found| (found.log.clone(), found.live.subscribe()));
                    let Some((log, live)) = found else {
                        outbox.send(ServerMessage::FollowFailed { id, error: unsupported() }).await.ok();
                        continue;
                    };
                    let last_seq = log.last().map_or(Seq(0), |record| record.seq);
                    outbox.send(ServerMessage::Following { id, task: task.clone(), last_seq }).await.ok();
                    tokio::spawn(follow(task, log, live, after, outbox.clone()));
                    continue;
                }
                _ => continue,
            };
            outbox.send(said).await.ok();
        }
    }
}

async fn follow(
    task: TaskId,
    log: Vec<EventRecord>,
    mut live: broadcast::Receiver<EventRecord>,
    after: Seq,
    outbox: mpsc::Sender<ServerMessage>,
) {
    let event = |record| ServerMessage::Event { task: task.clone(), record };
    for record in log.into_iter().filter(|record| record.seq > after) {
        if outbox.send(event(record)).await.is_err() {
            return;
        }
    }
    while let Ok(record) = live.recv().await {
        if outbox.send(event(record)).await.is_err() {
            return;
        }
    }
}

fn unsupported() -> ErrorReport {
    ErrorReport { kind: ErrorKind::Unsupported, message: "not in these tests".into(), hint: None }
}
