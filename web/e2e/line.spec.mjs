// Lost lines and crashes: nothing is lost, nothing is doubled.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { LONG } from './model.mjs';
import { begin, makeWorld } from './world.mjs';

let world;
before(async () => { world = await makeWorld(); });
after(() => world.stop());
const paragraphs = (page) => page.locator('.item.answer .prose p').allTextContents();
const expected = LONG.split('\n\n').map((line) => line.replace(/[`*]/g, ''));

test('an answer is whole after the line was lost in the middle of it', async () => {
  const page = await world.page();
  await begin(page, 'slow answer');
  await page.getByText('Paragraph 8 ').waitFor();
  world.bridge.cut();
  await page.getByText('Connection lost').waitFor();
  await page.getByText('Connection lost').waitFor({ state: 'detached' });
  await page.getByText('Paragraph 20 ').waitFor();
  world.bridge.cut();
  await page.getByText('Paragraph 120 ').waitFor({ timeout: 30_000 });
  await page.locator('.item.answer .tools').waitFor({ timeout: 10_000 });
  assert.deepEqual(await paragraphs(page), expected);
  await page.reload();
  await page.getByText('Paragraph 120 ').waitFor();
  assert.deepEqual(await paragraphs(page), expected);
  await page.context().close();
});

test('after a crash of the server the task is there, says so, and goes on', async () => {
  const page = await world.page();
  await begin(page, 'slow answer');
  await page.getByText('Paragraph 8 ').waitFor();
  await world.crash();
  await page.getByRole('button', { name: 'Continue the task' }).first().waitFor({ timeout: 20_000 });
  assert.ok((await paragraphs(page)).length >= 1, 'what was received stands');
  await page.getByRole('button', { name: 'Continue the task' }).first().click();
  await page.getByText('Paragraph 120 ').first().waitFor({ timeout: 40_000 });
  await page.context().close();
});
