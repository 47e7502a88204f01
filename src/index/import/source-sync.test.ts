import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { pageOf } from '../../../test/support/list-reading.js';
import { listFixtures, type ListFixtures } from '../../../test/support/lists.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { RecordStoreCache } from '../../records/index.js';
import { createInlineExecutor, type ListIndex, type SyncOutcome } from '../index.js';
import { isListed, ListedRecords } from './listed-records.js';

const definition: FieldDefinition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [{ name: 'price', type: 'number', cardinality: 'Single' }],
  resources: [],
  location_field: null,
  inferred: 'no',
};

type Titles = Readonly<Record<string, string>>;

let lists: ListFixtures;
let list: ListIndex;

beforeEach(async () => {
  lists = await listFixtures();
  list = await lists.add('films', definition, []);
});
afterEach(() => lists.close());

function sync(titles: Titles, source = 'feed:films'): Promise<SyncOutcome> {
  return syncRecords(
    Object.entries(titles).map(([name, title]) => ({ name, fields: { title, price: title.length } })),
    source,
  );
}

async function syncRecords(records: readonly object[], source = 'feed:films'): Promise<SyncOutcome> {
  const session = list.startSync(source, 'ndjson');
  for (const record of records) await session.push(Buffer.from(`${JSON.stringify(record)}\n`));
  return session.end();
}

async function titles(): Promise<Titles> {
  const { records } = await pageOf(list, 0, 1000);
  return Object.fromEntries(records.map(({ name, fields }) => [name, fields['title'] as string]));
}

const counts = ({ created, updated, unchanged, removed, failed }: SyncOutcome) => [
  created,
  updated,
  unchanged,
  removed,
  failed,
];

describe('SourceSync', () => {
  it('makes a list equal to its source, and writes only what differs', async () => {
    expect(counts(await sync({ a: 'one', b: 'two', c: 'three' }))).toEqual([3, 0, 0, 0, 0]);
    const before = (await pageOf(list, 0, 10)).records;
    expect(before.map(({ source }) => source)).toEqual(['feed:films', 'feed:films', 'feed:films']);
    expect(counts(await sync({ a: 'one', b: 'changed', d: 'four' }))).toEqual([1, 1, 1, 1, 0]);
    expect(await titles()).toEqual({ a: 'one', b: 'changed', d: 'four' });
    expect((await pageOf(list, 0, 1)).records[0]).toEqual(before[0]);
    expect(await list.check()).toEqual([]);
  });

  it('commits nothing if nothing differs', async () => {
    await sync({ a: 'one', b: 'two' });
    const sequence = list.sequence(1);
    expect(sequence).toBeDefined();
    expect(counts(await sync({ b: 'two', a: 'one' }))).toEqual([0, 0, 2, 0, 0]);
    expect(list.sequence(1)).toBe(sequence);
  });

  it('reverts edits of its records, and leaves records of other sources alone', async () => {
    await sync({ a: 'one', b: 'two' });
    await sync({ x: 'other' }, 'feed:others');
    const { record } = await list.write({ kind: 'put', name: 'a', fields: { title: 'edited' } });
    expect(record.source).toBe('feed:films');
    const own = await list.write({ kind: 'put', name: 'own', fields: { title: 'mine' } });
    expect(own.record).not.toHaveProperty('source');
    expect(counts(await sync({ a: 'one' }))).toEqual([0, 1, 0, 1, 0]);
    expect(await titles()).toEqual({ a: 'one', x: 'other', own: 'mine' });
  });

  it('takes over an existing record of the same name', async () => {
    await list.write({ kind: 'put', name: 'a', fields: { title: 'one', price: 3 } });
    expect(counts(await sync({ a: 'one' }))).toEqual([0, 1, 0, 0, 0]);
    expect(counts(await sync({}))).toEqual([0, 0, 0, 1, 0]);
  });

  it('leaves a record as it was if its line is refused or is a duplicate', async () => {
    await sync({ a: 'one', b: 'two' });
    const outcome = await syncRecords([
      { name: 'a', fields: { title: 'new', price: 'dear' } },
      { name: 'b', fields: { title: 'two', price: 3 } },
      { name: 'b', fields: { title: 'again' } },
      { fields: { title: 'nameless' } },
    ]);
    expect(counts(outcome)).toEqual([0, 0, 1, 0, 3]);
    expect(outcome.errors.map(({ line }) => line)).toEqual([1, 3, 4]);
    expect(await titles()).toEqual({ a: 'one', b: 'two' });
  });

  it('removes nothing if a line cannot be read, because it may be that of any record', async () => {
    await sync({ a: 'one', b: 'two' });
    const session = list.startSync('feed:films', 'ndjson');
    await session.push(Buffer.from('{"name":"a","fields":{"title":"one","price":3}}\n{"name":"b","fie\n'));
    expect(counts(await session.end())).toEqual([0, 0, 1, 0, 1]);
    expect(Object.keys(await titles())).toEqual(['a', 'b']);
  });

  it('removes nothing if it is aborted', async () => {
    await sync({ a: 'one', b: 'two' });
    const session = list.startSync('feed:films', 'ndjson');
    await session.push(Buffer.from('{"name":"a","fields":{"title":"one"}}\n'));
    session.abort();
    await expect(session.end()).rejects.toThrow('interrupted');
    expect(Object.keys(await titles())).toEqual(['a', 'b']);
  });

  it.each([
    ['rests between its records where it gives way to searches', 1 << 18, true],
    ['does not where nobody searches', undefined, false],
  ])('%s', async (_, commitBytesMax, areWanted) => {
    let restsOfPieces: number[] = [];
    const ofOnePiece = () => {
      const piece = restsOfPieces.push(0) - 1;
      return () => (restsOfPieces[piece]! += 1);
    };
    await lists.close();
    const stores = new RecordStoreCache();
    lists = await listFixtures(createInlineExecutor({ kernel, stores, rests: { ofOnePiece } }));
    list = await lists.add('films', definition, []);
    restsOfPieces = [];
    const session = list.startSync('feed:films', 'ndjson');
    const lines = ['a', 'b', 'c'].map((name) => `${JSON.stringify({ name, fields: { title: name } })}\n`);
    await session.push(Buffer.from(lines.join('')), commitBytesMax);
    expect(counts(await session.end())).toEqual([3, 0, 0, 0, 0]);
    // It pauses once after each record, and once before the records are written.
    expect(restsOfPieces).toEqual(areWanted ? [4] : []);
    await stores.close();
  });

  it('agrees with a model, whatever is written in between', async () => {
    const state = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.constantFrom('one', 'two', 'three'));
    let number = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ source: state, edited: state }), { maxLength: 5 }), async (steps) => {
        list = await lists.add(`model-${(number += 1)}`, definition, []);
        for (const { source, edited } of steps) {
          for (const [name, title] of Object.entries(edited))
            if (name in (await titles())) await list.write({ kind: 'put', name, fields: { title, price: 9 } });
          const before = Object.fromEntries(
            (await pageOf(list, 0, 100)).records.map((each) => [each.name, each.fields]),
          );
          const outcome = await sync(source);
          const names = Object.keys(source);
          const isSame = (name: string) =>
            JSON.stringify(before[name]) === JSON.stringify({ title: source[name], price: [source[name]?.length] });
          expect(counts(outcome)).toEqual([
            names.filter((name) => !(name in before)).length,
            names.filter((name) => name in before && !isSame(name)).length,
            names.filter((name) => name in before && isSame(name)).length,
            Object.keys(before).filter((name) => !(name in source)).length,
            0,
          ]);
          expect(await titles()).toEqual(source);
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe('ListedRecords', () => {
  it('has exactly the numbers that were added', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(5000))), (pieces) => {
        const listed = new ListedRecords();
        for (const piece of pieces) listed.add(Uint32Array.from(piece));
        const all = new Set(pieces.flat());
        for (let number = 0; number < 5100; number += 1) expect(isListed(listed.bits, number)).toBe(all.has(number));
      }),
      { numRuns: 20 },
    );
  });
});
