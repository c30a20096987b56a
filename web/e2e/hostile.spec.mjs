// Text of others, wherever it is shown: nothing of it becomes markup.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { begin, makeWorld } from './world.mjs';

const NAME = '<img src=x onerror=window.pwned=1>';
let world;
before(async () => {
  world = await makeWorld({
    files: {
      [`${NAME}.py`]: `import sys\nname = ${JSON.stringify(NAME)}\nraise ValueError(name)  # ${NAME}\n`,
      '.stepwell/config.toml': `permission_mode = "bypassPermissions"\ninstructions = ${JSON.stringify(NAME)}\n\n[mcp_servers.${JSON.stringify(NAME)}]\ncommand = ${JSON.stringify(NAME)}\n`,
    },
    tables: `[mcp_servers.${JSON.stringify(`mine ${NAME}`)}]\ncommand = "/bin/false"\nargs = [${JSON.stringify(NAME)}]\n`,
  });
});
after(() => world.stop());

/** Whether the text is there to be read, and only that. */
async function isOnlyText(page, where) {
  const found = await page.evaluate(() => ({
    pwned: window.pwned, elements: [...document.querySelectorAll('img[src=x], [onerror], body script')].map((each) => each.outerHTML), text: document.body.innerText.includes('<img src=x onerror=window.pwned=1>'),
  }));
  assert.deepEqual(found, { pwned: undefined, elements: [], text: true }, where);
  assert.deepEqual(page.problems, [], where);
}

test('names of files, settings and servers, titles, errors and values stay text', async () => {
  const page = await world.page({ width: 1400, height: 900 });
  await page.getByText('This folder\'s settings are not trusted').waitFor();
  await page.locator('.trust pre').waitFor();
  await isOnlyText(page, 'trust');
  await page.getByRole('combobox', { name: 'Message' }).fill('@img');
  await page.getByRole('option').filter({ hasText: 'onerror' }).first().waitFor();
  await isOnlyText(page, 'completion');
  await page.getByRole('combobox', { name: 'Message' }).fill('');
  await begin(page, `evil file ${NAME}`);
  const ask = page.getByRole('group', { name: 'Request for approval' });
  for (const step of ['a program', 'an edit']) {
    await ask.waitFor({ timeout: 20_000 });
    await page.waitForTimeout(700);
    await isOnlyText(page, step);
    await page.locator('#tab-trace').click();
    await page.keyboard.press('Alt+y');
    await page.waitForTimeout(1200);
  }
  await page.getByText('Nothing happened.').waitFor({ timeout: 30_000 });
  await page.locator('#panel').getByText('ValueError').first().waitFor();
  for (const tab of ['trace', 'evidence', 'changes']) {
    await page.locator(`#tab-${tab}`).click();
    await page.waitForTimeout(500);
    await isOnlyText(page, tab);
  }
  for (const [place, seen] of [['history', null], ['checkpoints', null], ['tools', `mine ${NAME}`], ['settings', null], ['doctor', null]]) {
    await page.evaluate((to) => (location.hash = `#/${to}`), place);
    if (seen) await page.getByText(seen).first().waitFor();
    await page.waitForTimeout(1200);
    await isOnlyText(page, place);
  }
  await page.keyboard.press('Control+k');
  await page.waitForTimeout(300);
  await isOnlyText(page, 'palette');
  await page.keyboard.press('Escape');
  await page.context().close();
});

test('a folder that does not exist is named in an error, as text', async () => {
  const page = await world.page({ storage: { folder: `/tmp/${NAME}` } });
  await page.getByRole('combobox', { name: 'Message' }).fill('hello');
  await page.keyboard.press('Enter');
  await page.getByRole('status').filter({ hasText: 'onerror' }).first().waitFor();
  await isOnlyText(page, 'error');
  await page.context().close();
});
