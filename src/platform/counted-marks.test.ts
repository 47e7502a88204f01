import { expect, it } from 'vitest';
import { hasMoreThan } from './counted-marks.js';

it('counts as far as it has to', () => {
  expect(hasMoreThan('a,b,c', ',', 2)).toBe(false);
  expect(hasMoreThan('a,b,c,', ',', 2)).toBe(true);
  expect(hasMoreThan('', ',', 0)).toBe(false);
  expect(hasMoreThan(',,,', ',', 3)).toBe(false);
});
