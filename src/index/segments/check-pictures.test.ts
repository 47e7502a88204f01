/** What `list.check` reports if the stored vectors of pictures and their index do not agree. */
import { expect, it } from 'vitest';
import type { Kernel } from '../../../native-bindings/index.js';
import type { RecordStore } from '../../records/index.js';
import { encodeVectors } from '../../vectors/index.js';
import { checkPictures } from './check-pictures.js';

const SPACE = 0;
const VECTOR = Float32Array.of(1, 2, 3);

/** The number of stored vectors, by record. */
type Kept = Readonly<Record<number, number>>;
/** The record and the place of each vector of each segment, and whether it is deleted. */
type Indexed = readonly (readonly (readonly [record: number, place: number, isDead?: boolean])[])[];

function problemsOf(records: readonly number[], kept: Kept, indexed: Indexed, damaged = -1): string[] {
  const rows = Object.entries(kept).map(([key, count]) => {
    const value = encodeVectors(Array.from({ length: count }, () => VECTOR));
    return { key: Number(key), value: Number(key) === damaged ? value.subarray(1) : value };
  });
  const store = {
    environment: { root: {}, database: () => ({ getRange: () => rows }) },
    hasDatabase: () => true,
    version: () => ({ record: (number: number) => (records.includes(number) ? Buffer.alloc(1) : undefined) }),
  } as unknown as RecordStore;
  const kernel = {
    vectorSegmentRows: (handle: number) => {
      const all = indexed[handle] ?? [];
      return {
        records: Uint32Array.from(all, ([record]) => record),
        places: Uint32Array.from(all, ([, place]) => place),
      };
    },
    deadVectors: (_generation: number, handle: number) => {
      const bits = new Uint8Array(8);
      for (const [row, [, , isDead = false]] of (indexed[handle] ?? []).entries())
        if (isDead) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
      return bits;
    },
  } as unknown as Kernel;
  const segments = indexed.map((_, handle) => ({ id: handle + 10, handle }));
  const problems: string[] = [];
  const pictures = { generation: 1, space: SPACE, segments };
  checkPictures(kernel, { store, version: 1, pictures }, (problem) => void problems.push(problem));
  return problems;
}

it('checkPictures reports nothing if each stored picture is indexed once', () => {
  const indexed: Indexed = [
    [
      [1, 0],
      [2, 0, true],
      [2, 1, true],
    ],
    [
      [2, 0],
      [2, 1],
      [3, 0, true],
    ],
  ];
  expect(problemsOf([1, 2, 3], { 1: 1, 2: 2 }, indexed)).toEqual([]);
});

it('checkPictures reports each kind of disagreement', () => {
  expect(problemsOf([1], { 1: 2 }, [[[1, 0]]])).toEqual(['of the 2 pictures of record 1, 1 are indexed']);
  expect(problemsOf([1], { 1: 1 }, [[[1, 4]]])).toEqual(['of the 1 pictures of record 1, 1 are indexed']);
  expect(problemsOf([1], { 1: 1 }, [])).toEqual(['of the 1 pictures of record 1, 0 are indexed']);
  expect(problemsOf([1], {}, [[[1, 0]]])).toEqual(['1 pictures of record 1 are indexed and not kept']);
  expect(problemsOf([], { 1: 1 }, [[[1, 0]]])).toEqual([
    'vectors of pictures are kept for record 1, which is not stored',
  ]);
  expect(problemsOf([1], { 1: 1 }, [[[1, 0]], [[1, 0]]])).toEqual([
    'picture 0 of record 1 is live in two segments, one of them 11',
  ]);
  expect(problemsOf([1], { 1: 1 }, [[[1, 0]]], 1)).toEqual([expect.stringContaining('cannot be read')]);
});
