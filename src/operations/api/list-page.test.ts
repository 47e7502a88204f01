/** Pages of lists with rules that take megabytes. */
import { expect, it } from 'vitest';
import type { ListRecord } from '../../catalog/index.js';
import { fittingPage } from './list-page.js';

const MEGABYTE = 1_000_000;
const listOf = (name: string, megabytes: number) =>
  ({ name, query_rules: [], synonym_rules: [{ terms: ['x'.repeat(megabytes * MEGABYTE)] }] }) as unknown as ListRecord;
const names = ({ entries, next }: ReturnType<typeof fittingPage>) => [entries.map(({ name }) => name).join(''), next];

it('end where they would become too long, and go on behind the list that was told last', () => {
  const entries = [listOf('a', 3), listOf('b', 3), listOf('c', 3), listOf('d', 1)];
  expect(names(fittingPage({ entries, next: undefined }))).toEqual(['ab', 'b']);
  expect(names(fittingPage({ entries: entries.slice(2), next: 'd' }))).toEqual(['cd', 'd']);
  expect(names(fittingPage({ entries: entries.slice(2), next: undefined }))).toEqual(['cd', undefined]);
});

it('have one list at least', () => {
  const entries = [listOf('a', 9), listOf('b', 0)];
  expect(names(fittingPage({ entries, next: undefined }))).toEqual(['a', 'a']);
  expect(names(fittingPage({ entries: [], next: undefined }))).toEqual(['', undefined]);
});
