/// The summary of a task: the twin of `TaskSummary` in `crates/transcript/src/summary.rs`. Every change makes new objects, so that a
/// screen sees by identity what changed.
import type { EventRecord, Message, Part, TaskTotals, Usage } from '../protocol/types';
import { isDurable } from './durable';
import type { TaskSummary } from './shape';

const FIRST_TEXT_CHARS = 400;
const MOST_SEEN = 200;
const MOST_EDITED = 40;
const SURROUNDINGS = '<environment_details>';

export function emptySummary(): TaskSummary {
  return {
    info: null, title: '', state: 'created', mode: '', model: '', permission_mode: null, favourite: false, totals: emptyTotals(),
    todo: [], plan: null, hypotheses: [], edited: [], plan_document: '', updated_at: 0, last_seq: 0, first_user_text: null,
    queued: [], open_approvals: [], open_questions: [], open_subtasks: [], seen: [], instructions: [],
  };
}

export function emptyTotals(): TaskTotals {
  const usage = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0, cost_usd: null };
  return { usage, requests: 0, messages: 0, tool_calls: 0, tool_errors: 0 };
}

/** Adds two usages; the fields that the wire leaves out count as 0. */
export function addUsage(a: Usage, b: Usage): Usage {
  const noCost = (a.cost_usd ?? null) === null && (b.cost_usd ?? null) === null;
  return {
    input_tokens: (a.input_tokens ?? 0) + (b.input_tokens ?? 0),
    output_tokens: (a.output_tokens ?? 0) + (b.output_tokens ?? 0),
    cache_read_tokens: (a.cache_read_tokens ?? 0) + (b.cache_read_tokens ?? 0),
    cache_write_tokens: (a.cache_write_tokens ?? 0) + (b.cache_write_tokens ?? 0),
    reasoning_tokens: (a.reasoning_tokens ?? 0) + (b.reasoning_tokens ?? 0),
    cost_usd: noCost ? null : (a.cost_usd ?? 0) + (b.cost_usd ?? 0),
  };
}

/** Whether a part only describes the surroundings of a message; nobody said it. */
export function isSurroundings(part: Part): boolean {
  return part.type === 'text' && part.text.startsWith(SURROUNDINGS);
}

/** What a person said in a message. */
export function said(message: Message): string {
  return message.parts
    .filter((part, index) => index === 0 || !isSurroundings(part))
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
}

export function applyToSummary(summary: TaskSummary, record: EventRecord): TaskSummary {
  const { event } = record;
  if (!isDurable(event)) return summary;
  const next: TaskSummary = { ...summary, last_seq: record.seq };
  // A new name or a star does not make an old task a recent one.
  if (event.type !== 'task_renamed' && event.type !== 'favourite_changed') next.updated_at = record.ts;
  switch (event.type) {
    case 'task_created':
      next.info = event.info;
      next.title = event.info.title;
      next.mode = event.info.mode;
      next.model = event.info.model;
      break;
    case 'task_renamed':
      next.title = event.title;
      break;
    case 'favourite_changed':
      next.favourite = event.favourite;
      break;
    case 'state_changed':
      next.state = event.state;
      break;
    case 'model_changed':
      next.model = event.model;
      break;
    case 'mode_changed':
      next.mode = event.mode;
      break;
    case 'permission_mode_changed':
      next.permission_mode = event.permission_mode;
      break;
    case 'user_message':
      next.totals = { ...next.totals, messages: next.totals.messages + 1 };
      next.queued = next.queued.filter((queued) => queued.id !== event.message.id);
      next.first_user_text ??= [...said(event.message)].slice(0, FIRST_TEXT_CHARS).join('');
      break;
    case 'message_queued':
      next.queued = [...next.queued, event.message];
      break;
    case 'answer':
      next.totals = { ...next.totals, messages: next.totals.messages + 1 };
      break;
    case 'action':
      next.totals = { ...next.totals, tool_calls: next.totals.tool_calls + 1 };
      break;
    case 'observation':
      if (event.result.error) next.totals = { ...next.totals, tool_errors: next.totals.tool_errors + 1 };
      next.open_subtasks = next.open_subtasks.filter((open) => open.call_id !== event.result.call_id);
      break;
    case 'subtask_started':
      if (event.call_id) next.open_subtasks = [...next.open_subtasks, { task: event.task, call_id: event.call_id }];
      break;
    case 'approval_requested':
      next.open_approvals = [...next.open_approvals, event.request];
      break;
    case 'approval_resolved':
      next.open_approvals = next.open_approvals.filter((request) => request.id !== event.id);
      break;
    case 'question_asked':
      next.open_questions = [...next.open_questions, event.question];
      break;
    case 'question_answered':
      next.open_questions = next.open_questions.filter((question) => question.id !== event.id);
      break;
    case 'usage':
      next.totals = { ...next.totals, usage: addUsage(next.totals.usage, event.usage), requests: next.totals.requests + 1 };
      break;
    case 'todo':
      next.todo = event.items;
      break;
    case 'hypotheses':
      next.hypotheses = event.items;
      break;
    case 'files_seen': {
      let seen = next.seen;
      for (const file of event.files) {
        seen = seen.filter((known) => known.path !== file.path);
        if (file.digest != null) seen.push(file);
      }
      next.seen = seen.slice(-MOST_SEEN);
      break;
    }
    case 'checkpoint_saved': {
      let edited = next.edited;
      for (const file of event.files) edited = [...edited.filter((known) => known !== file.path), file.path];
      next.edited = edited.slice(-MOST_EDITED);
      break;
    }
    case 'plan':
      // A new plan begins with a document of its own.
      if (next.plan?.id !== event.plan.id) next.plan_document = '';
      next.plan = event.plan;
      if (event.document != null) next.plan_document = event.document;
      break;
    case 'step_complete':
      if (next.plan) {
        const steps = next.plan.steps.map((step) => {
          // What is completed stays as it is.
          if (step.id !== event.step || step.status === 'completed') return step;
          return { ...step, status: event.status, result: event.result, evidence: event.evidence ?? null };
        });
        next.plan = { ...next.plan, steps, updated_at: record.ts };
      }
      break;
    case 'instructions_given': {
      let instructions = next.instructions;
      for (const file of event.files) instructions = [...instructions.filter((known) => known.path !== file.path), file];
      next.instructions = instructions;
      break;
    }
    // What was taken back or summed up may have held instructions; they are given again.
    case 'history_rewound':
    case 'context_condensed':
      next.instructions = [];
      break;
    default:
      break;
  }
  return next;
}
