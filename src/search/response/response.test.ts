import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeRecord, readRecordParts } from '../../records/index.js';
import { ResponseWriter } from './response-writer.js';
import { writeResult, type HitMembers } from './result-writer.js';

const RECORD = readRecordParts(
  encodeRecord({
    id: '0193a6f0-0000-7000-8000-000000000000',
    name: 'Żółw "1"',
    nameGenerated: false,
    asOf: '2026-11-21T05:54:00.000Z',
    createdMs: 0,
    modifiedMs: 1,
    fieldsJson: '{"title":"Zażółć","price":[5],"a\\"b":"c","__proto__":"d"}',
  }),
);
const HIGHLIGHTS = Buffer.from('[{"title":"<em>Zażółć</em>"}]');
const PLAIN: HitMembers = {
  textScore: 0.123456789,
  distance: undefined,
  location: undefined,
  highlights: undefined,
  listName: undefined,
  explainJson: undefined,
  select: undefined,
  fieldsBytesMax: undefined,
};

function written(hit: Partial<HitMembers>): string {
  const writer = new ResponseWriter();
  writeResult(writer, RECORD, { ...PLAIN, ...hit });
  return Buffer.from(writer.take()).toString();
}

describe('a result', () => {
  it('has its members in the order of the service document', () => {
    const result = written({
      distance: 1234.56789,
      location: { latitude: 51.5, longitude: -0.12 },
      highlights: { bytes: HIGHLIGHTS, begin: 1, end: HIGHLIGHTS.length - 1 },
      listName: 'animals',
      explainJson: '{"score":1}',
    });
    expect(Object.keys(JSON.parse(result) as object)).toEqual([
      'id',
      'name',
      '@text_score',
      'as_of',
      'distance',
      'location',
      'fields',
      'highlights',
      'list_name',
      'explain',
    ]);
    expect(JSON.parse(result)).toMatchObject({
      name: 'Żółw "1"',
      '@text_score': 0.123457,
      as_of: '2026-11-21T05:54:00.000Z',
      distance: 1234.568,
      location: { latitude: 51.5, longitude: -0.12 },
      fields: { title: 'Zażółć', price: [5], 'a"b': 'c' },
      highlights: { title: '<em>Zażółć</em>' },
      list_name: 'animals',
      explain: { score: 1 },
    });
  });

  it('leaves out what the search did not ask for', () => {
    expect(Object.keys(JSON.parse(written({})) as object)).toEqual(['id', 'name', '@text_score', 'as_of', 'fields']);
  });

  it('has the selected fields in the order of the record', () => {
    expect(written({ select: new Set(['price', 'missing', 'title']) })).toContain(
      '"fields":{"title":"Zażółć","price":[5]}',
    );
    expect(written({ select: new Set(['a"b', '__proto__']) })).toContain('"fields":{"a\\"b":"c","__proto__":"d"}');
    expect(written({ select: new Set() })).toContain('"fields":{}');
  });

  it('has the fields that fit, in their order, and names the others', () => {
    type Hit = { readonly fields: object; readonly fields_left_out?: readonly string[] };
    const read = (hit: Partial<HitMembers>) => JSON.parse(written(hit)) as Hit;
    const all = read({}).fields;
    const sizeOf = (fields: object): number => Buffer.byteLength(JSON.stringify(fields));
    expect(read({ fieldsBytesMax: sizeOf(all) })).not.toHaveProperty('fields_left_out');
    expect(read({ fieldsBytesMax: 0 })).toMatchObject({
      fields: {},
      fields_left_out: ['title', 'price', 'a"b', '__proto__'],
    });
    // "title" has letters of two bytes: with its name it takes 22 bytes, but 18 characters.
    expect(read({ fieldsBytesMax: 21 })).toMatchObject({
      fields: { price: [5] },
      fields_left_out: ['title', 'a"b', '__proto__'],
    });
    expect(read({ fieldsBytesMax: 13, select: new Set(['title', 'price']) })).toMatchObject({
      fields: { price: [5] },
      fields_left_out: ['title'],
    });
    fc.assert(
      fc.property(fc.nat(80), (fieldsBytesMax) => {
        const { fields, fields_left_out: leftOut = [] } = read({ fieldsBytesMax });
        expect(sizeOf(fields)).toBeLessThanOrEqual(Math.max('{}'.length, fieldsBytesMax));
        expect([...Object.keys(fields), ...leftOut].sort()).toEqual(Object.keys(all).sort());
      }),
    );
  });
});

describe('a score', () => {
  /** Returns the score with six digits, as the JavaScript runtime writes it. */
  function six(score: number): string {
    let scale = 1e6;
    for (let bound = 0.1; score < bound && scale < 1e18; bound /= 10) scale *= 10;
    return `"@text_score":${Math.round(score * scale) / scale},`;
  }

  it('has six digits, written as the JavaScript runtime writes numbers', () => {
    const scores = fc.oneof(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000),
      fc.tuple(fc.double({ min: 0.1, max: 1, noNaN: true }), fc.nat(20)).map(([one, zeros]) => one / 10 ** zeros),
      fc.constantFrom(0, 1, 0.1, 0.999_999_5, 1e-6, 1e-7, 0.000_001_5, 1.000_001),
    );
    fc.assert(
      fc.property(scores, (score) => {
        expect(written({ textScore: score })).toContain(six(score));
      }),
      { numRuns: 5000 },
    );
  });
});

describe('ResponseWriter', () => {
  it('grows, truncates a failed part, and starts over after take()', () => {
    const writer = new ResponseWriter();
    writer.ascii('a'.repeat(1_000_000));
    writer.text('ł'.repeat(1_000_000));
    const begin = writer.length;
    writer.text('half an answer');
    writer.truncate(begin);
    writer.bytes(Buffer.from('end'));
    const taken = Buffer.from(writer.take()).toString();
    expect(taken).toBe(`${'a'.repeat(1_000_000)}${'ł'.repeat(1_000_000)}end`);
    expect(writer.length).toBe(0);
    writer.ascii('next');
    expect(Buffer.from(writer.take()).toString()).toBe('next');
  });
});
