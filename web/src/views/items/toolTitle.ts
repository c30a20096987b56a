/// One line that says what a call does.
import type { JsonValue, ToolCall } from '../../protocol/types';
import { firstLine } from '../../format';

type Values = { [key: string]: JsonValue | undefined };

const isRecord = (value: JsonValue | undefined): value is { [key: string]: JsonValue } => typeof value === 'object' && value !== null && !Array.isArray(value);

const BY_TOOL: Record<string, (values: Values) => string> = {
  bash: (values) => firstLine(text(values.command)),
  grep: (values) => [text(values.pattern), text(values.path)].filter(Boolean).join('  '),
  glob: (values) => text(values.pattern),
  start_debugging: (values) => text(values.command) || text(values.configuration_name) || text(values.program),
  step_execution: (values) => text(values.step_type),
  set_breakpoint: (values) => `${text(values.file_path)}:${text(values.line_number)}`,
  task: (values) => [text(values.agent), text(values.description) || firstLine(text(values.prompt))].join('  '),
  todowrite: (values) => (Array.isArray(values.todos) ? values.todos.map((todo) => (isRecord(todo) ? text(todo.content) : '')).join(' · ') : ''),
  hypothesis: (values) => (values.id == null ? text(values.claim) : `#${text(values.id)}  ${text(values.expression) || text(values.observed)}`),
  plan_enter: (values) => text(values.title),
  plan_update: (values) => firstLine(text(values.content)),
  plan_exit: (values) => text(values.summary),
  debug_compare: (values) => [values.first, values.second].map((run) => (isRecord(run) ? text(run.command) : '')).join('  ↔  '),
  batch_edit: (values) => (Array.isArray(values.edits) ? [...new Set(values.edits.map((edit) => (isRecord(edit) ? text(edit.file_path) : '')))].join('  ') : ''),
  new_task: (values) => firstLine(text(values.message)),
};
const NAMED = ['command', 'file_path', 'path', 'symbol', 'query', 'pattern', 'expression', 'function', 'claim', 'question', 'skill_name', 'file', 'name', 'url', 'result'];

/** What the arguments of a call are about, in one line. */
export function summaryOf(tool: string, values: unknown): string {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return typeof values === 'string' ? firstLine(values) : '';
  const known = values as Values;
  const said = BY_TOOL[tool]?.(known);
  if (said) return said;
  for (const name of NAMED) if (known[name] != null && known[name] !== '') return firstLine(text(known[name]));
  return Object.entries(known).slice(0, 3).map(([name, value]) => `${name}=${firstLine(text(value)).slice(0, 60)}`).join(' ');
}

export function titleOf(call: ToolCall): string {
  return summaryOf(call.name, call.arguments);
}

function text(value: JsonValue | undefined): string {
  if (value == null) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((part) => typeof part === 'string')) return value.join(' ');
  return JSON.stringify(value);
}
