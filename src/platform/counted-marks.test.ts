import { expect, it } from 'vitest';
import { hasMoreThan } from './counted-marks.js';

it('hasMoreThan tells whether there are more marks than a number', () => {
  expect(hasMoreThan('a,b,c', ',', 2)).toBe(false);
  expect(hasMoreThan('a,b,c,', ',', 2)).toBe(true);
  expect(hasMoreThan('', ',', 0)).toBe(false);
  expect(hasMoreThan(',,,', ',', 3)).toBe(false);
});
