/// Completions while a message is written: `@` names files and symbols, `/` at the beginning names commands and modes.
import type { App } from '../state/app.svelte';
import { t } from '../i18n/index.svelte';

export interface Completion {
  key: string;
  label: string;
  note: string;
  /** What stands in the text then. */
  text: string;
  /** Whether the completion goes on, as in a folder. */
  again: boolean;
}

export interface CompletionAt {
  sign: '@' | '/';
  word: string;
}

const MOST = 12;

/** What is being completed at the caret, if anything. */
export function completionAt(text: string, caret: number): CompletionAt | null {
  const before = text.slice(0, caret);
  const command = /^\/([\w:-]*)$/.exec(before);
  if (command) return { sign: '/', word: command[1] ?? '' };
  const mention = /(?:^|\s)@([^\s@]*)$/.exec(before);
  return mention ? { sign: '@', word: mention[1] ?? '' } : null;
}

export async function completions(app: App, workspace: string, at: CompletionAt): Promise<Completion[]> {
  if (at.sign === '/') {
    const word = at.word.toLowerCase();
    const commands = app.slashCommands.map((command) => ({
      key: `c${command.name}`, label: `/${command.name}${command.argument_hint ? ` ${command.argument_hint}` : ''}`, note: command.description, text: `/${command.name} `, again: false,
    }));
    const modes = app.modes.filter((mode) => !app.slashCommands.some((command) => command.name === mode.slug)).map((mode) => ({
      key: `m${mode.slug}`, label: `/${mode.slug}`, note: t('completion.mode', { name: mode.name }), text: `/${mode.slug} `, again: false,
    }));
    return [...commands, ...modes].filter((each) => each.label.toLowerCase().includes(word)).sort((a, b) => Number(!a.label.startsWith(`/${word}`)) - Number(!b.label.startsWith(`/${word}`))).slice(0, MOST);
  }
  const { connection } = app;
  const [files, symbols] = await Promise.all([
    connection.query({ type: 'files', workspace, text: at.word, limit: MOST }).then((reply) => reply.files, () => []),
    at.word.length < 2 ? [] : connection.query({ type: 'symbols', workspace, text: at.word, limit: 6 }).then((reply) => reply.symbols, () => []),
  ]);
  return [
    ...files.map((path) => ({ key: `f${path}`, label: path, note: t('completion.file'), text: path.endsWith('/') ? `@${path}` : `@${path} `, again: path.endsWith('/') })),
    ...symbols.map((symbol) => ({ key: `s${symbol.path}:${symbol.line}:${symbol.name}`, label: symbol.name, note: `${symbol.kind} · ${symbol.path}:${symbol.line}`, text: `@${symbol.path}:${symbol.line} `, again: false })),
  ].slice(0, MOST + 4);
}

/** Puts a completion in the place of the word at the caret; gives the text and where the caret is then. */
export function insert(text: string, caret: number, completion: Completion): [string, number] {
  const at = completionAt(text, caret);
  const start = caret - (at ? at.word.length + 1 : 0);
  const rest = text.slice(caret).replace(/^ /, '');
  return [text.slice(0, start) + completion.text + rest, start + completion.text.length];
}
