import { expect, test } from 'vitest';
import { shownOf } from './observed';

const failed = '{"status":"success","failure":{"verdict":"failed","summary":"TypeError: \\"x\\" at a.py:1","exception":{"type":"TypeError"}}}';

test('a failure that a debugger explained is a failure, also where its JSON is cut', () => {
  const shown = { passed: false, text: 'TypeError: "x" at a.py:1', output: '' };
  expect(shownOf({ succeeded: true, text: failed })).toEqual(shown);
  expect(shownOf({ succeeded: true, text: `${failed.slice(0, -20)}…` })).toEqual(shown);
});

test('a program that passes is shown with what it printed', () => {
  const text = '{"status":"success","failure":{"verdict":"passed","summary":"it passed","exit_code":0,"output":"25.0\\n"}}';
  expect(shownOf({ succeeded: true, text })).toEqual({ passed: true, text: 'it passed', output: '25.0\n' });
});

test('plain output stays as it is', () => {
  expect(shownOf({ succeeded: false, text: 'exit code 1' })).toEqual({ passed: false, text: 'exit code 1', output: '' });
});
