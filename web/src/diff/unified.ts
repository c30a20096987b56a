/// Unified diffs as data: files, hunks, lines with numbers on both sides, and the words that changed within a line.

export type LineKind = 'same' | 'added' | 'removed' | 'note';

export interface DiffLine {
  kind: LineKind;
  text: string;
  before: number | null;
  after: number | null;
  /** Stretches of the text that changed, as pairs of positions. Empty where the whole line is new. */
  marks: [number, number][];
}

export interface Hunk {
  header: string;
  /** What the header names behind the numbers, such as the function. */
  context: string;
  lines: DiffLine[];
}

/** Lines beyond this are not compared word by word. */
const LONGEST_COMPARED = 2_000;

/** Reads the hunks of one file's diff. Headers of the file are passed over. */
export function parseHunks(diff: string): Hunk[] {
  const hunks: Hunk[] = [];
  let hunk: Hunk | null = null;
  let before = 0;
  let after = 0;
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) {
    const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/.exec(line);
    if (header) {
      before = Number(header[1]);
      after = Number(header[2]);
      hunk = { header: line, context: header[3] ?? '', lines: [] };
      hunks.push(hunk);
    } else if (hunk) {
      const text = line.slice(1);
      if (line.startsWith('+')) hunk.lines.push({ kind: 'added', text, before: null, after: after++, marks: [] });
      else if (line.startsWith('-')) hunk.lines.push({ kind: 'removed', text, before: before++, after: null, marks: [] });
      else if (line.startsWith('\\')) hunk.lines.push({ kind: 'note', text: line.slice(2), before: null, after: null, marks: [] });
      else if (line.startsWith('diff --git') || line.startsWith('--- ')) hunk = null;
      else hunk.lines.push({ kind: 'same', text, before: before++, after: after++, marks: [] });
    }
  }
  for (const each of hunks) markWords(each.lines);
  return hunks;
}

/** Marks the words that differ where as many lines were removed as were added in their place. */
function markWords(lines: DiffLine[]): void {
  let index = 0;
  while (index < lines.length) {
    const removed = run(lines, index, 'removed');
    const added = run(lines, index + removed.length, 'added');
    if (removed.length > 0 && removed.length === added.length) {
      removed.forEach((line, position) => {
        const other = added[position];
        if (other) [line.marks, other.marks] = changedWords(line.text, other.text);
      });
    }
    index += Math.max(1, removed.length + added.length);
  }
}

function run(lines: DiffLine[], start: number, kind: LineKind): DiffLine[] {
  let end = start;
  while (lines[end]?.kind === kind) end += 1;
  return lines.slice(start, end);
}

/** What changed from one line to another, as stretches of each. Empty where nearly everything did. */
export function changedWords(before: string, after: string): [[number, number][], [number, number][]] {
  if (before.length > LONGEST_COMPARED || after.length > LONGEST_COMPARED) return [[], []];
  const a = words(before);
  const b = words(after);
  // Longest common subsequence of words; lines are short.
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const diagonal = (table[(i + 1) * width + j + 1] ?? 0) + 1;
      const best = Math.max(table[(i + 1) * width + j] ?? 0, table[i * width + j + 1] ?? 0);
      table[i * width + j] = a[i] === b[j] ? diagonal : best;
    }
  }
  const left: [number, number][] = [];
  const right: [number, number][] = [];
  let [i, j, x, y, kept] = [0, 0, 0, 0, 0];
  while (i < a.length || j < b.length) {
    const wordA = a[i];
    const wordB = b[j];
    if (wordA !== undefined && wordA === wordB) {
      kept += wordA.trim().length;
      x += wordA.length;
      y += wordA.length;
      i += 1;
      j += 1;
    } else if (wordB === undefined || (wordA !== undefined && (table[(i + 1) * width + j] ?? 0) >= (table[i * width + j + 1] ?? 0))) {
      extend(left, x, x + (wordA ?? '').length);
      x += (wordA ?? '').length;
      i += 1;
    } else {
      extend(right, y, y + wordB.length);
      y += wordB.length;
      j += 1;
    }
  }
  const longest = Math.max(before.trim().length, after.trim().length);
  return kept * 4 < longest ? [[], []] : [left, right];
}

function words(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function extend(marks: [number, number][], start: number, end: number): void {
  const last = marks.at(-1);
  if (last && last[1] === start) last[1] = end;
  else marks.push([start, end]);
}

/** A line cut into stretches, for drawing. */
export function stretches(line: DiffLine): { text: string; marked: boolean }[] {
  const parts: { text: string; marked: boolean }[] = [];
  let position = 0;
  for (const [start, end] of line.marks) {
    if (start > position) parts.push({ text: line.text.slice(position, start), marked: false });
    parts.push({ text: line.text.slice(start, end), marked: true });
    position = end;
  }
  if (position < line.text.length || parts.length === 0) parts.push({ text: line.text.slice(position), marked: false });
  return parts;
}
