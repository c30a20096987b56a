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

test('values at lines are a table with numbers drawn; the first difference of two runs is in sight', async () => {
  const page = await world.page();
  await begin(page, 'points of the loop');
  await page.getByText('The table is made.').waitFor({ timeout: 30_000 });
  const table = page.getByRole('region', { name: 'loop.py:5' });
  assert.deepEqual(await table.locator('tbody tr').last().locator('td').allTextContents(), ['6', '5', '30']);
  await table.getByRole('img', { name: '0, 0, 1, 5, 14, 30' }).waitFor();
  await page.getByText('1 hit', { exact: true }).waitFor();
  await begin(page, 'differ in price');
  await page.getByText('They differ.').waitFor({ timeout: 40_000 });
  await page.getByText('First difference: hit 13').waitFor();
  const row = page.locator('tr.difference');
  assert.deepEqual(await row.locator('.differs').allTextContents(), ['rate = 0.5', 'rate = 0.25']);
  const box = await row.boundingBox();
  assert.ok(box && box.y + box.height < 800, 'the difference is seen without scrolling');
  assert.equal(await row.locator('.muted.small').count(), 0, 'one place is not named in every row');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('the evidence of a fix: hypotheses decided by values, the failure before and the success after', async () => {
  const page = await world.page();
  await begin(page, 'prove the fix');
  await page.getByText('the same command runs now').waitFor({ timeout: 40_000 });
  await page.locator('#tab-evidence').click();
  await page.locator('article.confirmed', { hasText: 'discount is None' }).getByText('None', { exact: true }).last().waitFor();
  await page.locator('article.refuted', { hasText: 'the net sum is wrong' }).getByText('25.0').waitFor();
  await page.locator('.side.failed', { hasText: 'Before' }).getByText(/^TypeError: .* at invoice.py:11 in total$/).waitFor();
  await page.locator('.side.passed', { hasText: 'After' }).getByText('25.0').waitFor();
  await page.locator('#panel').getByRole('button', { name: 'invoice.py' }).click();
  await page.getByText('1 file(s)').waitFor();
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
