//! A conversation with the engine in the messages of the protocol. Every door that is not the command line uses it, over
//! whatever transport it has.

mod terminals;

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use futures::{Sink, Stream};
use parking_lot::Mutex;
use stepwell_protocol::{
    ClientMessage, Command, CommandReply, QueryReply, RequestId, Seq, ServerMessage, TaskId,
};
use stepwell_tool_runtime::WorkspaceServices;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard, PollSender};

use crate::engine::{Engine, PersonCall};
use crate::error::{Error, Result};
use crate::presence::Presence;
use crate::setup::{TerminalInput, TerminalSize};
use terminals::Terminals;

/// Messages that wait for the engine.
const INBOX: usize = 64;
/// Messages that wait for the door. Followers wait with them, so nothing grows behind a door that does not read.
const OUTBOX: usize = 64;
/// Workspaces that a conversation keeps open at most, besides those of its tasks.
const HELD_WORKSPACES: usize = 8;

/// Characters of the name of a front end at most.
const LONGEST_NAME: usize = 80;

/// Both ends of a conversation. Dropping it ends everything that was followed.
pub struct Connection {
    to_engine: mpsc::Sender<ClientMessage>,
    from_engine: mpsc::Receiver<ServerMessage>,
    end: DropGuard,
}

impl Connection {
    /// Sends a message; `false` when the engine is gone.
    pub async fn send(&self, message: ClientMessage) -> bool {
        self.to_engine.send(message).await.is_ok()
    }

    /// The next message; `None` when the engine is gone.
    pub async fn next(&mut self) -> Option<ServerMessage> {
        self.from_engine.recv().await
    }

    /// The two directions as a sink and a stream, for who knows nothing of this crate.
    pub fn split(
        self,
    ) -> (impl Sink<ClientMessage> + Send + Unpin, impl Stream<Item = ServerMessage> + Send + Unpin) {
        let Self { to_engine, from_engine, end } = self;
        let stream = futures::stream::unfold((from_engine, end), |(mut from_engine, end)| async move {
            let message = from_engine.recv().await?;
            Some((message, (from_engine, end)))
        });
        (PollSender::new(to_engine), Box::pin(stream))
    }
}

/// Services by the root of their workspace, the oldest first.
type HeldWorkspaces = Mutex<VecDeque<(String, Arc<WorkspaceServices>)>>;

/// Keeps the services of a workspace open for the conversation. One that cannot be opened is reported by the query.
async fn hold(engine: &Engine, held: &HeldWorkspaces, root: &str) {
    if held.lock().iter().any(|(known, _)| known == root) {
        return;
    }
    let Ok(workspace) = engine.workspace(Path::new(root)).await else { return };
    let mut held = held.lock();
    if held.iter().all(|(known, _)| known != root) {
        held.push_back((root.to_owned(), workspace.services));
    }
    if held.len() > HELD_WORKSPACES {
        held.pop_front();
    }
}

/// Waits until every query is answered.
async fn answered(queries: &mut JoinSet<()>) {
    while queries.join_next().await.is_some() {}
}

pub(crate) fn connect(engine: Engine) -> Connection {
    let (to_engine, inbox) = mpsc::channel(INBOX);
    let (outbox, from_engine) = mpsc::channel(OUTBOX);
    let end = CancellationToken::new();
    let conversation = Conversation {
        engine,
        outbox,
        followed: HashMap::new(),
        present: None,
        name: None,
        workspaces: Arc::default(),
        queries: JoinSet::new(),
        followers: JoinSet::new(),
        terminals: Terminals::default(),
    };
    tokio::spawn(conversation.run(inbox, end.clone()));
    Connection { to_engine, from_engine, end: end.drop_guard() }
}

/// The engine's side. Everything it starts ends with it.
struct Conversation {
    engine: Engine,
    outbox: mpsc::Sender<ServerMessage>,
    followed: HashMap<TaskId, CancellationToken>,
    /// The person at the other end, at the tasks they have to do with; `None` when nobody is there.
    present: Option<HashMap<TaskId, Presence>>,
    /// What the other end calls itself.
    name: Option<String>,
    /// The services of the workspaces that were asked about last: the next question finds them open.
    workspaces: Arc<HeldWorkspaces>,
    queries: JoinSet<()>,
    followers: JoinSet<()>,
    terminals: Terminals,
}

/// The reply to a command.
fn replied(done: Result<CommandReply>) -> CommandReply {
    done.unwrap_or_else(|error| CommandReply::Failed { error: error.report() })
}

impl Conversation {
    async fn run(mut self, mut inbox: mpsc::Receiver<ClientMessage>, end: CancellationToken) {
        loop {
            let message = tokio::select! {
                () = end.cancelled() => break,
                message = inbox.recv() => message,
                // What is finished is let go.
                Some(_) = self.queries.join_next() => continue,
                Some(_) = self.followers.join_next() => continue,
            };
            let Some(message) = message else {
                // Nothing more is asked; what was asked is answered, if somebody still listens.
                tokio::select! {
                    () = end.cancelled() => {}
                    () = answered(&mut self.queries) => {}
                }
                break;
            };
            self.take(message).await;
        }
        self.terminals.close_all();
        self.engine.leave(self.present.take().unwrap_or_default());
        self.queries.shutdown().await;
        self.followers.shutdown().await;
    }

    /// The person at the other end can answer for this task from here on.
    fn attend(&mut self, task: &TaskId) {
        let engine = &self.engine;
        if let Some(present) = &mut self.present {
            present.entry(task.clone()).or_insert_with(|| engine.attend(task));
        }
    }

    async fn take(&mut self, message: ClientMessage) {
        let (engine, outbox) = (self.engine.clone(), self.outbox.clone());
        match message {
            ClientMessage::Hello { attended: true, name } => {
                self.name = name.map(|name| name.chars().take(LONGEST_NAME).collect());
                let mut present = HashMap::new();
                for task in self.followed.keys() {
                    present.insert(task.clone(), engine.attend(task));
                }
                self.present = Some(present);
            }
            ClientMessage::Hello { attended: false, .. } => self.present = None,
            // In order: a message must not overtake the start of its task.
            ClientMessage::Command { id, command: command @ Command::CallTool { .. } } => {
                self.call_tool(id, command);
            }
            ClientMessage::Command {
                id,
                command:
                    command @ (Command::OpenTerminal { .. }
                    | Command::WriteTerminal { .. }
                    | Command::ResizeTerminal { .. }
                    | Command::CloseTerminal { .. }),
            } => {
                let reply = replied(self.use_terminal(command).await);
                outbox.send(ServerMessage::CommandReply { id, reply }).await.ok();
            }
            ClientMessage::Command { id, command } => {
                if let Some(task) = command.task() {
                    self.attend(task);
                }
                let reply = replied(engine.submit(command.answered_from(self.name.as_deref())).await);
                outbox.send(ServerMessage::CommandReply { id, reply }).await.ok();
            }
            ClientMessage::Query { id, query } => {
                let workspaces = Arc::clone(&self.workspaces);
                self.queries.spawn(async move {
                    if let Some(root) = query.workspace() {
                        hold(&engine, &workspaces, root).await;
                    }
                    let reply = match engine.query(query).await {
                        Ok(reply) => reply,
                        Err(error) => QueryReply::Failed { error: error.report() },
                    };
                    outbox.send(ServerMessage::QueryReply { id, reply }).await.ok();
                });
            }
            ClientMessage::Follow { id, task, after } => {
                self.attend(&task);
                self.follow(id, task, after).await;
            }
            ClientMessage::Unfollow { id: _, task } => {
                if let Some(token) = self.followed.remove(&task) {
                    token.cancel();
                }
                if let Some(present) = &mut self.present {
                    present.remove(&task);
                }
                outbox.send(ServerMessage::FollowEnded { task }).await.ok();
            }
            ClientMessage::FollowTasks { id } => {
                let mut changes = engine.follow_tasks();
                outbox.send(ServerMessage::CommandReply { id, reply: CommandReply::Done }).await.ok();
                self.followers.spawn(async move {
                    loop {
                        let task = changes.next().await;
                        let message = match engine.list_item(&task).await {
                            Ok(task) => ServerMessage::TaskChanged { task },
                            Err(_) => ServerMessage::TaskDeleted { task },
                        };
                        if outbox.send(message).await.is_err() {
                            return;
                        }
                    }
                });
            }
        }
    }

    /// Runs a tool for the person, beside whatever else this connection asks. It ends with the connection.
    fn call_tool(&mut self, id: RequestId, command: Command) {
        let Command::CallTool { workspace, task, name, arguments, confirmed } = command else { return };
        let (engine, outbox, workspaces) =
            (self.engine.clone(), self.outbox.clone(), Arc::clone(&self.workspaces));
        let cancel = CancellationToken::new();
        let guard = cancel.clone().drop_guard();
        self.queries.spawn(async move {
            let _guard = guard;
            // What the call starts, such as a debug session, is there for the next one.
            hold(&engine, &workspaces, &workspace).await;
            let call = PersonCall { workspace, task, name, arguments, confirmed };
            let reply = replied(engine.call_tool(call, cancel).await);
            outbox.send(ServerMessage::CommandReply { id, reply }).await.ok();
        });
    }

    async fn use_terminal(&mut self, command: Command) -> Result<CommandReply> {
        match command {
            Command::OpenTerminal { workspace, columns, rows, confirmed } => {
                let size = TerminalSize { columns, rows };
                self.terminals.open(&self.engine, &workspace, size, confirmed, &self.outbox).await
            }
            Command::WriteTerminal { terminal, data } => {
                self.terminals.input(&terminal, TerminalInput::Typed(data.into_bytes())).await
            }
            Command::ResizeTerminal { terminal, columns, rows } => {
                let size = TerminalSize { columns, rows };
                self.terminals.input(&terminal, TerminalInput::Resized(size)).await
            }
            Command::CloseTerminal { terminal } => self.terminals.close(&terminal),
            _ => Err(Error::Unsupported { what: "this command" }),
        }
    }

    async fn follow(&mut self, id: RequestId, task: TaskId, after: Seq) {
        if let Some(token) = self.followed.remove(&task) {
            token.cancel();
        }
        let outbox = self.outbox.clone();
        let mut follower = match self.engine.follow(&task, after).await {
            Ok(follower) => follower,
            Err(error) => {
                let error = error.report();
                outbox.send(ServerMessage::FollowFailed { id, error }).await.ok();
                return;
            }
        };
        let token = CancellationToken::new();
        self.followed.insert(task.clone(), token.clone());
        let last_seq = follower.began_at();
        outbox.send(ServerMessage::Following { id, task: task.clone(), last_seq }).await.ok();
        self.followers.spawn(async move {
            loop {
                let next = tokio::select! {
                    () = token.cancelled() => return,
                    next = follower.next() => next,
                };
                let message = match next {
                    Ok(Some(record)) => {
                        let record = Arc::unwrap_or_clone(record);
                        ServerMessage::Event { task: task.clone(), record }
                    }
                    Ok(None) => ServerMessage::FollowEnded { task: task.clone() },
                    Err(error) => ServerMessage::FollowFailed { id, error: Error::report(&error) },
                };
                let is_over = !matches!(message, ServerMessage::Event { .. });
                if outbox.send(message).await.is_err() || is_over {
                    return;
                }
            }
        });
    }
}
