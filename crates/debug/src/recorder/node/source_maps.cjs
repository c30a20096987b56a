// Source maps: from the code that runs to the sources that a person wrote, and back.
'use strict';

const path = require('path');

const DIGITS = new Map([...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].map((digit, at) => [digit, at]));
const LARGEST = 32 * 1024 * 1024;

/** Returns the source map of a script, or null where it has none that can be read. */
exports.load = (file, url, readFileSync, existsSync) => {
  if (!url) return null;
  try {
    const text = textOf(file, url, readFileSync);
    const map = text && text.length < LARGEST ? JSON.parse(text) : undefined;
    if (!map || typeof map.mappings !== 'string' || !Array.isArray(map.sources)) return null;
    return new SourceMap(file, map, existsSync);
  } catch {
    return null;
  }
};

function textOf(file, url, readFileSync) {
  if (!url.startsWith('data:')) return readFileSync(path.resolve(path.dirname(file), decodeURIComponent(url)), 'utf8');
  const comma = url.indexOf(',');
  const body = url.slice(comma + 1);
  return url.slice(0, comma).endsWith(';base64') ? Buffer.from(body, 'base64').toString() : decodeURIComponent(body);
}

class SourceMap {
  constructor(file, { mappings, sources, sourceRoot }, existsSync) {
    this.files = sources.map((source) => sourceFile(file, sourceRoot || '', source, existsSync));
    // One list per generated line, each of [column, source, line, column], all from zero.
    this.lines = decoded(mappings);
  }

  original(line, column) {
    const segments = this.lines[line];
    if (!segments) return undefined;
    let found;
    for (const segment of segments) {
      if (segment[0] > column && found) break;
      found = segment;
    }
    return found && this.files[found[1]] ? { file: this.files[found[1]], line: found[2] + 1 } : undefined;
  }

  /** Where the code of a line begins: its first place in each run of generated code. */
  generated(file, line) {
    const source = this.files.indexOf(file);
    const places = [];
    if (source < 0) return places;
    this.lines.forEach((segments, at) => {
      const first = segments.find((segment) => segment[1] === source && segment[2] === line - 1);
      if (first) places.push({ line: at, column: first[0] });
    });
    return places;
  }
}

function sourceFile(file, root, source, existsSync) {
  if (!source) return undefined;
  let name = `${root && !root.endsWith('/') ? `${root}/` : root}${source}`;
  if (name.startsWith('file://')) name = decodeURIComponent(name.slice(7));
  const found = path.resolve(path.dirname(file), name.split('?')[0]);
  if (existsSync(found)) return found;
  return path.basename(found) === path.basename(file) ? file : undefined;
}

function decoded(mappings) {
  const lines = [];
  let [source, line, column] = [0, 0, 0];
  for (const text of mappings.split(';')) {
    const segments = [];
    let generated = 0;
    for (const part of text.split(',')) {
      const numbers = part ? numbersOf(part) : [];
      if (numbers.length === 0) continue;
      generated += numbers[0];
      if (numbers.length < 4) continue;
      source += numbers[1];
      line += numbers[2];
      column += numbers[3];
      segments.push([generated, source, line, column]);
    }
    lines.push(segments);
  }
  return lines;
}

function numbersOf(text) {
  const numbers = [];
  let [value, shift] = [0, 0];
  for (const letter of text) {
    const digit = DIGITS.get(letter);
    if (digit === undefined) return [];
    value += (digit & 31) * 2 ** shift;
    if (digit & 32) {
      shift += 5;
    } else {
      const isNegative = value % 2 === 1;
      const number = Math.floor(value / 2);
      numbers.push(isNegative ? -number : number);
      [value, shift] = [0, 0];
    }
  }
  return numbers;
}
