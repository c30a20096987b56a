// A folder whose settings want more than a folder may.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { HOSTILE } from './model.mjs';
import { makeWorld } from './world.mjs';

let world;
before(async () => {
  world = await makeWorld({ files: { '.stepwell/config.toml': `permission_mode = "acceptEdits"\n\n[mcp_servers.helper]\ncommand = "helper"\nargs = [${JSON.stringify(HOSTILE)}]\n` } });
});
after(() => world.stop());

test('what settings of a folder want is shown, and holds after it is trusted', async () => {
  const page = await world.page();
  const prompt = page.locator('section', { hasText: 'This folder\'s settings are not trusted' });
  await prompt.getByRole('listitem').filter({ hasText: 'permission_mode = "acceptEdits"' }).waitFor();
  await prompt.getByText(/command = "helper"/).waitFor();
  const mode = page.getByRole('combobox', { name: /Permissions/ });
  assert.equal(await mode.inputValue(), 'default');
  await page.getByRole('button', { name: 'Trust these settings' }).click();
  await prompt.waitFor({ state: 'detached' });
  await page.waitForFunction(() => [...document.querySelectorAll('select')].some((each) => each.value === 'acceptEdits'));
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
