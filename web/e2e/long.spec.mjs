// Ten thousand messages: the document stays small, scrolling stays smooth.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeWorld } from './world.mjs';

const MESSAGES = 10_000;
let world;
before(async () => { world = await makeWorld(); });
after(() => world.stop());

function exported() {
  const messages = Array.from({ length: MESSAGES }, (_, index) => ({
    id: `msg_${String(index).padStart(8, '0')}`, role: index % 2 === 0 ? 'user' : 'assistant', timestamp: 1_700_000_000_000 + index,
    content: index % 2 === 0 ? `Question ${index}` : `Answer ${index} with **weight**.\n\n- one\n- two\n\n\`\`\`python\ndef f_${index}(x):\n    return x * ${index}\n\`\`\`\n`,
  }));
  return { version: 2, id: 'long', title: 'A long task', messages, metadata: { model: 'scripted/scripted', totalTokens: 1, toolsUsed: [] }, createdAt: 1, updatedAt: 2, extra: { mode: 'code', workspace: world.work, favourite: false } };
}

test('ten thousand messages are scrolled through without a full document or long frames', async (context) => {
  const file = join(world.root, 'long.json');
  await writeFile(file, JSON.stringify(exported()));
  const page = await world.page();
  await page.evaluate(() => (location.hash = '#/history'));
  await page.getByText('No task fits.').waitFor();
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByText(`Answer ${MESSAGES - 1} with`).waitFor({ timeout: 60_000 });
  const loaded = await page.evaluate(async () => {
    const box = document.querySelector('#transcript');
    for (let pages = 0; pages < 200; pages++) {
      box.scrollTop = 0;
      await new Promise((resolve) => setTimeout(resolve, 150));
      if (!box.querySelector('.edge') && box.scrollTop < 5) break;
    }
    return { nodes: document.querySelectorAll('#transcript *').length, height: box.scrollHeight };
  });
  await page.getByText('Question 0', { exact: true }).waitFor();
  const frames = await page.evaluate(async () => {
    const box = document.querySelector('#transcript');
    const times = [];
    let last = performance.now();
    for (let frame = 0; frame < 300; frame++) {
      box.scrollTop += 400;
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const now = performance.now();
      times.push(now - last);
      last = now;
    }
    times.sort((a, b) => a - b);
    return { median: times[150], p95: times[285], most: times.at(-1), nodes: document.querySelectorAll('#transcript *').length };
  });
  context.diagnostic(JSON.stringify({ loaded, frames }));
  assert.ok(frames.nodes < 12_000, `the document has ${frames.nodes} elements`);
  assert.ok(frames.median < 40, `a frame takes ${frames.median} ms`);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
