/** Pages of records with their vectors: bounded in bytes, and complete even if some records are damaged. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { importLines, ListsWithModels, putRequest, written } from '../../../test/support/lists-with-models.js';
import { ScriptedModels } from '../../../test/support/scripted-models.js';
import type { GenerationLease, ListIndex } from '../../index/index.js';
import { RecordStore, RecordStoreCache } from '../../records/index.js';
import { SpaceStore } from '../../vectors/index.js';
import { ResponseWriter } from '../response/response-writer.js';
import { ListContexts } from './list-context.js';
import { RecordLister } from './record-lister.js';

const DIMENSIONS = 64;
const COUNT = 20;
/** The stored bytes of one of these records with its vector. */
const STORED_BYTES_MIN = 24 + 4 * DIMENSIONS;

interface Page {
  readonly results: readonly {
    readonly id: string;
    readonly name: string;
    readonly vector?: readonly number[];
    readonly vectors?: readonly (readonly number[])[];
    readonly error?: string;
  }[];
  readonly next?: string;
}

let lists: ListsWithModels;
let list: ListIndex;
let lease: GenerationLease;
let stores: RecordStoreCache;
let contexts: ListContexts;
beforeEach(async () => {
  lists = new ListsWithModels(new ScriptedModels({}));
  stores = new RecordStoreCache();
  contexts = new ListContexts(kernel);
  list = await lists.create('own');
  await importLines(
    list,
    Array.from({ length: COUNT }, (_, number) =>
      JSON.stringify({ name: `r${number}`, fields: {}, vector: vectorOf(number) }),
    ),
  );
  lease = list.lease();
});
afterEach(async () => {
  lease.release();
  await stores.close();
  await lists.remove();
});

/**
 * Returns numbers that are written in every notation: short, long, negative, with leading zeros and with an exponent.
 */
function vectorOf(number: number): number[] {
  const values = [1, -0.5, 1 / 3, -2e-7, 1.2345678e-6, -9.87654321e-6, 1e20, 3.4e38, -1.17549435e-38];
  return Array.from({ length: DIMENSIONS }, (_, i) => (values[(number + i) % values.length] as number) / (1 + i));
}

const asFloats = (vector: readonly number[] | undefined) => Array.from(Float32Array.from(vector ?? []));

function page(after: string | undefined, bytesMax?: number): Page {
  const writer = new ResponseWriter();
  const target = { generation: lease.handle };
  const limited = bytesMax === undefined ? {} : { bytesMax };
  const task = { kind: 'records', target, after: Number(after ?? -1), skip: 0, size: 1000, vectors: true } as const;
  new RecordLister(contexts, stores).page({ ...task, ...limited }, writer);
  return JSON.parse(Buffer.from(writer.take()).toString()) as Page;
}

function allPages(bytesMax: number): Page[] {
  const pages: Page[] = [];
  for (let after: string | undefined; pages.length === 0 || after !== undefined; after = pages.at(-1)?.next) {
    pages.push(page(after, bytesMax));
  }
  return pages;
}

describe('a page of records with vectors', () => {
  it('has every number as it was written, to the last bit', () => {
    const { results, next } = page(undefined);
    expect(next).toBeUndefined();
    expect(results.map(({ name, vector }) => [name, asFloats(vector)])).toEqual(
      Array.from({ length: COUNT }, (_, number) => [`r${number}`, asFloats(vectorOf(number))]),
    );
  });

  it.each([STORED_BYTES_MIN + 300, 3000, 10_000])(
    'ends at %i bytes, and all pages together have every record',
    (bytesMax) => {
      const pages = allPages(bytesMax);
      expect(pages.flatMap(({ results }) => results.map(({ name }) => name))).toEqual(
        Array.from({ length: COUNT }, (_, number) => `r${number}`),
      );
      expect(pages.length).toBeGreaterThan(1);
      for (const { results } of pages) {
        expect(results.length === 1 || JSON.stringify(results).length <= bytesMax).toBe(true);
      }
    },
  );

  it('has an error in place of a record that is longer with its vectors than bytes_max', async () => {
    const several = Array.from({ length: 30 }, (_, number) => vectorOf(number));
    const { id } = await written(list, putRequest('several', { title: 'S' }, several));
    lease.release();
    lease = list.lease();
    expect(page(undefined).results.at(-1)?.vectors?.map(asFloats)).toEqual(several.map(asFloats));
    const told = { id, error: expect.stringContaining('more than bytes_max') as string };
    expect(
      allPages(4000)
        .flatMap(({ results }) => results)
        .at(-1),
    ).toEqual(told);
  });

  it('has an error in place of each record whose vectors are damaged, between the others', async () => {
    const before = page(undefined).results;
    const { listPath } = contexts.get(lease.handle).settings;
    const store = new RecordStore(listPath);
    const vectors = new SpaceStore(store, 1, store.state()?.meaning?.spaces[0]?.number ?? 0).prepare();
    const numbers = Array.from(vectors.vectors.getKeys());
    store.transaction(() => {
      vectors.put(numbers[0] as number, Buffer.alloc(3));
      vectors.put(numbers[1] as number, Buffer.alloc(STORED_BYTES_MIN - 4, 1));
    });
    await store.close();
    const { results } = page(undefined);
    const damaged = (id: string | undefined) => ({ id, error: expect.stringMatching(/damaged.*vectors/) as string });
    expect(results.slice(0, 2)).toEqual([damaged(before[0]?.id), damaged(before[1]?.id)]);
    expect(results.slice(2)).toEqual(before.slice(2));
  });
});
