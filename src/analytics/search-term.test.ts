import fc from 'fast-check';
import { expect, it } from 'vitest';
import { searchTerm, TERM_CHARACTERS_MAX } from './search-term.js';

it.each([
  ['  Red Sea ', 'red sea'],
  ['CAFE\u0301', 'caf\u00e9'],
  ['   ', ''],
  ['A'.repeat(200), 'a'.repeat(100)],
  ['🐦'.repeat(200), '🐦'.repeat(100)],
])('searchTerm of %j is %j', (query, term) => {
  expect(searchTerm(query)).toBe(term);
});

it('searchTerm has at most 100 characters, and is the same for every case of a query', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (query) => {
      expect([...searchTerm(query)].length).toBeLessThanOrEqual(TERM_CHARACTERS_MAX);
      expect(searchTerm(query.toLowerCase())).toBe(searchTerm(query));
    }),
  );
});
