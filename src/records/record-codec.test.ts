import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DamagedRecordError,
  decodeRecord,
  encodeRecord,
  readRecordParts,
  recordResource,
  type StoredRecord,
} from './record-codec.js';

const milliseconds = fc.integer({ min: 0, max: 253_402_300_799_999 });
const records: fc.Arbitrary<StoredRecord> = fc.record({
  id: fc.uuid(),
  name: fc.string({ unit: 'binary', minLength: 1, maxLength: 512 }),
  nameGenerated: fc.boolean(),
  asOf: milliseconds.map((time) => new Date(time).toISOString()),
  createdMs: milliseconds,
  modifiedMs: milliseconds,
  fieldsJson: fc
    .dictionary(fc.string({ unit: 'binary' }), fc.oneof(fc.string({ unit: 'binary' }), fc.integer()))
    .map((fields) => JSON.stringify(fields)),
});
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');

describe('record codec', () => {
  it('gives back every record as it was', () => {
    fc.assert(
      fc.property(records, (record) => {
        expect(decodeRecord(encodeRecord(record))).toEqual(record);
      }),
    );
  });

  it('holds fragments that spliced together are the resource', () => {
    fc.assert(
      fc.property(records, (record) => {
        const { head, asOf, times, fields } = readRecordParts(encodeRecord(record));
        const spliced: unknown = JSON.parse(`{${text(head)},${text(asOf)},${text(times)},"fields":${text(fields)}}`);
        expect(spliced).toEqual(recordResource(record));
      }),
    );
  });

  it('answers damaged bytes with DamagedRecordError or other content, never with another error', () => {
    fc.assert(
      fc.property(records, fc.nat(), fc.integer({ min: 0, max: 255 }), (record, at, byte) => {
        const bytes = encodeRecord(record);
        bytes[at % bytes.length] = byte;
        for (const damaged of [bytes, bytes.subarray(0, at % bytes.length)]) {
          try {
            decodeRecord(damaged);
          } catch (error) {
            expect(error).toBeInstanceOf(DamagedRecordError);
          }
        }
      }),
    );
  });
});
