/// The debug sessions of a task as a person sees and drives them. Every step is a call of a debugger tool, as the agent's are.
import type { ApprovalRequest, DebugSessionSummary, JsonValue } from '../protocol/types';
import { reportOf } from './app.svelte';
import type { TaskStore } from './task.svelte';

export interface Frame {
  frame_id: number;
  function_name: string;
  file_path: string;
  line_number: number;
}

export interface Variable {
  name: string;
  value: string;
  type?: string | null;
  variables_reference: number;
}

export interface Scope {
  name: string;
  variables_reference: number;
  expensive: boolean;
}

export interface Breakpoint {
  id: number;
  verified: boolean;
  source: { path: string };
  line: number;
  condition?: string | null;
  hit_condition?: string | null;
  log_message?: string | null;
  message?: string | null;
}

export interface Watch {
  expression: string;
  value: string | null;
  before: string | null;
  error: boolean;
  reference: number;
}

export interface Pending {
  request: ApprovalRequest;
  answer(confirmed: boolean): void;
}

const STEP_WITHIN = 70_000;

export class Debugger {
  sessionId = $state<string | null>(null);
  frames = $state.raw<Frame[]>([]);
  frameId = $state<number | null>(null);
  scopes = $state.raw<{ scope: Scope; variables: Variable[] | null }[]>([]);
  /** What each variable was at the stop before, by scope and name. */
  before = $state.raw(new Map<string, string>());
  breakpoints = $state.raw<Breakpoint[]>([]);
  watches = $state.raw<Watch[]>([]);
  output = $state('');
  source = $state.raw<{ path: string; text: string; language: string | null } | null>(null);
  sourceError = $state<string | null>(null);
  busy = $state(false);
  error = $state<string | null>(null);
  /** A call that needs the person's word first. */
  confirming = $state.raw<Pending | null>(null);
  /** Whether the person drives: the agent is paused meanwhile. */
  taken = $state(false);
  private position = 0;
  private lastStop = '';
  private stops = 0;
  private closed = false;

  constructor(private readonly task: TaskStore) {}

  get sessions(): DebugSessionSummary[] {
    return this.task.activity.debug_sessions;
  }

  get session(): DebugSessionSummary | null {
    return this.sessions.find((session) => session.session_id === this.sessionId) ?? this.sessions.at(-1) ?? null;
  }

  get frame(): Frame | null {
    return this.frames.find((frame) => frame.frame_id === this.frameId) ?? this.frames[0] ?? null;
  }

  close(): void {
    this.closed = true;
  }

  sessionChanged(session: DebugSessionSummary): void {
    if (session.state === 'terminated') {
      if (this.sessionId === session.session_id) this.ended();
      return;
    }
    this.sessionId ??= session.session_id;
    // The next stop is another one, also where it looks the same.
    if (session.state === 'running') this.lastStop = '';
    if (session.state === 'stopped') {
      this.sessionId = session.session_id;
      const stop = session.stop;
      const mark = JSON.stringify([session.session_id, stop?.file, stop?.line, stop?.reason, stop?.frames?.length, stop?.variables]);
      if (mark === this.lastStop) return;
      this.lastStop = mark;
      this.stopped();
    }
  }

  /** The program stopped anew: what was seen before is what the new values are compared with. */
  private stopped(): void {
    this.stops += 1;
    this.rememberValues();
    void this.look();
  }

  private ended(): void {
    this.sessionId = this.sessions.at(-1)?.session_id ?? null;
    this.frames = [];
    this.scopes = [];
    this.frameId = null;
    this.lastStop = '';
    this.taken = false;
  }

  chooseSession(id: string): void {
    this.sessionId = id;
    this.position = 0;
    this.output = '';
    void this.look();
  }

  /** Asks for the stack, the variables, the watches and the output of the stopped program. */
  async look(): Promise<void> {
    const session = this.session;
    if (!session || this.closed) return;
    try {
      if (session.state === 'stopped') {
        const stack = await this.call<{ call_stack: Frame[] }>('get_call_stack', { session_id: session.session_id, count: 50 });
        this.frames = stack.call_stack;
        const top = this.frames.find((frame) => frame.file_path !== '') ?? this.frames[0];
        await this.chooseFrame(top?.frame_id ?? null);
      }
      await Promise.all([this.loadBreakpoints(), this.loadOutput()]);
      this.error = null;
    } catch (error) {
      // Where tools cannot be called, the stop that the events told is shown.
      const stop = session.stop;
      this.frames = (stop?.frames ?? []).map((frame, index) => ({
        frame_id: -1 - index, function_name: frame.name, file_path: frame.file ?? '', line_number: frame.line ?? 0,
      }));
      this.frameId = this.frames[0]?.frame_id ?? null;
      const variables = (stop?.variables ?? []).map((variable) => ({
        name: variable.name, value: variable.value, type: variable.type_name ?? null, variables_reference: 0,
      }));
      this.scopes = [{ scope: { name: 'Locals', variables_reference: 0, expensive: false }, variables }];
      if (stop?.file) void this.loadSource(stop.file);
      this.error = reportOf(error).kind === 'unsupported' ? null : reportOf(error).message;
    }
  }

  private rememberValues(): void {
    const values = new Map<string, string>();
    for (const { scope, variables } of this.scopes) {
      for (const variable of variables ?? []) values.set(`${scope.name}\0${variable.name}`, variable.value);
    }
    if (values.size > 0) this.before = values;
  }

  /** Whether a variable has another value than at the stop before. */
  changed(scope: string, variable: Variable): boolean {
    const before = this.before.get(`${scope}\0${variable.name}`);
    return before !== undefined && before !== variable.value;
  }

  isNew(scope: string, variable: Variable): boolean {
    return this.before.size > 0 && !this.before.has(`${scope}\0${variable.name}`);
  }

  async chooseFrame(id: number | null): Promise<void> {
    this.frameId = id;
    const frame = this.frame;
    if (!frame) return;
    if (frame.file_path) void this.loadSource(frame.file_path);
    const { scopes } = await this.call<{ scopes: Scope[] }>('get_scopes', { frame_id: frame.frame_id });
    const filled = await Promise.all(
      scopes.map(async (scope) => ({ scope, variables: scope.expensive ? null : await this.children(scope.variables_reference) })),
    );
    if (this.frameId === id) this.scopes = filled;
    await this.refreshWatches();
  }

  async openScope(scope: Scope): Promise<void> {
    const variables = await this.children(scope.variables_reference);
    this.scopes = this.scopes.map((each) => (each.scope === scope ? { scope, variables } : each));
  }

  async children(reference: number): Promise<Variable[]> {
    if (reference === 0) return [];
    return (await this.call<{ variables: Variable[] }>('get_variables', { variables_reference: reference, count: 100 })).variables;
  }

  async loadSource(path: string): Promise<void> {
    if (this.source?.path === path) return;
    try {
      const { file } = await this.task.app.connection.query({ type: 'file', workspace: this.task.workspace, path });
      this.source = { path, text: file.text, language: file.language ?? null };
      this.sourceError = null;
    } catch (error) {
      this.source = null;
      this.sourceError = reportOf(error).message;
    }
  }

  async loadBreakpoints(): Promise<void> {
    this.breakpoints = (await this.call<{ breakpoints: Breakpoint[] }>('get_breakpoints', {})).breakpoints;
  }

  private async loadOutput(): Promise<void> {
    const session = this.session;
    if (!session) return;
    const reply = await this.call<{ output: string; position: number }>('get_output', { session_id: session.session_id, since: this.position });
    this.position = reply.position;
    this.output = (this.output + reply.output).slice(-64_000);
  }

  async toggleBreakpoint(path: string, line: number): Promise<void> {
    const known = this.breakpoints.find((breakpoint) => breakpoint.source.path === path && breakpoint.line === line);
    await this.drive(async () => {
      if (known) await this.call('remove_breakpoint', { breakpoint_id: known.id });
      else await this.call('set_breakpoint', { file_path: path, line_number: line });
      await this.loadBreakpoints();
    });
  }

  async addWatch(expression: string): Promise<void> {
    this.watches = [...this.watches, { expression, value: null, before: null, error: false, reference: 0 }];
    await this.refreshWatches();
  }

  removeWatch(expression: string): void {
    this.watches = this.watches.filter((watch) => watch.expression !== expression);
  }

  private async refreshWatches(): Promise<void> {
    this.watches = await Promise.all(
      this.watches.map(async (watch) => {
        try {
          const reply = await this.evaluate(watch.expression);
          return { ...watch, before: watch.value, value: reply.result, error: false, reference: reply.variables_reference };
        } catch (error) {
          return { ...watch, before: watch.value, value: reportOf(error).message, error: true, reference: 0 };
        }
      }),
    );
  }

  async evaluate(expression: string): Promise<{ result: string; variables_reference: number }> {
    const frame = this.frame;
    const session_id = this.session?.session_id ?? null;
    return this.call('evaluate_expression', { expression, frame_id: frame?.frame_id ?? null, session_id });
  }

  step(kind: 'over' | 'into' | 'out'): Promise<void> {
    return this.run('step_execution', { step_type: kind });
  }

  resume(): Promise<void> {
    return this.run('continue_debugging', {});
  }

  pause(): Promise<void> {
    return this.run('pause_debugging', {});
  }

  restart(): Promise<void> {
    return this.run('restart_debugging', {});
  }

  stop(): Promise<void> {
    return this.run('stop_debugging', {});
  }

  async start(command: string): Promise<void> {
    await this.drive(async () => {
      await this.call('start_debugging', { command });
      await this.task.refreshSides();
    });
  }

  private run(tool: string, values: Record<string, JsonValue>): Promise<void> {
    const session = this.session;
    if (!session) return Promise.resolve();
    return this.drive(async () => {
      const seen = this.stops;
      await this.call(tool, { ...values, session_id: session.session_id });
      await this.task.refreshSides();
      for (const known of this.sessions) this.sessionChanged(known);
      // Events told of the stop, where the task is followed; else it is looked at here.
      if (this.stops === seen && this.session?.state === 'stopped') this.stopped();
      if (!this.sessions.some((known) => known.session_id === session.session_id)) this.ended();
    });
  }

  private async drive(work: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      await work();
      this.error = null;
    } catch (error) {
      this.error = reportOf(error).message;
    } finally {
      this.busy = false;
    }
  }

  /** The person drives: the agent pauses, and goes on when it is handed back. */
  async takeOver(): Promise<void> {
    if (this.task.running) await this.task.app.act({ type: 'pause', task: this.task.id });
    this.taken = true;
  }

  async handBack(): Promise<void> {
    this.taken = false;
    await this.task.app.act({ type: 'resume_task', task: this.task.id });
  }

  /** Calls a tool; asks the person where the engine wants their word. */
  private async call<T>(name: string, values: Record<string, JsonValue>): Promise<T> {
    return callTool<T>(this.task, name, values, (request) => new Promise((resolve) => {
      this.confirming = {
        request,
        answer: (confirmed) => {
          this.confirming = null;
          resolve(confirmed);
        },
      };
    }));
  }
}

/** Calls a tool for the person and gives its structured answer. */
export async function callTool<T>(
  task: TaskStore, name: string, values: Record<string, JsonValue>, confirm: (request: ApprovalRequest) => Promise<boolean>,
): Promise<T> {
  const { connection } = task.app;
  const command = { type: 'call_tool', workspace: task.workspace, task: task.id, name, arguments: values } as const;
  let reply = await connection.command({ ...command, confirmed: false }, STEP_WITHIN);
  if (reply.result === 'needs_confirmation') {
    if (!(await confirm(reply.request))) throw new Error(reply.request.reason);
    reply = await connection.command({ ...command, confirmed: true }, STEP_WITHIN);
  }
  if (reply.result !== 'tool') throw new Error(`unexpected answer \`${reply.result}\``);
  if (reply.outcome.error) throw new Error(reply.outcome.error.message);
  if (reply.output != null) return reply.output as T;
  return JSON.parse(reply.outcome.output) as T;
}
