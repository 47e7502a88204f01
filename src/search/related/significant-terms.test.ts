import { expect, it } from 'vitest';
import { significantTerms } from './significant-terms.js';

const of = (terms: Record<string, [frequency: number, documents: number]>, documentCount = 1000) =>
  significantTerms(
    new Map(Object.entries(terms).map(([term, [frequency]]) => [term, frequency])),
    Object.values(terms).map(([, documents]) => documents),
    documentCount,
    3,
  ).map(({ term }) => term);

it('significantTerms prefers terms that are rare in the list and frequent in the record', () => {
  expect(of({ the: [9, 900], sea: [1, 100], gannet: [1, 3], dive: [3, 3], only: [5, 1] })).toEqual([
    'dive',
    'gannet',
    'sea',
  ]);
});

it('significantTerms returns common terms if there are no others', () => {
  expect(of({ a: [1, 3], b: [1, 1] }, 4)).toEqual(['a']);
  expect(of({ b: [1, 1] }, 4)).toEqual([]);
});
