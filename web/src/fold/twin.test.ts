// @vitest-environment node
/// The fold of the page and the one of `crates/transcript` make the same of the same events.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { EventRecord } from '../protocol/types';
import { Transcript } from './transcript';

interface Case {
  records: EventRecord[];
  folded: unknown;
}

const cases: Case[] = JSON.parse(readFileSync('../crates/transcript/tests/cases.json', 'utf8'));

/** Counts that serde leaves out where they are nought. */
const LEFT_OUT = new Set(['cache_read_tokens', 'cache_write_tokens', 'reasoning_tokens']);

/** Without fields that are absent: serde leaves some out and writes others as null. */
function present(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(present);
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(
    ([name, field]) => field !== null && field !== undefined && !(field === 0 && LEFT_OUT.has(name)),
  );
  return Object.fromEntries(kept.map(([name, field]) => [name, present(field)]));
}

describe('the fold of the page', () => {
  test.each(cases.map((one, number) => [number, one] as const))('gives what the Rust fold gives in case %i', (_number, { records, folded }) => {
    const { items, summary, activity } = Transcript.of(records);
    expect(present(JSON.parse(JSON.stringify({ items, summary, activity })))).toEqual(present(folded));
  });
});
