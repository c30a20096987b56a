// What the page and its server cost: memory, time from event to pixel, first paint, bundle, dropped frames. `cargo xtask bench web`
// builds the release binary and runs this; STEPWELL_BINARY names another one.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { join } from 'node:path';
import WebSocket from 'ws';
import { makeWorld } from '../e2e/world.mjs';

const STREAM = 5 << 20;
const MARK_EVERY = 16 << 10;
const MESSAGES = 10_000;
const WINDOWS = 50;

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const percentile = (values, share) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
const rows = [];
const row = (what, value, bar = '') => rows.push([what, value, bar]);

/** A model that streams a large answer; every 16 KiB stands the time at which that piece was sent. */
async function startFlood() {
  const server = createServer((request, response) => {
    if (!request.url.endsWith('/chat/completions')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[{"id":"flood","object":"model"}]}');
      return;
    }
    request.resume();
    request.on('end', async () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const line = 'The quick brown fox jumps over the lazy dog, again and again, as long as the answer lasts.\n\n';
      const piece = line.repeat(Math.ceil(MARK_EVERY / line.length));
      for (let sent = 0; sent < STREAM && !response.destroyed; sent += piece.length) {
        const content = `sent-at-${Date.now()}-\n\n${piece}`;
        const free = response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] })}\n\n`);
        if (!free) await new Promise((resolve) => response.once('drain', resolve));
        // As fast as a fast model: about 1 MB a second.
        await new Promise((resolve) => setTimeout(resolve, 16));
      }
      response.end(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, stop: () => { server.closeAllConnections(); server.close(); } };
}

function memoryOf(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(rollup)?.[1] ?? 0) / 1024;
  return { pss: of('Pss'), own: of('Private_Dirty') + of('Private_Clean') };
}

function bundle() {
  const dist = new URL('../dist/', import.meta.url).pathname;
  const index = readFileSync(join(dist, 'index.html'), 'utf8');
  const first = [...index.matchAll(/(?:src|href)="\.?\/?(assets\/[^"]+)"/g)].map((match) => match[1]);
  const size = (name) => gzipSync(readFileSync(join(dist, name)), { level: 9 }).length / 1024;
  const all = readdirSync(join(dist, 'assets')).map((name) => size(`assets/${name}`));
  return { first: first.reduce((sum, name) => sum + size(name), gzipSync(index).length / 1024), all: all.reduce((sum, one) => sum + one, 0) };
}

async function command(world, body) {
  const answer = await fetch(`http://${world.server.address}/api/commands`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return answer.json();
}

/** Sockets that follow a task and read everything. */
async function openWindows(world, task, count) {
  const open = () => new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://${world.server.address}/api/socket`, { headers: { authorization: `Bearer ${world.server.token}` } });
    socket.once('open', () => {
      socket.send(JSON.stringify({ type: 'follow', id: 1, task, after: 0 }));
      resolve(socket);
    });
    socket.once('error', reject);
  });
  return Promise.all(Array.from({ length: count }, open));
}

/** An exported conversation with many messages. */
function conversation() {
  const text = (index) => `Message ${index}: some words with \`code\`, **weight** and a list.\n\n- one\n- two\n`;
  const messages = Array.from({ length: MESSAGES }, (_, index) => ({
    id: `m${index}`, role: index % 2 ? 'assistant' : 'user', content: text(index), timestamp: 1_700_000_000_000 + index * 1000,
  }));
  return { messages };
}

const flood = await startFlood();
const world = await makeWorld({ settings: `\n[providers.flood]\nkind = "openai-chat"\nbase_url = "${flood.url}"\n\n[models."flood"]\ncontext_window = 32000000\n` });
try {
  const { first, all } = bundle();
  row('bundle for the first paint, KB gzip', first.toFixed(1), '250');
  row('everything that can be loaded, KB gzip', all.toFixed(1));

  const paints = [];
  for (let round = 0; round < 5; round++) {
    const page = await world.page();
    await page.getByRole('combobox', { name: 'Message' }).waitFor();
    paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0));
    await page.context().close();
  }
  row('first contentful paint, ms, median of 5', median(paints).toFixed(0));

  // One window, then fifty more, on a task that is at rest.
  const page = await world.page();
  const start = async (model, prompt) => {
    const task = `bench-${Math.random().toString(36).slice(2)}`;
    await command(world, { type: 'start_task', task, workspace: world.work, prompt: [{ type: 'text', text: prompt }], model });
    return task;
  };
  const small = await start('scripted/scripted', 'hello');
  await page.goto(`${world.bridge.url}#/task/${small}`);
  await page.getByText('Done.').waitFor();
  const one = memoryOf(world.server.child.pid);
  const sockets = await openWindows(world, small, WINDOWS);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const many = memoryOf(world.server.child.pid);
  row('server, MB own (PSS), 1 window', `${one.own.toFixed(1)} (${one.pss.toFixed(1)})`);
  row(`server, MB own (PSS), ${WINDOWS + 1} windows`, `${many.own.toFixed(1)} (${many.pss.toFixed(1)})`);
  row('KB for each window', (((many.own - one.own) * 1024) / WINDOWS).toFixed(0));
  for (const socket of sockets) socket.close();

  // From the moment the model sends a piece to the frame that shows it.
  const task = await start('flood/flood', 'flood');
  await page.goto(`${world.bridge.url}#/task/${task}`);
  const streamed = Date.now();
  const latencies = await page.evaluate(async () => {
    const seen = new Set();
    const found = [];
    // Only what has changed is looked at: reading the whole page would be what is measured.
    const look = (changes) => {
      for (const change of changes) {
        for (const node of change.type === 'characterData' ? [change.target] : change.addedNodes) {
          for (const match of (node.textContent ?? '').matchAll(/sent-at-(\d+)-/g)) {
            if (seen.has(match[1])) continue;
            seen.add(match[1]);
            const at = Number(match[1]);
            requestAnimationFrame(() => found.push(Date.now() - at));
          }
        }
      }
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
    const deadline = Date.now() + 240_000;
    while (Date.now() < deadline && !(found.length > 0 && document.querySelector('[data-state="completed"], .state-completed') !== null)) {
      const before = seen.size;
      await new Promise((resolve) => setTimeout(resolve, 3000));
      if (seen.size > 0 && seen.size === before) break;
    }
    observer.disconnect();
    return found;
  });
  row(`event to pixel while 5 MB stream, ms, median (${latencies.length} marks)`, median(latencies)?.toFixed(0) ?? 'none seen');
  row('event to pixel, p99', percentile(latencies, 0.99)?.toFixed(0) ?? 'none seen');
  row('the stream took, s', ((Date.now() - streamed) / 1000).toFixed(0));
  const after = memoryOf(world.server.child.pid);
  row('server, MB own (PSS), after the stream', `${after.own.toFixed(1)} (${after.pss.toFixed(1)})`);

  // Ten thousand messages, scrolled from the end to the beginning and back.
  const exported = await (await fetch(`http://${world.server.address}/api/queries`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'export_task', task: small, format: 'json' }),
  })).json();
  const form = JSON.parse(exported.content);
  const [model] = form.messages;
  form.messages = conversation().messages.map((message) => ({ ...model, ...message, tool_calls: undefined, tool_results: undefined }));
  const imported = await command(world, { type: 'import_task', workspace: world.work, content: JSON.stringify(form) });
  if (imported.result !== 'task') throw new Error(JSON.stringify(imported).slice(0, 500));
  await page.goto(`${world.bridge.url}#/task/${imported.task}`);
  await page.getByText(`Message ${MESSAGES - 1}:`).first().waitFor({ timeout: 60_000 });
  const frames = await page.evaluate(async () => {
    const list = document.querySelector('#transcript');
    const scroller = [list, ...document.querySelectorAll('*')].find((one) => one && one.scrollHeight > one.clientHeight + 100 && /auto|scroll/.test(getComputedStyle(one).overflowY));
    const times = [];
    let last = performance.now();
    for (let step = 0; step < 600; step++) {
      scroller.scrollTop += step < 450 ? -600 : 600;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      times.push(now - last);
      last = now;
    }
    return times;
  });
  row(`frames over 33 ms of ${frames.length} while scrolling ${MESSAGES} messages`, frames.filter((time) => time > 33.4).length);
  row('longest frame, ms', Math.max(...frames).toFixed(0));
} finally {
  await world.stop();
  flood.stop();
}
const width = Math.max(...rows.map(([what]) => what.length));
for (const [what, value, bar] of rows) console.log(`${what.padEnd(width)}  ${String(value).padStart(16)}${bar ? `  (bar ${bar})` : ''}`);
