// A model that follows a script: an OpenAI-compatible server on loopback that streams chat completions.
// The first word of the person's message names the script; each answer of the script is one turn.
import { createServer } from 'node:http';

const text = (content, options = {}) => ({ content, ...options });
const call = (name, values, content = '') => ({ content, calls: [{ name, values }] });

export const LONG = Array.from({ length: 120 }, (_, index) => `Paragraph ${index + 1} of a long answer with \`code\` and **weight**.`).join('\n\n');
export const HUGE = Array.from({ length: 12_000 }, (_, index) => `${index + 1}. Paragraph of a huge answer with \`code\` and **weight**, long enough that five megabytes come together in the end: ${'lorem ipsum dolor sit amet '.repeat(12)}`).join('\n\n').replace(/^(\d+)\./gm, 'No. $1:');
export const HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script> [x](javascript:window.pwned=1) ![y](https://evil.example/z.png)';

/** Scripts by name: one entry for each turn. */
export const SCRIPTS = {
  hello: [text('Hello. Here is **Markdown**:\n\n- one\n- two\n\n```python\ndef total(lines):\n    return sum(price * count for price, count in lines)\n```\n\n| name | value |\n|---|---|\n| a | 1 |\n\nDone.', { reasoning: 'The person greets. I answer with a bit of everything.' })],
  edit: [
    call('read', { file_path: 'invoice.py' }, 'I look at the file first.'),
    call('edit', { file_path: 'invoice.py', old_str: '    return net - net * discount  # BUG', new_str: '    return net - net * (discount or 0)' }),
    call('bash', { command: 'python3 invoice.py; echo to stderr >&2; exit 3' }),
    text('The discount of an unknown customer was `None`. It counts as 0 now.'),
  ],
  hunks: [call('batch_edit', { edits: [{ file_path: 'invoice.py', old_str: '"grace": 0.2', new_str: '"grace": 0.3' }, { file_path: 'invoice.py', old_str: '"alan"', new_str: '"ada"' }] }), text('Two places are changed.')],
  ask: [
    call('request_decision', { question: 'Which way?', decision_type: 'method', options: [{ id: 'a', label: 'Fix the caller', description: 'Small and local', recommended: true, risks: ['other callers stay wrong'] }, { id: 'b', label: 'Fix the function', description: 'All callers gain' }], default_option: 'a', timeout: 120 }),
    text('As you say.'),
  ],
  todo: [call('todowrite', { todos: [{ id: '1', content: 'Find the cause', status: 'completed', priority: 'high' }, { id: '2', content: 'Fix it', status: 'in_progress', priority: 'high' }, { id: '3', content: 'Run the tests', status: 'pending', priority: 'medium' }] }), text('The list is made.')],
  why: [call('debug_failure', { command: 'python3 invoice.py' }), call('hypothesis', { claim: 'discount is None for alan', probe: 'print discount in total', predicted: 'None' }), text('`discount` is `None`, because `DISCOUNTS` has no *alan*.')],
  trace: [call('debug_trace', { command: 'python3 loop.py', function: 'run', file_path: 'loop.py' }), text('Traced.')],
  compare: [call('debug_compare', { points: [{ file_path: 'loop.py', line_number: 4, expressions: ['total', 'i'] }], first: { command: 'python3 loop.py 4' }, second: { command: 'python3 loop.py 5' } }), text('Compared.')],
  debug: [call('set_breakpoint', { file_path: 'loop.py', line_number: 4 }), call('start_debugging', { command: 'python3 loop.py' }), text('The program is stopped at line 4. `total` is 0.')],
  points: [call('debug_tracepoints', { command: 'python3 loop.py 6', points: [{ file_path: 'loop.py', line_number: 5, expressions: ['i', 'total'] }, { file_path: 'loop.py', line_number: 6, expressions: ['total', '"odd" if total % 2 else "even"'] }] }), text('The table is made.')],
  differ: [call('debug_compare', { points: [{ file_path: 'price.py', line_number: 5, expressions: ['count', 'rate', 'total'] }], first: { command: 'python3 price.py ada' }, second: { command: 'python3 price.py alan' } }), text('They differ.')],
  prove: [
    call('debug_failure', { command: 'python3 invoice.py' }, 'I look why it fails.'),
    call('hypothesis', { claim: '`discount` is None for a customer that is not in DISCOUNTS', probe: 'debug_failure: discount in total', predicted: 'None' }),
    call('hypothesis', { claim: 'the net sum is wrong', probe: 'debug_failure: net in total', predicted: '0.0' }),
    call('hypothesis', { id: 1, observed: 'None' }),
    call('hypothesis', { id: 2, observed: '25.0' }),
    call('edit', { file_path: 'invoice.py', old_str: '    return net - net * discount  # BUG', new_str: '    return net - net * (discount or 0)' }),
    call('debug_failure', { command: 'python3 invoice.py' }),
    text('Fixed and **proved**: the same command runs now.'),
  ],
  fix: [
    call('debug_failure', { command: 'python3 invoice.py' }, 'I run the program under the debugger first, to see the values it fails with.'),
    call('edit', { file_path: 'invoice.py', old_str: '    return net - net * discount  # BUG', new_str: '    return net - net * (discount or 0)' }, '`discount` is `None` for *alan*, because `DISCOUNTS` has no such customer. An unknown customer gets no discount:'),
    text('Done.'),
  ],
  team: [
    { content: 'Three of them work side by side.', calls: [
      { name: 'task', values: { agent: 'coder', description: 'Fix the invoice', prompt: 'subedit the invoice' } },
      { name: 'task', values: { agent: 'coder', description: 'Run the loop', prompt: 'subrun the loop' } },
      { name: 'task', values: { agent: 'explorer', description: 'Find every caller of total', prompt: 'subread the callers' } },
    ] },
    text('The team is done.'),
  ],
  subedit: [call('edit', { file_path: 'invoice.py', old_str: '    return net - net * discount  # BUG', new_str: '    return net - net * (discount or 0)' }), text('Edited.')],
  subrun: [call('bash', { command: 'python3 loop.py 7 > seen.txt && cat seen.txt' }), text('It prints 91.')],
  subread: [call('read', { file_path: 'loop.py' }), text('Nobody calls it twice.')],
  graph: [call('call_graph', { symbol: 'total', direction: 'callers' }), text('Drawn.')],
  plan: [call('plan_enter', { title: 'Fix the invoice' }), call('plan_update', { content: '# Fix the invoice\n\n## Steps\n\n1. Find the cause\n   - Expected: a line\n2. Fix it\n   - Expected: the program runs\n' }), call('plan_exit', { summary: 'ready' }), text('Planned.')],
  long: [text(LONG, { slow: 6 })],
  huge: [text(HUGE, { piece: 4096 })],
  slow: [text(LONG, { slow: 25 })],
  hostile: [call('bash', { command: `printf '%s' '${HOSTILE.replaceAll("'", '')}'` }, HOSTILE), text(HOSTILE, { reasoning: HOSTILE })],
  evil: [
    call('debug_failure', { command: 'python3 "<img src=x onerror=window.pwned=1>.py"' }),
    call('hypothesis', { claim: '<img src=x onerror=window.pwned=1>', probe: '<img src=x onerror=window.pwned=1>', predicted: '1' }),
    call('edit', { file_path: '<img src=x onerror=window.pwned=1>.py', old_str: 'import sys', new_str: 'import os' }),
    text('Nothing happened.'),
  ],
  sleep: [call('bash', { command: 'for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.4; done; touch slept.txt' }), text('Slept.')],
};

/** Starts the model; gives its address, the requests it got, and a way to end it. */
export async function startModel() {
  const requests = [];
  const server = createServer((request, response) => {
    if (!request.url?.endsWith('/chat/completions')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ object: 'list', data: [{ id: 'scripted', object: 'model' }] }));
      return;
    }
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      const asked = JSON.parse(body);
      requests.push(asked);
      void answer(asked, response);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, requests, stop: () => { server.closeAllConnections(); server.close(); } };
}

function turnOf(messages) {
  const last = messages.findLastIndex((message) => message.role === 'user' && !said(message).startsWith('<environment_details>'));
  const name = /[a-z]+/.exec(said(messages[last] ?? {}).toLowerCase())?.[0] ?? '';
  const turn = messages.slice(last + 1).filter((message) => message.role === 'assistant').length;
  const script = SCRIPTS[name] ?? SCRIPTS.hello;
  return script[Math.min(turn, script.length - 1)];
}

function said(message) {
  return typeof message.content === 'string' ? message.content : (message.content ?? []).map((part) => part.text ?? '').join('');
}

async function answer(asked, response) {
  const turn = turnOf(asked.messages);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta, finish = null) => response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  if (turn.reasoning) for (const piece of pieces(turn.reasoning)) send({ reasoning_content: piece });
  for (const piece of pieces(turn.content ?? '', turn.piece)) {
    send({ content: piece });
    if (turn.slow) await pause(turn.slow);
    if (response.destroyed) return;
  }
  for (const [index, each] of (turn.calls ?? []).entries()) {
    send({ tool_calls: [{ index, id: `call_${Date.now().toString(36)}${index}`, type: 'function', function: { name: each.name, arguments: '' } }] });
    for (const piece of pieces(JSON.stringify(each.values))) send({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  send({}, turn.calls ? 'tool_calls' : 'stop');
  response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [], usage: { prompt_tokens: 1200 + asked.messages.length * 80, completion_tokens: 60 } })}\n\n`);
  response.end('data: [DONE]\n\n');
}

function pieces(content, size = 24) {
  return content.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
}
