// The page as the server itself gives it: signed in by a link, beside readers that take nothing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { begin, makeWorld } from './world.mjs';

let world;
before(async () => { world = await makeWorld(); });
after(() => world.stop());

test('a link signs one browser in, once; a reload stays signed in; another browser is told what to do', async () => {
  const link = world.server.link();
  const context = await world.browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole('combobox', { name: 'Message' }).waitFor();
  assert.equal(await page.getByRole('combobox', { name: 'Folder' }).inputValue(), world.work);
  const [cookie] = await context.cookies();
  assert.ok(cookie.httpOnly && cookie.sameSite === 'Strict', JSON.stringify(cookie));
  assert.equal(await page.evaluate(() => document.cookie), '', 'no script sees the cookie');
  assert.ok(!page.url().includes(link.split('#')[1]), 'the code is not in the address any more');
  await page.reload();
  await page.getByRole('combobox', { name: 'Message' }).waitFor();
  await page.getByRole('combobox', { name: 'Message' }).fill('hello there');
  await page.keyboard.press('Enter');
  await page.getByText('Done.').waitFor();

  const other = await world.browser.newContext();
  const second = await other.newPage();
  await second.goto(link);
  await second.getByRole('status').filter({ hasText: /used|expired|not good|no longer/ }).waitFor();
  await second.getByText('stepwell web').first().waitFor();
  assert.deepEqual(await other.cookies(), []);
  await second.goto(new URL('/', link).href);
  await second.getByRole('heading', { name: 'Sign in to Stepwell' }).waitFor();
  await other.close();
  await context.close();
});

test('readers that take nothing do not slow a window beside them', async () => {
  const streamed = async () => {
    const page = await world.page();
    const from = performance.now();
    await begin(page, 'huge answer');
    const task = decodeURIComponent(new URL(page.url()).hash.split('/').at(-1));
    return { page, task, end: async () => {
      await page.getByText(/No\. 12000:/).waitFor({ state: 'attached', timeout: 60_000 });
      const took = performance.now() - from;
      assert.deepEqual(page.problems, []);
      await page.context().close();
      return took;
    } };
  };
  const alone = await (await streamed()).end();
  const beside = await streamed();
  const { address, token } = world.server;
  const stalled = await Promise.all(Array.from({ length: 4 }, () => new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://${address}/api/socket`, { headers: { authorization: `Bearer ${token}` } });
    socket.on('error', reject);
    socket.on('open', () => socket.send(JSON.stringify({ type: 'follow', id: 1, task: beside.task, after: 0 }), () => {
      socket.pause();
      resolve(socket);
    }));
  })));
  const took = await beside.end();
  for (const socket of stalled) {
    assert.equal(socket.readyState, WebSocket.OPEN);
    socket.on('error', () => {});
    socket.terminate();
  }
  assert.ok(took < alone * 2 + 2000, `alone ${Math.round(alone)} ms, beside stalled readers ${Math.round(took)} ms`);
});
