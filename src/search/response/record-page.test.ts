import { expect, it } from 'vitest';
import { PackedList, storedRecord } from '../../../test/support/packed-list.js';
import { recordId } from '../../platform/index.js';
import {
  DamagedRecordError,
  encodeRecord,
  isPacked,
  readRecordParts,
  type RecordParts,
  type RecordWords,
} from '../../records/index.js';
import { PAGE_BYTES, RecordPage } from './record-page.js';
import { ResponseWriter } from './response-writer.js';

const ID = recordId(7, 0);

function record(name: string, textBytes: number) {
  const fieldsJson = JSON.stringify({ text: 'x'.repeat(textBytes) });
  const asOf = '2026-11-21T05:54:00.000Z';
  return encodeRecord({ id: ID, name, nameGenerated: false, asOf, createdMs: 0, modifiedMs: 1, fieldsJson });
}
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

function written(parts: RecordParts | undefined, fragment: 'writeHead' | 'writeAsOf' | 'writeTimes'): string {
  const writer = new ResponseWriter();
  parts?.[fragment](writer);
  return text(new Uint8Array(writer.take()));
}

const recordWords = (): RecordWords => new PackedList().words;

it('keeps records whose first bytes are overwritten, as many as fit', () => {
  const page = new RecordPage();
  const words = recordWords();
  const read = record('first', 1000);
  const expected = readRecordParts(record('first', 1000));
  page.add(read, words);
  read.fill(0);
  page.add(record('second', PAGE_BYTES / 2), words);
  const wide = record('third', PAGE_BYTES / 2);
  expect(page.hasRoomFor(wide)).toBe(false);
  expect(() => {
    page.add(wide, words);
  }).toThrow(RangeError);
  const [first, second] = page.records();
  for (const fragment of ['writeHead', 'writeAsOf', 'writeTimes'] as const) {
    expect(written(first, fragment)).toBe(written(expected, fragment));
  }
  expect(text(first?.fields ?? new Uint8Array())).toBe(text(expected.fields));
  expect(written(second, 'writeHead')).toBe(`"id":"${ID}","name":"second"`);
  page.clear();
  page.add(wide, words);
  expect(page.records()[0]?.fields).toHaveLength(PAGE_BYTES / 2 + '{"text":""}'.length);
});

it('takes one record of any size', () => {
  const page = new RecordPage();
  const words = recordWords();
  const large = record('large', 3 * 1024 * 1024);
  expect(page.hasRoomFor(large)).toBe(true);
  page.add(large, words);
  expect(page.records()[0]?.fieldsJson).toBe(readRecordParts(large).fieldsJson);
  page.clear();
  page.add(record('small', 3), words);
  expect(page.records()[0]?.fieldsJson).toBe('{"text":"xxx"}');
});

it('unpacks records of several lists beside others, by several dictionaries, and tells one that is damaged', () => {
  const records = (animal: string) =>
    Array.from({ length: 2000 }, (_, number) =>
      storedRecord(number, {
        text: Array.from({ length: 30 }, (_each, at) => `${animal}${(number * 7 + at * at) % 500}`).join(' '),
      }),
    );
  const [cats, dogs] = [new PackedList(), new PackedList()];
  const written = (list: PackedList, of: string) => {
    const stored = records(of);
    return { words: list.words, short: stored.map(encodeRecord), packed: list.write(stored) };
  };
  const lists = [written(cats, 'cat'), written(dogs, 'dog'), written(cats, 'bird'), written(cats, 'bird')];
  expect(cats.count).toBe(2);
  // The first birds came while the list only knew cats.
  expect(lists.map(({ packed }) => isPacked(packed[0] ?? Buffer.alloc(0)))).toEqual([true, true, false, true]);
  const page = new RecordPage();
  const expected: string[] = [];
  for (let number = 0; number < 40; number += 1) {
    const list = lists[number % lists.length];
    const short = list?.short[number] ?? Buffer.alloc(0);
    const packed = list?.packed[number] ?? Buffer.alloc(0);
    page.add(number % 3 === 0 ? short : packed, list?.words ?? recordWords());
    expected.push(readRecordParts(short).fieldsJson);
  }
  page.add(record('alone', 10), recordWords());
  expected.push('{"text":"xxxxxxxxxx"}');
  const read = page.records();
  expect(read.map(({ fieldsJson }) => fieldsJson)).toEqual(expected);
  // Their words are marked where they lie.
  expect(new Set(read.map(({ bytes }) => bytes)).size).toBe(1);
  page.add((lists[0]?.packed[0] ?? Buffer.alloc(0)).subarray(0, -1), lists[0]?.words ?? recordWords());
  expect(() => page.records()).toThrow(DamagedRecordError);
});
