import { expect, it } from 'vitest';
import { bodyOf, comparedOptions, comparing, withCondition, withinAnswer } from './search-body.js';

it('bodyOf gives each option the type that the service takes, whatever the address made of it', () => {
  const options = { query: 2026, size: 5, explain: true, vector: '0.5, 1,-2', filter: 'year > 1980' };
  expect(bodyOf(options)).toEqual({ ...options, query: '2026', vector: [0.5, 1, -2] });
});

it('bodyOf ignores parts of the address that are not options', () => {
  expect(bodyOf({ query: 'a', picture: 'media:default/a.png', compare: '{}' })).toEqual({ query: 'a', size: 10 });
});

it('withinAnswer limits the bytes of an answer to what a page shows, unless the search sets a limit', () => {
  expect(withinAnswer({ query: 'a' })).toEqual({ query: 'a', size: 10, fields_bytes_max: 50_000 });
  expect(withinAnswer({ size: 1000 })).toEqual({ size: 100, fields_bytes_max: 5_000 });
  expect(withinAnswer({ size: 0 })).toEqual({ size: 0, fields_bytes_max: 500_000 });
  expect(withinAnswer({ fields_bytes_max: 7 })).toEqual({ size: 10, fields_bytes_max: 7 });
});

it('comparedOptions compares with the same text, and with no options if what was entered cannot be read', () => {
  const compared = comparing({ query: 'a', skip: 10, picture: 'x', match: 'all' });
  expect(comparedOptions({ query: 'b', ...compared })).toEqual({ query: 'b', match: 'all' });
  expect(comparedOptions({ query: 'b', compare: '[1' })).toEqual({ query: 'b' });
  expect(comparedOptions({ query: 'b' })).toBeUndefined();
});

it('withCondition writes each name and value so that the filter language reads them', () => {
  expect(withCondition('', 'brand', "O'Neil")).toBe("brand = 'O''Neil'");
  expect(withCondition('', 'number of pages', 7)).toBe('`number of pages` = 7');
  expect(withCondition('year > 1980 or new = true', 'not', true)).toBe('(year > 1980 or new = true) and `not` = true');
});
