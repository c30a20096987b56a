import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { actions } from '../keys';
import { en } from './en';
import { zh } from './zh';

const sources = (path: string): string[] => (statSync(path).isDirectory() ? readdirSync(path).flatMap((name) => sources(join(path, name))) : /\.(svelte|ts)$/.test(path) && !/i18n|test/.test(path) ? [path] : []);
const text = sources('src').map((path) => readFileSync(path, 'utf8')).join('\n');
const holes = (words: string) => [...words.matchAll(/\{\w+\}/g)].map(String).sort();

describe('dictionaries', () => {
  it('have the same keys and the same places for values', () => {
    expect(Object.keys(zh)).toEqual(Object.keys(en));
    for (const [key, words] of Object.entries(en)) expect([key, holes(zh[key as keyof typeof zh])]).toEqual([key, holes(words)]);
  });
  it('say every thing in Chinese', () => {
    const same = Object.entries(en).filter(([key, words]) => zh[key as keyof typeof zh] === words);
    expect(same).toEqual([]);
  });
  it('hold nothing that no view says', () => {
    const made = ['state.', 'end.', 'approved.', 'by.', 'risk.', 'permission.', 'change.', 'plan.', 'step.', 'todo.', 'session.', 'stop.', 'traceEnd.', 'hypothesis.', 'mcp.', 'check.', 'certainty.', 'code.', 'tab.', 'theme.', 'group.'];
    const unused = Object.keys(en).filter((key) => !text.includes(`'${key}'`) && !made.some((prefix) => key.startsWith(prefix)));
    expect(unused).toEqual([]);
  });
});

describe('keys', () => {
  it('belong to one action each', () => {
    const keys = actions().flatMap((action) => action.keys);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  });
});
