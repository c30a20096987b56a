/// Markdown to HTML that may be put into the page: parsed by marked, then cleaned by DOMPurify. Nothing else makes markup of text.
///
/// A text is cut into blocks. A block that is finished never changes, so its HTML is kept; only the last block of a streaming text is
/// made again with each frame.
import DOMPurify from 'dompurify';
import { Marked, type Token, type Tokens } from 'marked';
import { escape, highlight } from './highlight';

const SAFE_ADDRESS = /^(?:https?:|mailto:|#)/i;

const marked = new Marked({
  gfm: true,
  breaks: false,
  renderer: {
    code({ text, lang }: Tokens.Code) {
      const language = (lang ?? '').split(/\s/)[0] ?? '';
      const code = highlight(text, language.toLowerCase());
      return `<figure class="code" data-language="${escape(language)}"><pre tabindex="0"><code>${code}</code></pre></figure>`;
    },
    // Raw HTML of a model is text.
    html({ text }: Tokens.HTML | Tokens.Tag) {
      return escape(text);
    },
    link({ href, tokens }: Tokens.Link) {
      const inner = this.parser.parseInline(tokens);
      return SAFE_ADDRESS.test(href) ? `<a href="${escape(href)}">${inner}</a>` : inner;
    },
    image({ href, text }: Tokens.Image) {
      // An image elsewhere would tell its server that this was read.
      const words = escape(text || href);
      return SAFE_ADDRESS.test(href) ? `<a href="${escape(href)}">${words}</a>` : words;
    },
  },
});

const ALLOWED_TAGS = [
  'p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'strong', 'em', 'del', 'code', 'pre', 'figure', 'blockquote', 'ul', 'ol', 'li',
  'table', 'thead', 'tbody', 'tr', 'th', 'td', 'a', 'span', 'input', 'div',
];
const ALLOWED_ATTR = ['href', 'class', 'align', 'start', 'type', 'checked', 'disabled', 'data-language', 'tabindex', 'title'];

/** Cleans HTML. Everything that is shown through `{@html}` comes from here. */
export function clean(html: string): string {
  return DOMPurify.sanitize(html, {
    ALLOWED_TAGS,
    ALLOWED_ATTR,
    ALLOW_DATA_ATTR: false,
    ALLOWED_URI_REGEXP: SAFE_ADDRESS,
  });
}

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A') {
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer');
  }
});

export interface Block {
  source: string;
  html: string;
}

const kept = new Map<string, string>();
const MOST_KEPT = 2_000;

function htmlOf(source: string, tokens: Token[]): string {
  const known = kept.get(source);
  if (known !== undefined) return known;
  const html = clean(marked.parser(tokens));
  if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value ?? '');
  kept.set(source, html);
  return html;
}

/** Cuts a whole text into blocks with their HTML. */
export function blocksOf(text: string): Block[] {
  const tokens = marked.lexer(text);
  return tokens
    .filter((token) => token.type !== 'space')
    .map((token) => ({ source: token.raw, html: htmlOf(token.raw, linked(tokens, token)) }));
}

function linked(all: ReturnType<typeof marked.lexer>, token: Token): Token[] {
  // Links by reference find their targets in the list of tokens.
  return Object.assign([token], { links: all.links });
}

/** Blocks that are drawn together; a group out of sight costs nothing. */
export const GROUP = 40;

/** Cuts blocks into groups. */
export function grouped(blocks: readonly Block[]): Block[][] {
  return Array.from({ length: Math.ceil(blocks.length / GROUP) }, (_, index) => blocks.slice(index * GROUP, (index + 1) * GROUP));
}

/**
 * Renders a text that grows. Blocks before the last one are final; each call lexes only from where the last unfinished block began,
 * and groups that are full keep their identity.
 */
export class StreamingMarkdown {
  private full: Block[][] = [];
  private open: Block[] = [];
  private doneLength = 0;
  /** The end of what is final, to notice a text that is another one. */
  private doneEnd = '';

  /** All blocks of the text so far, in groups. */
  update(text: string): Block[][] {
    const isSame = text.length >= this.doneLength && text.slice(this.doneLength - this.doneEnd.length, this.doneLength) === this.doneEnd;
    if (!isSame) {
      this.full = [];
      this.open = [];
      this.doneLength = 0;
    }
    const tokens = marked.lexer(text.slice(this.doneLength));
    // The last token may still grow with what follows.
    const last = tokens.findLastIndex((token) => token.type !== 'space');
    for (const token of tokens.slice(0, Math.max(0, last))) {
      this.doneLength += token.raw.length;
      if (token.type !== 'space') this.finish({ source: token.raw, html: htmlOf(token.raw, linked(tokens, token)) });
    }
    this.doneEnd = text.slice(Math.max(0, this.doneLength - 64), this.doneLength);
    const tail = tokens.slice(Math.max(0, last)).filter((token) => token.type !== 'space');
    const rest = [...this.open, ...tail.map((token) => ({ source: token.raw, html: clean(marked.parser(linked(tokens, token))) }))];
    return rest.length > 0 ? [...this.full, rest] : [...this.full];
  }

  private finish(block: Block): void {
    this.open.push(block);
    if (this.open.length < GROUP) return;
    this.full.push(this.open);
    this.open = [];
  }
}
