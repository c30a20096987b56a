/// Highlighted code: a few languages, loaded with the page. Text of an unknown language is escaped and shown as it is.
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

const languages = { bash, c, cpp, css, diff, go, ini, java, javascript, json, markdown, python, ruby, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.registerAliases(['toml'], { languageName: 'ini' });
hljs.registerAliases(['console', 'shell', 'sh', 'zsh'], { languageName: 'bash' });
hljs.registerAliases(['tsx'], { languageName: 'typescript' });
hljs.registerAliases(['svelte', 'vue'], { languageName: 'xml' });

/** Longer texts are shown plain: highlighting them would be felt. */
const LONGEST = 60_000;

const byEnding: Record<string, string> = {
  rs: 'rust', py: 'python', pyi: 'python', ts: 'typescript', tsx: 'typescript', mts: 'typescript', js: 'javascript', mjs: 'javascript',
  cjs: 'javascript', jsx: 'javascript', go: 'go', c: 'c', h: 'c', cc: 'cpp', cpp: 'cpp', cxx: 'cpp', hpp: 'cpp', java: 'java', rb: 'ruby',
  sh: 'bash', bash: 'bash', json: 'json', toml: 'ini', ini: 'ini', yml: 'yaml', yaml: 'yaml', md: 'markdown', css: 'css', html: 'xml',
  xml: 'xml', svg: 'xml', svelte: 'xml', vue: 'xml', sql: 'sql', diff: 'diff', patch: 'diff',
};

export function languageOf(path: string): string | null {
  return byEnding[path.split('.').at(-1)?.toLowerCase() ?? ''] ?? null;
}

/** HTML of a piece of code; everything in it is escaped. */
export function highlight(code: string, language: string | null | undefined): string {
  if (!language || code.length > LONGEST || !hljs.getLanguage(language)) return escape(code);
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}

/** The same line by line: marks that cross a line end are closed and opened again. */
export function highlightLines(code: string, language: string | null | undefined): string[] {
  const open: string[] = [];
  return highlight(code, language).split('\n').map((line) => {
    const begin = open.join('');
    for (const tag of line.matchAll(/<span[^>]*>|<\/span>/g)) {
      if (tag[0] === '</span>') open.pop();
      else open.push(tag[0]);
    }
    return begin + line + '</span>'.repeat(open.length);
  });
}

export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[sign] ?? sign);
}
