import { expect, it } from 'vitest';
import { encodeRecord, readRecordParts } from '../../records/index.js';
import { PAGE_BYTES, RecordPage } from './record-page.js';

function record(name: string, textBytes: number) {
  const fieldsJson = JSON.stringify({ text: 'x'.repeat(textBytes) });
  const asOf = '2026-11-21T05:54:00.000Z';
  return encodeRecord({ id: 'id', name, nameGenerated: false, asOf, createdMs: 0, modifiedMs: 1, fieldsJson });
}
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

it('keeps records whose first bytes are overwritten, as many as fit', () => {
  const page = new RecordPage();
  const read = record('first', 1000);
  const expected = readRecordParts(record('first', 1000));
  const first = page.add(readRecordParts(read));
  read.fill(0);
  const second = page.add(readRecordParts(record('second', PAGE_BYTES / 2)));
  const wide = readRecordParts(record('third', PAGE_BYTES / 2));
  expect(page.hasRoomFor(wide)).toBe(false);
  expect(() => page.add(wide)).toThrow(RangeError);
  for (const fragment of ['head', 'asOf', 'times', 'fields'] as const) {
    expect(text(first[fragment])).toBe(text(expected[fragment]));
  }
  expect(text(second.head)).toBe('"id":"id","name":"second"');
  page.clear();
  expect(text(page.add(wide).fields)).toHaveLength(PAGE_BYTES / 2 + '{"text":""}'.length);
});

it('takes one record of any size', () => {
  const page = new RecordPage();
  const large = readRecordParts(record('large', 3 * 1024 * 1024));
  expect(page.hasRoomFor(large)).toBe(true);
  expect(text(page.add(large).fields)).toBe(text(large.fields));
  page.clear();
  expect(text(page.add(readRecordParts(record('small', 3))).fields)).toBe('{"text":"xxx"}');
});
