/// Every action of the page, once: its key, its name in the command palette, and what `?` shows.
import type { Key } from './i18n/index.svelte';
import type { App } from './state/app.svelte';
import { TABS, type Tab } from './state/inspector.svelte';

export type Group = 'general' | 'task' | 'approval' | 'inspector' | 'debugger' | 'look';

export interface Action {
  id: string;
  group: Group;
  name: Key;
  /** `mod` is Ctrl, or Command on a Mac. A bare letter works while no text is being written. */
  keys: string[];
  when?(app: App): boolean;
  /** Absent where a view handles the key itself and the table only tells of it. */
  run?(app: App): void;
}

const hasTask = (app: App) => app.task?.status === 'ready';
const isRunning = (app: App) => app.task?.running === true;
const isStopped = (app: App) => app.task?.inspector.debugger.session?.state === 'stopped';

export function actions(): Action[] {
  return [
    { id: 'palette', group: 'general', name: 'action.palette', keys: ['mod+k'], run: (app) => { app.dialog = app.dialog === 'palette' ? null : 'palette'; } },
    { id: 'help', group: 'general', name: 'action.help', keys: ['?'], run: (app) => { app.dialog = app.dialog === 'help' ? null : 'help'; } },
    { id: 'new', group: 'general', name: 'action.new', keys: ['alt+n'], run: (app) => app.go('new') },
    { id: 'history', group: 'general', name: 'action.history', keys: ['g h'], run: (app) => app.go('history') },
    { id: 'checkpoints', group: 'general', name: 'action.checkpoints', keys: ['g c'], run: (app) => app.go('checkpoints') },
    { id: 'tools', group: 'general', name: 'action.tools', keys: ['g t'], run: (app) => app.go('tools') },
    { id: 'code', group: 'general', name: 'action.code', keys: ['g s'], run: (app) => app.go('code') },
    { id: 'settings', group: 'general', name: 'action.settings', keys: ['g ,'], run: (app) => app.go('settings') },
    { id: 'doctor', group: 'general', name: 'action.doctor', keys: ['g d'], run: (app) => app.go('doctor') },
    { id: 'nextTask', group: 'general', name: 'action.nextTask', keys: [']'], run: (app) => stepTask(app, 1) },
    { id: 'previousTask', group: 'general', name: 'action.previousTask', keys: ['['], run: (app) => stepTask(app, -1) },
    { id: 'write', group: 'task', name: 'action.write', keys: ['i', '/'], run: () => focus('#composer') },
    { id: 'interrupt', group: 'task', name: 'action.interrupt', keys: ['mod+.'], when: isRunning, run: (app) => cancel(app) },
    { id: 'pause', group: 'task', name: 'action.pause', keys: ['alt+p'], when: isRunning, run: (app) => void app.act({ type: 'pause', task: app.task?.id ?? '' }) },
    { id: 'resume', group: 'task', name: 'action.resume', keys: ['alt+r'], when: (app) => hasTask(app) && !isRunning(app), run: (app) => void app.act({ type: 'resume_task', task: app.task?.id ?? '' }) },
    { id: 'favourite', group: 'task', name: 'action.favourite', keys: ['f'], when: hasTask, run: favourite },
    { id: 'condense', group: 'task', name: 'action.condense', keys: [], when: hasTask, run: (app) => void app.act({ type: 'condense_task', task: app.task?.id ?? '' }) },
    { id: 'undoCondense', group: 'task', name: 'action.undoCondense', keys: [], when: hasTask, run: (app) => void app.act({ type: 'undo_condensing', task: app.task?.id ?? '' }) },
    { id: 'undo', group: 'task', name: 'action.undo', keys: ['alt+u'], when: hasTask, run: (app) => void undo(app) },
    { id: 'redo', group: 'task', name: 'action.redo', keys: ['alt+shift+u'], when: hasTask, run: (app) => void redo(app) },
    { id: 'top', group: 'task', name: 'action.top', keys: ['g g'], when: hasTask, run: () => scrollTranscript('top') },
    { id: 'bottom', group: 'task', name: 'action.bottom', keys: ['G'], when: hasTask, run: () => scrollTranscript('bottom') },
    { id: 'yes', group: 'approval', name: 'action.yes', keys: ['y', 'alt+y'] },
    { id: 'session', group: 'approval', name: 'action.session', keys: ['s', 'alt+s'] },
    { id: 'always', group: 'approval', name: 'action.always', keys: ['a', 'alt+a'] },
    { id: 'no', group: 'approval', name: 'action.no', keys: ['n', 'alt+x'] },
    { id: 'words', group: 'approval', name: 'action.words', keys: ['w', 'alt+w'] },
    { id: 'queue', group: 'approval', name: 'action.queue', keys: [',', '.'] },
    { id: 'option', group: 'approval', name: 'action.option', keys: ['1…9'] },
    { id: 'inspector', group: 'inspector', name: 'action.inspector', keys: ['mod+j'], run: (app) => (window.innerWidth < 1080 ? (app.drawer = app.drawer === 'inspector' ? null : 'inspector') : app.prefs.toggleInspector()) },
    { id: 'rail', group: 'look', name: 'action.rail', keys: ['mod+b'], run: (app) => (window.innerWidth < 760 ? (app.drawer = app.drawer === 'rail' ? null : 'rail') : app.prefs.toggleRail()) },
    ...TABS.map((tab, index): Action => ({
      id: `tab.${tab}`, group: 'inspector', name: `tab.${tab}` as Key, keys: [`alt+${index + 1}`], when: hasTask, run: (app) => chooseTab(app, tab),
    })),
    { id: 'follow', group: 'inspector', name: 'action.follow', keys: ['alt+0'], when: hasTask, run: (app) => app.task?.inspector.follow() },
    { id: 'continue', group: 'debugger', name: 'debug.continue', keys: ['F8'], when: isStopped, run: (app) => void app.task?.inspector.debugger.resume() },
    { id: 'stepOver', group: 'debugger', name: 'debug.over', keys: ['F10'], when: isStopped, run: (app) => void app.task?.inspector.debugger.step('over') },
    { id: 'stepInto', group: 'debugger', name: 'debug.into', keys: ['F9'], when: isStopped, run: (app) => void app.task?.inspector.debugger.step('into') },
    { id: 'stepOut', group: 'debugger', name: 'debug.out', keys: ['shift+F9'], when: isStopped, run: (app) => void app.task?.inspector.debugger.step('out') },
    { id: 'theme.light', group: 'look', name: 'action.light', keys: [], run: (app) => app.prefs.setTheme('light') },
    { id: 'theme.dark', group: 'look', name: 'action.dark', keys: [], run: (app) => app.prefs.setTheme('dark') },
    { id: 'theme.contrast', group: 'look', name: 'action.contrast', keys: [], run: (app) => app.prefs.setTheme('contrast') },
    { id: 'theme.system', group: 'look', name: 'action.system', keys: [], run: (app) => app.prefs.setTheme('system') },
    { id: 'language.en', group: 'look', name: 'action.english', keys: [], run: (app) => app.prefs.setLanguage('en') },
    { id: 'language.zh', group: 'look', name: 'action.chinese', keys: [], run: (app) => app.prefs.setLanguage('zh') },
  ];
}

export const isMac = /Mac|iP(hone|ad)/.test(navigator.userAgent);

/** A key as people write it: `Ctrl K`, `⌘K`. */
export function keyLabel(key: string): string {
  if (isMac) return key.replace('mod+', '⌘').replace('alt+', '⌥').replace('shift+', '⇧').toUpperCase().replace('G ', 'g ');
  return key
    .split('+')
    .map((part) => ({ mod: 'Ctrl', alt: 'Alt', shift: 'Shift' })[part] ?? (part.length === 1 && key.includes('+') ? part.toUpperCase() : part))
    .join(' ');
}

let prefix = '';
let prefixTimer: ReturnType<typeof setTimeout> | undefined;

/** Runs the action of a key. Bare keys do nothing while text is written or a dialog is open. */
export function handleKey(event: KeyboardEvent, app: App): void {
  if (event.defaultPrevented || event.isComposing) return;
  const typing = isTyping(event.target);
  const chord = chordOf(event);
  const sequence = prefix === '' ? chord : `${prefix} ${chord}`;
  const bare = !/^(mod|alt)\+|^(shift\+)?F\d+$/.test(chord);
  if (bare && (typing || app.dialog)) return;
  const found = actions().find((action) => action.run && action.keys.includes(sequence) && (action.when?.(app) ?? true));
  prefix = '';
  clearTimeout(prefixTimer);
  if (found?.run) {
    event.preventDefault();
    found.run(app);
  } else if (chord === 'g' && bare) {
    prefix = 'g';
    prefixTimer = setTimeout(() => (prefix = ''), 1200);
  }
}

/** A key press as it stands in the table. */
export function chordOf(event: KeyboardEvent): string {
  // With Alt, some systems type another sign; the place of the key on the keyboard counts then.
  const letter = event.altKey ? /^(?:Key|Digit)(\w)$/.exec(event.code)?.[1]?.toLowerCase() : undefined;
  const key = letter ?? event.key;
  const mod = isMac ? event.metaKey : event.ctrlKey;
  const shifted = event.shiftKey && (event.altKey || key.length > 1);
  return `${mod ? 'mod+' : ''}${event.altKey ? 'alt+' : ''}${shifted ? 'shift+' : ''}${key}`;
}

export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['TEXTAREA', 'SELECT'].includes(target.tagName) || (target instanceof HTMLInputElement && !['checkbox', 'radio', 'button'].includes(target.type)) || target.closest('.xterm') !== null;
}

function chooseTab(app: App, tab: Tab): void {
  app.task?.inspector.choose(tab);
}

function stepTask(app: App, by: number): void {
  const index = app.tasks.findIndex((task) => task.info.id === app.task?.id);
  const next = app.tasks[index === -1 ? 0 : index + by];
  if (next) app.openTask(next.info.id);
}

function focus(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}

function scrollTranscript(to: 'top' | 'bottom'): void {
  const element = document.querySelector('#transcript');
  element?.scrollTo({ top: to === 'top' ? 0 : element.scrollHeight });
}

function cancel(app: App): void {
  if (app.task) void app.act({ type: 'cancel', task: app.task.id });
}

function favourite(app: App): void {
  if (app.task) void app.act({ type: 'set_favourite', task: app.task.id, favourite: !app.task.summary.favourite });
}

async function undo(app: App): Promise<void> {
  const reply = await app.act({ type: 'undo', workspace: app.place, count: 1, force: false });
  if (reply?.result === 'restored') app.say(reply.files.map((file) => file.path).join(', ') || '–');
}

async function redo(app: App): Promise<void> {
  const reply = await app.act({ type: 'redo', workspace: app.place, force: false });
  if (reply?.result === 'restored') app.say(reply.files.map((file) => file.path).join(', ') || '–');
}
