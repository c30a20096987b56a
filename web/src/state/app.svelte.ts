/// The page's state: the connection, the list of tasks, where the person is, and what to tell them.
import type { Host } from '../host/host';
import { t } from '../i18n/index.svelte';
import { Connection, ConnectionLost, type ConnectionState, newTaskId, Refused } from '../protocol/connection';
import type {
  Command, ErrorReport, ModeItem, ModelItem, Part, PermissionMode, ProviderItem, SlashCommandItem, TaskId, TaskListItem, WorkspaceItem, WorkspaceView,
} from '../protocol/types';
import { Prefs } from './prefs.svelte';
import { TaskStore } from './task.svelte';

export type Page = 'task' | 'new' | 'history' | 'checkpoints' | 'tools' | 'code' | 'settings' | 'doctor';

export interface Route {
  page: Page;
  task: TaskId | null;
}

export interface Toast {
  id: number;
  text: string;
  hint: string | null;
  tone: 'plain' | 'error';
}

const PAGES: Page[] = ['new', 'history', 'checkpoints', 'tools', 'code', 'settings', 'doctor'];
const TOAST_LIFE = 8_000;
const RAIL_TASKS = 60;

export class App {
  connection: Connection;
  prefs: Prefs;
  line = $state<ConnectionState>('connecting');
  everConnected = $state(false);
  retryAt = $state<number | null>(null);
  tasks = $state.raw<TaskListItem[]>([]);
  tasksState = $state<'loading' | 'ready' | 'failed'>('loading');
  tasksError = $state.raw<ErrorReport | null>(null);
  route = $state.raw<Route>({ page: 'new', task: null });
  task = $state.raw<TaskStore | null>(null);
  toasts = $state.raw<Toast[]>([]);
  workspaces = $state.raw<WorkspaceItem[]>([]);
  workspace = $state.raw<WorkspaceView | null>(null);
  /** The folder in which the next task begins. */
  folder = $state('');
  models = $state.raw<ModelItem[]>([]);
  modes = $state.raw<ModeItem[]>([]);
  providers = $state.raw<ProviderItem[] | null>(null);
  slashCommands = $state.raw<SlashCommandItem[]>([]);
  dialog = $state<'palette' | 'help' | null>(null);
  /** Drawers of narrow windows. */
  drawer = $state<'rail' | 'inspector' | null>(null);
  now = $state(Date.now());
  private toastId = 1;

  constructor(readonly host: Host) {
    this.prefs = new Prefs(host);
    this.folder = host.load('folder') ?? '';
    this.connection = new Connection(host, {
      stateChanged: (state, retryAt) => {
        this.line = state;
        this.retryAt = retryAt;
      },
      connected: () => {
        this.everConnected = true;
        void this.refresh();
        this.task?.reconnected();
      },
      taskChanged: (task) => this.taskChanged(task),
      taskDeleted: (task) => this.taskDeleted(task),
    });
  }

  start(): void {
    this.readRoute();
    window.addEventListener('hashchange', () => this.readRoute());
    setInterval(() => (this.now = Date.now()), 15_000);
    this.connection.start();
  }

  // ---- where the person is

  go(page: Page, task: TaskId | null = null): void {
    const hash = page === 'task' ? `#/task/${task}` : `#/${page}`;
    if (location.hash !== hash) location.hash = hash;
    else this.readRoute();
    this.drawer = null;
  }

  openTask(task: TaskId): void {
    this.go('task', task);
  }

  private readRoute(): void {
    // The link that signed this window in names the folder it was made in.
    const [, folder] = /^#workspace=(.+)$/.exec(location.hash) ?? [];
    if (folder) {
      history.replaceState(null, '', '#/new');
      this.folder = decodeURIComponent(folder);
      this.host.store('folder', this.folder);
    }
    const [, page, id] = /^#\/(\w+)(?:\/([\w-]+))?$/.exec(location.hash) ?? [];
    if (page === 'task' && id) this.route = { page: 'task', task: id };
    else this.route = { page: PAGES.find((known) => known === page) ?? 'new', task: null };
    if (this.route.page !== 'task') {
      if (this.task) this.closeTask();
    } else if (this.task?.id !== id && id) {
      this.closeTask();
      this.task = new TaskStore(id, this);
    }
  }

  private closeTask(): void {
    this.task?.close();
    this.task = null;
  }

  /** The folder that lists and tools are about: that of the open task, or the chosen one. */
  get place(): string {
    return this.task?.workspace || this.folder;
  }

  // ---- lists

  async refresh(): Promise<void> {
    if (this.folder === '') {
      const first = await this.host.firstFolder();
      if (first && this.folder === '') this.chooseFolder(first);
    }
    void this.loadWorkspaces();
    await this.loadTasks();
    await this.loadFolder();
  }

  async loadTasks(): Promise<void> {
    try {
      const reply = await this.connection.query({
        type: 'tasks', search: null, workspace: null, state: null, favourites_only: false, offset: 0, limit: RAIL_TASKS,
      });
      this.tasks = reply.tasks;
      this.tasksState = 'ready';
      if (this.folder === '' && reply.tasks[0]) this.chooseFolder(reply.tasks[0].info.workspace);
    } catch (error) {
      this.tasksError = reportOf(error);
      if (this.tasksState !== 'ready') this.tasksState = 'failed';
    }
  }

  private async loadWorkspaces(): Promise<void> {
    try {
      this.workspaces = (await this.connection.query({ type: 'workspaces' })).workspaces;
      if (this.folder === '' && this.workspaces[0]) this.chooseFolder(this.workspaces[0].path);
    } catch {
      // An engine without the query: folders of tasks are offered.
      this.workspaces = [];
    }
  }

  chooseFolder(folder: string): void {
    this.folder = folder;
    this.host.store('folder', folder);
    void this.loadFolder();
  }

  private loadedFor = '';

  /** What can be chosen in a folder: models, modes, commands. */
  async loadFolder(folder = this.place): Promise<void> {
    this.loadedFor = folder;
    const set = <T>(wanted: Promise<T>, take: (value: T) => void) =>
      wanted.then((value) => { if (this.loadedFor === folder) take(value); }).catch(() => undefined);
    const { connection } = this;
    await Promise.all([
      set(connection.query({ type: 'models', workspace: folder }), (reply) => (this.models = reply.models)),
      set(connection.query({ type: 'modes', workspace: folder }), (reply) => (this.modes = reply.modes)),
      set(connection.query({ type: 'slash_commands', workspace: folder }), (reply) => (this.slashCommands = reply.commands)),
      set(connection.query({ type: 'providers', workspace: folder }), (reply) => (this.providers = reply.providers)),
      set(connection.query({ type: 'workspace', workspace: folder }), (reply) => (this.workspace = reply.workspace)),
    ]);
  }

  private taskChanged(task: TaskListItem): void {
    const others = this.tasks.filter((known) => known.info.id !== task.info.id);
    const known = others.length < this.tasks.length;
    if (known) this.tasks = this.tasks.map((each) => (each.info.id === task.info.id ? task : each));
    else this.tasks = [task, ...others];
    this.task?.listChanged(task);
  }

  private taskDeleted(id: TaskId): void {
    this.tasks = this.tasks.filter((known) => known.info.id !== id);
    if (this.task?.id === id) {
      this.say(t('task.wasDeleted'));
      this.go('new');
    }
  }

  // ---- doing

  /** Sends a command; a refusal is told to the person. Gives `null` then. */
  async act(command: Command, within?: number) {
    try {
      return await this.connection.command(command, within);
    } catch (error) {
      this.complain(error);
      return null;
    }
  }

  async startTask(parts: Part[], options: { mode?: string | null; model?: string | null; permission?: PermissionMode | null }): Promise<boolean> {
    const task = newTaskId();
    const { mode = null, model = null, permission = null } = options;
    const reply = await this.act({ type: 'start_task', task, prompt: parts, workspace: this.folder, mode, model, permission_mode: permission });
    if (!reply) return false;
    this.openTask(task);
    return true;
  }

  say(text: string, tone: Toast['tone'] = 'plain', hint: string | null = null): void {
    const id = this.toastId++;
    this.toasts = [...this.toasts.slice(-3), { id, text, hint, tone }];
    setTimeout(() => this.dismiss(id), TOAST_LIFE);
  }

  dismiss(id: number): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id);
  }

  complain(error: unknown): void {
    const report = reportOf(error);
    this.say(report.message, 'error', report.hint ?? null);
  }

  async copy(text: string): Promise<void> {
    try {
      await this.host.copy(text);
      this.say(t('copied'));
    } catch {
      this.say(t('copyFailed'), 'error');
    }
  }
}

/** An error as the engine would report it. */
export function reportOf(error: unknown): ErrorReport {
  if (error instanceof Refused) return error.report;
  if (error instanceof ConnectionLost) return { kind: 'internal', message: t('line.noAnswer'), hint: t('line.noAnswerHint') };
  return { kind: 'internal', message: error instanceof Error ? error.message : String(error) };
}

let app: App | null = null;

export function createApp(host: Host): App {
  app = new App(host);
  return app;
}

export function useApp(): App {
  if (!app) throw new Error('the page has not begun');
  return app;
}
