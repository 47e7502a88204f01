/**
 * Pages of the documents that a list's records link to, in the list's index: compared with a plain model, and through
 * damage, versions and clones.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../test/support/random.js';
import { SEGMENT_DAMAGE, segmentFilesOf } from '../../../test/support/segment-damage.js';
import { kernel } from '../../../native-bindings/index.js';
import { MATCH_ALL, QueryPlanWriter } from '../../../native-bindings/query-plan.js';
import { parseResult } from '../../../native-bindings/query-result.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { extractStore, keyOfFile, linkedTexts, type FileReader, type ReadingOutcome } from '../../extracts/index.js';
import { loadConfig } from '../../platform/config.js';
import { recordNumberOf, systemClock } from '../../platform/index.js';
import { createMetrics } from '../../platform/metrics.js';
import { decodeRecord, parseFields, RecordStore, RecordStoreCache } from '../../records/index.js';
import { currentVersionOf, LIST_STATE_FORMAT_WITH_SHORT_RECORDS, segmentFile } from '../../store/index.js';
import { createInlineExecutor, createListIndexes, type ListIndex, type ListIndexes } from '../index.js';
import { pageAt } from '../parts/part-layout.js';
import { partStore } from '../parts/part-store.js';

const settings = { account: 'default', list: 'things', language: 'en', synonym_rules: [], query_rules: [] };
const definition: FieldDefinition = {
  language: 'en',
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [],
  resources: [
    { name: 'photo', kind: 'image' },
    { name: 'report', kind: 'document' },
    { name: 'annex', kind: 'document' },
  ],
  location_field: null,
  inferred: 'no',
};
const WORDS = ['gannet', 'puffin', 'cliff', 'herring', 'tide'] as const;
const DOCUMENTS = 6;
/** The format of a row that is packed with the list's words. */
const PACKED = 3;

/** The pages of a document: by number, the words on each. */
type Pages = readonly (readonly string[])[];

let dataDir: string;
let stores: RecordStoreCache;
let indexes: ListIndexes;
let list: ListIndex;
let listId: string;
/** What each URL answers now. */
let files: Map<string, Pages>;

const urlOf = (document: number) => `https://docs.example/${document}.pdf`;
/** Returns n pages for document n; the third page of each is blank. */
const firstPages = (document: number): Pages =>
  Array.from({ length: document }, (_, page) =>
    page === 2 ? [] : [WORDS[(document + page) % WORDS.length] as string, `doc${document}`],
  );

const reader: FileReader = {
  pictureModel: () => undefined,
  framesBy: '',
  checkMs: 3_600_000,
  parallelMax: 4,
  retryMs: [],
  read: ({ url, known }): Promise<ReadingOutcome> => {
    const pages = files.get(url);
    if (pages === undefined)
      return Promise.resolve({ kind: 'unreadable', error: 'not-found', detail: 'no such file', file: undefined });
    const file = { validators: {}, hash: JSON.stringify(pages) };
    if (known?.hash === file.hash) return Promise.resolve({ kind: 'unchanged', file });
    const read = pages.map((words, index) => ({ page: index + 1, text: words.join(' ') }));
    return Promise.resolve({
      kind: 'read',
      file,
      content: { kind: 'document', pageCount: read.length, pages: read, truncated: false },
    });
  },
};

function openIndexes(): void {
  stores = new RecordStoreCache();
  indexes = createListIndexes({
    dataDir,
    kernel,
    executor: createInlineExecutor({ kernel, stores }),
    clock: systemClock,
    log: pino({ level: 'silent' }),
    config: loadConfig({ argv: [], env: { GANNET_VERSIONS_KEPT: '2' } }),
    metrics: createMetrics(),
    waitForRebuild: true,
  });
  indexes.useReader(reader);
}

/** Creates a list in place of the current one. */
async function anotherList(fields: FieldDefinition): Promise<ListIndex> {
  await indexes.remove(listId);
  listId = `${listId.charAt(0)}${Number(listId.slice(1)) + 1}`;
  return indexes.create(listId, settings, fields);
}

async function closeIndexes(): Promise<void> {
  await indexes.close();
  await stores.close();
}

async function reopen(): Promise<void> {
  await closeIndexes();
  openIndexes();
  list = await indexes.open(listId, settings);
}

const pathOf = (id = listId) => join(dataDir, 'lists', id);

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-pages-'));
  files = new Map(Array.from({ length: DOCUMENTS }, (_, index) => [urlOf(index + 1), firstPages(index + 1)]));
  openIndexes();
  listId = 'a1';
  list = await indexes.create(listId, settings, definition);
});
afterEach(async () => {
  await closeIndexes();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Links {
  readonly report?: number | undefined;
  readonly annex?: number | undefined;
}
const fieldsOf = ({ report, annex }: Links) => ({
  title: 'a record',
  ...(report === undefined ? {} : { report: urlOf(report) }),
  ...(annex === undefined ? {} : { annex: urlOf(annex) }),
});

async function put(name: string, links: Links): Promise<string> {
  return (await list.write({ kind: 'put', name, fields: fieldsOf(links) })).record.id;
}

/** Returns what a word finds as `name field page`, with the best page of each record. */
function found(word: string, from = list, version?: number): string[] {
  const lease = from.lease(version);
  try {
    const plan = {
      needTotal: true,
      skip: 0,
      size: 1000,
      groups: [{ occur: 'must' as const, boost: 1, alternatives: [{ weight: 1, terms: [word] }] }],
      filter: MATCH_ALL,
      sort: [],
      facets: [],
    };
    const part = Buffer.from(new QueryPlanWriter().write({ ...plan, size: 0 }));
    const bytes = kernel.search(lease.handle, new QueryPlanWriter().write(plan), undefined, {
      parts: [{ name: 'pages', kind: 'document', plan: part, floor: 0 }],
    });
    const { hits, scores, total } = parseResult(bytes);
    expect(total).toBe(hits.count);
    const source = scores.kinds.indexOf('document');
    return Array.from({ length: hits.count }, (_, hit) => {
      const place = scores.place(hit, source);
      const at = place === undefined ? undefined : pageAt(lease.definition, place);
      return `${hits.recordNumber(hit)} ${at?.field} ${at?.page}`;
    }).toSorted();
  } finally {
    lease.release();
  }
}

/**
 * Of equal pages the first counts, of equal fields the first in the definition. Pages with a word are equally long,
 * and so have the same score.
 */
function expected(word: string, records: ReadonlyMap<number, Links>): string[] {
  return [...records]
    .flatMap(([record, links]) => {
      const [best] = (['report', 'annex'] as const).flatMap((field) => {
        const document = links[field];
        return (document === undefined ? [] : (files.get(urlOf(document)) ?? [])).flatMap((words, index) =>
          words.includes(word) ? [{ field, page: index + 1 }] : [],
        );
      });
      return best === undefined ? [] : [`${record} ${best.field} ${best.page}`];
    })
    .toSorted();
}

/** Resolves when nothing is left to read or to index. */
async function settled(from = list): Promise<void> {
  const store = new RecordStore(from.listPath);
  try {
    for (;;) {
      store.refresh();
      const state = store.state();
      if (state !== undefined && isSettled(store, currentVersionOf(state).version)) return;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  } finally {
    await store.close();
  }
}

function isSettled(store: RecordStore, version: number): boolean {
  const extracts = extractStore(store);
  if (extracts.figures().pending > 0) return false;
  const part = partStore(store, version, 'pages');
  for (const { key, value } of store.version(version).records.getRange()) {
    const linked = linkedTexts(definition, parseFields(decodeRecord(value).fieldsJson));
    const wanted = linked.flatMap(({ field, kind, url }) => {
      const pages = extracts.pages({ kind, url });
      return pages.some(({ text }) => text !== '')
        ? [`${field} ${url} ${extracts.outline({ kind, url })?.file?.hash}`]
        : [];
    });
    const attached = part.attached(key).map(({ field, url, hash }) => `${field} ${url} ${hash}`);
    if (attached.join() !== wanted.join()) return false;
  }
  return true;
}

const everyWord = [...WORDS, ...Array.from({ length: DOCUMENTS }, (_, index) => `doc${index + 1}`)];

async function agrees(records: ReadonlyMap<number, Links>, from = list, version?: number): Promise<void> {
  for (const word of everyWord) expect([word, found(word, from, version)]).toEqual([word, expected(word, records)]);
  expect(await from.check()).toEqual([]);
}

/** Damages a page while the list is closed. */
async function damagePage(url: string, page: number): Promise<void> {
  await closeIndexes();
  const store = new RecordStore(pathOf());
  const rows = store.environment.database<Buffer, Buffer>('page-rows', { encoding: 'binary', keyEncoding: 'binary' });
  const number = Buffer.alloc(4);
  number.writeUInt32BE(page);
  const key = Buffer.concat([Buffer.from(keyOfFile({ kind: 'document', url })), number]);
  expect(rows.get(key)).toBeDefined();
  store.transaction(() => rows.putSync(key, Buffer.from([9])));
  await store.close();
  openIndexes();
  list = await indexes.open(listId, settings);
}

const link = fc.option(fc.integer({ min: 1, max: DOCUMENTS }), { nil: undefined });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('put' as const), name: fc.nat(8), report: link, annex: link }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), name: fc.nat(8) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reindex' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
);

describe('pages of a list', () => {
  it('are those of what its records link to, whatever is written, rebuilt and opened again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        list = await anotherList(definition);
        const ids = new Map<number, string>();
        const records = new Map<number, Links>();
        for (const each of steps) {
          if (each.kind === 'put') {
            const id = await put(`r${each.name}`, each);
            ids.set(each.name, id);
            records.set(recordNumberOf(id) as number, each);
          } else if (each.kind === 'delete') {
            const id = ids.get(each.name);
            if (id === undefined) continue;
            await list.write({ kind: 'delete', id });
            ids.delete(each.name);
            records.delete(recordNumberOf(id) as number);
          } else if (each.kind === 'reindex') await list.reindex();
          else if (each.kind === 'reopen') await reopen();
          else await settled();
        }
        await settled();
        await agrees(records);
      }),
      { numRuns: 15 },
    );
  });

  it('of a record are removed by the write that removes its link, and kept by any other write', async () => {
    const id = await put('one', { report: 2 });
    await settled();
    const record = recordNumberOf(id);
    expect(found('doc2')).toEqual([`${record} report 1`]);
    await list.write({ kind: 'patch', id, name: undefined, fields: { title: 'another title' } });
    expect(found('doc2')).toEqual([`${record} report 1`]);
    await list.write({ kind: 'patch', id, name: undefined, fields: { report: urlOf(5) } });
    expect(found('doc2')).toEqual([]);
    await settled();
    expect(found('doc5')).toEqual([`${record} report 1`]);
    await list.write({ kind: 'delete', id });
    expect(found('doc5')).toEqual([]);
    expect(await list.check()).toEqual([]);
  });

  it('are indexed again from what was read if one of their segments cannot be used', async () => {
    const records = new Map<number, Links>();
    for (let name = 0; name < 20; ++name) {
      const links = { report: 1 + (name % DOCUMENTS), annex: 1 + ((name * 3) % DOCUMENTS) };
      records.set(recordNumberOf(await put(`r${name}`, links)) as number, links);
    }
    await settled();
    const store = new RecordStore(pathOf());
    expect(partStore(store, 1, 'pages').segments().length).toBeGreaterThan(0);
    await store.close();
    for (const damage of Object.values(SEGMENT_DAMAGE)) {
      await closeIndexes();
      const now = new RecordStore(pathOf());
      const [segment] = partStore(now, 1, 'pages').segments();
      await now.close();
      damage(segmentFile(pathOf(), segment?.id ?? 0));
      openIndexes();
      list = await indexes.open('a1', settings);
      await agrees(records);
    }
  });

  it('are merged into one segment although one of them is much larger', async () => {
    const pagesOf = (count: number): Pages => Array.from({ length: count }, () => ['gannet']);
    files.set(urlOf(1), pagesOf(40)).set(urlOf(2), pagesOf(12));
    for (const report of [1, 2]) {
      await put(`r${report}`, { report });
      await settled();
    }
    // One segment of the fields and one of the pages remain once there was no write for a second.
    await expect.poll(() => segmentFilesOf(pathOf()).length).toBe(2);
    expect(found('gannet')).toHaveLength(2);
  });

  it('are kept in the next version, under the new name of a field, and in a clone', async () => {
    const records = new Map<number, Links>();
    for (let name = 0; name < 30; ++name) {
      const links = { report: 1 + (name % DOCUMENTS) };
      records.set(recordNumberOf(await put(`r${name}`, links)) as number, links);
    }
    await settled();
    const resources = [{ name: 'paper', kind: 'document' as const }];
    const version = await list.changeDefinition({ ...definition, resources }, { report: 'paper' });
    await expect.poll(() => list.currentVersion).toBe(version);
    expect(found('doc3').every((hit) => hit.endsWith('paper 1'))).toBe(true);
    expect(found('doc3')).toHaveLength(5);
    // The version before stays as it was.
    expect(found('doc3', list, 1)).toEqual(expected('doc3', records));
    const clone = await indexes.clone('a1', 'b2', { ...settings, list: 'copies' });
    expect(found('doc3', clone)).toEqual(found('doc3'));
    expect(await clone.check()).toEqual([]);
    expect(await list.check()).toEqual([]);
    expect(segmentFilesOf(pathOf('b2')).length).toBeGreaterThan(1);
  });

  it("stay packed with the list's words after a restart and in a clone, and a damaged one is named", async () => {
    const random = new SeededRandom(1);
    const vocabulary = Array.from({ length: 2000 }, (_, word) => ((word + 17) * 7919).toString(36).repeat(2));
    const wordsOf = () => Array.from({ length: 200 }, () => vocabulary[Math.floor(2000 * random.next() ** 2)] ?? '');
    files.set(urlOf(1), Array.from({ length: 200 }, wordsOf));
    const number = recordNumberOf(await put('one', { report: 1 })) as number;
    await settled();
    const [word = ''] = files.get(urlOf(1))?.[150] ?? [];
    const first = expected(word, new Map([[number, { report: 1 }]]))[0]?.split(' ')[0];
    expect(found(word).map((hit) => hit.split(' ')[0])).toEqual([first]);
    await reopen();
    const clone = await indexes.clone(listId, 'b2', { ...settings, list: 'copies' });
    for (const each of [list, clone]) {
      expect(await each.check()).toEqual([]);
      const [document] = (await each.files.texts('one', { max: 300 })) ?? [];
      expect(document?.pages.map(({ text }) => text)).toEqual(files.get(urlOf(1))?.map((words) => words.join(' ')));
    }
    for (const id of [listId, 'b2']) {
      const store = new RecordStore(pathOf(id));
      expect(store.wordsCount()).toBe(1);
      const rows = store.environment.database<Buffer, Buffer>('page-rows', {
        encoding: 'binary',
        keyEncoding: 'binary',
      });
      const all = Array.from(rows.getRange(), ({ key, value }) => [Buffer.from(key), Buffer.from(value)] as const);
      expect(new Set(all.map(([, row]) => row[0]))).toEqual(new Set([PACKED]));
      const [key, row] = all[16] ?? [];
      store.transaction(() => rows.putSync(key as Buffer, (row as Buffer).subarray(0, -1)));
      await store.close();
    }
    await reopen();
    expect(await list.check()).toEqual([`version 1: page 17 of ${urlOf(1)} cannot be read`]);
    const [document] = (await list.files.texts('one', { first: 16, max: 3 })) ?? [];
    expect(document?.pages.map(({ page, text, isDamaged }) => [page, text === '', isDamaged])).toEqual([
      [16, false, undefined],
      [17, true, true],
      [18, false, undefined],
    ]);
  });

  it.each([
    ['another record links to the document', () => put('two', { report: 4 })],
    ['the index is rebuilt', () => list.reindex()],
    [
      'a segment of theirs is made again',
      async () => {
        await closeIndexes();
        const store = new RecordStore(pathOf());
        const [segment] = partStore(store, 1, 'pages').segments();
        await store.close();
        rmSync(segmentFile(pathOf(), segment?.id ?? 0));
        openIndexes();
        list = await indexes.open(listId, settings);
      },
    ],
    [
      'a version is built',
      () => list.changeDefinition({ ...definition, resources: definition.resources.slice(1) }, {}),
    ],
    ['somebody reads it', () => list.files.texts('one', {})],
  ])('that are damaged on disk do not hide others, and are read again when %s', async (_, happens) => {
    const links = { report: 4, annex: 3 };
    const records = new Map([[recordNumberOf(await put('one', links)) as number, links as Links]]);
    await settled();
    await damagePage(urlOf(4), 2);
    expect(await list.check()).toEqual([`version 1: page 2 of ${urlOf(4)} cannot be read`]);
    const id = await happens();
    if (typeof id === 'string') records.set(recordNumberOf(id) as number, { report: 4 });
    await expect.poll(() => list.check()).toEqual([]);
    await settled();
    await agrees(records);
  });

  it('are cloned as they are: a damaged one is named in the clone, read again, and hides no others', async () => {
    const links = { report: 4, annex: 3 };
    const records = new Map([[recordNumberOf(await put('one', links)) as number, links as Links]]);
    await settled();
    const before = await list.files.texts('one', {});
    await damagePage(urlOf(4), 2);
    const clone = await indexes.clone(listId, 'b2', { ...settings, list: 'copies' });
    expect(await clone.check()).toEqual([`version 1: page 2 of ${urlOf(4)} cannot be read`]);
    expect(found('doc3', clone)).toEqual(expected('doc3', records));
    const texts = await clone.files.texts('one', {});
    const isDamaged = texts?.flatMap(({ pages }) => pages.filter((page) => page.isDamaged === true));
    expect(isDamaged?.map(({ page, text }) => [page, text])).toEqual([[2, '']]);
    await expect.poll(() => clone.check()).toEqual([]);
    expect(await clone.files.texts('one', {})).toEqual(before);
    await expect.poll(() => found('doc4', clone)).toEqual(expected('doc4', records));
    // The original list is as it was.
    expect(await list.check()).toEqual([`version 1: page 2 of ${urlOf(4)} cannot be read`]);
  });

  it('add no database and no index part to a list without documents', async () => {
    list = await anotherList({ ...definition, resources: [] });
    await put('one', {});
    const lease = list.lease();
    expect(kernel.generationParts(lease.handle)).toEqual([]);
    lease.release();
    const store = new RecordStore(pathOf());
    expect(store.state()).toMatchObject({ format: LIST_STATE_FORMAT_WITH_SHORT_RECORDS });
    expect(store.hasDatabase('attached-v1-pages')).toBe(false);
    await store.close();
  });
});
