/** Pages of lists with rules that take megabytes, and of groups with versions that do. */
import { expect, it } from 'vitest';
import type { GroupRecord, ListRecord } from '../../catalog/index.js';
import { fittingGroupPage, fittingPage } from './list-page.js';

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

it('of groups end by all members of all versions', () => {
  const members = Array.from({ length: 100 }, (_, list) => ({ list: `list-${list}`.padEnd(64, '-') }));
  const versions = (count: number) => Array.from({ length: count }, () => ({ lists: [...members] }));
  const groupOf = (name: string, count: number) => ({ name, versions: versions(count) }) as unknown as GroupRecord;
  // 880 KB each.
  const entries = Array.from({ length: 100 }, (_, group) => groupOf(`group-${String(group).padStart(2, '0')}`, 100));
  const page = fittingGroupPage({ entries, next: undefined });
  expect([page.entries.length, page.next]).toEqual([9, 'group-08']);
  const small = entries.map(({ name }) => groupOf(name, 1));
  expect(fittingGroupPage({ entries: small, next: 'x' })).toEqual({ entries: small, next: 'x' });
});
