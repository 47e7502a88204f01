/**
 * Pages of documents as rows: each is read by itself, packed with the list's words or not, and damaged bytes are
 * reported.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { kernel } from '../../native-bindings/index.js';
import { SeededRandom } from '../../test/support/random.js';
import { DICTIONARIES_MAX, RecordStore, type Dictionary } from '../records/index.js';
import type { ListState } from '../store/index.js';
import { keyOfFile } from './extract-row.js';
import { extractStore, type ExtractStore } from './extract-store.js';
import type { ReadText } from './file-reader.js';
import { PACKED_PAGE_BYTES_MAX, readPageRow, textOfPage } from './page-row-codec.js';

const STATE: ListState = {
  format: 1,
  sequence: 1,
  nextRecordNumber: 1,
  nextVersion: 2,
  currentVersion: 1,
  versions: [],
};
const [PLAIN, DEFLATED, PACKED] = [1, 2, 3];
const VOCABULARY = Array.from({ length: 2000 }, (_, word) => ((word + 17) * 7919).toString(36).repeat(2));
const DAMAGED = 'the text of a file is not as it was written';

let folder = '';
let store: RecordStore;
let extracts: ExtractStore;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-page-rows-'));
  open();
  store.transaction(() => store.putState(STATE));
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(): void {
  const listPath = join(folder, 'list');
  mkdirSync(listPath, { recursive: true });
  store = new RecordStore(listPath, { create: true });
  extracts = extractStore(store).prepare([1]);
}

const urlOf = (number: number) => `https://example.com/${number}.pdf`;
const keyOf = (number: number) => keyOfFile({ kind: 'document', url: urlOf(number) });
const documentOf = (...texts: readonly string[]): ReadText => ({
  kind: 'document',
  pageCount: texts.length,
  truncated: false,
  pages: texts.map((text, position) => ({ page: position + 1, text })),
});
/** Returns a text of frequent words and a unique one. */
const sentence = (number: number) => {
  const random = new SeededRandom(number + 1);
  const words = Array.from({ length: 15 }, () => VOCABULARY[Math.floor(VOCABULARY.length * random.next() ** 2)]);
  return `The ${words.join(' ')} of ${number * 7919} near the żółw and 日本語. `;
};
const longText = (number: number) => Array.from({ length: 20 }, (_, line) => sentence(number * 20 + line)).join('');

function put(...documents: readonly (readonly [number: number, document: ReadText])[]): Dictionary | undefined {
  const packed = extracts.packed(documents.map(([, document]) => document));
  store.transaction(() => {
    extracts.putPacked(packed);
    for (const [number, document] of documents) {
      const text = { pageCount: document.pageCount, pagesRead: document.pages.length, truncated: false, readMs: 1 };
      extracts.put(keyOf(number), { url: urlOf(number), state: 'read', text }, document, packed);
    }
  });
  return packed.learned;
}

const rows = () =>
  store.environment.database<Buffer, Buffer>('page-rows', { encoding: 'binary', keyEncoding: 'binary' });
const rowKeyOf = (number: number, page: number) => {
  const key = Buffer.from(`${keyOf(number)}\0\0\0\0`, 'latin1');
  key.writeUInt32BE(page, key.length - 4);
  return key;
};
const stored = () => Array.from(rows().getRange(), ({ value }) => Buffer.from(value));
const formats = () => stored().map((row) => row[0]);
const textsOf = (number: number) => extracts.pages({ kind: 'document', url: urlOf(number) }).map(({ text }) => text);
const pageOf = (number: number, page: number) => {
  const found = extracts.page(urlOf(number), page);
  return found && [textOfPage(found), found.pageCount];
};
/** Returns 40 documents of ten pages. */
const many = () => Array.from({ length: 40 }, (_, number) => [number, manyOf(number)] as const);
const manyOf = (number: number) => documentOf(...Array.from({ length: 10 }, (_, page) => longText(number * 10 + page)));

describe('pages of a document', () => {
  it('are read as they were written, whatever they contain, by themselves and with the others', () => {
    put(...many());
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.nat(500).map(sentence),
      fc.nat(500).map(longText),
      fc.constant('一二三四五六七八九十'.repeat(50)),
      fc.constant('الغطاس طائر بحري يغوص من ثلاثين مترا. '.repeat(20)),
      fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), fc.array(text, { maxLength: 12 }), (first, second) => {
        for (const texts of [first, second]) {
          put([1, documentOf(...texts)], [2, documentOf(...texts, 'last')]);
          expect(textsOf(1)).toEqual(texts);
          expect(textsOf(2)).toEqual([...texts, 'last']);
          for (const [index, each] of texts.entries()) expect(pageOf(1, index + 1)).toEqual([each, texts.length]);
          expect(pageOf(1, texts.length + 1)).toEqual(['', texts.length]);
          const range = extracts.pages({ kind: 'document', url: urlOf(2) }, { first: 2, max: 3 });
          expect(range).toEqual([...texts, 'last'].slice(1, 4).map((each, index) => ({ page: index + 2, text: each })));
        }
        store.transaction(() => extracts.remove(keyOf(2)));
        expect([textsOf(2), pageOf(2, 1)]).toEqual([[], undefined]);
        expect(textsOf(1)).toEqual(second);
      }),
      { numRuns: 60 },
    );
    store.transaction(() => {
      for (const [number] of many()) extracts.remove(keyOf(number));
    });
    expect(stored()).toEqual([]);
  });

  it('are packed with words that are learned after enough of them, and earlier ones stay as they are', () => {
    let learnedAt: number | undefined;
    for (const [number, document] of many()) {
      if (put([number, document]) !== undefined) learnedAt ??= number;
      else if (learnedAt === undefined) expect(new Set(formats())).toEqual(new Set([DEFLATED]));
    }
    expect(learnedAt).toBeGreaterThan(1);
    const counts = [DEFLATED, PACKED].map((format) => formats().filter((each) => each === format).length);
    expect(counts).toEqual([10 * (learnedAt ?? 0), 400 - 10 * (learnedAt ?? 0)]);
    for (const [number, { pages }] of many()) expect(textsOf(number)).toEqual(pages.map(({ text }) => text));
    const bytes = stored().reduce((sum, { length }) => sum + length, 0);
    const deflated = many().flatMap(([, { pages }]) => pages.map(({ text }) => deflateRawSync(text).length));
    expect(store.wordsCount()).toBe(1);
    expect(bytes).toBeLessThan(deflated.reduce((sum, length) => sum + length));
  });

  it('are packed after a restart as well, and do not learn existing words again', async () => {
    expect(put(...many())?.number).toBe(1);
    await store.close();
    open();
    expect(put([99, manyOf(99)])).toBeUndefined();
    expect(textsOf(99)).toEqual(manyOf(99).pages.map(({ text }) => text));
    expect(new Set(formats())).toEqual(new Set([PACKED]));
    store.transaction(() => extracts.remove(keyOf(99)));
  });

  it('leave no words behind if their commit fails, and learn them with the next one', () => {
    const documents = many();
    const packed = extracts.packed(documents.map(([, document]) => document));
    expect(packed.learned?.number).toBe(1);
    expect(() =>
      store.transaction(() => {
        extracts.putPacked(packed);
        throw new Error('the disk is full');
      }),
    ).toThrow('the disk is full');
    expect(store.wordsCount()).toBe(0);
    expect(put(...documents)?.number).toBe(1);
    expect(textsOf(7)).toEqual(manyOf(7).pages.map(({ text }) => text));
  });

  it('are deflated if packing makes them no smaller, and stored plain if nothing does', () => {
    put(...many());
    const arabic = Array.from({ length: 60 }, (_, word) => `الكلمة${word} غير المعروفة`)
      .join(' ')
      .repeat(2);
    const random = randomBytes(2000).toString('latin1');
    const long = longText(5).repeat(Math.ceil(PACKED_PAGE_BYTES_MAX / longText(5).length));
    put([100, documentOf(arabic, random, '', 'ab', long)]);
    const key = keyOf(100);
    const own = Array.from(rows().getRange(), ({ key: rowKey, value }) => [rowKey, Buffer.from(value)] as const)
      .filter(([rowKey]) => rowKey.subarray(0, key.length).toString('latin1') === key)
      .map(([, value]) => value);
    expect(own.map((row) => row[0])).toEqual([DEFLATED, own[1]?.[0], PLAIN, PLAIN, DEFLATED]);
    for (const [index, text] of [arabic, random].entries())
      expect(own[index]?.length).toBeLessThan(1.12 * deflateRawSync(text).length + 10);
    expect(textsOf(100)).toEqual([arabic, random, '', 'ab', long]);
  });

  it('of different words get dictionaries of their own, up to the limit of a list', () => {
    const alphabet = 'abcdefghijklmnopqrstuvwxyz';
    const learned: (number | undefined)[] = [];
    for (let kind = 0; kind < DICTIONARIES_MAX + 2; kind += 1) {
      const words = Array.from({ length: 2000 }, (_, word) =>
        `${alphabet[kind]}${(word * 7919).toString(36)}`.repeat(2),
      );
      const text = (page: number) =>
        Array.from({ length: 300 }, (_, at) => words[(page * 31 + at * at) % 2000]).join(' ');
      // Each time there are as many pages as before in total.
      const pages = Array.from({ length: 100 * 2 ** Math.min(kind, 3) }, (_, page) => text(page));
      learned.push(put([1000 + kind, documentOf(...pages)])?.number);
    }
    expect(learned.filter((number) => number !== undefined).length).toBeGreaterThan(1);
    expect(store.wordsCount()).toBeLessThanOrEqual(DICTIONARIES_MAX);
  });

  it('are packed with one attempt if they are like the ones before, and with another dictionary once they are not', () => {
    const ofKind = (kind: number) => {
      const words = Array.from({ length: 2000 }, (_, word) => `${'abc'[kind]}${(word * 7919).toString(36)}`.repeat(2));
      return (page: number) => Array.from({ length: 300 }, (_, at) => words[(page * 31 + at * at) % 2000]).join(' ');
    };
    const learned = [0, 1, 2].map((kind) => {
      const pages = Array.from({ length: 100 * 2 ** kind }, (_, page) => ofKind(kind)(page));
      const number = put([1000 + kind, documentOf(...pages)])?.number;
      // Words are also learned from pages that exist.
      store.transaction(() => extracts.remove(keyOf(1000 + kind)));
      return number;
    });
    expect(learned).toEqual([1, 2, 3]);
    const packs = vi.spyOn(kernel, 'packRecords');
    const numbers = [2, 2, 2, 0, 0, 1, 2].map((kind, number) => {
      packs.mockClear();
      const text = ofKind(kind)(5000 + number);
      put([2000 + number, documentOf(text)]);
      expect(pageOf(2000 + number, 1)).toEqual([text, 1]);
      const row = rows().get(rowKeyOf(2000 + number, 1));
      return [row?.[0], row?.[1], packs.mock.calls.length];
    });
    packs.mockRestore();
    expect(numbers).toEqual([
      [PACKED, 3, 3],
      [PACKED, 3, 1],
      [PACKED, 3, 1],
      // One attempt is with the dictionary of the pages before, then all are tried.
      [PACKED, 1, 4],
      [PACKED, 1, 1],
      [PACKED, 2, 4],
      [PACKED, 3, 4],
    ]);
  });

  it('are read as an error or as text if their bytes are damaged', () => {
    put(...many());
    put([100, documentOf('ab', randomBytes(100).toString('hex'))]);
    const all = [...stored().slice(0, 20), ...stored().slice(-3)];
    fc.assert(
      fc.property(
        fc.nat(all.length - 1),
        fc.array(fc.tuple(fc.nat(300), fc.nat(255)), { maxLength: 5 }),
        fc.option(fc.nat(300), { nil: undefined }),
        (place, changes, end) => {
          const bytes = Buffer.from((all[place] as Buffer).subarray(0, end));
          for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
          const page = readPageRow(bytes, store.recordWords);
          try {
            expect(typeof textOfPage(page)).toBe('string');
          } catch (error) {
            expect((error as Error).message).toBe(DAMAGED);
          }
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('are reported as damaged if the words that pack them are lost or damaged', async () => {
    put(...many());
    await store.close();
    open();
    store.transaction(() => store.putWords(1, Buffer.alloc(100)));
    expect(extracts.page(urlOf(3), 2)).toMatchObject({ packing: null, pageCount: 10 });
    expect(() => textsOf(3)).toThrow(DAMAGED);
    const others = many().map(([number, document]) => [number + 100, document] as const);
    expect(put(...others)?.number).toBe(2);
    expect(textsOf(139)).toEqual(manyOf(39).pages.map(({ text }) => text));
  });
});

it('ExtractStore refuses pages that are not in order', () => {
  expect(() => extracts.packed([{ ...documentOf('one'), pages: [{ page: 2, text: '' }] }])).toThrow(
    'page 2 is in the place of page 1',
  );
});
