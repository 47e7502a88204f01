import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PackedList, storedRecord } from '../../../test/support/packed-list.js';
import { recordId } from '../../platform/index.js';
import {
  DamagedRecord,
  encodeRecord,
  isPacked,
  readRecordParts,
  RecordBatch,
  RecordStore,
  RecordStoreCache,
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

function readable(page: RecordPage): RecordParts[] {
  return page.records().map((record) => {
    if (record instanceof DamagedRecord) throw new Error(record.reason);
    return record;
  });
}

const recordWords = (): RecordWords => new PackedList().words;

it('RecordPage keeps records whose original bytes are overwritten, as many as fit', () => {
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
  const [first, second] = readable(page);
  for (const fragment of ['writeHead', 'writeAsOf', 'writeTimes'] as const) {
    expect(written(first, fragment)).toBe(written(expected, fragment));
  }
  expect(text(first?.fields ?? new Uint8Array())).toBe(text(expected.fields));
  expect(written(second, 'writeHead')).toBe(`"id":"${ID}","name":"second"`);
  page.clear();
  page.add(wide, words);
  expect(readable(page)[0]?.fields).toHaveLength(PAGE_BYTES / 2 + '{"text":""}'.length);
});

it('RecordPage takes a single record of any size', () => {
  const page = new RecordPage();
  const words = recordWords();
  const large = record('large', 3 * 1024 * 1024);
  expect(page.hasRoomFor(large)).toBe(true);
  page.add(large, words);
  expect(readable(page)[0]?.fieldsJson).toBe(readRecordParts(large).fieldsJson);
  page.clear();
  page.add(record('small', 3), words);
  expect(readable(page)[0]?.fieldsJson).toBe('{"text":"xxx"}');
});

it('RecordPage unpacks records of several lists, with several dictionaries, beside unpacked ones', () => {
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
  // The first birds were written when the list had learned only cats.
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
  const read = readable(page);
  expect(read.map(({ fieldsJson }) => fieldsJson)).toEqual(expected);
  // All of them lie in one buffer, in which their words are highlighted.
  expect(new Set(read.map(({ bytes }) => bytes)).size).toBe(1);
});

it('RecordPage reports damaged records, and those of a damaged dictionary, by their ids between the others', () => {
  const stored = Array.from({ length: 4000 }, (_, number) => storedRecord(number, { text: sentenceOf(number) }));
  const list = new PackedList();
  const packed = list.write(stored);
  const at = (number: number) => Buffer.from(packed[number] ?? []);
  const short = stored.map(encodeRecord);
  const lost = new PackedList(new Map([[1, Buffer.alloc(100)]])).words;
  const page = new RecordPage();
  page.add(at(0), list.words);
  page.add(at(1).subarray(0, -1), list.words);
  page.add(at(2), lost);
  page.add(short[3] ?? at(3), list.words);
  page.add(at(4).subarray(0, 10), list.words);
  page.add((short[5] ?? at(5)).subarray(0, 8), list.words);
  page.add(at(6), new PackedList().words);
  page.add(Buffer.concat([at(7), Buffer.of(0)]), list.words);
  page.add(at(8), list.words);
  const ids = page
    .records()
    .map((read) => (read instanceof DamagedRecord ? { damaged: read.id } : { read: written(read, 'writeHead') }));
  const damaged = (number: number) => ({ damaged: stored[number]?.id });
  const whole = (number: number) => ({ read: `"id":"${stored[number]?.id ?? ''}","name":"r${number}"` });
  expect(ids).toEqual([
    whole(0),
    damaged(1),
    damaged(2),
    whole(3),
    { damaged: undefined },
    { damaged: undefined },
    damaged(6),
    damaged(7),
    whole(8),
  ]);
});

it('RecordPage unpacks records of stores that were closed after they were read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-record-page-'));
  const stores = new RecordStoreCache(1);
  try {
    const paths = ['a', 'b', 'c'].map((name) => join(folder, name));
    for (const path of paths) await writePacked(path);
    const page = new RecordPage();
    for (const [index, path] of paths.entries()) {
      const version = stores.get(path).version(1);
      page.add(version.storedRecord(index) ?? Buffer.alloc(0), version.words);
    }
    expect(readable(page).map(({ fieldsJson }) => fieldsJson)).toEqual(
      paths.map((path, index) => JSON.stringify({ text: `${path} ${sentenceOf(index)}` })),
    );
  } finally {
    await stores.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

const sentenceOf = (number: number) =>
  `The sentence of number ${number} says what the others of its kind say, again and again, and ${number * 7919}`;

/** Writes a list whose records are packed with its own dictionary. */
async function writePacked(path: string): Promise<void> {
  mkdirSync(path);
  const store = new RecordStore(path, { create: true });
  const version = store.version(1).prepare();
  const batch = new RecordBatch();
  const places = Array.from({ length: 4000 }, (_, number) =>
    batch.add(storedRecord(number, { text: `${path} ${sentenceOf(number)}` })),
  );
  const learned = version.packer.pack(batch.packable());
  store.transaction(() => {
    if (learned !== undefined) version.words.putLearned(learned);
    for (const place of places) version.putRecord(place, batch.placed(place), true);
  });
  expect(isPacked(version.storedRecord(0) ?? Buffer.alloc(0))).toBe(true);
  await store.close();
}
