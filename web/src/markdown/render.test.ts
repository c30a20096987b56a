import { describe, expect, it } from 'vitest';
import { highlightLines } from './highlight';
import { blocksOf, clean, StreamingMarkdown } from './render';

const html = (text: string) => blocksOf(text).map((block) => block.html).join('\n');

describe('markdown', () => {
  it.each([
    '<img src=x onerror=alert(1)>', '<script>alert(1)</script>', '[x](javascript:alert(1))', '<a href="javascript:alert(1)">x</a>',
    '![x](https://evil.example/a.png)', '<svg onload=alert(1)>', '```"onmouseover="alert(1)\nx\n```', '<iframe src="https://evil.example">', '<style>*{display:none}</style>',
    '[x](data:text/html,<script>alert(1)</script>)', '| a |\n|---|\n| <img src=x onerror=alert(1)> |', '<p style="position:fixed">x</p>',
  ])('never makes markup of %s', (text) => {
    const box = document.createElement('div');
    box.innerHTML = html(text);
    expect(box.querySelector('script, img, svg, iframe, style, object')).toBeNull();
    for (const element of box.querySelectorAll('*')) {
      for (const { name, value } of element.attributes) {
        expect(name).not.toMatch(/^on|^style$/);
        if (name === 'href') expect(value).toMatch(/^(https?:|mailto:|#)/);
      }
    }
  });
  it('renders a growing text as the whole text, and keeps finished blocks', () => {
    const text = '# Title\n\nOne *two*.\n\n- a\n- b\n\n```rust\nfn main() {}\n```\n\nEnd with [link](https://example.com).';
    const stream = new StreamingMarkdown();
    let first: unknown;
    for (let end = 1; end <= text.length; end++) {
      const blocks = stream.update(text.slice(0, end)).flat();
      if (end > 30) first ??= blocks[0];
      if (first) expect(blocks[0]).toBe(first);
    }
    expect(stream.update(text).flat().map((block) => block.html)).toEqual(blocksOf(text).map((block) => block.html));
  });
  it('keeps full groups as they are', () => {
    const paragraphs = Array.from({ length: 100 }, (_, index) => `Paragraph ${index}.`);
    const stream = new StreamingMarkdown();
    const before = stream.update(paragraphs.slice(0, 60).join('\n\n'));
    const after = stream.update(paragraphs.join('\n\n'));
    expect(after[0]).toBe(before[0]);
    expect(after.flat()).toHaveLength(100);
  });
  it('begins anew when the text is another one', () => {
    const stream = new StreamingMarkdown();
    stream.update('one\n\ntwo\n\nthree');
    expect(stream.update('other').flat().map((block) => block.html.trim())).toEqual(['<p>other</p>']);
  });
  it('highlights line by line with every mark closed', () => {
    const lines = highlightLines('"""a\nb"""\nx = 1', 'python');
    expect(lines).toHaveLength(3);
    for (const line of lines) expect((line.match(/<span/g) ?? []).length).toBe((line.match(/<\/span>/g) ?? []).length);
    expect(clean(lines[0] ?? '')).toBe('<span class="hljs-string">"""a</span>');
  });
});
