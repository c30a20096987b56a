// Sub-agents that ask at the same time, and the tree they make.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { begin, makeWorld } from './world.mjs';

let world;
before(async () => { world = await makeWorld(); });
after(() => world.stop());

test('two sub-agents ask at once: each is named, keys choose and answer, the tree shows state and cost', async () => {
  const page = await world.page({ width: 1400, height: 900 });
  await begin(page, 'team work on the invoice');
  const queue = page.getByRole('tablist', { name: 'Waiting requests' });
  const tab = (words) => queue.getByRole('tab').filter({ hasText: words });
  await tab('Edit invoice.py').waitFor({ timeout: 20_000 });
  await tab('Run python3 loop.py').waitFor({ timeout: 20_000 });
  assert.match(await tab('Edit invoice.py').textContent(), /#\d coder/);
  assert.equal(await queue.locator('[aria-selected=true]').count(), 1);
  await page.locator('#tab-plan').click();
  const row = (words) => page.locator('#panel li').filter({ hasText: words });
  await row('Fix the invoice').getByText('waiting for you').last().waitFor();
  await row('Find every caller of total').getByText('explorer').waitFor();
  await row('Find every caller of total').getByText('completed').last().waitFor();
  await page.getByText('All together').waitFor();
  if ((await tab('Edit invoice.py').getAttribute('aria-selected')) !== 'true') await page.keyboard.press('.');
  await page.getByText(/Sub-task #\d, coder/).waitFor();
  await page.getByText('return net - net * (discount or 0)').waitFor();
  await page.keyboard.press(',');
  await page.locator('.command', { hasText: 'python3 loop.py 7' }).waitFor();
  await page.waitForTimeout(700);
  await page.keyboard.press('n');
  await page.getByText('return net - net * (discount or 0)').waitFor();
  assert.equal(await queue.count(), 0, 'one alone needs no queue');
  await page.waitForTimeout(700);
  await page.keyboard.press('y');
  await page.getByText('The team is done.').waitFor({ timeout: 20_000 });
  assert.match(await readFile(join(world.work, 'invoice.py'), 'utf8'), /discount or 0/);
  await assert.rejects(readFile(join(world.work, 'seen.txt')));
  await page.locator('#panel li').getByText('completed').nth(5).waitFor();
  assert.equal(await page.locator('#panel li').getByText('coder', { exact: true }).count(), 2, 'the sub-agent keeps its name when it is done');
  await row('Fix the invoice').getByRole('button').click();
  await page.getByText('Edited.').waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
