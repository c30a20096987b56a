// Every page in both themes, both languages and at 360 px: no serious finding of axe, no console error.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { begin, makeWorld } from './world.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let world;
let task;
before(async () => {
  world = await makeWorld({ settings: 'permission_mode = "bypassPermissions"' });
  const page = await world.page();
  await begin(page, 'edit the invoice');
  await page.getByText('It counts as 0 now').waitFor({ timeout: 20_000 });
  task = new URL(page.url()).hash;
  await page.context().close();
});
after(() => world.stop());

async function audit(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const serious = violations.filter((each) => each.impact === 'serious' || each.impact === 'critical');
  assert.deepEqual(serious.map((each) => [each.id, each.nodes.map((node) => node.html.slice(0, 160)).slice(0, 3)]), [], where);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(wide <= 0, `${where}: wider than the window by ${wide} px`);
  assert.deepEqual(page.problems, [], where);
}

const looks = [
  { name: 'light', options: {} }, { name: 'dark, Chinese', options: { scheme: 'dark', language: 'zh' } },
  { name: 'high contrast', options: { storage: { theme: 'contrast' } } }, { name: '360 px', options: { width: 360, height: 740 } },
];
for (const { name, options } of looks) {
  test(`every page is accessible: ${name}`, async () => {
    const page = await world.page(options);
    await page.getByRole('combobox', { name: /Message|消息/ }).waitFor();
    await audit(page, `new, ${name}`);
    for (const hash of [task, '#/history', '#/checkpoints', '#/tools', '#/code', '#/settings', '#/doctor']) {
      await page.evaluate((to) => (location.hash = to), hash);
      await page.waitForTimeout(1200);
      await audit(page, `${hash}, ${name}`);
    }
    await page.context().close();
  });
}

test('every panel of the inspector is accessible', async () => {
  const page = await world.page();
  await page.evaluate((to) => (location.hash = to), task);
  await page.locator('#tab-changes').waitFor();
  for (const tab of ['changes', 'plan', 'debugger', 'trace', 'evidence', 'file', 'terminal', 'usage']) {
    await page.locator(`#tab-${tab}`).click();
    await page.waitForTimeout(300);
    await audit(page, tab);
  }
  await page.context().close();
});

test('panels full of what was seen of a program, and a queue of requests, are accessible', async () => {
  const page = await world.page();
  for (const [words, end] of [['points it', 'The table is made.'], ['differ it', 'They differ.'], ['why does it fail', 'DISCOUNTS has no']]) {
    await begin(page, words);
    await page.getByText(end).last().waitFor({ timeout: 40_000 });
    await page.waitForTimeout(400);
    await audit(page, words);
  }
  await page.locator('#tab-evidence').click();
  await page.locator('.side').first().waitFor();
  await audit(page, 'evidence');
  await page.context().close();
  const other = await makeWorld({ files: { '.stepwell/config.toml': 'permission_mode = "acceptEdits"\n' } });
  const narrow = await other.page({ width: 360, height: 740 });
  await narrow.locator('.trust pre').waitFor();
  await audit(narrow, 'trust');
  await begin(narrow, 'team work');
  await narrow.getByRole('tablist', { name: 'Waiting requests' }).waitFor({ timeout: 20_000 });
  await audit(narrow, 'queue');
  await other.stop();
});

test('the history finds, renames, stars, exports and deletes', async () => {
  const page = await world.page();
  await page.evaluate(() => (location.hash = '#/history'));
  await page.getByPlaceholder('Search in all tasks').fill('invoice');
  const row = page.locator('.tasks li').first();
  await row.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('textbox', { name: 'Rename' }).fill('the invoice story');
  await page.keyboard.press('Enter');
  await page.locator('.tasks').getByText('the invoice story').waitFor();
  await row.getByRole('button', { name: 'Add to favourites' }).click();
  await row.getByRole('button', { name: 'Remove from favourites' }).waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), row.getByRole('button', { name: 'Export' }).click()]);
  assert.match(file.suggestedFilename(), /json/);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a checkpoint shows what a call changed and goes back to before it', async () => {
  const page = await world.page();
  await page.evaluate(() => (location.hash = '#/checkpoints'));
  await page.getByRole('button', { name: 'All since' }).last().click();
  await page.getByText('return net - net * (discount or 0)').first().waitFor();
  await page.getByRole('button', { name: 'Files only' }).click();
  await page.getByText(/Restored 1 file/).waitFor();
  assert.match(readFileSync(`${world.work}/invoice.py`, 'utf8'), /# BUG/);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('the code page finds a definition and draws callers', async () => {
  const page = await world.page();
  await page.evaluate(() => (location.hash = '#/code'));
  await page.getByPlaceholder('Symbol or words').fill('discount_for');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.locator('.hits').getByText('invoice.py:4').first().click({ timeout: 20_000 });
  await page.locator('.line.focus').waitFor();
  await page.getByRole('combobox', { name: 'Question' }).selectOption('call_graph');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.locator('svg g').first().waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a setting is changed in the form and in the file beside it', async () => {
  const page = await world.page();
  await page.evaluate(() => (location.hash = '#/settings'));
  await page.getByPlaceholder('Filter settings').fill('max_turns');
  await page.locator('#set-max_turns').fill('17');
  await page.keyboard.press('Tab');
  await page.getByText('Saved max_turns').waitFor();
  assert.match(readFileSync(`${world.root}/config/config.toml`, 'utf8'), /max_turns = 17/);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('the first visit without a model helps to set one and says what works', async () => {
  const other = await makeWorld({ model: false });
  const page = await other.page();
  await page.getByText('What works without a model').waitFor();
  await audit(page, 'first visit');
  await other.stop();
});
