/// What stands beside the conversation. It follows what happens, until the person chooses a panel.
import type { Event, FileView } from '../protocol/types';
import { Debugger } from './debugger.svelte';
import { reportOf } from './app.svelte';
import type { TaskStore } from './task.svelte';

export type Tab = 'changes' | 'plan' | 'debugger' | 'evidence' | 'trace' | 'file' | 'terminal' | 'usage';
export const TABS: Tab[] = ['changes', 'plan', 'debugger', 'trace', 'evidence', 'file', 'terminal', 'usage'];

export class Inspector {
  tab = $state<Tab>('changes');
  /** Whether the panel changes with what happens. */
  following = $state(true);
  file = $state.raw<FileView | null>(null);
  fileLine = $state<number | null>(null);
  fileError = $state<string | null>(null);
  /** The call whose observation the trace panel shows; the newest where none is chosen. */
  traceCall = $state<string | null>(null);
  debugger: Debugger;

  constructor(readonly task: TaskStore) {
    this.debugger = new Debugger(task);
  }

  choose(tab: Tab): void {
    this.tab = tab;
    this.following = false;
    this.task.app.prefs.toggleInspector(true);
    if (window.innerWidth < 1080) this.task.app.drawer = 'inspector';
  }

  follow(): void {
    this.following = true;
    this.began();
  }

  /** Shows what the newest thing is about. */
  began(): void {
    const { activity, summary } = this.task;
    for (const session of activity.debug_sessions) this.debugger.sessionChanged(session);
    // Sessions belong to the folder; those of another task are no reason to look away.
    if (activity.debug_sessions.length > 0 && this.task.calledTool('start_debugging')) this.show('debugger');
    else if (summary.plan && summary.plan.status !== 'completed') this.show('plan');
    else {
      const newest = this.task.details('diff', 'trace', 'tracepoints', 'comparison', 'failure')[0];
      if (newest && newest.detail.kind !== 'diff') this.show('trace');
      else if (!newest && summary.todo.length > 0) this.show('plan');
    }
  }

  happened(event: Event): void {
    switch (event.type) {
      case 'debug_session':
        this.debugger.sessionChanged(event.session);
        if (event.session.state === 'stopped') this.show('debugger');
        return;
      case 'plan':
      case 'todo':
      case 'subtask_started':
        return this.show('plan');
      case 'hypotheses':
        return this.show('evidence');
      case 'observation': {
        const kind = event.result.detail?.kind;
        if (kind === 'diff' && !event.result.error) this.show('changes');
        else if (kind === 'trace' || kind === 'tracepoints' || kind === 'comparison' || kind === 'failure') {
          this.traceCall = null;
          this.show('trace');
        }
        return;
      }
      default:
        return;
    }
  }

  private show(tab: Tab): void {
    if (this.following) this.tab = tab;
  }

  showTrace(call: string): void {
    this.traceCall = call;
    this.choose('trace');
  }

  async openFile(path: string, line: number | null = null): Promise<void> {
    this.choose('file');
    this.fileError = null;
    this.fileLine = line;
    if (this.file?.path !== path) this.file = null;
    try {
      const reply = await this.task.app.connection.query({ type: 'file', workspace: this.task.workspace, path });
      this.file = reply.file;
    } catch (error) {
      this.fileError = reportOf(error).message;
    }
  }

  close(): void {
    this.debugger.close();
  }
}
