/** The index of a list's vectors and the vectors that are stored with its records agree, whatever happens. */
import { existsSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { MATCH_ALL, parseResult, QueryPlanWriter } from '../../../native-bindings/query-plan.js';
import {
  importLines,
  LIST_DEFINITION,
  LIST_SETTINGS,
  ListsWithModels,
  putRequest as put,
  written,
} from '../../../test/support/lists-with-models.js';
import { hashedVector, ScriptedEmbedder, ScriptedModels } from '../../../test/support/scripted-models.js';
import { segmentsPath } from '../../store/index.js';
import type { ListIndex } from '../index.js';

const DIMENSIONS = 8;
/** The least similarity of a vector of 32 bit floats to its own entry in the index, which is less precise. */
const NEAR_ONE = 0.999;

let lists: ListsWithModels;
let embedder: ScriptedEmbedder;
beforeEach(() => {
  embedder = new ScriptedEmbedder();
  lists = new ListsWithModels(new ScriptedModels({ mini: embedder }), { GANNET_INGEST_MERGE_FAN_IN: '4' });
});
afterEach(() => lists.remove());

const rows = (...texts: string[]) => texts.map((text) => Array.from(hashedVector(text, DIMENSIONS)));
const vectorFiles = (id = 'a1') => readdirSync(segmentsPath(lists.path(id))).filter((file) => file.endsWith('.gvs'));

/** Returns the numbers of the records that a search finds by this vector. */
function found(list: ListIndex, vector: readonly number[], version?: number): number[] {
  const lease = list.lease(version);
  try {
    const nowhere = { occur: 'should', boost: 1, alternatives: [{ weight: 1, terms: ['nowhere'] }] } as const;
    const plan = new QueryPlanWriter().write({
      needTotal: true,
      skip: 0,
      size: 1000,
      groups: [nowhere],
      filter: MATCH_ALL,
      sort: [],
      facets: [],
    });
    const meaning = { weight: 1, floor: NEAR_ONE, farthest: 0, nearest: 1, wanted: 1000, width: 200, exact: true };
    const { hits } = parseResult(kernel.search(lease.handle, plan, { ...meaning, vector: Float32Array.from(vector) }));
    const records = Array.from({ length: hits.count }, (_, position) => hits.recordNumber(position));
    return records.sort((left, right) => left - right);
  } finally {
    lease.release();
  }
}

/** Expects every stored vector to find exactly the records that have it. */
async function expectIndexed(list: ListIndex, id = 'a1'): Promise<void> {
  const stored = await lists.storedVectors(id);
  const byVector = new Map<string, number[]>();
  for (const [record, vectors] of Object.entries(stored)) {
    for (const key of new Set(vectors.map((vector) => JSON.stringify(vector)))) {
      byVector.set(key, [...(byVector.get(key) ?? []), Number(record)]);
    }
  }
  for (const [key, records] of byVector) expect(found(list, JSON.parse(key) as number[])).toEqual(records);
}

const GONE = rows('what was there before')[0] as number[];

describe('the index of vectors', () => {
  it('finds the stored vectors through changes, deletions, merges, restarts, versions and clones', async () => {
    let list = await lists.create('own');
    const gone = await written(list, put('gone', { title: 'Gone' }, [GONE]));
    const changed = await written(list, put('changed', { title: 'Changed' }, [GONE, ...rows('changed')]));
    expect(found(list, GONE)).toEqual([gone.number, changed.number]);
    await list.write({ kind: 'delete', id: gone.id });
    await list.write({ kind: 'patch', id: changed.id, name: undefined, fields: {}, vectors: [hashedVector('now', 8)] });
    expect(found(list, GONE)).toEqual([]);
    for (let n = 0; n < 40; ++n)
      await list.write(put(`r${n}`, { title: `Title ${n}`, price: n % 4 }, rows(`v${n}`, `w${n}`)));
    for (let n = 0; n < 40; n += 3) await list.write(put(`r${n}`, { title: 'Again' }, rows(`again ${n}`)));
    await expectIndexed(list);
    // Segments of 54 writes have been merged.
    await expect.poll(() => vectorFiles().length).toBeLessThan(8);
    await expectIndexed(list);

    list = await lists.reopen('own');
    await expectIndexed(list);
    expect(found(list, GONE)).toEqual([]);
    await list.changeDefinition({ ...LIST_DEFINITION, facets: [] });
    await expect.poll(() => list.currentVersion).toBe(2);
    await expectIndexed(list);
    expect(found(list, rows('again 3')[0] ?? [], 1)).toEqual(found(list, rows('again 3')[0] ?? [], 2));
    const copy = await lists.indexes.clone('a1', 'a2', { ...LIST_SETTINGS, list: 'copy', model: 'own' });
    await expectIndexed(copy, 'a2');
    await copy.write(put('r1', { title: 'Other' }, [GONE]));
    expect(found(copy, GONE)).toHaveLength(1);
    expect(found(list, GONE)).toEqual([]);
    await expectIndexed(list);
    await expectIndexed(copy, 'a2');
  });

  it('is rebuilt from the stored vectors if a segment is missing, damaged or truncated', async () => {
    let list = await lists.create('own');
    const lines = Array.from({ length: 30 }, (_, n) =>
      JSON.stringify({ name: `r${n}`, fields: { title: `Title ${n}` }, vector: rows(`v${n}`)[0] }),
    );
    await importLines(list, lines);
    const folder = segmentsPath(lists.path());
    const faults: ((path: string) => void)[] = [
      (path) => {
        rmSync(path);
      },
      (path) => {
        truncateSync(path, 100);
      },
      (path) => {
        writeFileSync(path, 'no segment');
      },
    ];
    for (const fault of faults) {
      await lists.close();
      const [file] = vectorFiles();
      fault(join(folder, file as string));
      lists.open();
      list = await lists.indexes.open('a1', { ...LIST_SETTINGS, model: 'own' });
      // Words are searched and writes are accepted meanwhile.
      await list.write(put('r3', { title: 'Meanwhile' }, rows('meanwhile')));
      await expect.poll(() => found(list, rows('meanwhile')[0] ?? []).length).toBe(1);
      await expectIndexed(list);
    }
    expect(embedder.calls).toBe(0);
  });

  it('deletes segment files that no manifest names, and reuses none of them', async () => {
    let list = await lists.create('own');
    await list.write(put('one', { title: 'One' }, [GONE]));
    await lists.close();
    writeFileSync(join(segmentsPath(lists.path()), '00009999.gvs'), 'left by a crash');
    lists.open();
    list = await lists.indexes.open('a1', { ...LIST_SETTINGS, model: 'own' });
    expect(existsSync(join(segmentsPath(lists.path()), '00009999.gvs'))).toBe(false);
    await list.write(put('two', { title: 'Two' }, [GONE]));
    expect(found(list, GONE)).toHaveLength(2);
  });

  it('is deleted with its version', async () => {
    const list = await lists.create('own');
    await list.write(put('one', { title: 'One' }, [GONE]));
    for (let version = 2; version <= 5; ++version) {
      await list.changeDefinition({ ...LIST_DEFINITION, facets: version % 2 === 0 ? [] : LIST_DEFINITION.facets });
      await expect.poll(() => list.currentVersion).toBe(version);
    }
    // The current version and two kept ones.
    await expect.poll(() => [list.versions().length, vectorFiles().length]).toEqual([3, 3]);
    expect(found(list, GONE)).toHaveLength(1);
  });

  it('is that of the old model until all vectors of the new one are there', async () => {
    const larger = new ScriptedEmbedder({ version: 'scripted-2', dimensions: DIMENSIONS });
    larger.answer = (texts) => texts.map((text) => hashedVector(`larger ${text}`, DIMENSIONS));
    lists.models.embedders['maxi'] = larger;
    const list = await lists.create('mini');
    await importLines(
      list,
      Array.from({ length: 20 }, (_, n) => JSON.stringify({ name: `r${n}`, title: `Title ${n}` })),
    );
    await expect.poll(() => list.meaning()?.state).toBe('ready');
    expect(found(list, rows('Title 7')[0] ?? [])).toHaveLength(1);
    let release = () => {};
    const blocked = new Promise<void>((resolve) => (release = resolve));
    const { answer } = larger;
    larger.answer = async (texts) => blocked.then(() => answer(texts));
    await list.applySettings({ ...LIST_SETTINGS, model: 'maxi' });
    await list.write(put('r7', { title: 'Seven' }));
    await expect.poll(() => found(list, rows('Seven')[0] ?? []).length).toBe(1);
    expect(found(list, rows('Title 7')[0] ?? [])).toEqual([]);
    expect(found(list, rows('Title 8')[0] ?? [])).toHaveLength(1);
    release();
    await expect.poll(() => found(list, rows('larger Title 8')[0] ?? []).length).toBe(1);
    expect(found(list, rows('Title 8')[0] ?? [])).toEqual([]);
    await list.write(put('r8', { title: 'Eight' }));
    await expect.poll(() => found(list, rows('larger Eight')[0] ?? []).length).toBe(1);
    await expectIndexed(list);
  });
});
