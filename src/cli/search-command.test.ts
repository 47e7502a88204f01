import { expect, it } from 'vitest';
import { typed } from '../../test/support/typed-command.js';
import { SEARCH_OPTIONS } from '../search/options/search-options.js';
import { EXIT } from './exit-codes.js';
import { givenOptions } from './search-command-options.js';

it('gannet search has every option of a search', async () => {
  const { out } = await typed('search', '--help');
  const others = Object.keys(SEARCH_OPTIONS).filter((name) => {
    const word = name.replaceAll('_', '-');
    return name !== 'query' && !new RegExp(`^ +--(?:no-)?${word}\\b(?!-)`, 'm').test(out);
  });
  expect(others).toEqual([]);
  // What the API says of an option that is on by default is not what `--no-` does.
  expect(out).toMatch(/--no-typo-tolerance +find words only/);
  expect(out).not.toMatch(/--no-[a-z-]+ +whether /);
  expect(out).not.toMatch(/JSON\s+body/);
});

it('givenOptions leaves out options that were not given', () => {
  // Commander sets options that can be switched off to true.
  expect(givenOptions({ json: true, account: 'a', typoTolerance: true, cache: true })).toEqual({});
  expect(
    givenOptions({ typoTolerance: false, prefix: true, orderBy: 'name', facets: ['a', 'b'], skip: 3, size: 10 }),
  ).toEqual({ typo_tolerance: false, prefix: true, order_by: 'name', facets: ['a', 'b'], skip: 3 });
});

it.each([
  [['--size', 'ten'], "option '--size <count>' argument 'ten' is invalid. A whole number is expected."],
  [['--minimum-text-score', ''], 'A number is expected.'],
  [['--match', 'some'], 'Allowed choices are any, all, phrase.'],
])('gannet search birds %j is refused before the service is called', async (words, sentence) => {
  const told = await typed('search', 'birds', ...words);
  expect(told.status).toBe(EXIT.usage);
  expect(told.err).toContain(sentence);
});
