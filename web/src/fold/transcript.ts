/// What the person sees of a task, item by item: the twin of `crates/transcript/src/transcript.rs`.
///
/// Items and entries are never changed in place: a change makes a new item, so that a screen sees by identity what to draw again.
import type { ApprovalSource, Event, EventRecord, MessageId, Part, PartialKind, Plan } from '../protocol/types';
import { applyToActivity, emptyActivity } from './activity';
import { isDurable } from './durable';
import type { Activity, ApprovalAnswer, Entry, EntryOf, Item, TaskSummary, ToolCard } from './shape';
import { applyToSummary, emptySummary } from './summary';
import { type ByteText, byteText, lastBytes, splice } from './text';

const LIVE_OUTPUT = 64 * 1024;
/** How far back a streaming answer or an open card can be: only notices and the like come between. */
const LOOK_BACK = 32;

/** Whether all records of the task are folded, or only the newest ones. */
export type Coverage = 'whole' | 'newest';

export class Transcript {
  items: Item[] = [];
  summary: TaskSummary = emptySummary();
  activity: Activity = emptyActivity();
  /** Rises with every change of `items`. */
  version = 0;
  /** Indexes of cards, approvals and questions that still wait for their end. Few at any time. */
  private waiting: number[] = [];
  /** Texts that stream, with their length in bytes. */
  private streaming = new Map<MessageId, { content: ByteText; reasoning: ByteText }>();
  private outputs = new Map<string, ByteText>();

  constructor(readonly coverage: Coverage = 'whole') {}

  static of(records: readonly EventRecord[], coverage: Coverage = 'whole'): Transcript {
    const transcript = new Transcript(coverage);
    for (const record of records) transcript.apply(record);
    return transcript;
  }

  /** Takes in an event. Durable events that are known already are passed over. */
  apply(record: EventRecord): void {
    const { event } = record;
    if (isDurable(event) && record.seq <= this.summary.last_seq) return;
    const planBefore = this.summary.plan;
    this.summary = applyToSummary(this.summary, record);
    this.activity = applyToActivity(this.activity, event);
    this.applyToItems(record, planBefore);
  }

  /** Takes over what streams in another transcript of the same task, after older records were put before. */
  adoptLive(other: Transcript): void {
    this.summary = other.summary;
    this.activity = other.activity;
    for (const item of other.items.slice(-LOOK_BACK)) {
      const { entry } = item;
      if (entry.kind === 'answer' && entry.unfinished) {
        if (this.streamingPosition(entry.message_id) !== -1) this.takeStreaming(entry.message_id);
        this.streaming.set(entry.message_id, { content: byteText(entry.content), reasoning: byteText(entry.reasoning) });
        this.items.push(item);
      } else if (entry.kind === 'tool' && !entry.result) {
        const { progress, output } = entry;
        this.outputs.set(entry.call.id, byteText(output));
        this.changeCard(entry.call.id, (card) => ({ ...card, progress, output }));
      }
    }
    this.version += 1;
  }

  private applyToItems(record: EventRecord, planBefore: Plan | null): void {
    const { event } = record;
    switch (event.type) {
      case 'user_message':
        return this.push(record, { kind: 'user', message: event.message });
      case 'thought':
        return this.thought(record, event.message_id, event.parts);
      case 'action': {
        this.takeStreaming(event.message_id);
        const { message_id, call } = event;
        return this.pushWaiting(record, {
          kind: 'tool', message_id, call, progress: null, output: '', result: null, checkpoint: null,
        });
      }
      case 'observation': {
        const { result } = event;
        this.outputs.delete(result.call_id);
        return this.finish((entry) => {
          if (entry.kind !== 'tool' || entry.call.id !== result.call_id) return null;
          return { ...entry, result, progress: null, output: '' };
        });
      }
      case 'checkpoint_saved': {
        const { checkpoint, changed, files } = event;
        return this.changeCard(event.call_id, (card) => ({ ...card, checkpoint: { checkpoint, changed, files } }));
      }
      case 'tool_progress':
        return this.changeCard(event.call_id, (card) => ({ ...card, progress: event.text }));
      case 'tool_output':
        return this.changeCard(event.call_id, (card) => ({ ...card, output: this.grow(event.call_id, card.output, event.chunk) }));
      case 'answer': {
        const { message_id, content, origin } = event;
        this.takeStreaming(message_id);
        // Its reasoning is a thought of its own.
        return this.push(record, { kind: 'answer', message_id, content, reasoning: '', origin, unfinished: false });
      }
      case 'partial_answer':
        return this.stream(record, event.message_id, event.kind, event.offset, event.content);
      case 'token':
        return this.stream(record, event.message_id, 'text', event.offset, event.content);
      case 'reasoning_token':
        return this.stream(record, event.message_id, 'reasoning', event.offset, event.content);
      case 'answer_restarted':
        this.takeStreaming(event.message_id);
        return;
      case 'approval_requested':
        return this.pushWaiting(record, { kind: 'approval', request: event.request, resolved: null });
      case 'approval_resolved':
        return this.finish((entry) => {
          if (entry.kind !== 'approval' || entry.request.id !== event.id) return null;
          return { ...entry, resolved: resolution(event) };
        });
      case 'question_asked':
        return this.pushWaiting(record, { kind: 'question', question: event.question, answer: null });
      case 'question_answered':
        return this.finish((entry) => {
          if (entry.kind !== 'question' || entry.question.id !== event.id) return null;
          return { ...entry, answer: event.answer };
        });
      case 'history_rewound':
        return this.rewind(event.to_before);
      case 'usage':
        return this.push(record, { kind: 'request', model: event.model, usage: event.usage });
      case 'mode_changed':
        return this.push(record, { kind: 'mode', mode: event.mode, reason: event.reason ?? null });
      case 'model_changed':
        return this.push(record, { kind: 'model', model: event.model });
      case 'permission_mode_changed':
        return this.push(record, { kind: 'permission_mode', permission_mode: event.permission_mode });
      case 'plan':
        // How far its steps are is told by the steps themselves.
        if (!planBefore || saysSomethingElse(planBefore, event.plan)) this.push(record, { kind: 'plan', plan: event.plan });
        return;
      case 'step_complete': {
        const { step, status, result } = event;
        return this.push(record, { kind: 'step', step, status: status ?? 'completed', result, evidence: event.evidence ?? null });
      }
      case 'subtask_started': {
        const { task, number, title, mode } = event;
        return this.pushWaiting(record, { kind: 'subtask', task, number, title, mode, agent: event.agent ?? null, end: null });
      }
      case 'subtask_ended':
        return this.finish((entry) => {
          if (entry.kind !== 'subtask' || entry.task !== event.task) return null;
          return { ...entry, end: event.end };
        });
      case 'context_condensed': {
        const { type: _, ...condensing } = event;
        return this.push(record, { kind: 'condensed', condensing });
      }
      case 'outputs_dropped': {
        const bytes = event.outputs.reduce((sum, output) => sum + output.bytes, 0);
        return this.push(record, { kind: 'outputs_dropped', outputs: event.outputs.length, bytes });
      }
      case 'condensing_undone':
        return this.push(record, { kind: 'condensing_undone' });
      case 'context_truncated':
        return this.push(record, { kind: 'context_truncated', dropped_messages: event.dropped_messages });
      case 'error':
        return this.push(record, { kind: 'error', error: event.error });
      case 'notice':
        return this.push(record, { kind: 'notice', text: event.text });
      default:
        return;
    }
  }

  private thought(record: EventRecord, message_id: MessageId, parts: readonly Part[]): void {
    let text = '';
    let reasoning = '';
    for (const part of parts) {
      if (part.type === 'text') text += part.text;
      else if (part.type === 'reasoning') reasoning += part.text;
    }
    if (text !== '') this.takeStreaming(message_id);
    // The reasoning before an answer whose text streams on stands before that.
    const position = this.streamingPosition(message_id);
    if (position !== -1) {
      const streamed = this.streaming.get(message_id);
      if (streamed) streamed.reasoning = byteText('');
      this.changeItem(position, (entry) => ({ ...(entry as EntryOf<'answer'>), reasoning: '' }));
    }
    if (text === '' && reasoning === '') return;
    const entry: Entry = { kind: 'thought', message_id, text, reasoning };
    if (position === -1) return this.push(record, entry);
    this.items.splice(position, 0, { seq: record.seq, ts: record.ts, entry });
    this.waiting = this.waiting.map((waiting) => (waiting >= position ? waiting + 1 : waiting));
    this.version += 1;
  }

  private stream(record: EventRecord, id: MessageId, kind: PartialKind, offset: number, piece: string): void {
    const position = this.streamingPosition(id);
    if (position === -1) {
      const content = kind === 'text' ? piece : '';
      const reasoning = kind === 'reasoning' ? piece : '';
      this.streaming.set(id, { content: byteText(content), reasoning: byteText(reasoning) });
      return this.push(record, { kind: 'answer', message_id: id, content, reasoning, origin: 'text', unfinished: true });
    }
    const streamed = this.streaming.get(id);
    if (!streamed) return;
    splice(kind === 'text' ? streamed.content : streamed.reasoning, offset, piece);
    this.changeItem(position, (entry) => ({
      ...(entry as EntryOf<'answer'>), content: streamed.content.text, reasoning: streamed.reasoning.text,
    }));
  }

  /** Live output of a call, grown by a chunk and cut to its end. */
  private grow(call: string, output: string, chunk: string): string {
    const known = this.outputs.get(call);
    const text = known && known.text === output ? known : byteText(output);
    splice(text, text.bytes, chunk);
    this.outputs.set(call, text);
    if (text.bytes > LIVE_OUTPUT) {
      const kept = byteText(lastBytes(text.text, LIVE_OUTPUT / 2));
      this.outputs.set(call, kept);
      return kept.text;
    }
    return text.text;
  }

  private streamingPosition(id: MessageId): number {
    const oldest = Math.max(0, this.items.length - LOOK_BACK);
    for (let index = this.items.length - 1; index >= oldest; index--) {
      const entry = this.items[index]?.entry;
      if (entry?.kind === 'answer' && entry.unfinished && entry.message_id === id) return index;
    }
    return -1;
  }

  /** Removes what streamed of a message, because it is replaced by what it became. */
  private takeStreaming(id: MessageId): void {
    const position = this.streamingPosition(id);
    if (position === -1) return;
    this.streaming.delete(id);
    this.items.splice(position, 1);
    this.waiting = this.waiting.map((waiting) => (waiting > position ? waiting - 1 : waiting));
    this.version += 1;
  }

  private changeItem(index: number, change: (entry: Entry) => Entry): void {
    const item = this.items[index];
    if (!item) return;
    this.items[index] = { ...item, entry: change(item.entry) };
    this.version += 1;
  }

  /** Changes the card of a call that runs. */
  private changeCard(call: string, change: (card: ToolCard & { kind: 'tool' }) => ToolCard & { kind: 'tool' }): void {
    const index = this.waiting.findLast((waiting) => {
      const entry = this.items[waiting]?.entry;
      return entry?.kind === 'tool' && entry.call.id === call;
    });
    if (index !== undefined) this.changeItem(index, (entry) => change(entry as EntryOf<'tool'>));
  }

  private push(record: EventRecord, entry: Entry): void {
    this.items.push({ seq: record.seq, ts: record.ts, entry });
    this.version += 1;
  }

  private pushWaiting(record: EventRecord, entry: Entry): void {
    this.waiting.push(this.items.length);
    this.push(record, entry);
  }

  /** Ends the first waiting item for which `end` gives what it becomes. */
  private finish(end: (entry: Entry) => Entry | null): void {
    for (const [position, index] of this.waiting.entries()) {
      const item = this.items[index];
      const ended = item ? end(item.entry) : null;
      if (!item || !ended) continue;
      this.items[index] = { ...item, entry: ended };
      this.waiting.splice(position, 1);
      this.version += 1;
      return;
    }
  }

  private rewind(toBefore: MessageId): void {
    const found = this.items.findIndex((item) => messageIdOf(item) === toBefore);
    // Where older records are not loaded, a message that is not here is older than everything here.
    const position = found === -1 && this.coverage === 'newest' ? 0 : found;
    if (position === -1) return;
    this.items.length = position;
    this.waiting = this.waiting.filter((waiting) => waiting < position);
    this.version += 1;
  }
}

/** The message an item belongs to, where it belongs to one. */
export function messageIdOf(item: Item): MessageId | null {
  const { entry } = item;
  switch (entry.kind) {
    case 'user':
      return entry.message.id;
    case 'thought':
    case 'answer':
    case 'tool':
      return entry.message_id;
    default:
      return null;
  }
}

/** Folds records to what the Rust fold would serialize: see `shape.ts`. */
export function fold(records: readonly EventRecord[]): { items: Item[]; summary: TaskSummary; activity: Activity } {
  const { items, summary, activity } = Transcript.of(records);
  return { items, summary, activity };
}

function resolution(event: Extract<Event, { type: 'approval_resolved' }>): [ApprovalAnswer, ApprovalSource] {
  const { type: _type, id: _id, source, ...answer } = event;
  return [answer, source];
}

/** Whether a plan has another status or other steps than before. */
function saysSomethingElse(before: Plan, after: Plan): boolean {
  const texts = (plan: Plan) => JSON.stringify(plan.steps.map((step) => [step.description, step.expected_outcome]));
  const status = (plan: Plan) => (plan.status === 'executing' ? 'approved' : plan.status);
  return before.id !== after.id || before.goal !== after.goal || status(before) !== status(after) || texts(before) !== texts(after);
}
