/** Which backups are kept, whatever the clock does. */
import { expect, it } from 'vitest';
import { beyond, inOrderOfMaking } from './kept-backups.js';

/** Makes a backup at each of these times and keeps three; returns those that exist at the end. */
function keepingThree(times: readonly string[]): readonly string[] {
  let there: readonly string[] = [];
  for (const now of times) {
    const earlier = inOrderOfMaking(there, (time) => time, now);
    const gone = beyond(earlier, 3);
    there = [...there.filter((time) => !gone.includes(time)), now].sort();
  }
  return there;
}

it('The newest backups are kept', () => {
  expect(keepingThree(['2026-01', '2026-02', '2026-03', '2026-04'])).toEqual(['2026-02', '2026-03', '2026-04']);
});

it('Backups that were made while the clock was ahead are deleted, and not each one made afterwards', () => {
  const times = ['2026-01', '2041-01', '2041-02', '2026-02', '2026-03', '2026-04'];
  expect(keepingThree(times)).toEqual(['2026-02', '2026-03', '2026-04']);
});

it('Backups that are made while the clock is behind are kept', () => {
  expect(keepingThree(['2026-01', '2026-02', '2026-03', '1970-01', '1970-02'])).toContain('1970-01');
});
