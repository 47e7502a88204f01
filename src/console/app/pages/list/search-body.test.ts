import { expect, it } from 'vitest';
import { bodyOf, comparedOptions, comparing, withinAnswer } from './search-body.js';

it('has each option in the form that the service takes, whatever the address made of it', () => {
  const options = { query: 2026, size: 5, explain: true, vector: '0.5, 1,-2', filter: 'year > 1980' };
  expect(bodyOf(options)).toEqual({ ...options, query: '2026', vector: [0.5, 1, -2] });
});

it('takes nothing of the address that is no option', () => {
  expect(bodyOf({ query: 'a', picture: 'media:default/a.png', compare: '{}' })).toEqual({ query: 'a', size: 10 });
});

it('asks for no more than a page shows, but where somebody says so', () => {
  expect(withinAnswer({ query: 'a' })).toEqual({ query: 'a', size: 10, fields_bytes_max: 50_000 });
  expect(withinAnswer({ size: 1000 })).toEqual({ size: 100, fields_bytes_max: 5_000 });
  expect(withinAnswer({ size: 0 })).toEqual({ size: 0, fields_bytes_max: 500_000 });
  expect(withinAnswer({ fields_bytes_max: 7 })).toEqual({ size: 10, fields_bytes_max: 7 });
});

it('compares with the same text, and with no options where what is written is none', () => {
  const compared = comparing({ query: 'a', skip: 10, picture: 'x', match: 'all' });
  expect(comparedOptions({ query: 'b', ...compared })).toEqual({ query: 'b', match: 'all' });
  expect(comparedOptions({ query: 'b', compare: '[1' })).toEqual({ query: 'b' });
  expect(comparedOptions({ query: 'b' })).toBeUndefined();
});
