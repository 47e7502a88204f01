import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { MATCH_ALL, QueryPlanWriter, type PlanFilter } from '../../../native-bindings/query-plan.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { segmentsPath } from '../../store/index.js';
import { kernelLayout, type ListIndex } from '../index.js';
import { pageOf, recordOf } from '../../../test/support/list-reading.js';
import { LIST_SETTINGS, ListsInFolder } from '../../../test/support/lists-in-folder.js';

const definition: FieldDefinition = {
  searchable_fields: [
    { name: 'name', weight: 1 },
    { name: 'title', weight: 2 },
  ],
  facets: [
    { name: 'tags', type: 'string', cardinality: 'Many' },
    { name: 'price', type: 'number', cardinality: 'Single' },
  ],
  resources: [],
  location_field: null,
  inferred: 'no',
};
const pending: FieldDefinition = {
  searchable_fields: [],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'pending',
};

let lists: ListsInFolder;
beforeEach(() => {
  lists = new ListsInFolder().open();
});
afterEach(() => lists.remove());

const encoder = new TextEncoder();
async function importLines(list: ListIndex, records: readonly unknown[]) {
  const session = list.startImport('ndjson');
  await session.push(encoder.encode(records.map((record) => JSON.stringify(record)).join('\n')));
  return session.end();
}
function plan(term: string | undefined, filter: PlanFilter = MATCH_ALL): Uint8Array {
  const groups =
    term === undefined ? [] : [{ occur: 'must', boost: 1, alternatives: [{ weight: 1, terms: [term] }] } as const];
  return new QueryPlanWriter()
    .write({ needTotal: true, skip: 0, size: 0, groups, filter, sort: [], facets: [] })
    .slice();
}
function count(list: ListIndex, term: string | undefined, filter?: PlanFilter, version?: number): number {
  const lease = list.lease(version);
  try {
    return kernel.collectRecordNumbers(lease.handle, plan(term, filter)).length;
  } finally {
    lease.release();
  }
}
async function eventually(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { interval: 10 }).toBe(true);
}

const segmentFiles = () => readdirSync(segmentsPath(lists.path())).filter((file) => file.endsWith('.mdb'));

describe('writing', () => {
  it('makes a record visible when its write is answered, and keeps id and creation time when a name is replaced', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    const created = await list.write({ kind: 'put', name: 'x', fields: { title: 'red shoes', tags: 'a', price: 5 } });
    expect(created.outcome).toBe('created');
    expect(created.record.fields).toEqual({ title: 'red shoes', tags: ['a'], price: [5] });
    expect([count(list, 'red'), count(list, 'shoes'), count(list, 'x')]).toEqual([1, 1, 1]);

    const updated = await list.write({ kind: 'put', name: 'x', fields: { title: 'blue shoes' } });
    expect([updated.outcome, updated.record.id, updated.record.created_utc]).toEqual([
      'updated',
      created.record.id,
      created.record.created_utc,
    ]);
    expect([count(list, 'red'), count(list, 'blue'), list.versions()[0]?.record_count]).toEqual([0, 1, 1]);
    expect(await recordOf(list, created.record.id)).toEqual(updated.record);
    expect(await list.check()).toEqual([]);
  });

  it('gives a record without a name its id as name, by which it can be replaced', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    const { record } = await list.write({ kind: 'put', name: undefined, fields: { title: 'one' } });
    expect(record.name).toBe(record.id);
    expect((await list.write({ kind: 'put', name: record.id, fields: {} })).outcome).toBe('updated');
    expect((await pageOf(list, 0, 10)).total).toBe(1);
  });

  it('patches, renames, refuses a name in use, and deletes', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    const { record } = await list.write({ kind: 'put', name: 'x', fields: { title: 'one', tags: ['a'], note: 'n' } });
    await list.write({ kind: 'put', name: 'y', fields: {} });
    const patched = await list.write({ kind: 'patch', id: record.id, name: 'z', fields: { title: null, price: 3 } });
    expect([patched.record.name, patched.record.fields]).toEqual(['z', { tags: ['a'], note: 'n', price: [3] }]);
    await expect(list.write({ kind: 'replace', id: record.id, name: 'y', fields: {} })).rejects.toMatchObject({
      code: 'name-exists',
    });
    expect((await list.write({ kind: 'put', name: 'x', fields: {} })).outcome).toBe('created');
    expect((await list.write({ kind: 'delete', id: record.id })).outcome).toBe('deleted');
    await expect(list.write({ kind: 'delete', id: record.id })).rejects.toMatchObject({ code: 'record-not-found' });
    await expect(list.write({ kind: 'patch', id: 'nonsense', name: undefined, fields: {} })).rejects.toMatchObject({
      code: 'record-not-found',
    });
    expect(await list.check()).toEqual([]);
  });

  it('answers each of many concurrent writes with its own result', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) =>
        list.write({
          kind: 'put',
          name: `r${index % 40}`,
          fields: index % 7 === 0 ? { price: 'dear' } : { price: index },
        }),
      ),
    );
    results.forEach((result, index) => {
      expect(result.status).toBe(index % 7 === 0 ? 'rejected' : 'fulfilled');
    });
    expect(list.versions()[0]?.record_count).toBe(
      new Set(Array.from({ length: 50 }, (_, index) => (index % 7 === 0 ? -1 : index % 40))).size - 1,
    );
    expect(await list.check()).toEqual([]);
  });

  it('keeps writes and deletions over a restart', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    const { record } = await list.write({ kind: 'put', name: 'keep', fields: { title: 'kept' } });
    const { record: gone } = await list.write({ kind: 'put', name: 'gone', fields: { title: 'gone' } });
    await list.write({ kind: 'delete', id: gone.id });
    await lists.close();
    lists.open();
    const again = await lists.indexes.open('a1', LIST_SETTINGS);
    expect(await recordOf(again, record.id)).toEqual(record);
    expect([count(again, 'kept'), count(again, 'gone')]).toEqual([1, 0]);
    expect((await again.write({ kind: 'put', name: 'keep', fields: {} })).record.id).toBe(record.id);
    expect(await again.check()).toEqual([]);
  });
});

describe('importing', () => {
  it('writes good records, reports bad ones with their lines, and counts a duplicate name as an update', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    const session = list.startImport('ndjson');
    const lines = [
      '{"name":"a","title":"one"}',
      '',
      '{"name":"b","price":"x"}',
      'not json',
      '{"name":"a","title":"two"}',
      '{"fields":{"title":"three"}}',
    ];
    for (const byte of encoder.encode(lines.join('\n'))) await session.push(Uint8Array.of(byte));
    const outcome = await session.end();
    expect(outcome).toMatchObject({ created: 2, updated: 1, failed: 2 });
    expect(outcome.errors.map(({ line, name }) => [line, name])).toEqual([
      [3, 'b'],
      [4, null],
    ]);
    expect([count(list, 'one'), count(list, 'two'), count(list, 'three')]).toEqual([0, 1, 1]);
    expect(await list.check()).toEqual([]);
  });

  it('reads CSV by the definition, including quotes and line breaks', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    const session = list.startImport('csv');
    await session.push(
      encoder.encode('name,title,tags,price\nx,"two\nlines, ""quoted""",a|b,5\ny,plain,,many\nz,1 2 3,,\nshort\n'),
    );
    const outcome = await session.end();
    expect(outcome).toMatchObject({ created: 2, updated: 0, failed: 2 });
    expect((await pageOf(list, 0, 10)).records.map((record) => record.fields)).toEqual([
      { title: 'two\nlines, "quoted"', tags: ['a', 'b'], price: [5] },
      { title: '1 2 3' },
    ]);
  });

  it('infers the definition of a list that has none from its first records', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, pending);
    expect(list.versions()[0]?.definition.inferred).toBe('pending');
    await importLines(
      list,
      Array.from({ length: 30 }, (_, index) => ({
        name: `n${index}`,
        title: `some words ${index}`,
        kind: index % 2 ? 'odd' : 'even',
        size: index,
      })),
    );
    const inferred = list.versions()[0]?.definition;
    expect(inferred?.facets.map((facet) => facet.name)).toEqual(['kind', 'size']);
    expect(count(list, 'odd')).toBe(15);
    const lease = list.lease();
    expect(lease.definition).toEqual(inferred);
    const settingsInForce = JSON.parse(kernel.generationSettings(lease.handle)) as {
      definition: FieldDefinition;
    };
    lease.release();
    expect(settingsInForce.definition).toEqual(inferred);
  });

  it('fails as a whole only if the stream is damaged, and keeps the records before the damage', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    const session = list.startImport('json');
    await session.push(encoder.encode('[{"name":"a"},{"name":"b"}'));
    await expect(session.end()).rejects.toMatchObject({ code: 'malformed-request' });
    expect(list.versions()[0]?.record_count).toBe(2);
  });

  it('deletes what a plan matches', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    await importLines(
      list,
      Array.from({ length: 100 }, (_, index) => ({ name: `n${index}`, price: index })),
    );
    const column = kernelLayout(definition).column('price') ?? -1;
    expect(await list.deleteMatching(plan(undefined, { op: '<', column, value: 30 }))).toBe(30);
    expect((await pageOf(list, 0, 1)).total).toBe(70);
    expect(await list.check()).toEqual([]);
  });

  it('cancels a deletion whose client left while it waited, and completes one that had begun', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    await importLines(
      list,
      Array.from({ length: 100 }, (_, index) => ({ name: `n${index}`, price: index })),
    );
    const column = kernelLayout(definition).column('price') ?? -1;
    const cheap = () => plan(undefined, { op: '<', column, value: 30 });
    const [late, early] = [new AbortController(), new AbortController()];
    const begun = list.deleteMatching(() => {
      late.abort(new Error('left'));
      return cheap();
    }, late.signal);
    const waiting = list.deleteMatching(plan(undefined), early.signal);
    early.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    expect(await begun).toBe(30);
    expect((await pageOf(list, 0, 1)).total).toBe(70);
    expect(await list.check()).toEqual([]);
  });
});

describe('a write', () => {
  it('renames its segment into the folder when it is complete, and causes no other file events', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    const told: string[] = [];
    const watcher = watch(segmentsPath(lists.path()), (event, file) => {
      told.push(`${event} ${file ?? ''}`);
    });
    await list.write({ kind: 'put', name: 'a', fields: { title: 'one' } });
    const [segment] = segmentFiles();
    await eventually(() => told.includes(`rename ${segment}`));
    watcher.close();
    expect(new Set(told)).toEqual(new Set(['rename unfinished', `rename ${segment}`]));
  });
});

describe('merging', () => {
  it('merges small segments while records change, and deletes their files', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    for (let round = 0; round < 30; ++round) {
      await Promise.all(
        Array.from({ length: 5 }, (_, index) =>
          list.write({
            kind: 'put',
            name: `r${(round * 3 + index) % 40}`,
            fields: { title: `round${round}`, price: round },
          }),
        ),
      );
    }
    await eventually(() => segmentFiles().length < 12);
    expect(await list.check()).toEqual([]);
    await lists.close();
    lists.open();
    expect(await (await lists.indexes.open('a1', LIST_SETTINGS)).check()).toEqual([]);
  });

  it('makes one segment of those of a list that is no longer written', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    for (const title of ['one', 'two', 'three']) await list.write({ kind: 'put', name: title, fields: { title } });
    await eventually(() => segmentFiles().length === 1);
    expect(await list.check()).toEqual([]);
  });
});

describe('versions', () => {
  const next: FieldDefinition = { ...definition, facets: [{ name: 'cost', type: 'string', cardinality: 'Single' }] };

  it('builds the next version in the background, writes to both meanwhile, and freezes the old one', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    await importLines(
      list,
      Array.from({ length: 200 }, (_, index) => ({ name: `n${index}`, title: 'old', price: index })),
    );
    const number = await list.changeDefinition(next, { price: 'cost' });
    expect(number).toBe(2);
    await list.write({ kind: 'put', name: 'n1', fields: { title: 'new' } });
    await eventually(() => list.currentVersion === 2);
    await list.write({ kind: 'put', name: 'late', fields: { title: 'late' } });
    expect([count(list, 'late'), count(list, 'late', MATCH_ALL, 1)]).toEqual([1, 0]);
    expect([count(list, 'old'), count(list, 'new')]).toEqual([199, 1]);
    // Numbers become the texts that a string facet takes.
    const { records } = await pageOf(list, 5, 1);
    expect(records[0]?.fields).toEqual({ title: 'old', cost: ['5'] });
    expect(await list.check()).toEqual([]);
  });

  it('keeps the newest two frozen versions, and no trace of the others', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    await importLines(list, [{ name: 'a', title: 'word' }]);
    for (let version = 2; version <= 5; ++version) {
      await list.changeDefinition(version % 2 === 0 ? next : definition);
      await eventually(() => list.currentVersion === version);
    }
    await eventually(() => list.versions().length === 3);
    expect(list.versions().map(({ version }) => version)).toEqual([3, 4, 5]);
    expect(() => list.lease(1)).toThrow('version 1');
    expect([1, 3, 6].map((version) => list.sequence(version) === undefined)).toEqual([true, false, true]);
    const lease = list.lease(5);
    expect(list.sequence(5)).toBe(lease.sequence);
    lease.release();
    await importLines(list, [{ name: 'b', title: 'word' }]);
    expect(list.sequence(5)).toBeGreaterThan(lease.sequence);
    await eventually(() => segmentFiles().length === 3);
    expect(await list.check()).toEqual([]);
  });

  it('continues a build after a restart', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    await importLines(
      list,
      Array.from({ length: 25_000 }, (_, index) => ({ name: `n${index}`, price: index })),
    );
    await list.changeDefinition(next);
    await lists.close();
    lists.open();
    const again = await lists.indexes.open('a1', LIST_SETTINGS);
    await eventually(() => again.currentVersion === 2);
    expect([again.versions().at(-1)?.record_count, await again.check()]).toEqual([25_000, []]);
  });
});

describe('lists', () => {
  it('clones records and segments into an independent list', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    await importLines(
      list,
      Array.from({ length: 50 }, (_, index) => ({ name: `n${index}`, title: 'word' })),
    );
    const { record } = await list.write({ kind: 'put', name: 'n1', fields: { title: 'changed' } });
    const clone = await lists.indexes.clone('a1', 'b2', { ...LIST_SETTINGS, list: 'copy' });
    await lists.indexes.remove('a1');
    expect(lists.indexes.opened('a1')).toBeUndefined();
    expect([count(clone, 'word'), count(clone, 'changed'), clone.currentVersion]).toEqual([49, 1, 1]);
    expect(await recordOf(clone, record.id)).toEqual(record);
    await clone.write({ kind: 'put', name: 'new', fields: {} });
    expect(await clone.check()).toEqual([]);
    expect(readdirSync(join(lists.dataDir, 'lists'))).toEqual(['b2']);
  });

  it('moves folders aside that the catalogue does not know, and back when it knows them again', async () => {
    const list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
    await importLines(list, [{ name: 'n1', title: 'word' }]);
    await lists.indexes.create('b2', LIST_SETTINGS, definition);
    await lists.close();
    lists.open();
    lists.indexes.setUnknownAside(new Set(['b2']));
    expect(readdirSync(join(lists.dataDir, 'lists')).sort()).toEqual(['.unknown', 'b2']);
    expect(readdirSync(join(lists.dataDir, 'lists', '.unknown'))).toEqual(['a1']);
    await expect(lists.indexes.open('a1', LIST_SETTINGS)).rejects.toMatchObject({ code: 'list-missing' });
    lists.indexes.setUnknownAside(new Set(['a1', 'b2']));
    expect(readdirSync(join(lists.dataDir, 'lists', '.unknown'))).toEqual([]);
    expect(count(await lists.indexes.open('a1', LIST_SETTINGS), 'word')).toBe(1);
  });
});
