/** What was read of files, in the store of a list: found by URL, counted, and deleted when nothing links to it. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RecordStore } from '../records/index.js';
import {
  LIST_STATE_FORMAT_WITH_FRAMES,
  LIST_STATE_FORMAT_WITH_PAGE_ROWS,
  LIST_STATE_FORMAT_WITH_RECORDINGS,
  type ListState,
} from '../store/index.js';
import { keyOfFile, type ExtractRow } from './extract-row.js';
import { ExtractStore, extractStore } from './extract-store.js';
import { linkedFiles, linkedTexts } from './linked-files.js';
import { encodePages } from './page-codec.js';
import { textOfPage } from './page-row-codec.js';
import { readingLane, READING_LANES } from './reading-work.js';
import { frameAt, seenFiles } from './seen-files.js';
import { decodeFrames, decodeVector, encodeFrames, encodeVector, secondOfFrame } from './vector-bytes.js';

const VERSIONS = [1, 2];
let folder = '';
let store: RecordStore;
let extracts: ExtractStore;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-extracts-'));
  const listPath = join(folder, 'list');
  mkdirSync(listPath);
  store = new RecordStore(listPath, { create: true });
  extracts = extractStore(store);
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const keyOf = (url: string) => keyOfFile({ kind: 'document', url });
const url = 'https://example.com/a.pdf';
const key = keyOf(url);
const text = (...pages: string[]) => ({
  kind: 'document' as const,
  pageCount: pages.length,
  truncated: false,
  pages: pages.map((page, position) => ({ page: position + 1, text: page })),
});
const textOf = (page: number, from = url): string | undefined => {
  const found = extracts.page(from, page);
  return found && textOfPage(found);
};
const READ = { pageCount: 2, pagesRead: 2, truncated: false, readMs: 1 };

it('ExtractStore checks whether its databases exist only until they do', () => {
  const asked: string[] = [];
  const { environment } = store;
  const looking = new ExtractStore({
    environment,
    hasDatabase: (name) => asked.push(name) > 0 && store.hasDatabase(name),
    raiseFormat: () => undefined,
    raiseFormatAboveWords: () => undefined,
    recordWords: store.recordWords,
  });
  expect([looking.page(url, 1), looking.page(url, 1)]).toEqual([undefined, undefined]);
  expect(asked).toEqual(['extracts', 'extracts']);
  extracts.prepare([1]);
  store.transaction(() => extracts.put(key, { url, state: 'read', text: READ }, text('one', 'two')));
  store.refresh();
  for (const page of [1, 2, 1]) expect(looking.page(url, page)?.pageCount).toBe(2);
  expect(asked).toEqual(['extracts', 'extracts', 'extracts', 'page-rows']);
});

it('ExtractStore reads pages of an earlier release without creating the database of page rows', () => {
  const rows = store.environment.database<ExtractRow, string>('extracts');
  const before = store.environment.database<Buffer, string>('extract-pages', { encoding: 'binary' });
  store.transaction(() => {
    void rows.putSync(key, { url, state: 'read', text: READ });
    void before.putSync(key, encodePages(text('One', 'Two').pages, 2));
  });
  expect([textOf(1), textOf(2), [...extracts.damagedPages()]]).toEqual(['One', 'Two', []]);
  expect(extracts.pages({ kind: 'document', url }).map((each) => each.text)).toEqual(['One', 'Two']);
  expect(store.hasDatabase('page-rows')).toBe(false);
  extracts.prepare([]);
  expect(store.hasDatabase('page-rows')).toBe(true);
});

it('ExtractStore opens no database in a store without extracts', () => {
  expect(extracts.exists).toBe(false);
  expect(extracts.figures()).toEqual({ pending: 0, read: 0, failed: 0 });
  expect([
    extracts.outline({ kind: 'document', url }),
    textOf(1),
    extracts.pages({ kind: 'document', url }),
    extracts.errors(),
  ]).toEqual([undefined, undefined, [], []]);
  expect(store.hasDatabase('extracts')).toBe(false);
});

it('The format of a list is raised with its first recording, and never lowered by a later commit', () => {
  const before: ListState = {
    format: 1,
    sequence: 1,
    nextRecordNumber: 1,
    nextVersion: 2,
    currentVersion: 1,
    versions: [],
  };
  const formatAfter = (change: () => void) => {
    extracts.prepare(VERSIONS);
    store.transaction(change);
    return store.state()?.format;
  };
  expect(formatAfter(() => store.putState(before))).toBe(1);
  expect(formatAfter(() => extracts.put(key, { url, state: 'pending' }))).toBe(1);
  const film = { url: 'https://example.com/a.mp4', kind: 'video', state: 'pending' } as const;
  // A commit writes the state on which it is based last.
  const commit = () => {
    extracts.put(keyOfFile(film), film);
    store.putState({ ...before, sequence: 2 });
  };
  expect(formatAfter(commit)).toBe(LIST_STATE_FORMAT_WITH_RECORDINGS);
  const forget = () => {
    extracts.remove(keyOfFile(film));
    store.putState({ ...before, sequence: 3 });
  };
  expect(formatAfter(forget)).toBe(LIST_STATE_FORMAT_WITH_RECORDINGS);
  expect(store.state()?.sequence).toBe(3);
  const seen = { ...film, kind: 'frames' } as const;
  expect(formatAfter(() => extracts.put(keyOfFile(seen), seen))).toBe(LIST_STATE_FORMAT_WITH_FRAMES);
  const put = () => extracts.put(key, { url, state: 'read', text: READ }, text('One', 'Two'));
  expect(formatAfter(put)).toBe(LIST_STATE_FORMAT_WITH_PAGE_ROWS);
  expect(store.wordsCount()).toBe(0);
});

it('ExtractStore knows the page count of a document beyond the pages read, and in formats that lack it', () => {
  extracts.prepare(VERSIONS);
  const row = { url, state: 'read', text: { ...READ, pageCount: 9, truncated: true } } as const;
  store.transaction(() => extracts.put(key, row, { ...text('One', 'Two'), pageCount: 9, truncated: true }));
  const found = () => [1, 2, 3].map((page) => [extracts.page(url, page)?.pageCount, textOf(page)]);
  const expected = [
    [9, 'One'],
    [9, 'Two'],
    [9, ''],
  ];
  expect(found()).toEqual(expected);
  // Earlier releases wrote one value per file, the first of them without the page count of the document.
  const before = store.environment.database<Buffer, string>('extract-pages', { encoding: 'binary' });
  const rows = store.environment.database<Buffer, Buffer>('page-rows', { encoding: 'binary', keyEncoding: 'binary' });
  for (const pageCount of [undefined, 9]) {
    store.transaction(() => {
      extracts.put(key, row, null);
      expect(Array.from(rows.getKeys())).toEqual([]);
      void before.putSync(key, encodePages(text('One', 'Two').pages, pageCount));
    });
    expect(found()).toEqual(expected);
    expect(extracts.pages({ kind: 'document', url }).map((each) => each.text)).toEqual(['One', 'Two']);
  }
  expect(extracts.page('https://example.com/other.pdf', 1)).toBeUndefined();
  // Reading the file again makes rows of it.
  store.transaction(() => extracts.put(key, row, { ...text('Three'), pageCount: 9, truncated: true }));
  expect([textOf(1), textOf(2), before.get(key)]).toEqual(['Three', '', undefined]);
});

it('ExtractStore counts files by state, and keeps the newest errors', () => {
  extracts.prepare(VERSIONS);
  const fault = (atMs: number) => ({ error: 'not-found', detail: 'Gone.', atMs }) as const;
  store.transaction(() => {
    for (let number = 0; number < 25; number += 1) {
      const each = `https://example.com/${number}.pdf`;
      extracts.put(keyOf(each), { url: each, state: 'failed', fault: fault(number) });
    }
    extracts.put(key, { url, state: 'pending' });
  });
  expect(extracts.figures()).toEqual({ pending: 1, read: 0, failed: 25 });
  expect(extracts.errors().map(({ atMs }) => atMs)).toEqual(Array.from({ length: 20 }, (_, place) => 24 - place));
  store.transaction(() => {
    extracts.put(key, { url, state: 'read', text: READ }, text('One', 'Two'));
    extracts.remove(keyOf('https://example.com/24.pdf'));
  });
  expect(extracts.figures()).toEqual({ pending: 0, read: 1, failed: 24 });
  expect(extracts.errors()[0]?.atMs).toBe(23);
  expect(textOf(2, `${url}#page=2`)).toBe('Two');
  expect(textOf(3)).toBe('');
  store.transaction(() => {
    extracts.put(key, { url, state: 'failed', fault: fault(99) }, null);
  });
  expect(extracts.pages({ kind: 'document', url })).toEqual([]);
  expect(extracts.errors()[0]?.url).toBe(url);
});

it('ExtractStore knows which records link to a file, by version', () => {
  extracts.prepare(VERSIONS);
  const other = keyOf('media:default/b.pdf');
  store.transaction(() => {
    for (const recordNumber of [1, 7, 300]) extracts.putLink(1, key, recordNumber);
    extracts.putLink(2, other, 7);
  });
  expect(extracts.recordsOf(key, 1)).toEqual([1, 7, 300]);
  expect(extracts.recordsOf(key, 2)).toEqual([]);
  expect([extracts.isLinked(key, VERSIONS), extracts.isLinked(key, [2]), extracts.isLinked(other, VERSIONS)]).toEqual([
    true,
    false,
    true,
  ]);
  expect(extracts.linkedKeys(1, '', 10)).toEqual([key]);
  expect(extracts.linkedKeys(1, key, 10)).toEqual([]);
  store.transaction(() => {
    for (const recordNumber of [1, 7, 300]) extracts.removeLink(1, key, recordNumber);
  });
  expect(extracts.isLinked(key, VERSIONS)).toBe(false);
});

it('keyOfFile ignores only the fragment of a URL', () => {
  expect(keyOf(`${url}#page=2`)).toBe(key);
  expect(keyOf(`${url}?page=2`)).not.toBe(key);
  expect(keyOf('media:default/a#1.pdf')).not.toBe(keyOf('media:default/a#2.pdf'));
});

it('readingLane is the same for all files of a host', () => {
  const laneOf = (at: string) => readingLane({ url: at });
  expect(laneOf('https://example.com/a.pdf')).toBe(laneOf('https://example.com/b/c.pdf?x'));
  for (const each of [url, 'media:default/a.pdf', 'no url', 'https://[::1]/x'])
    expect(READING_LANES).toContain(laneOf(each));
  // Frames take long, whatever their URL.
  expect(READING_LANES).toContain(readingLane({ kind: 'frames', url }));
  expect(readingLane({ kind: 'frames', url })).not.toBe(laneOf(url));
});

it('linkedTexts finds the documents among the resources of a record, whatever else its fields contain', () => {
  const resources = [
    { name: 'report', kind: 'document' },
    { name: 'cover', kind: 'image' },
    { name: 'annex', kind: 'document' },
  ] as const;
  const fields = { report: url, cover: 'https://example.com/c.png', annex: ['https://example.com/d.pdf'] };
  const report = { field: 'report', kind: 'document', url };
  expect(linkedTexts({ resources }, fields)).toEqual([report]);
  const cover = { field: 'cover', kind: 'image', url: fields.cover };
  expect(linkedFiles({ resources }, fields, ['document', 'image'])).toEqual([report, cover]);
});

it('ExtractStore keeps a file as a picture separate from the same file as a document, and its vector unchanged', () => {
  extracts.prepare(VERSIONS);
  const file = { kind: 'image', url } as const;
  const vector = Float32Array.of(0.5, -0.25, 1e-7);
  const picture = { width: 3, height: 2, modelVersion: 'm', readMs: 1 };
  store.transaction(() => {
    extracts.put(keyOfFile(file), { ...file, state: 'read', picture }, { ...file, ...picture, vector });
    extracts.put(key, { url, state: 'read', text: READ }, text('One', 'Two'));
  });
  expect(extracts.figures()).toEqual({ pending: 0, read: 2, failed: 0 });
  expect(extracts.vector(keyOfFile(file))).toEqual(vector);
  expect([extracts.vector(key), extracts.seenRows(9).map(({ kind }) => kind)]).toEqual([undefined, ['image']]);
  store.transaction(() => {
    extracts.remove(keyOfFile(file));
  });
  expect([extracts.vector(keyOfFile(file)), textOf(1)]).toEqual([undefined, 'One']);
});

it('ExtractStore keeps the frames of a video with their times', () => {
  const file = { kind: 'frames', url } as const;
  const frames = [
    { seconds: 0, vector: Float32Array.of(1, 0) },
    { seconds: 20, vector: Float32Array.of(0.5, -0.25) },
  ];
  const row = { ...file, state: 'read', frames: { count: 2, modelVersion: 'm', truncated: false, readMs: 1 } } as const;
  extracts.prepare(VERSIONS);
  store.transaction(() => {
    extracts.put(keyOfFile(file), row, { ...file, frames, modelVersion: 'm', truncated: false });
  });
  expect(extracts.frames(keyOfFile(file))).toEqual(frames);
  expect([0, 1, 2].map((place) => extracts.secondOfFrame(keyOfFile(file), place))).toEqual([0, 20, undefined]);
  const resources = [
    { name: 'film', kind: 'video' },
    { name: 'cover', kind: 'image' },
  ] as const;
  expect(linkedFiles({ resources }, { film: url }, ['video', 'frames']).map(({ kind }) => kind)).toEqual([
    'video',
    'frames',
  ]);
  const files = seenFiles(extracts, { resources }, { film: url, cover: url });
  expect(frameAt(extracts, files, 1)).toEqual({ field: 'film', url, seconds: 20 });
  expect(frameAt(extracts, files, 2)).toBeUndefined();
});

it('decodeFrames rejects bytes that are no frames, and decodes all that are', () => {
  const frame = fc.record({
    seconds: fc.float({ min: 0, noNaN: true }),
    vector: fc.float32Array({ minLength: 3, maxLength: 3, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 5 }), (frames) => {
      expect(decodeFrames(encodeFrames(frames))).toEqual(frames);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.boolean(), (bytes, begins) => {
      if (begins && bytes.length > 0) bytes[0] = 2;
      try {
        expect(encodeFrames(decodeFrames(bytes)).length).toBe(bytes.length);
      } catch (error) {
        expect((error as Error).message).toBe('the frames of a video are not as they were written');
      }
    }),
  );
});

it('secondOfFrame rejects frames that are cut before their last time, whichever is requested', () => {
  const bytes = encodeFrames([10, 20].map((seconds) => ({ seconds, vector: Float32Array.of(1, 0) })));
  for (let length = 0; length < 16; length += 1) {
    const cut = () => [0, 1].map((place) => secondOfFrame(bytes.subarray(0, length), place));
    expect(cut, `${length} bytes`).toThrow('the frames of a video are not as they were written');
  }
  expect([0, 1, 2].map((place) => secondOfFrame(bytes.subarray(0, 16), place))).toEqual([10, 20, undefined]);
});

it('decodeVector rejects bytes that are no vector', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      try {
        expect(encodeVector(decodeVector(bytes)).length).toBe(bytes.length);
      } catch (error) {
        expect((error as Error).message).toBe('the vector of a picture is not as it was written');
      }
    }),
  );
});
