import { expect, it } from 'vitest';
import { formatBytes, formatDuration, formatMilliseconds, table, type Output } from './output.js';
import { drawBar, Progress } from './progress.js';

function recorder(isTerminal: boolean): Output & { text: string } {
  return {
    isTerminal,
    columns: 100,
    text: '',
    write(text) {
      this.text += text;
    },
    settle: () => Promise.resolve(),
    note(text) {
      this.text += text;
    },
  };
}

it('Progress draws a bar on a terminal with records, rate and time left, in place', () => {
  let now = 0;
  const output = recorder(true);
  const progress = new Progress(output, 'WordNet', () => now);
  now = 2000;
  progress.update({ records: 30_000, share: 0.25 });
  expect(output.text).toContain('██████░░░░░░░░░░░░░░░░░░  25 %  30,000 records, 15,000/s, 6 s left');
  now = 8000;
  expect(progress.done(120_000)).toBe(8);
  expect(output.text.endsWith('WordNet: 120,000 records in 8.0 s, 15,000/s\n')).toBe(true);
});

it('Progress writes a plain line every few seconds if the output is no terminal', () => {
  let now = 0;
  const output = recorder(false);
  const progress = new Progress(output, 'cities', () => now);
  for (now = 0; now <= 10_000; now += 50) progress.update({ records: now, share: undefined });
  progress.done(10_000);
  expect(output.text.split('\n')).toEqual([
    'cities  5,000 records, 1,000/s',
    'cities  10,000 records, 1,000/s',
    'cities: 10,000 records in 10.1 s, 995/s',
    '',
  ]);
});

it('formatDuration, formatBytes and the others write numbers for people', () => {
  expect([formatDuration(3.2), formatDuration(125), formatDuration(4321)]).toEqual(['3 s', '2 min 05 s', '1 h 12 min']);
  expect([formatBytes(512), formatBytes(1_500_000), formatBytes(2 ** 40)]).toEqual(['512 B', '1.4 MiB', '1.0 TiB']);
  expect([formatMilliseconds(0.837), formatMilliseconds(12.4), formatMilliseconds(1340)]).toEqual([
    '0.84 ms',
    '12 ms',
    '1.3 s',
  ]);
  expect(drawBar(2)).toHaveLength(24);
  expect(
    table([
      ['a', 'b'],
      ['long', 'x'],
    ]),
  ).toBe('a     b\nlong  x\n');
});
