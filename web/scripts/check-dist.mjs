// Tells whether `dist` was built from the sources that are here. `npm run build` writes the hash with `--write`; without it, this
// exits with 1 where the hash of the sources is another one.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const web = join(dirname(fileURLToPath(import.meta.url)), '..');
const roots = ['src', 'public', 'index.html', 'package.json', 'package-lock.json', 'vite.config.ts', 'svelte.config.js', 'tsconfig.json'];

function filesBelow(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
}

const isTest = (path) => /\.test\.ts$/.test(path);
const files = roots.flatMap((root) => filesBelow(join(web, root))).filter((path) => !isTest(path));
const names = files.map((path) => relative(web, path).split(sep).join('/')).sort();
const hash = createHash('sha256');
for (const name of names) {
  // Line ends do not count: git may have changed them on the way.
  const text = readFileSync(join(web, name), 'utf8').replaceAll('\r\n', '\n');
  hash.update(`${name}\0${text.length}\0${text}`);
}
const line = `sha256 ${hash.digest('hex')}\n`;
const target = join(web, 'dist', 'sources.txt');

if (process.argv.includes('--write')) {
  writeFileSync(target, line);
} else {
  let built = '';
  try {
    built = readFileSync(target, 'utf8');
  } catch {
    // Absent is stale.
  }
  if (built !== line) {
    console.error('error: web/dist was not built from these sources\n\nhint: run `npm ci && npm run build` in web/');
    process.exit(1);
  }
}
