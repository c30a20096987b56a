import { describe, expect, it, vi } from 'vitest';
import type { Host, LinkEvents } from '../host/host';
import { Connection, ConnectionLost, Refused } from './connection';
import type { ServerMessage } from './types';

function world() {
  const lines: { events: LinkEvents; sent: { type: string; id: number; after?: number }[] }[] = [];
  const host = {
    name: 'Test', load: () => null, store: () => undefined, copy: async () => undefined, save: () => undefined, firstFolder: async () => null,
    open(events: LinkEvents) {
      const sent: (typeof lines)[number]['sent'] = [];
      lines.push({ events, sent });
      return { send: (text: string) => sent.push(JSON.parse(text)), close: () => undefined };
    },
  } satisfies Host;
  const states: string[] = [];
  const connection = new Connection(host, { stateChanged: (state) => states.push(state), connected: () => undefined, taskChanged: () => undefined, taskDeleted: () => undefined });
  connection.start();
  const line = () => lines.at(-1)!;
  const receive = (message: ServerMessage) => line().events.received(JSON.stringify(message));
  return { connection, lines, line, states, receive };
}

describe('connection', () => {
  it('gives each reply to the one who asked', async () => {
    const { connection, line, receive } = world();
    line().events.opened();
    const first = connection.query({ type: 'workspaces' });
    const second = connection.command({ type: 'pause', task: 't' });
    const [a, b] = line().sent.slice(-2);
    receive({ type: 'command_reply', id: b!.id, reply: { result: 'failed', error: { kind: 'rejected', message: 'no' } } });
    receive({ type: 'query_reply', id: a!.id, reply: { type: 'workspaces', workspaces: [] } });
    await expect(second).rejects.toBeInstanceOf(Refused);
    await expect(first).resolves.toEqual({ type: 'workspaces', workspaces: [] });
  });
  it('follows again from the last number after a lost line', () => {
    vi.useFakeTimers();
    const { connection, lines, line } = world();
    line().events.opened();
    let last = 3;
    connection.follow('t', { lastSeq: () => last, event: () => undefined, failed: () => undefined });
    expect(line().sent.at(-1)).toMatchObject({ type: 'follow', after: 3 });
    last = 9;
    line().events.closed('lost');
    vi.advanceTimersByTime(10_000);
    expect(lines).toHaveLength(2);
    line().events.opened();
    expect(line().sent.map((message) => message.type)).toEqual(['hello', 'follow_tasks', 'follow']);
    expect(line().sent.at(-1)).toMatchObject({ after: 9 });
    vi.useRealTimers();
  });
  it('fails what was on its way when the line breaks, and what gets no answer in time', async () => {
    const { connection, line } = world();
    line().events.opened();
    const lost = connection.query({ type: 'workspaces' });
    line().events.closed('lost');
    await expect(lost).rejects.toBeInstanceOf(ConnectionLost);
    await expect(connection.query({ type: 'workspaces' })).rejects.toBeInstanceOf(ConnectionLost);
  });
  it('does not try again where it is forbidden', () => {
    const { lines, line, states } = world();
    line().events.closed('forbidden');
    expect(states.at(-1)).toBe('forbidden');
    expect(lines).toHaveLength(1);
  });
});
