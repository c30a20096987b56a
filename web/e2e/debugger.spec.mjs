// The program under the debugger, as a person sees and drives it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { begin, makeWorld } from './world.mjs';

let world;
before(async () => { world = await makeWorld({ settings: 'permission_mode = "bypassPermissions"' }); });
after(() => world.stop());

test('a stop shows source, variables and stack; stepping marks what changed; a click sets a breakpoint', async () => {
  const page = await world.page();
  await begin(page, 'debug the loop');
  await page.locator('.line.current', { hasText: 'for i in range' }).waitFor({ timeout: 30_000 });
  await page.getByRole('treeitem').filter({ hasText: 'total' }).first().waitFor();
  const step = page.getByRole('button', { name: 'Step over' });
  for (let steps = 0; steps < 8 && (await page.locator('.row-line.changed').count()) === 0; steps++) {
    await step.click();
    await page.waitForTimeout(700);
  }
  assert.ok((await page.locator('.row-line.changed').count()) > 0, 'a changed variable is marked');
  await page.getByPlaceholder('Expression').fill('total * 100');
  await page.getByRole('button', { name: 'Evaluate' }).click();
  await page.getByText('› total * 100').waitFor();
  await page.getByRole('button', { name: 'Set a breakpoint at line 6' }).click({ force: true });
  await page.getByRole('button', { name: 'Remove the breakpoint at line 6' }).first().waitFor();
  await page.getByRole('button', { name: 'Stop the program' }).click();
  await page.getByText('No program is being debugged').waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('why a program fails is drawn with its values and the lines that set them', async () => {
  const page = await world.page();
  await begin(page, 'why does it fail');
  await page.getByText('because DISCOUNTS has no alan').waitFor({ timeout: 30_000 });
  await page.locator('#tab-evidence').click();
  await page.getByText('discount is None for alan').last().waitFor();
  await page.locator('#tab-trace').click();
  await page.getByText('Values on the failing line').waitFor();
  await page.locator('.value', { hasText: 'discount' }).getByRole('button', { name: 'invoice.py:10' }).click();
  await page.locator('.line.focus', { hasText: 'discount = discount_for' }).waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a trace is drawn over time, a comparison shows the first difference', async () => {
  const page = await world.page();
  await begin(page, 'trace it');
  await page.getByText('Traced.').waitFor({ timeout: 30_000 });
  await page.getByRole('img', { name: '0, 1, 5, 14, 30' }).first().waitFor();
  await begin(page, 'compare it');
  await page.getByText('Compared.').waitFor({ timeout: 40_000 });
  await page.getByText(/First difference: hit 6/).waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a terminal opens after a click and runs what is typed', async () => {
  const page = await world.page();
  await begin(page, 'hello');
  await page.getByText('Done.').waitFor();
  await page.locator('#tab-terminal').click();
  await page.getByRole('button', { name: 'Open a terminal' }).click();
  await page.locator('.xterm-rows').waitFor();
  await page.waitForTimeout(800);
  await page.keyboard.type('echo stepwell-$((40+2))\n');
  await page.locator('.xterm-rows', { hasText: 'stepwell-42' }).waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
