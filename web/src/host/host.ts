/// What the page needs from where it is shown: a line to the engine, a place for small things, and a few doors to the outside.
/// In a browser that is a WebSocket; in an editor's webview it is `postMessage`.

/** A line of messages, one JSON text each. */
export interface Link {
  send(text: string): void;
  close(): void;
}

export interface LinkEvents {
  opened(): void;
  received(text: string): void;
  /** The line is gone. Called once, also where it never opened. */
  closed(reason: LinkEnd): void;
}

/** Why a line ended: it broke, or this end may not use the engine. */
export type LinkEnd = 'lost' | 'forbidden';

export interface Host {
  /** What others call this window: they see who answered. */
  readonly name: string;
  open(events: LinkEvents): Link;
  /** The folder to begin in, where the host knows one. */
  firstFolder(): Promise<string | null>;
  /** Small things that outlive a reload; absent where the host keeps nothing. */
  load(key: string): string | null;
  store(key: string, value: string | null): void;
  copy(text: string): Promise<void>;
  /** Gives the person a file. */
  save(fileName: string, mediaType: string, content: string): void;
}
