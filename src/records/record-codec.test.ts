import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordId, recordNumberOf } from '../platform/index.js';
import { encodeFirstFormat, FIRST_FORMAT } from './first-format.js';
import {
  DamagedRecord,
  decodeRecord,
  encodeRecord,
  readRecord,
  readRecordParts,
  readWholeRecord,
  recordResource,
  resourceBytesOf,
  sourceTest,
  storedIdOf,
} from './record-codec.js';
import { DamagedRecordError, type FragmentWriter, type RecordParts } from './record-parts.js';
import { SHORT_FORMAT } from './short-format.js';
import type { StoredRecord } from './types.js';

const milliseconds = fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 });
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');
const encoders = [
  ['short', encodeRecord],
  ['first', encodeFirstFormat],
] as const;

const told = (read: RecordParts | DamagedRecord) =>
  read instanceof DamagedRecord ? read : [text(read.fields), read.createdMs, read.modifiedMs, read.resourceBytes];

/** Records as the service makes them, in most of which all times are equal. */
const records: fc.Arbitrary<StoredRecord> = fc
  .record({
    number: fc.nat(),
    otherId: fc.option(fc.uuid()),
    nameGenerated: fc.boolean(),
    name: fc.string({ unit: 'binary', minLength: 1, maxLength: 512 }),
    source: fc.option(fc.string({ unit: 'binary', maxLength: 200 }), { nil: undefined }),
    idMs: fc.nat({ max: 2 ** 48 - 1 }).map((time) => Math.min(time, 253_402_300_799_999)),
    createdMs: fc.option(milliseconds),
    modifiedMs: fc.option(milliseconds),
    asOfMs: fc.option(milliseconds),
    fieldsJson: fc
      .dictionary(fc.string({ unit: 'binary' }), fc.oneof(fc.string({ unit: 'binary' }), fc.integer()))
      .map((fields) => JSON.stringify(fields)),
  })
  .map(({ number, idMs, source, ...drawn }) => {
    const id = drawn.otherId ?? recordId(number, idMs);
    const createdMs = drawn.createdMs ?? idMs;
    const modifiedMs = drawn.modifiedMs ?? createdMs;
    return {
      id,
      name: drawn.nameGenerated ? id : drawn.name,
      nameGenerated: drawn.nameGenerated,
      asOf: new Date(drawn.asOfMs ?? modifiedMs).toISOString(),
      ...(source === undefined ? {} : { source }),
      createdMs,
      modifiedMs,
      fieldsJson: drawn.fieldsJson,
    };
  });

/** Returns the parts of a response, in its order. */
function fragments(parts: RecordParts): string[] {
  let written = '';
  const writer: FragmentWriter = {
    ascii: (characters) => void (written += characters),
    bytes: (bytes, begin, end) => void (written += text(bytes.subarray(begin, end))),
    uuid: (bytes, begin) => {
      const hex = Buffer.from(bytes.subarray(begin, begin + 16)).toString('hex');
      written += hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    },
  };
  return (['writeHead', 'writeAsOf', 'writeTimes'] as const).map((fragment) => {
    written = '';
    parts[fragment](writer);
    return written;
  });
}

describe.each(encoders)('the %s format of a record', (_, encode) => {
  it('decodes every record as it was encoded', () => {
    fc.assert(
      fc.property(records, (record) => {
        const bytes = encode(record);
        expect(decodeRecord(bytes)).toEqual(record);
        if (recordNumberOf(record.id) !== undefined) expect(storedIdOf(bytes)).toBe(record.id);
        expect(readWholeRecord(bytes).id).toBe(record.id);
      }),
    );
  });

  it('has parts that, joined, are the resource, of the computed length', () => {
    fc.assert(
      fc.property(records, (record) => {
        const bytes = encode(record);
        const parts = readRecordParts(bytes);
        const [head, asOf, times] = fragments(parts);
        const spliced = `{${head},"fields":${text(parts.fields)},${asOf},${times}}`;
        expect(JSON.parse(spliced)).toEqual(recordResource(record));
        expect(resourceBytesOf(bytes)).toBe(Buffer.byteLength(spliced));
        expect(text(parts.nameJson)).toBe(JSON.stringify(record.name));
        expect([parts.name, parts.createdMs, parts.modifiedMs, parts.fieldsJson]).toEqual([
          record.name,
          record.createdMs,
          record.modifiedMs,
          record.fieldsJson,
        ]);
      }),
    );
  });

  it('is readable after its bytes were copied between others', () => {
    fc.assert(
      fc.property(records, fc.integer({ min: 0, max: 100 }), (record, begin) => {
        const bytes = encode(record);
        const page = Buffer.concat([Buffer.alloc(begin, 0xff), bytes, Buffer.alloc(3)]);
        const copy = readRecordParts(bytes).copiedTo(page, begin);
        const expected = fragments(readRecordParts(Buffer.from(bytes)));
        bytes.fill(0);
        expect(fragments(copy)).toEqual(expected);
        expect(copy.stored()).toEqual(record);
      }),
    );
  });

  it('is read between others as it is alone, also if it is damaged or cut', () => {
    fc.assert(
      fc.property(records, fc.nat(), fc.integer({ min: 0, max: 255 }), (record, at, byte) => {
        const bytes = encode(record);
        const cut = bytes.subarray(0, at % bytes.length);
        const damaged = Buffer.from(bytes);
        damaged[at % bytes.length] = byte;
        for (const each of [bytes, damaged, cut]) {
          const page = Buffer.concat([Buffer.alloc(7, 0xff), each, Buffer.alloc(50, 0xff)]);
          expect(told(readRecord(page, 7, 7 + each.length))).toEqual(told(readRecord(each)));
        }
      }),
    );
  });

  it('tells from which source a record came', () => {
    fc.assert(
      fc.property(records, fc.string({ unit: 'binary' }), (record, other) => {
        const bytes = encode(record);
        expect(sourceTest(record.source ?? 'none')(bytes)).toBe(record.source !== undefined);
        expect(sourceTest(other)(bytes)).toBe(record.source === other);
      }),
    );
  });

  it('only throws DamagedRecordError for damaged bytes, or decodes to other content', () => {
    fc.assert(
      fc.property(records, fc.nat(), fc.integer({ min: 0, max: 255 }), (record, at, byte) => {
        const bytes = encode(record);
        bytes[at % bytes.length] = byte;
        for (const damaged of [bytes, bytes.subarray(0, at % bytes.length)]) {
          for (const read of [decodeRecord, readWholeRecord, storedIdOf, sourceTest('feed:a'), resourceBytesOf]) {
            try {
              read(damaged);
            } catch (error) {
              expect(error).toBeInstanceOf(DamagedRecordError);
            }
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('the format of a record', () => {
  const record: StoredRecord = {
    id: recordId(7, 1_000),
    name: 'a "name"',
    nameGenerated: false,
    asOf: new Date(1_000).toISOString(),
    createdMs: 1_000,
    modifiedMs: 1_000,
    fieldsJson: '{"a":["b"]}',
  };

  it('is the short one, with only the id, the name and the fields, if all times are equal', () => {
    const bytes = encodeRecord(record);
    expect(bytes[0]).toBe(SHORT_FORMAT);
    expect(bytes).toHaveLength(18 + 1 + 'a \\"name\\"'.length + record.fieldsJson.length);
  });

  it.each<Partial<StoredRecord>>([
    { id: 'x' },
    { id: record.id.toUpperCase() },
    { nameGenerated: true },
    { asOf: '2026-11-21' },
    { createdMs: 0.5 },
  ])('is the first one if the short one cannot hold %o', (change) => {
    const bytes = encodeRecord({ ...record, ...change });
    expect(bytes[0]).toBe(FIRST_FORMAT);
    expect(decodeRecord(bytes)).toEqual({ ...record, ...change });
  });

  it('is refused if it is neither', () => {
    const bytes = encodeRecord(record);
    bytes[0] = 3;
    expect(() => readRecordParts(bytes)).toThrow(DamagedRecordError);
    expect(() => readRecordParts(new Uint8Array())).toThrow(DamagedRecordError);
  });
});
