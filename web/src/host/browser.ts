/// The page in a browser: a WebSocket to the server that gave the page.
import type { Host, Link, LinkEnd, LinkEvents } from './host';

const SOCKET_PATH = 'api/socket';
const SESSION_PATH = 'api/session';
const PREFIX = 'stepwell.';
/** How long the server may take to say whether we may use it. */
const PROBE_WITHIN = 4000;

export function browserHost(): Host {
  return {
    name: browserName(navigator.userAgent),
    open: openSocket,
    firstFolder,
    load(key) {
      try {
        return localStorage.getItem(PREFIX + key);
      } catch {
        return null;
      }
    },
    store(key, value) {
      try {
        if (value === null) localStorage.removeItem(PREFIX + key);
        else localStorage.setItem(PREFIX + key, value);
      } catch {
        // Private windows and full stores keep nothing; the page works without.
      }
    },
    copy: (text) => navigator.clipboard.writeText(text),
    save(fileName, mediaType, content) {
      const url = URL.createObjectURL(new Blob([content], { type: mediaType }));
      const link = document.createElement('a');
      link.href = url;
      link.download = fileName;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    },
  };
}

function openSocket(events: LinkEvents): Link {
  const address = new URL(SOCKET_PATH, document.baseURI);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = new WebSocket(address);
  let opened = false;
  socket.onopen = () => {
    opened = true;
    events.opened();
  };
  socket.onmessage = (message) => {
    if (typeof message.data === 'string') events.received(message.data);
  };
  socket.onclose = () => {
    // A refused handshake looks like a lost line to a page; the server's answer to a plain request tells them apart.
    if (opened) events.closed('lost');
    else void whyRefused().then(events.closed);
  };
  return {
    send: (text) => socket.send(text),
    close: () => socket.close(1000),
  };
}

/** The folder in which the server was started. */
async function firstFolder(): Promise<string | null> {
  try {
    const answer = await fetch(new URL(SESSION_PATH, document.baseURI), { signal: AbortSignal.timeout(PROBE_WITHIN) });
    const session = answer.ok ? ((await answer.json()) as { workspace?: string | null }) : {};
    return session.workspace ?? null;
  } catch {
    return null;
  }
}

async function whyRefused(): Promise<LinkEnd> {
  try {
    const answer = await fetch(new URL(SOCKET_PATH, document.baseURI), { signal: AbortSignal.timeout(PROBE_WITHIN), cache: 'no-store' });
    return answer.status === 401 || answer.status === 403 ? 'forbidden' : 'lost';
  } catch {
    return 'lost';
  }
}

/** `Firefox on Linux`: what a person calls this window. */
export function browserName(agent: string): string {
  const browser = [['Edg/', 'Edge'], ['OPR/', 'Opera'], ['Firefox/', 'Firefox'], ['Chrome/', 'Chrome'], ['Safari/', 'Safari']].find(([mark]) =>
    agent.includes(mark ?? ''),
  );
  const system = [['Windows', 'Windows'], ['Android', 'Android'], ['iPhone', 'iPhone'], ['iPad', 'iPad'], ['Mac OS', 'macOS'], ['Linux', 'Linux']].find(
    ([mark]) => agent.includes(mark ?? ''),
  );
  return `${browser?.[1] ?? 'Browser'} on ${system?.[1] ?? 'a computer'}`;
}

