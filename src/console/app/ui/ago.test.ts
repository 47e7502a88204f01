import { expect, it } from 'vitest';
import { ago } from './ago.js';

it.each([
  [0, 'now'],
  [-5000, 'now'],
  [59_000, '59 seconds ago'],
  [60_000, '1 minute ago'],
  [3_599_000, '59 minutes ago'],
  [7_200_000, '2 hours ago'],
  [86_400_000, 'yesterday'],
  [40 * 86_400_000, 'last month'],
  [800 * 86_400_000, '2 years ago'],
])('ago says how long ago something was: %i ms', (passed, expected) => {
  expect(ago(1e12 - passed, 1e12)).toBe(expected);
});
