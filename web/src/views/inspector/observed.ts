/// What a probe showed, as a person reads it. Debug tools answer the model in JSON, which may be cut at its end.
import type { Observed } from '../../protocol/types';

export interface Shown {
  /** Whether the program did what it should; a debugger that finds out why one fails succeeds itself. */
  passed: boolean;
  text: string;
  /** What the program printed. */
  output: string;
}

const VERDICT = /"verdict":"(\w+)","summary":("(?:[^"\\]|\\.)*")/;

export function shownOf(observed: Observed): Shown {
  const { text } = observed;
  if (!text.trimStart().startsWith('{')) return { passed: observed.succeeded, text, output: '' };
  const [, verdict, summary] = VERDICT.exec(text) ?? [];
  const whole = parsed(text);
  if (verdict && summary) {
    const output = (whole as { failure?: { output?: unknown } } | null)?.failure?.output;
    return { passed: observed.succeeded && verdict === 'passed', text: String(parsed(summary) ?? summary), output: typeof output === 'string' ? output : '' };
  }
  return { passed: observed.succeeded, text: whole === null ? text : JSON.stringify(whole, null, 2), output: '' };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
