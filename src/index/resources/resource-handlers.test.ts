import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { extractStore, keyOfFile, type ReadText } from '../../extracts/index.js';
import { RecordStore } from '../../records/index.js';
import type { IngestContext } from '../contract/ingest-context.js';
import { readDamagedAgain } from './resource-handlers.js';

const FILE = { kind: 'document', url: 'https://example.com/a.pdf' } as const;
const CONTENT: ReadText = {
  kind: 'document',
  pageCount: 1,
  truncated: false,
  pages: [{ page: 1, text: 'Text of the page' }],
};
let folder = '';
let store: RecordStore;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-resource-handlers-'));
  mkdirSync(join(folder, 'list'));
  store = new RecordStore(join(folder, 'list'), { create: true });
  putRead();
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function putRead(): void {
  const extracts = extractStore(store).prepare([]);
  const packed = extracts.packed([CONTENT]);
  store.transaction(() => {
    const text = { pageCount: 1, pagesRead: 1, truncated: false, readMs: 1 };
    extracts.put(keyOfFile(FILE), { ...FILE, state: 'read', text }, CONTENT, packed);
  });
}

function damage(): void {
  const rows = store.environment.database<Buffer, Buffer>('page-rows', { encoding: 'binary', keyEncoding: 'binary' });
  store.transaction(() => {
    for (const key of Array.from(rows.getKeys(), (each) => Buffer.from(each))) rows.putSync(key, Buffer.from([255]));
  });
}

it('readDamagedAgain queues a damaged document once, and not once more after it has been read', () => {
  const context = { stores: { get: () => store } } as unknown as IngestContext;
  const readAgain = () =>
    readDamagedAgain(context, { kind: 'read-again', listPath: folder, nowMs: 1, urls: [FILE.url] }).queued;
  damage();
  expect([readAgain(), readAgain()]).toEqual([1, 0]);
  putRead();
  // Whoever has seen the damaged page may report it only now.
  expect(readAgain()).toBe(0);
  expect(extractStore(store).outline(FILE)?.state).toBe('read');
});
