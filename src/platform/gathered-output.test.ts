import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { GatheredOutput, type LineOutput } from './gathered-output.js';

function recorded(): { written: string[]; gathered: GatheredOutput } {
  const written: string[] = [];
  const output: LineOutput = { write: (text) => written.push(text), flushSync: () => written.push('(flushed)') };
  return { written, gathered: new GatheredOutput(output) };
}

describe('GatheredOutput', () => {
  it('writes the lines of a turn as one, in their order, and those of the next turn after them', async () => {
    const { written, gathered } = recorded();
    for (const line of ['a\n', 'b\n', 'c\n']) gathered.write(line);
    expect(written).toEqual([]);
    await nextTurn();
    expect(written).toEqual(['a\nb\nc\n']);
    gathered.write('d\n');
    await nextTurn();
    await nextTurn();
    expect(written).toEqual(['a\nb\nc\n', 'd\n']);
  });

  it('keeps outputs apart', async () => {
    const [one, two] = [recorded(), recorded()];
    one.gathered.write('one\n');
    two.gathered.write('two\n');
    await nextTurn();
    expect([one.written, two.written]).toEqual([['one\n'], ['two\n']]);
  });

  it('writes within a turn what has become long', async () => {
    const { written, gathered } = recorded();
    const line = `${'x'.repeat(999)}\n`;
    for (let count = 0; count < 40; ++count) gathered.write(line);
    expect(written.length).toBe(2);
    expect(Math.max(...written.map(({ length }) => length))).toBeLessThan(17_400);
    await nextTurn();
    expect(written.join('')).toBe(line.repeat(40));
  });

  it('writes what waits before it flushes', () => {
    const { written, gathered } = recorded();
    gathered.write('last\n');
    gathered.flushSync();
    expect(written).toEqual(['last\n', '(flushed)']);
  });
});
