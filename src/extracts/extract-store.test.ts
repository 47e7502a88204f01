/** What was read of files in the store of a list: found by URL, counted, and gone when nothing links to it. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RecordStore } from '../records/index.js';
import { extractStore, keyOfUrl, type ExtractStore } from './extract-store.js';
import { linkedDocuments } from './linked-documents.js';
import { readingLane, READING_LANES } from './reading-work.js';

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

const url = 'https://example.com/a.pdf';
const key = keyOfUrl(url);
const text = (...pages: string[]) => ({
  pageCount: pages.length,
  truncated: false,
  pages: pages.map((page, position) => ({ page: position + 1, text: page })),
});
const READ = { pageCount: 2, pagesRead: 2, truncated: false, readMs: 1 };

it('opens nothing in a store that has none', () => {
  expect(extracts.exists).toBe(false);
  expect(extracts.figures()).toEqual({ pending: 0, read: 0, failed: 0 });
  expect([extracts.outline(url), extracts.page(url, 1), extracts.pages(url), extracts.errors()]).toEqual([
    undefined,
    undefined,
    [],
    [],
  ]);
  expect(store.hasDatabase('extracts')).toBe(false);
});

it('counts each file in its state, and keeps the newest errors', () => {
  extracts.prepare(VERSIONS);
  const fault = (atMs: number) => ({ error: 'not-found', detail: 'Gone.', atMs }) as const;
  store.transaction(() => {
    for (let number = 0; number < 25; number += 1) {
      const each = `https://example.com/${number}.pdf`;
      extracts.put(keyOfUrl(each), { url: each, state: 'failed', fault: fault(number) });
    }
    extracts.put(key, { url, state: 'pending' });
  });
  expect(extracts.figures()).toEqual({ pending: 1, read: 0, failed: 25 });
  expect(extracts.errors().map(({ atMs }) => atMs)).toEqual(Array.from({ length: 20 }, (_, place) => 24 - place));
  store.transaction(() => {
    extracts.put(key, { url, state: 'read', text: READ }, text('One', 'Two'));
    extracts.remove(keyOfUrl('https://example.com/24.pdf'));
  });
  expect(extracts.figures()).toEqual({ pending: 0, read: 1, failed: 24 });
  expect(extracts.errors()[0]?.atMs).toBe(23);
  expect(extracts.page(`${url}#page=2`, 2)).toBe('Two');
  expect(extracts.page(url, 3)).toBe('');
  store.transaction(() => {
    extracts.put(key, { url, state: 'failed', fault: fault(99) }, null);
  });
  expect(extracts.pages(url)).toEqual([]);
  expect(extracts.errors()[0]?.url).toBe(url);
});

it('knows who links to a file, by version', () => {
  extracts.prepare(VERSIONS);
  const other = keyOfUrl('media:default/b.pdf');
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

it('takes places within a file for the file, and nothing else', () => {
  expect(keyOfUrl(`${url}#page=2`)).toBe(key);
  expect(keyOfUrl(`${url}?page=2`)).not.toBe(key);
  expect(keyOfUrl('media:default/a#1.pdf')).not.toBe(keyOfUrl('media:default/a#2.pdf'));
});

it('has one lane for all files of a host', () => {
  expect(readingLane('https://example.com/a.pdf')).toBe(readingLane('https://example.com/b/c.pdf?x'));
  for (const each of [url, 'media:default/a.pdf', 'no url', 'https://[::1]/x'])
    expect(READING_LANES).toContain(readingLane(each));
});

it('finds the documents among the resources of a record, whatever else its fields hold', () => {
  const resources = [
    { name: 'report', kind: 'document' },
    { name: 'cover', kind: 'image' },
    { name: 'annex', kind: 'document' },
  ] as const;
  const fields = { report: url, cover: 'https://example.com/c.png', annex: ['https://example.com/d.pdf'] };
  expect(linkedDocuments({ resources }, fields)).toEqual([{ field: 'report', url }]);
});
