import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordFormat } from '../records/index.js';
import { createRecordCounter } from './record-counter.js';

function countIn(format: RecordFormat, text: string, pieceBytes: number): number {
  const counter = createRecordCounter(format);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) counter.push(bytes.subarray(at, at + pieceBytes));
  return counter.count;
}

const value = fc.oneof(fc.string(), fc.integer(), fc.array(fc.string()), fc.dictionary(fc.string(), fc.string()));
const records = fc.array(fc.dictionary(fc.string(), value), { maxLength: 20 });
const pieceBytes = fc.integer({ min: 1, max: 50 });

describe('createRecordCounter counts records in parts of any size', () => {
  it('in NDJSON', () => {
    fc.assert(
      fc.property(records, pieceBytes, (list, size) => {
        expect(countIn('ndjson', list.map((record) => `${JSON.stringify(record)}\n`).join(''), size)).toBe(list.length);
      }),
    );
  });

  it('in a JSON array', () => {
    fc.assert(
      fc.property(records, pieceBytes, fc.constantFrom(0, 2), (list, size, indent) => {
        expect(countIn('json', JSON.stringify(list, null, indent), size)).toBe(list.length);
      }),
    );
  });

  it('in CSV with line breaks and quotes within quotes', () => {
    const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
    fc.assert(
      fc.property(fc.array(fc.array(fc.string(), { minLength: 1, maxLength: 3 })), pieceBytes, (rows, size) => {
        const text = ['name', ...rows.map((row) => row.map(cell).join(','))].map((line) => `${line}\r\n`).join('');
        expect(countIn('csv', text, size)).toBe(rows.length);
      }),
    );
  });

  it('in CSV with rows that end with carriage returns only, and in UTF-16', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b;c')), pieceBytes, (rows, size) => {
        expect(countIn('csv', ['name', ...rows].map((row) => `${row}\r`).join(''), size)).toBe(rows.length);
        const wide = Buffer.from(['name', ...rows].map((row) => `${row}\r\n`).join(''), 'utf16le');
        expect(countIn('csv', wide.toString('latin1'), size)).toBe(rows.length);
      }),
    );
  });
});
