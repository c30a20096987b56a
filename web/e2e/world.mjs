// A world for one test file: a folder, settings of its own, the scripted model, the engine, a browser.
import { spawn } from 'node:child_process';
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { startBridge } from '../dev/bridge.mjs';
import { startModel } from './model.mjs';

const BINARY = process.env.STEPWELL_BINARY ?? 'stepwell';
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

const INVOICE = `DISCOUNTS = {"ada": 0.1, "grace": 0.2}


def discount_for(customer):
    return DISCOUNTS.get(customer)


def total(lines, customer):
    net = sum(price * count for price, count in lines)
    discount = discount_for(customer)
    return net - net * discount  # BUG


print(total([(10.0, 2), (5.0, 1)], "alan"))
`;
const LOOP = `import sys
def run(n):
    total = 0
    for i in range(n):
        total += i * i
    return total

print(run(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
`;
const PRICE = `import sys
rate, total = 0.5, 0.0
for count in range(1, 21):
    rate = 0.25 if sys.argv[1] == "alan" and count > 12 else rate
    total += count * rate
print(total)
`;

/** Makes the world. `settings` is added to the settings file, `tables` behind its end; `files` are those of the folder; without `model` no
 * provider can be used. */
export async function makeWorld({ settings = '', tables = '', files = {}, model: withModel = true } = {}) {
  const root = await mkdtemp(join(tmpdir(), 'stepwell-page-'));
  const work = join(root, 'shop');
  const config = join(root, 'config');
  await Promise.all([work, config, join(root, 'data')].map((path) => mkdir(path, { recursive: true })));
  await writeFile(join(work, 'invoice.py'), INVOICE);
  await writeFile(join(work, 'loop.py'), LOOP);
  await writeFile(join(work, 'price.py'), PRICE);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(work, path)), { recursive: true });
    await writeFile(join(work, path), text);
  }
  const model = await startModel();
  const provider = withModel ? `model = "scripted/scripted"\n${settings}\n[providers.scripted]\nkind = "openai-chat"\nbase_url = "${model.url}"\napi_key_env = "SCRIPTED_KEY"\n\n[models."scripted"]\ncontext_window = 32000\nprice = { input = 1.0, output = 2.0 }\n` : settings;
  await writeFile(join(config, 'config.toml'), `${provider}\n${tables}`);
  const kept = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_API_KEY$|^STEPWELL_/.test(name)));
  const env = { ...kept, STEPWELL_HOME: join(root, 'data'), STEPWELL_CONFIG: config, SCRIPTED_KEY: withModel ? 'x' : '', LANG: 'C.UTF-8' };
  if (process.env.STEPWELL_ADAPTERS) env.STEPWELL_ADAPTERS = process.env.STEPWELL_ADAPTERS;
  let server = await startServer(work, env, join(root, 'data')).catch((error) => {
    model.stop();
    throw error;
  });
  const bridge = await startBridge({ server: () => server });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  return {
    root, work, env, model, bridge, browser,
    get server() { return server; },
    /** Ends the server as a crash does, and starts another one. */
    async crash() {
      server.child.kill('SIGKILL');
      await new Promise((resolve) => server.child.once('exit', resolve));
      bridge.cut();
      server = await startServer(work, env, join(root, 'data'));
    },
    async page(options = {}) {
      const { width = 1280, height = 800, scheme = 'light', language = 'en', storage = {} } = options;
      const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, locale: language === 'zh' ? 'zh-CN' : 'en-US' });
      await context.addInitScript(([folder, more]) => {
        if (localStorage.getItem('stepwell.folder') === null) localStorage.setItem('stepwell.folder', folder);
        for (const [key, value] of Object.entries(more)) localStorage.setItem(`stepwell.${key}`, value);
      }, [work, storage]);
      const page = await context.newPage();
      page.problems = [];
      page.on('console', (message) => { if (message.type() === 'error') page.problems.push(message.text()); });
      page.on('pageerror', (error) => page.problems.push(String(error.stack ?? error)));
      await page.goto(bridge.url);
      return page;
    },
    async stop() {
      await browser.close();
      await bridge.stop();
      server.child.kill();
      await new Promise((resolve) => (server.child.exitCode === null ? server.child.once('exit', resolve) : resolve()));
      model.stop();
      await rm(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Starts `stepwell serve`; gives its address and token. */
async function startServer(cwd, env, data) {
  const child = spawn(BINARY, ['serve', '--port', '0'], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => (said += chunk));
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', (line) => resolve(line.trim().replace('http://', '').replace(/\/$/, '')));
    child.once('exit', () => reject(new Error(`the server did not start: ${said}`)));
  });
  /** The link that signs a browser in; it is told on standard error. */
  const link = () => /http\S+\/login#\S+/.exec(said)?.[0] ?? null;
  return { child, address, link, token: (await readFile(join(data, 'serve', 'token'), 'utf8')).trim() };
}

/** Starts a task by typing. */
export async function begin(page, words) {
  await page.getByRole('combobox', { name: /^(Message|消息)$/ }).fill(words);
  await page.keyboard.press('Enter');
  await page.locator('#transcript').waitFor();
}
