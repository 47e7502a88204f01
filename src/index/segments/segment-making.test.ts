import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { DocumentEncoder } from './document-encoder.js';
import { PIECE_BYTES, SegmentMaking } from './segment-making.js';

const definition: FieldDefinition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [{ name: 'group', type: 'string', cardinality: 'Single' }],
  resources: [],
  location_field: null,
  inferred: 'no',
};
const NOW_MS = 1_700_000_000_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-making-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

interface Setup {
  readonly file?: string;
  readonly isLarge?: boolean;
  readonly given?: Partial<typeof kernel>;
}

function making({ file = 'segment.mdb', isLarge = true, given = {} }: Setup = {}) {
  const encoder = new DocumentEncoder(definition);
  let begun = 0;
  const begin: typeof kernel.beginSegment = (path, schema) => {
    begun += 1;
    return kernel.beginSegment(path, schema);
  };
  const segment = new SegmentMaking({
    kernel: { ...kernel, beginSegment: begin, ...given },
    path: join(folder, file),
    encoder,
    isLarge,
  });
  const add = (recordNumber: number): number => {
    const title = `word${recordNumber % 100} ${'and others '.repeat(20)}`;
    const record = { name: `r${recordNumber}`, createdMs: NOW_MS, modifiedMs: NOW_MS };
    const place = encoder.add(recordNumber, record, { title, group: [`g${recordNumber % 7}`] });
    segment.added();
    return place;
  };
  return { segment, encoder, add, begun: () => begun };
}

/** So many documents that several parts are sent. */
const LARGE = Math.ceil((3 * PIECE_BYTES) / 250);

function recordNumbersIn(path: string): number[] {
  const handle = kernel.openSegment(path);
  try {
    return [...kernel.recordNumbers(handle)];
  } finally {
    kernel.closeSegment(handle);
  }
}
const filesLeft = () => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

describe('the segment of a commit', () => {
  it('has the same bytes whether a thread builds it concurrently or it is built at the end', () => {
    const [beside, atOnce] = [making(), making({ file: 'at-once.mdb', isLarge: false })];
    for (let number = 0; number < LARGE; number += 1) {
      beside.add(number);
      atOnce.add(number);
    }
    beside.segment.end();
    atOnce.segment.end();
    expect([beside.begun(), atOnce.begun()]).toEqual([1, 0]);
    expect(beside.segment.finish()).toEqual(atOnce.segment.finish());
    expect(beside.segment.finish().documentCount).toBe(LARGE);
    expect(readFileSync(beside.segment.path).equals(readFileSync(atOnce.segment.path))).toBe(true);
  });

  it('uses no thread for a few documents', () => {
    const { segment, add, begun } = making();
    for (let number = 0; number < 10; number += 1) add(number);
    segment.end();
    expect(segment.finish().documentCount).toBe(10);
    expect(begun()).toBe(0);
  });

  it('has none of the dropped documents, whether they were dropped before or after they were sent', () => {
    for (const isLate of [false, true]) {
      const { segment, encoder, add, begun } = making({ file: `${isLate}.mdb` });
      const places = Array.from({ length: 3 }, (_, number) => add(number));
      if (!isLate) encoder.drop(places[1] as number);
      for (let number = 3; number < LARGE; number += 1) add(number);
      if (isLate) encoder.drop(places[1] as number);
      add(1);
      segment.end();
      expect(segment.finish().documentCount).toBe(LARGE);
      expect(begun()).toBe(isLate ? 1 : 0);
      const numbers = recordNumbersIn(segment.path);
      expect(numbers.filter((number) => number === 1)).toHaveLength(1);
      expect(numbers.at(-1)).toBe(1);
    }
  });

  it('is built at the end if no thread is available', () => {
    const { segment, add } = making({ given: { beginSegment: () => null } });
    for (let number = 0; number < LARGE; number += 1) add(number);
    segment.end();
    expect(segment.finish().documentCount).toBe(LARGE);
  });

  it('leaves no file behind if it is discarded, at whatever moment', () => {
    for (const moment of ['begun', 'ended', 'finished']) {
      const { segment, add } = making();
      for (let number = 0; number < LARGE; number += 1) add(number);
      if (moment !== 'begun') segment.end();
      if (moment === 'finished') segment.finish();
      segment.discard();
      segment.discard();
      expect(filesLeft(), moment).toEqual([]);
    }
  });

  it('leaves no file behind if all its documents were dropped', () => {
    const { segment, encoder, add } = making();
    for (let number = 0; number < LARGE; number += 1) encoder.drop(add(number));
    segment.end();
    expect(filesLeft()).toEqual([]);
  });

  it("fails when it is finished, with the kernel's error about the path", () => {
    const { segment, add } = making({ file: 'missing/deep/segment.mdb' });
    for (let number = 0; number < LARGE; number += 1) add(number);
    segment.end();
    expect(() => segment.finish()).toThrow(expect.objectContaining({ name: 'KernelError', code: 'io' }) as Error);
    segment.discard();
    expect(existsSync(segment.path)).toBe(false);
  });
});
