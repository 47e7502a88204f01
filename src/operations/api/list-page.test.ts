/** Pages of lists whose rules take megabytes, and of groups whose versions do. */
import { expect, it } from 'vitest';
import type { GroupRecord, ListRecord } from '../../catalog/index.js';
import { cliCaller } from '../../access/caller.js';
import { describeGroup } from './list-group.js';
import { fittingGroupPage, fittingPage, toldPage, type ToldList } from './list-page.js';

const MEGABYTE = 1_000_000;
const RULES = { rules: true };
const listOf = (name: string, megabytes: number) =>
  ({ name, query_rules: [], synonym_rules: [{ terms: ['x'.repeat(megabytes * MEGABYTE)] }] }) as unknown as ListRecord;
const names = ({ entries, next }: ReturnType<typeof fittingPage>) => [entries.map(({ name }) => name).join(''), next];

it('A page of lists ends before it becomes too long, and the next one begins after its last list', () => {
  const entries = [listOf('a', 3), listOf('b', 3), listOf('c', 3), listOf('d', 1)];
  expect(names(fittingPage({ entries, next: undefined }, RULES))).toEqual(['ab', 'b']);
  expect(names(fittingPage({ entries: entries.slice(2), next: 'd' }, RULES))).toEqual(['cd', 'd']);
  expect(names(fittingPage({ entries: entries.slice(2), next: undefined }, RULES))).toEqual(['cd', undefined]);
});

it('A page of lists has at least one list', () => {
  const entries = [listOf('a', 9), listOf('b', 0)];
  expect(names(fittingPage({ entries, next: undefined }, RULES))).toEqual(['a', 'a']);
  expect(names(fittingPage({ entries: [], next: undefined }, RULES))).toEqual(['', undefined]);
});

it('A page of lists without their rules is as long as requested', () => {
  const entries = [listOf('a', 9), listOf('b', 9)];
  expect(names(fittingPage({ entries, next: 'b' }, { rules: false }))).toEqual(['ab', 'b']);
});

const FEW = 16;

it('A page of lists is also limited by their fields, and describes few lists that it does not show', async () => {
  const facets = Array.from({ length: 256 }, (_, each) => ({ name: `${each}`.padEnd(128, '-'), type: 'string' }));
  const entries = Array.from({ length: 1000 }, (_, each): ToldList => {
    const name = `list-${each}`;
    if (each % 10 === 0) return { name, unavailable: { name, code: 'list-missing', detail: 'It is gone.' } };
    const described = { name, facets: [...facets], searchable_fields: [...facets], resources: [] };
    return { name, described: described as never };
  });
  let asked = 0;
  const tell = (list: ListRecord) => {
    asked += 1;
    return Promise.resolve(entries.find(({ name }) => name === list.name) as ToldList);
  };
  const lists = entries.map(({ name }) => listOf(name, 0));
  const page = await toldPage({ entries: lists, next: 'list-999' }, tell);
  expect(page.next).toBe(page.entries.at(-1)?.name);
  expect(asked).toBeLessThanOrEqual(page.entries.length + FEW);
  expect(JSON.stringify(page.entries).length).toBeLessThan(TELLABLE * 1.01);
  expect(JSON.stringify(entries.slice(0, page.entries.length + 2)).length).toBeGreaterThan(TELLABLE);
});

it('A page of lists is also limited by any other member of their descriptions', async () => {
  const told = (name: string): ToldList => ({ name, described: { name, anything: ['x'.repeat(MEGABYTE)] } as never });
  const lists = Array.from('abcdefghijk', (name) => listOf(name, 0));
  const page = await toldPage({ entries: lists, next: undefined }, ({ name }) => Promise.resolve(told(name)));
  expect([page.entries.map(({ name }) => name).join(''), page.next]).toEqual(['abcdefg', 'g']);
});

const TELLABLE = 8_000_000;
const MADE = '2026-11-21T00:00:00.000Z';

function groupOf(name: string, versionCount: number): GroupRecord {
  const lists = Array.from({ length: 100 }, (_, list) => ({
    list: `list-${list}`.padEnd(64, '-'),
    list_id: `id-${list}`,
    version: 12_345,
    pinned_version: 12_345,
  }));
  return {
    account: 'default',
    name,
    reranker: null,
    current_version: versionCount,
    versions: Array.from({ length: versionCount }, (_, each) => ({
      version: each + 1,
      lists: [...lists],
      created_utc: MADE,
    })),
    created_utc: MADE,
    modified_utc: MADE,
  };
}

it.each([
  ['with a hundred versions', 100],
  ['with one version, whose members are told twice', 1],
])('A page of groups %s is limited by the size of their descriptions', (_what, versionCount) => {
  const count = Math.ceil((2 * TELLABLE) / (versionCount * 9000));
  const entries = Array.from({ length: count }, (_, group) => groupOf(`group-${group}`, versionCount));
  const told = (some: readonly GroupRecord[]) =>
    some.reduce((sum, group) => sum + JSON.stringify(describeGroup(group, cliCaller)).length, 0);
  const page = fittingGroupPage({ entries, next: undefined });
  const { length } = page.entries;
  expect(page.next).toBe(`group-${length - 1}`);
  // Names and times of the group itself are not counted.
  expect(told(page.entries)).toBeLessThan(TELLABLE * 1.02);
  expect(told(entries.slice(0, length + 1))).toBeGreaterThan(TELLABLE);
  const few = { entries: entries.slice(0, 3), next: 'x' };
  expect(fittingGroupPage(few)).toEqual(few);
});
