// The conversation: streaming, drafts, reload, edit, fork, queue, interrupt, completion, palette.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { begin, makeWorld } from './world.mjs';

let world;
before(async () => { world = await makeWorld(); });
after(() => world.stop());

async function opened(options) {
  const page = await world.page(options);
  await page.getByRole('combobox', { name: 'Message' }).waitFor();
  return page;
}
async function done(page) {
  assert.deepEqual(page.problems, []);
  await page.context().close();
}

test('an answer streams as Markdown with highlighted code, and its reasoning is folded', async () => {
  const page = await opened();
  await begin(page, 'hello there');
  await page.getByText('Done.').waitFor();
  assert.equal(await page.locator('.prose strong').first().textContent(), 'Markdown');
  assert.ok((await page.locator('.prose .hljs-keyword').count()) >= 2);
  assert.equal(await page.locator('.prose table td').count(), 2);
  const reasoning = page.locator('details', { hasText: 'Reasoning' });
  assert.equal(await reasoning.getAttribute('open'), null);
  await done(page);
});

test('a draft survives a reload, and so does the place in the conversation', async () => {
  const page = await opened({ height: 600 });
  await begin(page, 'long answer');
  await page.getByText('Paragraph 120').waitFor({ timeout: 30_000 });
  await page.getByRole('combobox', { name: 'Message' }).fill('a draft');
  await page.locator('#transcript').hover();
  await page.mouse.wheel(0, -2000);
  await page.waitForTimeout(600);
  const before = await page.locator('#transcript').evaluate((box) => box.scrollTop);
  await page.reload();
  await page.getByText('Paragraph 120').waitFor({ state: 'attached' });
  await page.waitForTimeout(600);
  const now = await page.locator('#transcript').evaluate((box) => box.scrollTop);
  assert.ok(Math.abs(now - before) < 40, `was at ${before}, is at ${now}`);
  assert.equal(await page.getByRole('combobox', { name: 'Message' }).inputValue(), 'a draft');
  await done(page);
});

test('scrolling up while an answer streams is not fought', async () => {
  const page = await opened({ height: 600 });
  await begin(page, 'long answer again');
  await page.getByText('Paragraph 30').waitFor({ timeout: 30_000 });
  await page.locator('#transcript').hover();
  await page.mouse.wheel(0, -600);
  await page.waitForTimeout(200);
  const top = await page.locator('#transcript').evaluate((box) => box.scrollTop);
  await page.waitForTimeout(800);
  assert.equal(await page.locator('#transcript').evaluate((box) => box.scrollTop), top);
  await page.getByRole('button', { name: /New below|To the end/ }).click();
  await page.getByText('Paragraph 120').waitFor({ timeout: 30_000 });
  const distance = await page.locator('#transcript').evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
  assert.ok(distance < 60);
  await done(page);
});

test('a message is queued while the task works, and the run can be interrupted', async () => {
  const page = await opened();
  await begin(page, 'slow answer');
  await page.getByText('Paragraph 3').first().waitFor();
  await page.getByRole('combobox', { name: 'Message' }).fill('hello afterwards');
  await page.keyboard.press('Enter');
  await page.getByText('Waits for the next turn').waitFor();
  await page.getByRole('button', { name: 'Interrupt' }).click();
  await page.getByText('You interrupted the run.').or(page.getByText('Done.')).first().waitFor();
  await done(page);
});

test('a message is edited and sent again, and a task is forked', async () => {
  const page = await opened();
  await begin(page, 'todo list');
  await page.getByText('The list is made.').waitFor();
  await page.locator('.item.user').hover();
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  await page.getByRole('textbox', { name: 'Edit' }).fill('hello instead');
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('Done.').waitFor();
  assert.equal(await page.locator('.item.user').count(), 1);
  const address = page.url();
  await page.locator('.item.user').hover();
  await page.getByRole('button', { name: 'Fork', exact: true }).click();
  await page.waitForFunction((known) => location.href !== known, address);
  await page.locator('#transcript').waitFor();
  await done(page);
});

test('going back to before a message takes back what the agent did to files', async () => {
  const page = await opened();
  await begin(page, 'edit the invoice');
  for (let asked = 0; asked < 2; asked++) {
    const yes = page.getByRole('button', { name: /^Yes, once/ });
    await yes.waitFor();
    await yes.click();
    await page.waitForTimeout(800);
  }
  await page.getByText('It counts as 0 now').waitFor();
  assert.match(await readFile(join(world.work, 'invoice.py'), 'utf8'), /discount or 0/);
  await page.locator('.item.user').hover();
  await page.getByRole('button', { name: 'Go back' }).click();
  await page.getByRole('button', { name: 'Conversation and files' }).click();
  await page.getByText(/Restored 1 file/).waitFor();
  assert.match(await readFile(join(world.work, 'invoice.py'), 'utf8'), /# BUG/);
  assert.equal(await page.getByText('It counts as 0 now').count(), 0);
  await done(page);
});

test('@ completes files and / completes commands, with the keyboard alone', async () => {
  const page = await opened();
  const field = page.getByRole('combobox', { name: 'Message' });
  await field.click();
  await page.keyboard.type('look at @inv');
  await page.getByRole('option', { name: /invoice\.py/ }).first().waitFor();
  await page.keyboard.press('Enter');
  assert.match(await field.inputValue(), /look at @invoice\.py /);
  await field.fill('');
  await page.keyboard.type('/');
  await page.getByRole('listbox').waitFor();
  await page.keyboard.press('Escape');
  await field.fill('');
  await done(page);
});

test('an image is taken by paste', async () => {
  const page = await opened();
  await page.evaluate(async () => {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 8;
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
    const data = new DataTransfer();
    data.items.add(new File([blob], 'x.png', { type: 'image/png' }));
    document.querySelector('#composer').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await page.getByAltText('Image 1 of the message').waitFor();
  await done(page);
});

test('the palette reaches every page, and ? shows every key', async () => {
  const page = await opened();
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder(/Type a command/).fill('doctor');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Doctor', level: 1 }).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('h');
  await page.getByRole('heading', { name: 'History', level: 1 }).waitFor();
  await done(page);
});

test('text of models and tools never becomes markup', async () => {
  const page = await opened();
  await begin(page, 'hostile words <img src=x onerror="window.pwned=1">');
  for (let asked = 0; asked < 2; asked++) {
    const yes = page.getByRole('button', { name: /^Yes, once/ });
    if (await yes.waitFor({ timeout: 6000 }).then(() => true, () => false)) await yes.click();
  }
  await page.waitForTimeout(1500);
  for (const head of await page.locator('.card .head').all()) await head.click();
  for (const details of await page.locator('#transcript details').all()) await details.evaluate((element) => (element.open = true));
  await page.waitForTimeout(500);
  const found = await page.evaluate(() => ({
    pwned: window.pwned ?? null,
    images: document.querySelectorAll('#transcript img, #transcript script, #transcript iframe').length,
    links: [...document.querySelectorAll('#transcript a')].map((link) => link.getAttribute('href')).filter((href) => !/^(https?:|#)/.test(href)),
  }));
  assert.deepEqual(found, { pwned: null, images: 0, links: [] });
  await done(page);
});
