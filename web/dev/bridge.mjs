// Serves the page for development and speaks with `stepwell serve --stdio`, one process for each socket.
// Usage: node dev/bridge.mjs [--vite] [--port N] [--cwd DIR] [--binary FILE]
// `stepwell serve` replaces it in use: this one checks nobody and listens on loopback only. Tests give it the address and the token
// of a real server instead, so that they see the page of this folder with that server behind it.
import { spawn } from 'node:child_process';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join, normalize } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { WebSocket, WebSocketServer } from 'ws';

const web = join(dirname(fileURLToPath(import.meta.url)), '..');
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
// The same policy as the server's, so that what it forbids is seen here too.
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Starts the bridge; gives its address and a way to end it. */
export async function startBridge({ binary = 'stepwell', cwd = process.cwd(), env = process.env, port = 0, vite = false, server: behind = null }) {
  const dev = vite ? await (await import('vite')).createServer({ root: web, server: { middlewareMode: true }, appType: 'spa' }) : null;
  const children = new Set();
  const server = createServer((request, response) => (dev ? dev.middlewares(request, response) : serveFile(request, response)));
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 64 << 20 });
  server.on('upgrade', (request, socket, head) => {
    if (!request.url?.startsWith('/api/socket')) return;
    sockets.handleUpgrade(request, socket, head, (line) => {
      if (behind) return relay(line, behind);
      const child = spawn(binary, ['serve', '--stdio'], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
      children.add(child);
      createInterface({ input: child.stdout, crlfDelay: Infinity }).on('line', (text) => line.send(text));
      line.on('message', (data) => child.stdin.write(`${data}\n`));
      line.on('close', () => child.stdin.end());
      child.on('exit', () => {
        children.delete(child);
        line.close();
      });
    });
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    /** Cuts every line, as a lost connection does. */
    cut: () => sockets.clients.forEach((line) => line.terminate()),
    async stop() {
      sockets.clients.forEach((line) => line.terminate());
      for (const child of children) child.kill();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await dev?.close();
    },
  };
}

/** Passes messages between a browser and a real server, which is asked anew for each line: it may have another address by then. */
function relay(line, behind) {
  const { address, token } = behind();
  const waiting = [];
  const far = new WebSocket(`ws://${address}/api/socket`, { headers: { authorization: `Bearer ${token}` }, maxPayload: 64 << 20 });
  far.on('open', () => waiting.splice(0).forEach((data) => far.send(data)));
  far.on('message', (data) => line.send(String(data)));
  far.on('close', () => line.close());
  far.on('error', () => line.terminate());
  line.on('message', (data) => (far.readyState === WebSocket.OPEN ? far.send(String(data)) : waiting.push(String(data))));
  line.on('close', () => far.close());
}

function serveFile(request, response) {
  const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname));
  const file = join(web, 'dist', path === '/' ? 'index.html' : path);
  if (!file.startsWith(join(web, 'dist')) || !existsSync(file) || !statSync(file).isFile()) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream', 'content-security-policy': POLICY, 'x-content-type-options': 'nosniff' });
  createReadStream(file).pipe(response);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const option = (name, otherwise) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : otherwise);
  const bridge = await startBridge({ binary: option('--binary', 'stepwell'), cwd: option('--cwd', process.cwd()), port: Number(option('--port', '5173')), vite: process.argv.includes('--vite') });
  console.log(bridge.url);
}
