// Approvals and questions, with keys, words, two windows.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { begin, makeWorld } from './world.mjs';

let world;
before(async () => { world = await makeWorld(); });
after(() => world.stop());
const asks = (page) => page.getByRole('group', { name: 'Request for approval' });
/** Keys pressed for something else just before must not answer; the page waits that long. */
const settle = (page) => page.waitForTimeout(700);

test('no with a reason refuses, and the model reads the reason', async () => {
  const page = await world.page();
  await begin(page, 'edit the invoice');
  await asks(page).waitFor();
  await page.getByPlaceholder(/Words for the model/).fill('not this file');
  await page.getByRole('button', { name: /^No, with this reason/ }).click();
  await page.getByText(/Refused/).first().waitFor();
  assert.match(await readFile(join(world.work, 'invoice.py'), 'utf8'), /# BUG/);
  await page.waitForTimeout(500);
  assert.ok(world.model.requests.some((request) => JSON.stringify(request.messages).includes('not this file')));
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('two windows see one approval; the first answer wins and the other sees by whom', async () => {
  const first = await world.page();
  await begin(first, 'edit the invoice');
  await asks(first).waitFor();
  const second = await world.page();
  await second.goto(first.url());
  await asks(second).waitFor();
  assert.ok((await second.getByText('return net - net * (discount or 0)').count()) > 0);
  await settle(second);
  await second.locator('#transcript').click();
  await second.keyboard.press('y');
  await first.getByText(/Allowed once – Chrome on Linux/).first().waitFor();
  await asks(first).getByText('python3 invoice.py').first().waitFor();
  await first.locator('#transcript').click();
  await settle(first);
  await first.keyboard.press('y');
  await second.getByText('It counts as 0 now').waitFor();
  assert.match(await readFile(join(world.work, 'invoice.py'), 'utf8'), /discount or 0/);
  await first.locator('#tab-changes').click();
  await first.getByText('1 file(s)').waitFor();
  const marks = await first.locator('.panel mark').allTextContents();
  assert.ok(marks.length >= 2, 'words that changed are marked');
  assert.deepEqual([...first.problems, ...second.problems], []);
  await first.context().close();
  await second.context().close();
});

test('one hunk of a file is refused and the other is made', async () => {
  const page = await world.page();
  await begin(page, 'hunks of a file');
  await asks(page).waitFor();
  await page.getByLabel('Hunk 1').uncheck();
  await page.getByRole('button', { name: /^Yes, what is ticked/ }).click();
  await page.getByText('Two places are changed.').waitFor();
  const text = await readFile(join(world.work, 'invoice.py'), 'utf8');
  assert.match(text, /"grace": 0\.2/);
  assert.match(text, /"ada"\)\)/);
  await page.getByText('(1 left out)').waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a key pressed while writing answers nothing', async () => {
  const page = await world.page();
  await begin(page, 'sleep a bit');
  await asks(page).waitFor();
  await page.getByRole('combobox', { name: 'Message' }).click();
  await page.keyboard.type('yes always no');
  await page.waitForTimeout(300);
  assert.equal(await asks(page).count(), 1);
  await page.keyboard.press('Alt+y');
  await page.getByText('line 3').first().waitFor();
  await page.locator('.prose', { hasText: 'Slept.' }).waitFor({ timeout: 15_000 });
  await page.getByRole('combobox', { name: 'Message' }).fill('');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a decision shows options, risks, the time left and the default, and a digit answers it', async () => {
  const page = await world.page();
  await begin(page, 'ask me');
  await page.getByText('Which way?').last().waitFor();
  await page.getByText('recommended').waitFor();
  await page.getByText('other callers stay wrong').waitFor();
  await page.getByText(/\d+ s left/).waitFor();
  await page.getByText('Without an answer: Fix the caller').waitFor();
  await page.locator('#transcript').click();
  await settle(page);
  await page.keyboard.press('2');
  await page.getByText('As you say.').waitFor();
  await page.getByText('Fix the function').first().waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a plan is edited in place and approved', async () => {
  const page = await world.page();
  await begin(page, 'plan it');
  await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
  await page.locator('#panel').getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('textbox', { name: 'Step 2' }).fill('Fix it with care');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('#panel').getByText('Fix it with care').waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
