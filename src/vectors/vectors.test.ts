/** The bytes of vectors, and the hash that tells whether a text has changed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldDefinition } from '../catalog/index.js';
import { readGivenVectors } from '../records/index.js';
import { ServiceError } from '../platform/index.js';
import {
  DamagedVectorsError,
  decodeVectors,
  encodeVectors,
  HASH_BYTES,
  hashOfVectors,
  textHash,
  textOfRecord,
} from './index.js';

const float = fc.float({ noNaN: true, noDefaultInfinity: true });
const vectors = fc
  .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 5 }))
  .chain(([dimensions, count]) =>
    fc.array(fc.array(float, { minLength: dimensions, maxLength: dimensions }), { minLength: count, maxLength: count }),
  );
const hash = fc.uint8Array({ minLength: HASH_BYTES, maxLength: HASH_BYTES });

describe('encoded vectors', () => {
  it('decode to what was given, at any offset', () => {
    fc.assert(
      fc.property(vectors, hash, fc.nat(7), (rows, of, offset) => {
        const bytes = encodeVectors(
          rows.map((row) => Float32Array.from(row)),
          of,
        );
        const elsewhere = new Uint8Array(bytes.length + offset + 9).fill(255);
        elsewhere.set(bytes, offset);
        const found = decodeVectors(elsewhere.subarray(offset, offset + bytes.length));
        expect([found.count, found.dimensions]).toEqual([rows.length, rows[0]?.length]);
        expect(Array.from(found.values)).toEqual(rows.flat().map(Math.fround));
        expect(Array.from(found.hash)).toEqual(Array.from(of));
        expect(Array.from(hashOfVectors(bytes))).toEqual(Array.from(of));
      }),
    );
  });

  it('are refused if they are damaged, and nothing is read beyond them', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          const { count, dimensions, values } = decodeVectors(bytes);
          expect(values.length).toBe(count * dimensions);
        } catch (error) {
          expect(error).toBeInstanceOf(DamagedVectorsError);
        }
      }),
    );
    const whole = encodeVectors([Float32Array.of(1, 2, 3)]);
    for (let length = 0; length < whole.length; ++length) {
      expect(() => decodeVectors(whole.subarray(0, length))).toThrow(DamagedVectorsError);
    }
  });
});

describe('vectors that come with a record', () => {
  it('are read as they are or refused with what was expected', () => {
    const anything = fc.anything({ maxDepth: 2 });
    fc.assert(
      fc.property(fc.record({ vector: anything, vectors: anything }, { requiredKeys: [] }), (record) => {
        try {
          const read = readGivenVectors(record);
          for (const vector of read ?? []) {
            expect(vector.every((value) => Number.isFinite(value)) && vector.some((value) => value !== 0)).toBe(true);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(ServiceError);
          expect((error as ServiceError).code).toBe('invalid-record');
        }
      }),
    );
    fc.assert(
      fc.property(vectors, (rows) => {
        fc.pre(rows.every((row) => row.some((value) => Math.fround(value) !== 0)));
        expect(readGivenVectors({ vectors: rows })?.map((vector) => Array.from(vector))).toEqual(
          rows.map((row) => row.map(Math.fround)),
        );
      }),
    );
  });
});

describe('textOfRecord', () => {
  const definition: FieldDefinition = {
    searchable_fields: ['name', 'title', 'tags', 'text'].map((name) => ({ name, weight: 1 })),
    facets: [],
    resources: [],
    location_field: null,
    inferred: 'no',
  };
  const text = (fields: Record<string, string | readonly string[]>, nameGenerated = false) =>
    textOfRecord(definition, { name: 'a name', nameGenerated }, fields);

  it('uses the first searchable field with text as title, and no generated name', () => {
    expect(text({ title: 'T', text: 'Long.', other: 'x' })).toEqual({ title: 'a name', text: 'T\nLong.' });
    expect(text({ title: ' ', tags: ['red', 'blue'] }, true)).toEqual({ title: 'red, blue', text: '' });
    expect(text({}, true)).toBeUndefined();
  });

  it('has a hash that no other text, model or length has', () => {
    const part = fc.string({ maxLength: 4 });
    const key = fc.record({ title: part, text: part, modelVersion: part, dimensions: fc.integer({ min: 1, max: 12 }) });
    fc.assert(
      fc.property(key, key, (left, right) => {
        const isSame = JSON.stringify(left) === JSON.stringify(right);
        expect(textHash(left, left).equals(textHash(right, right))).toBe(isSame);
      }),
    );
  });
});
