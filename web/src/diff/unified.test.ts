import { describe, expect, it } from 'vitest';
import { changedWords, parseHunks, stretches } from './unified';

const DIFF = '--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@ def f():\n a\n-    return total * discount\n+    return total * (discount or 0)\n b\n@@ -10 +10,2 @@\n-old\n+new\n+more\n\\ No newline at end of file\n';

describe('unified diffs', () => {
  it('numbers lines on both sides', () => {
    const [first, second] = parseHunks(DIFF);
    expect(first?.context).toBe('def f():');
    expect(first?.lines.map((line) => [line.kind, line.before, line.after])).toEqual([['same', 1, 1], ['removed', 2, null], ['added', null, 2], ['same', 3, 3]]);
    expect(second?.lines.at(-1)?.kind).toBe('note');
  });
  it('marks the words that changed and loses none of the line', () => {
    const added = parseHunks(DIFF)[0]?.lines[2];
    expect(added && stretches(added).filter((part) => part.marked).map((part) => part.text)).toEqual(['(', ' or 0)']);
    expect(added && stretches(added).map((part) => part.text).join('')).toBe(added?.text);
  });
  it('marks nothing where nearly everything changed', () => {
    expect(changedWords('alpha beta gamma', 'x')).toEqual([[], []]);
  });
});
