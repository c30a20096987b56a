//! A task in short: facts, state, totals, and what is still open.

use serde::{Deserialize, Serialize};
use stepwell_protocol::{
    ApprovalRequest, Event, EventRecord, Hypothesis, Message, PermissionMode, Plan, Question, SeenFile, Seq,
    StepStatus, TaskId, TaskInfo, TaskState, TaskTotals, Timestamp, TodoItem, ToolCallId,
};

/// How many characters of the first message a list shows at most.
const FIRST_TEXT_CHARS: usize = 400;
/// Files whose state is remembered, the ones seen last.
const MOST_SEEN: usize = 200;
/// Changed files that are remembered, the ones changed last.
const MOST_EDITED: usize = 40;

/// A task in short. Serializable so that the index can go on from where it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskSummary {
    /// Absent only before the first record.
    pub info: Option<TaskInfo>,
    pub title: String,
    pub state: TaskState,
    pub mode: String,
    pub model: String,
    /// Where the person chose one for this task.
    #[serde(default)]
    pub permission_mode: Option<PermissionMode>,
    pub favourite: bool,
    pub totals: TaskTotals,
    pub todo: Vec<TodoItem>,
    pub plan: Option<Plan>,
    #[serde(default)]
    pub hypotheses: Vec<Hypothesis>,
    /// Files that calls of this task changed, the last ones last.
    #[serde(default)]
    pub edited: Vec<String>,
    /// What the document of the plan held when it was last read or written.
    #[serde(default)]
    pub plan_document: String,
    pub updated_at: Timestamp,
    pub last_seq: Seq,
    /// The beginning of the first thing the person said.
    pub first_user_text: Option<String>,
    /// Messages that wait for the next turn.
    pub queued: Vec<Message>,
    pub open_approvals: Vec<ApprovalRequest>,
    pub open_questions: Vec<Question>,
    /// Sub-tasks whose calls wait for them.
    #[serde(default)]
    pub open_subtasks: Vec<OpenSubtask>,
    /// What the agent last saw of files, the oldest first.
    #[serde(default)]
    pub seen: Vec<SeenFile>,
    /// Instructions of folders that the agent was given, as they were then.
    #[serde(default)]
    pub instructions: Vec<SeenFile>,
}

/// A sub-task and the call that gets its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenSubtask {
    pub task: TaskId,
    pub call_id: ToolCallId,
}

impl Default for TaskSummary {
    fn default() -> Self {
        Self {
            info: None,
            title: String::new(),
            state: TaskState::Created,
            mode: String::new(),
            model: String::new(),
            permission_mode: None,
            favourite: false,
            totals: TaskTotals::default(),
            todo: Vec::new(),
            plan: None,
            hypotheses: Vec::new(),
            edited: Vec::new(),
            plan_document: String::new(),
            updated_at: Timestamp::default(),
            last_seq: Seq::default(),
            first_user_text: None,
            queued: Vec::new(),
            open_approvals: Vec::new(),
            open_questions: Vec::new(),
            open_subtasks: Vec::new(),
            seen: Vec::new(),
            instructions: Vec::new(),
        }
    }
}

impl TaskSummary {
    pub fn of(records: &[EventRecord]) -> Self {
        let mut summary = Self::default();
        for record in records {
            summary.apply(record);
        }
        summary
    }

    /// The title, or where there is none yet, what the person first said.
    pub fn display_title(&self) -> &str {
        if !self.title.is_empty() {
            return &self.title;
        }
        let first = self.first_user_text.as_deref().unwrap_or_default().trim();
        first.lines().next().unwrap_or_default()
    }

    pub fn created_at(&self) -> Timestamp {
        self.info.as_ref().map(|info| info.created_at).unwrap_or_default()
    }

    pub fn apply(&mut self, record: &EventRecord) {
        if !record.event.is_durable() {
            return;
        }
        self.last_seq = record.seq;
        // A new name or a star does not make an old task a recent one.
        if !matches!(record.event, Event::TaskRenamed { .. } | Event::FavouriteChanged { .. }) {
            self.updated_at = record.ts;
        }
        match &record.event {
            Event::TaskCreated { info } => {
                self.title.clone_from(&info.title);
                self.mode.clone_from(&info.mode);
                self.model.clone_from(&info.model);
                self.info = Some(info.clone());
            }
            Event::TaskRenamed { title } => self.title.clone_from(title),
            Event::FavouriteChanged { favourite } => self.favourite = *favourite,
            Event::StateChanged { state } => self.state = *state,
            Event::ModelChanged { model } => self.model.clone_from(model),
            Event::ModeChanged { mode, .. } => self.mode.clone_from(mode),
            Event::PermissionModeChanged { permission_mode } => self.permission_mode = Some(*permission_mode),
            Event::UserMessage { message } => {
                self.totals.messages += 1;
                self.queued.retain(|queued| queued.id != message.id);
                if self.first_user_text.is_none() {
                    self.first_user_text = Some(message.said().chars().take(FIRST_TEXT_CHARS).collect());
                }
            }
            Event::MessageQueued { message } => self.queued.push(message.clone()),
            Event::Answer { .. } => self.totals.messages += 1,
            Event::Action { .. } => self.totals.tool_calls += 1,
            Event::Observation { result } => {
                self.totals.tool_errors += u64::from(!result.is_success());
                self.open_subtasks.retain(|open| open.call_id != result.call_id);
            }
            Event::SubtaskStarted { task, call_id: Some(call_id), .. } => {
                self.open_subtasks.push(OpenSubtask { task: task.clone(), call_id: call_id.clone() });
            }
            Event::ApprovalRequested { request } => self.open_approvals.push(request.clone()),
            Event::ApprovalResolved { id, .. } => self.open_approvals.retain(|request| request.id != *id),
            Event::QuestionAsked { question } => self.open_questions.push(question.clone()),
            Event::QuestionAnswered { id, .. } => self.open_questions.retain(|question| question.id != *id),
            Event::Usage { usage, .. } => {
                self.totals.usage += *usage;
                self.totals.requests += 1;
            }
            Event::Todo { items } => self.todo.clone_from(items),
            Event::FilesSeen { files } => {
                for file in files {
                    self.seen.retain(|known| known.path != file.path);
                    if file.digest.is_some() {
                        self.seen.push(file.clone());
                    }
                }
                let beyond = self.seen.len().saturating_sub(MOST_SEEN);
                self.seen.drain(..beyond);
            }
            Event::Hypotheses { items } => self.hypotheses.clone_from(items),
            Event::CheckpointSaved { files, .. } => {
                for file in files {
                    self.edited.retain(|known| *known != file.path);
                    self.edited.push(file.path.clone());
                }
                let beyond = self.edited.len().saturating_sub(MOST_EDITED);
                self.edited.drain(..beyond);
            }
            Event::Plan { plan, document } => {
                // A new plan begins with a document of its own.
                if self.plan.as_ref().is_none_or(|known| known.id != plan.id) {
                    self.plan_document = String::new();
                }
                self.plan = Some(plan.clone());
                if let Some(document) = document {
                    self.plan_document.clone_from(document);
                }
            }
            Event::StepComplete { step, result, status, evidence } => {
                let known = self.plan.as_mut().and_then(|plan| {
                    plan.updated_at = record.ts;
                    plan.steps.iter_mut().find(|known| known.id == *step)
                });
                // What is completed stays as it is.
                if let Some(known) = known.filter(|known| known.status != StepStatus::Completed) {
                    known.status = *status;
                    known.result = Some(result.clone());
                    known.evidence.clone_from(evidence);
                }
            }
            Event::InstructionsGiven { files, .. } => {
                for file in files {
                    self.instructions.retain(|known| known.path != file.path);
                    self.instructions.push(file.clone());
                }
            }
            // What was taken back or summed up may have held instructions; they are given again.
            Event::HistoryRewound { .. } | Event::ContextCondensed { .. } => self.instructions.clear(),
            _ => {}
        }
    }
}
