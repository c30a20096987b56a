//! A small front end that knows the protocol and the transcript, and nothing else. A test checks that it imports nothing
//! more: what it can do, every door can do.

use std::collections::HashMap;
use std::time::Duration;

use futures::{Sink, SinkExt, Stream, StreamExt};
use stepwell_protocol::{
    ApprovalAnswer, ApprovalId, ClientMessage, Command, CommandReply, Event, MessageId, Part, Query,
    QueryReply, RequestId, Seq, ServerMessage, TaskId, TaskListItem,
};
use stepwell_transcript::{Entry, Transcript};

/// Nothing in these tests takes longer, unless something hangs.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct FrontEnd<S, R> {
    to_engine: S,
    from_engine: R,
    last_request: u64,
    /// What is shown of each followed task.
    pub transcripts: HashMap<TaskId, Transcript>,
    /// The list of tasks, as far as it was told.
    pub list: HashMap<TaskId, TaskListItem>,
    replies: HashMap<RequestId, CommandReply>,
    answers: HashMap<RequestId, QueryReply>,
    following: HashMap<RequestId, Seq>,
    pub lagged: usize,
}

impl<S, R> FrontEnd<S, R>
where
    S: Sink<ClientMessage> + Unpin,
    R: Stream<Item = ServerMessage> + Unpin,
{
    pub fn new(to_engine: S, from_engine: R) -> Self {
        Self {
            to_engine,
            from_engine,
            last_request: 0,
            transcripts: HashMap::new(),
            list: HashMap::new(),
            replies: HashMap::new(),
            answers: HashMap::new(),
            following: HashMap::new(),
            lagged: 0,
        }
    }

    pub async fn hello(&mut self, attended: bool) {
        self.send(ClientMessage::Hello { attended, name: Some("front end".to_owned()) }).await;
    }

    pub async fn command(&mut self, command: Command) -> CommandReply {
        let id = self.next_id();
        self.send(ClientMessage::Command { id, command }).await;
        loop {
            if let Some(reply) = self.replies.remove(&id) {
                return reply;
            }
            self.receive().await;
        }
    }

    pub async fn query(&mut self, query: Query) -> QueryReply {
        let id = self.next_id();
        self.send(ClientMessage::Query { id, query }).await;
        loop {
            if let Some(reply) = self.answers.remove(&id) {
                return reply;
            }
            self.receive().await;
        }
    }

    pub async fn follow(&mut self, task: &TaskId) {
        let id = self.next_id();
        self.transcripts.insert(task.clone(), Transcript::default());
        self.send(ClientMessage::Follow { id, task: task.clone(), after: Seq(0) }).await;
        // What was there before is shown at once, not as news.
        loop {
            let known = self.transcripts.get(task).map_or(Seq(0), |transcript| transcript.summary.last_seq);
            if self.following.get(&id).is_some_and(|last_seq| known >= *last_seq) {
                return;
            }
            self.receive().await;
        }
    }

    pub async fn follow_tasks(&mut self) {
        let id = self.next_id();
        self.send(ClientMessage::FollowTasks { id }).await;
    }

    pub async fn say(&mut self, task: &TaskId, text: &str) -> CommandReply {
        self.command(Command::SendMessage { task: task.clone(), parts: vec![Part::text(text)] }).await
    }

    pub async fn approve(
        &mut self,
        task: &TaskId,
        approval: ApprovalId,
        answer: ApprovalAnswer,
    ) -> CommandReply {
        self.command(Command::Approve { task: task.clone(), approval, answer }).await
    }

    /// Receives until something is so.
    pub async fn until<T>(&mut self, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            self.receive().await;
        }
    }

    /// Receives until the task's run is over.
    pub async fn until_ended(&mut self, task: &TaskId) {
        self.until(|front| front.transcripts.get(task)?.activity.run_end.clone()).await;
    }

    pub async fn until_asked(&mut self, task: &TaskId) -> ApprovalId {
        self.until(|front| Some(front.transcripts.get(task)?.open_approvals().first()?.id.clone())).await
    }

    /// The answers a person reads.
    pub fn answers(&self, task: &TaskId) -> Vec<String> {
        let items = self.transcripts.get(task).map(Transcript::items).unwrap_or_default();
        let answers = items.iter().filter_map(|item| match &item.entry {
            Entry::Answer { content, .. } => Some(content.clone()),
            _ => None,
        });
        answers.collect()
    }

    /// What tools gave back.
    pub fn results(&self, task: &TaskId) -> Vec<String> {
        let items = self.transcripts.get(task).map(Transcript::items).unwrap_or_default();
        let results = items.iter().filter_map(|item| match &item.entry {
            Entry::Tool(card) => card.result.as_ref().map(|result| result.output.clone()),
            _ => None,
        });
        results.collect()
    }

    pub fn first_message(&self, task: &TaskId) -> Option<MessageId> {
        let items = self.transcripts.get(task)?.items();
        items.iter().find_map(|item| match &item.entry {
            Entry::User { message } => Some(message.id.clone()),
            _ => None,
        })
    }

    fn next_id(&mut self) -> RequestId {
        self.last_request += 1;
        RequestId(self.last_request)
    }

    async fn send(&mut self, message: ClientMessage) {
        assert!(self.to_engine.send(message).await.is_ok(), "the engine is gone");
    }

    pub async fn receive(&mut self) {
        let received = tokio::time::timeout(PATIENCE, self.from_engine.next()).await;
        match received.expect("the engine says something in time").expect("the engine is there") {
            ServerMessage::CommandReply { id, reply } => {
                self.replies.insert(id, reply);
            }
            ServerMessage::QueryReply { id, reply } => {
                self.answers.insert(id, reply);
            }
            ServerMessage::Event { task, record } => {
                self.lagged += usize::from(matches!(record.event, Event::Lagged));
                if let Some(transcript) = self.transcripts.get_mut(&task) {
                    transcript.apply(&record);
                }
            }
            ServerMessage::TaskChanged { task } => {
                self.list.insert(task.info.id.clone(), task);
            }
            ServerMessage::TaskDeleted { task } => {
                self.list.remove(&task);
            }
            ServerMessage::Following { id, last_seq, .. } => {
                self.following.insert(id, last_seq);
            }
            ServerMessage::FollowEnded { .. }
            | ServerMessage::TerminalOutput { .. }
            | ServerMessage::TerminalClosed { .. } => {}
            ServerMessage::FollowFailed { error, .. } | ServerMessage::Rejected { error } => {
                panic!("refused: {}", error.message)
            }
        }
    }
}
