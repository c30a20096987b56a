/// The conversation with the engine: replies as promises with deadlines, followed tasks that survive a lost line.
///
/// After a reconnect every followed task is followed again from its last number, so nothing is lost; what arrives twice is passed
/// over by the fold. Commands that were on their way when the connection broke fail with `ConnectionLost`: the events that follow show
/// whether they were done, and nothing is sent twice behind the person's back.
import type { Host, Link, LinkEnd } from '../host/host';
import type {
  ClientMessage, Command, CommandReply, ErrorReport, EventRecord, Query, QueryReply, Seq, ServerMessage, TaskId, TaskListItem, TerminalId,
} from './types';

export type ConnectionState = 'connecting' | 'open' | 'lost' | 'forbidden';

/** An answer that says no, as an error with the engine's words. */
export class Refused extends Error {
  override readonly name = 'Refused';
  constructor(readonly report: ErrorReport) {
    super(report.message);
  }
}

/** The line broke, or no answer came in time. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

export interface ConnectionEvents {
  stateChanged(state: ConnectionState, retryAt: number | null): void;
  /** The line is up again or for the first time; lists are stale. */
  connected(): void;
  taskChanged(task: TaskListItem): void;
  taskDeleted(task: TaskId): void;
}

export interface Follower {
  /** The last number this reader has. */
  lastSeq(): Seq;
  event(record: EventRecord): void;
  failed(error: ErrorReport): void;
}

export interface TerminalReader {
  output(offset: number, bytes: Uint8Array): void;
  closed(exitCode: number | null): void;
}

type QueryType = Query['type'];
export type ReplyOf<T extends QueryType> = Extract<QueryReply, { type: T }>;

interface Pending {
  resolve(reply: CommandReply | QueryReply): void;
  reject(error: Error): void;
  timer: ReturnType<typeof setTimeout>;
}

const REPLY_WITHIN = 30_000;
const FIRST_BACKOFF = 250;
const LONGEST_BACKOFF = 8_000;

export class Connection {
  state: ConnectionState = 'connecting';
  private link: Link | null = null;
  private nextId = 1;
  private pending = new Map<number, Pending>();
  private followers = new Map<TaskId, Follower>();
  private follows = new Map<number, TaskId>();
  private terminals = new Map<TerminalId, TerminalReader>();
  private attempts = 0;
  private retry: ReturnType<typeof setTimeout> | null = null;
  private generation = 0;

  constructor(
    private readonly host: Host,
    private readonly events: ConnectionEvents,
  ) {}

  start(): void {
    this.dial();
  }

  /** Tries again at once, where the line is lost. */
  retryNow(): void {
    if (this.state === 'open' || this.state === 'connecting') return;
    this.attempts = 0;
    this.dial();
  }

  /** Sends a command and waits for its reply; a refusal is thrown as `Refused`. */
  async command(command: Command, within = REPLY_WITHIN): Promise<Exclude<CommandReply, { result: 'failed' }>> {
    const reply = (await this.request((id) => ({ type: 'command', id, command }), within)) as CommandReply;
    if (reply.result === 'failed') throw new Refused(reply.error);
    return reply;
  }

  async query<T extends QueryType>(query: Extract<Query, { type: T }>, within = REPLY_WITHIN): Promise<ReplyOf<T>> {
    const reply = (await this.request((id) => ({ type: 'query', id, query }), within)) as QueryReply;
    if (reply.type === 'failed') throw new Refused(reply.error);
    return reply as ReplyOf<T>;
  }

  follow(task: TaskId, follower: Follower): void {
    this.followers.set(task, follower);
    this.sendFollow(task, follower);
  }

  unfollow(task: TaskId): void {
    if (!this.followers.delete(task)) return;
    this.send({ type: 'unfollow', id: this.nextId++, task });
  }

  readTerminal(terminal: TerminalId, reader: TerminalReader): void {
    this.terminals.set(terminal, reader);
  }

  forgetTerminal(terminal: TerminalId): void {
    this.terminals.delete(terminal);
  }

  private request(message: (id: number) => ClientMessage, within: number): Promise<CommandReply | QueryReply> {
    return new Promise((resolve, reject) => {
      const id = this.nextId++;
      if (!this.send(message(id))) {
        reject(new ConnectionLost('not connected'));
        return;
      }
      const timer = setTimeout(() => {
        this.pending.delete(id);
        reject(new ConnectionLost(`no answer within ${Math.round(within / 1000)} s`));
      }, within);
      this.pending.set(id, { resolve, reject, timer });
    });
  }

  private send(message: ClientMessage): boolean {
    if (this.state !== 'open' || !this.link) return false;
    this.link.send(JSON.stringify(message));
    return true;
  }

  private sendFollow(task: TaskId, follower: Follower): void {
    const id = this.nextId++;
    if (this.send({ type: 'follow', id, task, after: follower.lastSeq() })) this.follows.set(id, task);
  }

  private dial(): void {
    if (this.retry) clearTimeout(this.retry);
    this.retry = null;
    this.setState('connecting', null);
    const generation = ++this.generation;
    this.link = this.host.open({
      opened: () => {
        if (generation === this.generation) this.opened();
      },
      received: (text) => {
        if (generation === this.generation) this.receive(text);
      },
      closed: (end) => {
        if (generation === this.generation) this.closed(end);
      },
    });
  }

  private opened(): void {
    this.attempts = 0;
    this.setState('open', null);
    this.send({ type: 'hello', attended: true, name: this.host.name });
    this.send({ type: 'follow_tasks', id: this.nextId++ });
    for (const [task, follower] of this.followers) this.sendFollow(task, follower);
    this.events.connected();
  }

  private closed(end: LinkEnd): void {
    this.generation += 1;
    this.link = null;
    for (const pending of this.pending.values()) {
      clearTimeout(pending.timer);
      pending.reject(new ConnectionLost('the connection was lost'));
    }
    this.pending.clear();
    this.follows.clear();
    for (const terminal of this.terminals.values()) terminal.closed(null);
    this.terminals.clear();
    if (end === 'forbidden') {
      this.setState('forbidden', null);
      return;
    }
    const delay = Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** this.attempts) * (0.75 + Math.random() / 2);
    this.attempts += 1;
    this.setState('lost', Date.now() + delay);
    this.retry = setTimeout(() => this.dial(), delay);
  }

  private setState(state: ConnectionState, retryAt: number | null): void {
    this.state = state;
    this.events.stateChanged(state, retryAt);
  }

  private receive(text: string): void {
    const message = JSON.parse(text) as ServerMessage;
    switch (message.type) {
      case 'command_reply':
      case 'query_reply':
        return this.settle(message.id, message.reply);
      case 'event':
        return this.followers.get(message.task)?.event(message.record);
      case 'following':
        this.follows.delete(message.id);
        return;
      case 'follow_failed': {
        const task = this.follows.get(message.id);
        this.follows.delete(message.id);
        if (task !== undefined) this.followers.get(task)?.failed(message.error);
        return;
      }
      case 'follow_ended':
        return;
      case 'task_changed':
        return this.events.taskChanged(message.task);
      case 'task_deleted':
        return this.events.taskDeleted(message.task);
      case 'terminal_output':
        return this.terminals.get(message.terminal)?.output(message.offset, bytesOf(message.data));
      case 'terminal_closed':
        this.terminals.get(message.terminal)?.closed(message.exit_code ?? null);
        this.terminals.delete(message.terminal);
        return;
      case 'rejected':
        console.warn('the engine rejected a message:', message.error.message);
        return;
    }
  }

  private settle(id: number, reply: CommandReply | QueryReply): void {
    const pending = this.pending.get(id);
    if (!pending) return;
    this.pending.delete(id);
    clearTimeout(pending.timer);
    pending.resolve(reply);
  }
}

export function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0));
}

export function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += 0x8000) text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  return btoa(text);
}

/** An id that sorts by the time it was made and needs no secure context. */
export function newTaskId(): TaskId {
  const random = crypto.getRandomValues(new Uint8Array(10));
  const hex = (bytes: Iterable<number>) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return Date.now().toString(16).padStart(12, '0') + hex(random);
}
