/// What the fold makes of a task's events: the twin of the types in `crates/transcript`.
///
/// The JSON form equals what serde would write for the Rust structs: `Item {seq, ts, entry}`; `Entry` is tagged inside with `kind`
/// in snake case (`{"kind": "tool", "message_id": ..., "call": ..., ...}` for `Entry::Tool(Box<ToolCard>)`); an absent `Option` is
/// `null`; the pair in `Approval.resolved` is an array of two. `Transcript` is `{items, summary, activity}`.
import type {
  AgentState, AnswerOrigin, ApprovalDecision, ApprovalRequest, ApprovalSource, BackgroundCommand, ChangedFile, CondenseReason,
  DebugSessionSummary, ErrorReport, Hypothesis, Message, MessageId, PermissionMode, Plan, Question, QuestionAnswer, RefusedHunk,
  RunEnd, SeenFile, Seq, StepStatus, TaskId, TaskInfo, TaskState, TaskTotals, Timestamp, TodoItem, ToolCall, ToolCallId, ToolResult,
  Usage,
} from '../protocol/types';

export interface ApprovalAnswer {
  answer: ApprovalDecision;
  reason?: string | null;
  refused_files?: string[];
  refused_hunks?: RefusedHunk[];
  answered_from?: string | null;
}

export interface Condensing {
  message_id: MessageId;
  summary: string;
  pinned: string;
  kept_from?: MessageId | null;
  replaced: number;
  tokens_before: number;
  tokens_after: number;
  reason: CondenseReason;
}

export interface CheckpointMark {
  checkpoint: number;
  changed: number;
  files: ChangedFile[];
}

/** A tool call from its first word to its result. */
export interface ToolCard {
  message_id: MessageId;
  call: ToolCall;
  progress: string | null;
  output: string;
  result: ToolResult | null;
  checkpoint: CheckpointMark | null;
}

export type Entry =
  | { kind: 'user'; message: Message }
  | { kind: 'thought'; message_id: MessageId; text: string; reasoning: string }
  | ({ kind: 'tool' } & ToolCard)
  | { kind: 'approval'; request: ApprovalRequest; resolved: [ApprovalAnswer, ApprovalSource] | null }
  | { kind: 'question'; question: Question; answer: QuestionAnswer | null }
  | { kind: 'answer'; message_id: MessageId; content: string; reasoning: string; origin: AnswerOrigin; unfinished: boolean }
  | { kind: 'request'; model: string; usage: Usage }
  | { kind: 'mode'; mode: string; reason: string | null }
  | { kind: 'model'; model: string }
  | { kind: 'permission_mode'; permission_mode: PermissionMode }
  | { kind: 'plan'; plan: Plan }
  | { kind: 'step'; step: number; status: StepStatus; result: string; evidence: string | null }
  | { kind: 'subtask'; task: TaskId; number: number; title: string; mode: string; agent: string | null; end: RunEnd | null }
  | { kind: 'condensed'; condensing: Condensing }
  | { kind: 'outputs_dropped'; outputs: number; bytes: number }
  | { kind: 'condensing_undone' }
  | { kind: 'context_truncated'; dropped_messages: number }
  | { kind: 'error'; error: ErrorReport }
  | { kind: 'notice'; text: string };

export type EntryOf<K extends Entry['kind']> = Extract<Entry, { kind: K }>;

export interface Item {
  seq: Seq;
  ts: Timestamp;
  entry: Entry;
}

export interface OpenSubtask {
  task: TaskId;
  call_id: ToolCallId;
}

/** A task in short: facts, state, totals, and what is still open. */
export interface TaskSummary {
  info: TaskInfo | null;
  title: string;
  state: TaskState;
  mode: string;
  model: string;
  permission_mode: PermissionMode | null;
  favourite: boolean;
  totals: TaskTotals;
  todo: TodoItem[];
  plan: Plan | null;
  hypotheses: Hypothesis[];
  edited: string[];
  plan_document: string;
  updated_at: Timestamp;
  last_seq: Seq;
  first_user_text: string | null;
  queued: Message[];
  open_approvals: ApprovalRequest[];
  open_questions: Question[];
  open_subtasks: OpenSubtask[];
  seen: SeenFile[];
  instructions: SeenFile[];
}

export interface FormingCall {
  message_id: MessageId;
  call_id: ToolCallId;
  name: string;
  arguments: string;
}

export interface Retrying {
  attempt: number;
  limit: number;
  delay_ms: number;
  reason: string;
}

/** The present of a task. None of it is in the log. */
export interface Activity {
  agent: AgentState;
  forming: FormingCall[];
  retrying: Retrying | null;
  debug_sessions: DebugSessionSummary[];
  background: BackgroundCommand[];
  run_end: RunEnd | null;
}
