import { describe, expect, it } from 'vitest';
import type { Event, EventRecord } from '../protocol/types';
import { byteLength, byteText, lastBytes, splice } from './text';
import { fold, Transcript } from './transcript';

let seq = 0;
const durable = (event: Event): EventRecord => ({ seq: ++seq, ts: seq, event });
const transient = (event: Event): EventRecord => ({ seq, ts: seq, event });
const begin = () => { seq = 0; };
const user = (id: string, text: string): Event => ({ type: 'user_message', message: { id, role: 'user', parts: [{ type: 'text', text }], ts: 0 } });
const token = (offset: number, content: string): Event => ({ type: 'token', message_id: 'm1', offset, content });
const action = (id: string): Event => ({ type: 'action', message_id: 'm1', call: { id, name: 'bash', arguments: { command: 'ls' } } });
const result = (id: string): Event => ({ type: 'observation', result: { call_id: id, tool: 'bash', output: 'ok', duration_ms: 1 } });

describe('splice', () => {
  it('counts offsets in UTF-8 bytes', () => {
    const text = byteText('你好');
    splice(text, 6, ' 🙂');
    expect(text).toEqual({ text: '你好 🙂', bytes: 11 });
    splice(text, 11, '!');
    expect(text.text).toBe('你好 🙂!');
  });
  it('passes over a piece that is known and replaces one that differs', () => {
    const text = byteText('abcdef');
    splice(text, 2, 'cd');
    expect(text.text).toBe('abcdef');
    splice(text, 2, 'XY');
    expect(text.text).toBe('abXY');
  });
  it('never cuts a character in two', () => {
    const text = byteText('a你b');
    splice(text, 2, 'X');
    expect(text.text).toBe('aX');
    expect(lastBytes('a你b', 3)).toBe('b');
    expect(byteLength('a你🙂')).toBe(8);
  });
});

describe('the fold', () => {
  it('streams an answer and replaces it by the final one', () => {
    begin();
    const transcript = new Transcript();
    transcript.apply(durable(user('u1', 'hi')));
    transcript.apply(transient(token(0, 'Hel')));
    transcript.apply(transient(token(3, 'lo')));
    transcript.apply(transient(token(3, 'lo')));
    expect(transcript.items[1]?.entry).toMatchObject({ kind: 'answer', content: 'Hello', unfinished: true });
    transcript.apply(durable({ type: 'answer', message_id: 'm1', content: 'Hello', origin: 'text' }));
    expect(transcript.items).toHaveLength(2);
    expect(transcript.items[1]?.entry).toMatchObject({ kind: 'answer', content: 'Hello', unfinished: false });
  });
  it('passes over durable events that are known, so a page may be read twice', () => {
    begin();
    const records = [durable(user('u1', 'hi')), durable(action('c1')), durable(result('c1'))];
    expect(fold([...records, ...records])).toEqual(fold(records));
  });
  it('puts reasoning before an answer that streams on', () => {
    begin();
    const transcript = new Transcript();
    transcript.apply(transient({ type: 'reasoning_token', message_id: 'm1', offset: 0, content: 'hm' }));
    transcript.apply(transient(token(0, 'Yes')));
    transcript.apply(durable({ type: 'thought', message_id: 'm1', parts: [{ type: 'reasoning', text: 'hm' }] }));
    expect(transcript.items.map((item) => item.entry.kind)).toEqual(['thought', 'answer']);
    expect(transcript.items[1]?.entry).toMatchObject({ content: 'Yes', reasoning: '' });
  });
  it('drops what streamed when the answer is restarted', () => {
    begin();
    const transcript = new Transcript();
    transcript.apply(transient(token(0, 'Hel')));
    transcript.apply(durable({ type: 'answer_restarted', message_id: 'm1' }));
    expect(transcript.items).toHaveLength(0);
  });
  it('keeps the end of live output and forgets it with the result', () => {
    begin();
    const transcript = new Transcript();
    transcript.apply(durable(action('c1')));
    for (let index = 0; index < 3; index++) transcript.apply(transient({ type: 'tool_output', call_id: 'c1', stream: 'stdout', chunk: '你'.repeat(10_000) }));
    const live = transcript.items[0]?.entry;
    expect(live?.kind === 'tool' && byteLength(live.output)).toBeLessThanOrEqual(64 * 1024);
    transcript.apply(durable(result('c1')));
    expect(transcript.items[0]?.entry).toMatchObject({ output: '', result: { output: 'ok' } });
  });
  it('takes back everything from a message on', () => {
    begin();
    const { items } = fold([durable(user('u1', 'a')), durable(user('u2', 'b')), durable(action('c1')), durable({ type: 'history_rewound', to_before: 'u2' })]);
    expect(items).toHaveLength(1);
  });
  it('resolves approvals as a pair of answer and source', () => {
    begin();
    const request = { id: 'a1', call: { id: 'c1', name: 'bash', arguments: {} }, risk: 'execute' as const, reason: 'r', preview: { summary: 's' } };
    const { items, summary } = fold([durable({ type: 'approval_requested', request }), durable({ type: 'approval_resolved', id: 'a1', source: 'person', answer: 'yes', answered_from: 'Firefox' })]);
    expect(items[0]?.entry).toEqual({ kind: 'approval', request, resolved: [{ answer: 'yes', answered_from: 'Firefox' }, 'person'] });
    expect(summary.open_approvals).toEqual([]);
  });
  it('equals the fold of the whole log when older pages are put before', () => {
    begin();
    const records = [durable(user('u1', 'a')), durable(action('c1')), durable(result('c1')), durable(user('u2', 'b')), durable(action('c2'))];
    const newest = Transcript.of(records.slice(3), 'newest');
    const output = transient({ type: 'tool_output', call_id: 'c2', stream: 'stdout', chunk: 'live' });
    newest.apply(output);
    const whole = Transcript.of(records);
    whole.adoptLive(newest);
    expect(whole.items).toEqual(Transcript.of([...records, output]).items);
  });
  it('shares no changed item with a screen that drew it before', () => {
    begin();
    const transcript = Transcript.of([durable(action('c1'))]);
    const before = transcript.items[0];
    transcript.apply(durable(result('c1')));
    expect(transcript.items[0]).not.toBe(before);
    expect(before?.entry).toMatchObject({ result: null });
  });
});
