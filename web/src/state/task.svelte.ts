/// One open task: its transcript, kept up to date by events, batched by animation frame.
import type { Activity, Item, TaskSummary } from '../fold/shape';
import { emptyActivity } from '../fold/activity';
import { emptySummary } from '../fold/summary';
import { messageIdOf, Transcript } from '../fold/transcript';
import { isDurable } from '../fold/durable';
import type {
  ApprovalRequest, ErrorReport, EventRecord, FileDiff, PermissionMode, Question, RequestUsage, TaskListItem, TaskView, ToolDetail, ToolResult,
} from '../protocol/types';
import { Inspector } from './inspector.svelte';
import { type App, reportOf } from './app.svelte';

const PAGE_SIZE = 400;
/** Records in one chunk of the transcript; chunks out of sight are not in the document. */
const CHUNK_SPAN = 64;

/** An item as it is drawn: its place in the document stays while its content changes. */
export class Node {
  item: Item = $state.raw({ seq: 0, ts: 0, entry: { kind: 'condensing_undone' } });
  constructor(
    readonly key: string,
    item: Item,
  ) {
    this.item = item;
  }
}

export interface Chunk {
  id: number;
  nodes: Node[];
}

export class TaskStore {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  error = $state.raw<ErrorReport | null>(null);
  listItem = $state.raw<TaskListItem | null>(null);
  chunks = $state.raw<Chunk[]>([]);
  summary = $state.raw<TaskSummary>(emptySummary());
  activity = $state.raw<Activity>(emptyActivity());
  subtasks = $state.raw<TaskListItem[]>([]);
  requests = $state.raw<RequestUsage[]>([]);
  contextWindow = $state<number | null>(null);
  permissionMode = $state<PermissionMode | null>(null);
  more = $state(false);
  loadingOlder = $state(false);
  /** Rises when durable events came; panels that ask the engine ask again then. */
  pulse = $state(0);
  inspector: Inspector;

  private transcript = new Transcript('newest');
  private records: EventRecord[] = [];
  private nodes = new Map<string, Node>();
  private frame = 0;
  private closed = false;
  private drawnVersion = -1;

  constructor(
    readonly id: string,
    readonly app: App,
  ) {
    this.inspector = new Inspector(this);
    void this.load();
  }

  get workspace(): string {
    return this.listItem?.info.workspace ?? this.summary.info?.workspace ?? '';
  }

  /** Whether a process works on it; the log of a task whose process died still says so. */
  get running(): boolean {
    if (this.listItem?.interrupted) return false;
    return this.summary.state === 'running' || this.summary.state === 'waiting';
  }

  get title(): string {
    const first = (this.summary.first_user_text ?? '').trim().split('\n')[0] ?? '';
    return this.summary.title || this.listItem?.title || first;
  }

  /** Approvals and questions that wait, the oldest first. */
  get waiting(): ({ kind: 'approval'; request: ApprovalRequest } | { kind: 'question'; question: Question })[] {
    return [
      ...this.summary.open_approvals.map((request) => ({ kind: 'approval' as const, request })),
      ...this.summary.open_questions.map((question) => ({ kind: 'question' as const, question })),
    ];
  }

  close(): void {
    this.closed = true;
    cancelAnimationFrame(this.frame);
    this.app.connection.unfollow(this.id);
    this.inspector.close();
  }

  async load(): Promise<void> {
    if (this.app.connection.state !== 'open') return;
    try {
      const { view } = await this.app.connection.query({ type: 'task_view', task: this.id, limit: PAGE_SIZE });
      if (!this.closed) this.begin(view);
    } catch (error) {
      if (this.closed) return;
      const report = reportOf(error);
      if (report.kind === 'unsupported') await this.loadFromHistory();
      else {
        this.error = report;
        this.status = 'failed';
      }
    }
  }

  private begin(view: TaskView): void {
    this.records = view.records;
    this.transcript = Transcript.of(view.records, view.more ? 'newest' : 'whole');
    const item = view.item;
    this.transcript.summary = {
      ...this.transcript.summary,
      info: item.info, title: item.title, state: item.state, mode: item.mode, model: item.model, favourite: item.favourite,
      totals: item.totals, updated_at: item.updated_at, permission_mode: view.permission_mode ?? null, todo: view.todo,
      plan: view.plan ?? null, hypotheses: view.hypotheses, edited: view.edited, queued: view.queued, open_approvals: view.open_approvals,
      open_questions: view.open_questions, last_seq: view.last_seq,
    };
    this.transcript.activity = { ...this.transcript.activity, debug_sessions: view.debug_sessions.filter((session) => session.state !== 'terminated'), background: view.background };
    this.listItem = item;
    this.subtasks = view.subtasks;
    this.requests = view.requests;
    this.contextWindow = view.context_window ?? null;
    this.more = view.more;
    this.ready();
  }

  /** Where the engine has no `task_view`: the log, page by page from the end. */
  private async loadFromHistory(): Promise<void> {
    try {
      const { connection } = this.app;
      const { task } = await connection.query({ type: 'task', task: this.id });
      const page = await connection.query({ type: 'history', task: this.id, before: null, limit: PAGE_SIZE });
      if (this.closed) return;
      this.records = page.records;
      this.transcript = Transcript.of(page.records, page.more ? 'newest' : 'whole');
      if (page.more) {
        const { info, title, state, mode, model, favourite, totals } = task;
        this.transcript.summary = { ...this.transcript.summary, info, title, state, mode, model, favourite, totals };
      }
      this.listItem = task;
      this.more = page.more;
      this.requests = this.transcript.items.flatMap((item) =>
        item.entry.kind === 'request' ? [{ ts: item.ts, model: item.entry.model, usage: item.entry.usage }] : [],
      );
      this.ready();
    } catch (error) {
      if (this.closed) return;
      this.error = reportOf(error);
      this.status = 'failed';
    }
  }

  private ready(): void {
    this.status = 'ready';
    this.draw();
    this.inspector.began();
    this.app.connection.follow(this.id, {
      lastSeq: () => this.transcript.summary.last_seq,
      event: (record) => this.take(record),
      failed: (error) => this.app.say(error.message, 'error', error.hint ?? null),
    });
    void this.app.loadFolder(this.workspace);
  }

  /** The line is up again: followed tasks go on by themselves; what is not in the log is asked for. */
  reconnected(): void {
    if (this.status !== 'ready') {
      this.status = 'loading';
      void this.load();
    } else void this.refreshSides();
  }

  /** What stands beside the conversation and is not told by events. */
  async refreshSides(): Promise<void> {
    try {
      const { view } = await this.app.connection.query({ type: 'task_view', task: this.id, limit: 1 });
      if (this.closed) return;
      this.subtasks = view.subtasks;
      this.contextWindow = view.context_window ?? this.contextWindow;
      this.listItem = view.item;
      this.transcript.activity = { ...this.transcript.activity, debug_sessions: view.debug_sessions.filter((session) => session.state !== 'terminated'), background: view.background };
      this.schedule();
    } catch {
      // The next event or reconnect asks again.
    }
  }

  listChanged(task: TaskListItem): void {
    if (task.info.id === this.id) this.listItem = task;
    const index = this.subtasks.findIndex((known) => known.info.id === task.info.id);
    if (index !== -1) this.subtasks = this.subtasks.with(index, task);
    else if (task.info.root === this.id && task.info.id !== this.id) this.subtasks = [...this.subtasks, task];
  }

  private take(record: EventRecord): void {
    const { event } = record;
    const known = isDurable(event) && record.seq <= this.transcript.summary.last_seq;
    if (known) return;
    if (isDurable(event)) this.records.push(record);
    this.transcript.apply(record);
    if (event.type === 'usage') this.requests = [...this.requests, { ts: record.ts, model: event.model, usage: event.usage }];
    if (event.type === 'run_ended' || event.type === 'subtask_started' || event.type === 'subtask_ended') void this.refreshSides();
    this.schedule();
    this.inspector.happened(event);
  }

  private schedule(): void {
    if (this.frame !== 0 || this.closed) return;
    const draw = () => {
      this.frame = 0;
      this.draw();
    };
    // A window that nobody sees gets no frames; it is drawn from a timer then.
    if (document.hidden) this.frame = setTimeout(draw, 250) as unknown as number;
    else this.frame = requestAnimationFrame(draw);
  }

  /** Brings the transcript of the fold onto the screen: only what changed is touched. */
  private draw(): void {
    const { transcript } = this;
    if (this.summary !== transcript.summary) {
      if (this.summary.last_seq !== transcript.summary.last_seq) this.pulse += 1;
      this.summary = transcript.summary;
      this.permissionMode = transcript.summary.permission_mode;
    }
    if (this.activity !== transcript.activity) this.activity = transcript.activity;
    if (this.drawnVersion === transcript.version) return;
    this.drawnVersion = transcript.version;
    this.layOut(transcript.items);
  }

  private order: Node[] = [];

  private layOut(items: Item[]): void {
    // While an answer streams only its item changes; nothing else is looked at closely then.
    if (items.length === this.order.length) {
      const changed = items.findIndex((item, index) => this.order[index]?.item !== item);
      if (changed === -1) return;
      const stays = items.every((item, index) => {
        const node = this.order[index];
        return index < changed || node?.item === item || node?.key === keyOf(item);
      });
      if (stays) {
        for (const [index, item] of items.entries()) {
          const node = this.order[index];
          if (node && node.item !== item) node.item = item;
        }
        return;
      }
    }
    this.layOutAnew(items);
  }

  private layOutAnew(items: Item[]): void {
    const nodes = new Map<string, Node>();
    const chunks: Chunk[] = [];
    let chunk: Chunk | null = null;
    for (const item of items) {
      let key = keyOf(item);
      while (nodes.has(key)) key += '+';
      let node = this.nodes.get(key);
      if (!node) node = new Node(key, item);
      else if (node.item !== item) node.item = item;
      nodes.set(key, node);
      const id = Math.floor(item.seq / CHUNK_SPAN);
      if (!chunk || id > chunk.id) {
        chunk = { id, nodes: [] };
        chunks.push(chunk);
      }
      chunk.nodes.push(node);
    }
    this.nodes = nodes;
    this.order = [...nodes.values()];
    const before = this.chunks;
    const merged = chunks.map((each, index) => {
      const known = before[index]?.id === each.id ? before[index] : before.find((old) => old.id === each.id);
      return known && sameNodes(known.nodes, each.nodes) ? known : each;
    });
    const same = merged.length === before.length && merged.every((each, index) => each === before[index]);
    if (!same) this.chunks = merged;
  }

  /** Loads an older page of the log and folds everything loaded again. */
  async loadOlder(): Promise<boolean> {
    if (!this.more || this.loadingOlder) return false;
    this.loadingOlder = true;
    try {
      const before = this.records[0]?.seq ?? null;
      const page = await this.app.connection.query({ type: 'history', task: this.id, before, limit: PAGE_SIZE });
      if (this.closed) return false;
      this.records = [...page.records, ...this.records];
      this.more = page.more;
      const refolded = Transcript.of(this.records, page.more ? 'newest' : 'whole');
      refolded.adoptLive(this.transcript);
      this.transcript = refolded;
      this.drawnVersion = -1;
      this.draw();
      return true;
    } catch (error) {
      this.app.complain(error);
      return false;
    } finally {
      this.loadingOlder = false;
    }
  }

  // ---- what panels look for

  get items(): readonly Item[] {
    return this.transcript.items;
  }

  /** Whether a call is among the newest items. */
  hasCard(call: string): boolean {
    return this.transcript.items.slice(-32).some(({ entry }) => entry.kind === 'tool' && entry.call.id === call);
  }

  /** The sub-agent that works on a task; the list of tasks does not always know it, the conversation does. */
  agentOf(sub: TaskListItem): string {
    const told = this.transcript.items.find(({ entry }) => entry.kind === 'subtask' && entry.task === sub.info.id)?.entry;
    return sub.info.agent ?? (told?.kind === 'subtask' ? told.agent : null) ?? sub.mode;
  }

  calledTool(name: string): boolean {
    return this.transcript.items.some(({ entry }) => entry.kind === 'tool' && entry.call.name === name);
  }

  /** Results with a detail of one of these kinds, the newest first. */
  details<K extends ToolDetail['kind']>(...kinds: K[]): { item: Item; result: ToolResult; detail: Extract<ToolDetail, { kind: K }> }[] {
    const found = [];
    for (const item of this.transcript.items.toReversed()) {
      const { entry } = item;
      if (entry.kind !== 'tool' || !entry.result?.detail) continue;
      const { detail } = entry.result;
      if ((kinds as string[]).includes(detail.kind)) found.push({ item, result: entry.result, detail: detail as Extract<ToolDetail, { kind: K }> });
    }
    return found;
  }

  /** Every change that calls of the task made, in order. */
  changes(): { seq: number; tool: string; file: FileDiff; checkpoint: number | null }[] {
    return this.transcript.items.flatMap(({ seq, entry }) => {
      if (entry.kind !== 'tool' || entry.result?.error || entry.result?.detail?.kind !== 'diff' || entry.call.name === 'preview_edit') return [];
      const checkpoint = entry.checkpoint?.checkpoint ?? null;
      return entry.result.detail.files.map((file) => ({ seq, tool: entry.call.name, file, checkpoint }));
    });
  }

  /** The first change on record after an item: going back to before it takes back what the agent did since. */
  checkpointAfter(seq: number): number | null {
    for (const item of this.transcript.items) {
      if (item.seq >= seq && item.entry.kind === 'tool' && item.entry.checkpoint) return item.entry.checkpoint.checkpoint;
    }
    return null;
  }
}

function keyOf(item: Item): string {
  const { entry } = item;
  switch (entry.kind) {
    case 'tool':
      return `tool:${entry.call.id}`;
    case 'answer':
    case 'user':
      return `${entry.kind}:${messageIdOf(item)}`;
    case 'approval':
      return `approval:${entry.request.id}`;
    case 'question':
      return `question:${entry.question.id}`;
    default:
      return `${entry.kind}:${item.seq}`;
  }
}

function sameNodes(a: readonly Node[], b: readonly Node[]): boolean {
  return a.length === b.length && a.every((node, index) => node === b[index]);
}
