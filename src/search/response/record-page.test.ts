import { expect, it } from 'vitest';
import { recordId } from '../../platform/index.js';
import { encodeRecord, readRecordParts, type RecordParts } from '../../records/index.js';
import { PAGE_BYTES, RecordPage } from './record-page.js';
import { ResponseWriter } from './response-writer.js';

const ID = recordId(7, 0);

function record(name: string, textBytes: number) {
  const fieldsJson = JSON.stringify({ text: 'x'.repeat(textBytes) });
  const asOf = '2026-11-21T05:54:00.000Z';
  return encodeRecord({ id: ID, name, nameGenerated: false, asOf, createdMs: 0, modifiedMs: 1, fieldsJson });
}
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

function written(parts: RecordParts, fragment: 'writeHead' | 'writeAsOf' | 'writeTimes'): string {
  const writer = new ResponseWriter();
  parts[fragment](writer);
  return text(new Uint8Array(writer.take()));
}

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
  for (const fragment of ['writeHead', 'writeAsOf', 'writeTimes'] as const) {
    expect(written(first, fragment)).toBe(written(expected, fragment));
  }
  expect(text(first.fields)).toBe(text(expected.fields));
  expect(written(second, 'writeHead')).toBe(`"id":"${ID}","name":"second"`);
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
