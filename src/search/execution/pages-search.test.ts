/** Searches of a list whose records link to documents: what hits say about the pages that matched. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../../test/support/eventually.js';
import { kernel } from '../../../native-bindings/index.js';
import { createInlineExecutor, createListIndexes, type ListIndex, type ListIndexes } from '../../index/index.js';
import { loadConfig } from '../../platform/config.js';
import { systemClock } from '../../platform/index.js';
import { createMetrics } from '../../platform/metrics.js';
import { RecordStoreCache } from '../../records/index.js';
import { ResponseWriter, SearchExecutor, StoreRecordReader, type SearchTask } from '../index.js';

const PAGES = ['a colony of gannets on the cliff', 'herring shoals <north> of the colony', 'tides'];
const settings = { account: 'default', list: 'things', language: 'en', synonym_rules: [], query_rules: [] };
const definition = {
  language: 'en',
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [{ name: 'kind', type: 'string', cardinality: 'Single' }],
  resources: [{ name: 'report', kind: 'document' }],
  location_field: null,
  inferred: 'no',
} as const;

let dataDir: string;
let stores: RecordStoreCache;
let indexes: ListIndexes;
let list: ListIndex;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-pages-search-'));
  stores = new RecordStoreCache();
  const log = pino({ level: 'silent' });
  const config = loadConfig({ argv: [], env: {} });
  const executor = createInlineExecutor({ kernel, stores });
  indexes = createListIndexes({ dataDir, kernel, executor, clock: systemClock, log, config, metrics: createMetrics() });
  const pages = PAGES.map((text, index) => ({ page: index + 1, text }));
  const content = { kind: 'document' as const, pageCount: 7, pages, truncated: true };
  const read = () => Promise.resolve({ kind: 'read' as const, file: { validators: {}, hash: 'h' }, content });
  indexes.useReader({
    pictureModel: () => undefined,
    framesBy: '',
    checkMs: 3_600_000,
    parallelMax: 1,
    retryMs: [],
    read,
  });
  list = await indexes.create('a1', settings, definition);
  const put = (name: string, fields: Readonly<Record<string, unknown>>) => list.write({ kind: 'put', name, fields });
  await put('paper', { title: 'A survey', kind: 'survey', report: 'https://docs.example/survey.pdf' });
  await put('note', { title: 'The colony', kind: 'note' });
  await eventually(
    () => Promise.resolve(search({ query: 'herring' }).total_count),
    (count) => count === 1,
  );
});
afterAll(async () => {
  await indexes.close();
  await stores.close();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Answer {
  readonly total_count: number;
  readonly facets?: unknown;
  readonly results: readonly (Readonly<Record<string, unknown>> & { readonly name: string })[];
}

function search(options: SearchTask['options']): Answer {
  const lease = list.lease();
  const records = new StoreRecordReader(stores);
  try {
    const writer = new ResponseWriter();
    const subject = { kind: 'list', name: 'things', version: 1 } as const;
    const task = { kind: 'search', targets: [{ generation: lease.handle }], subject, queryId: 'q' } as const;
    new SearchExecutor(kernel, records).execute({ ...task, options }, writer);
    return JSON.parse(Buffer.from(writer.take()).toString()) as Answer;
  } finally {
    records.release();
    lease.release();
  }
}

it('A hit names the page that matched and the number of pages, and highlights the words on it', () => {
  const [hit] = search({ query: 'herring' }).results;
  expect(hit).toMatchObject({ name: 'paper', '@document_score': expect.any(Number) as number });
  expect(hit?.['document']).toEqual({
    field: 'report',
    url: 'https://docs.example/survey.pdf',
    page: 2,
    page_count: 7,
    highlight: '<em>herring</em> shoals &lt;north&gt; of the colony',
  });
  expect(hit).not.toHaveProperty('@text_score');
});

it('Typos and stems match on pages, and phrases and match=all need a single page', () => {
  const found = (options: SearchTask['options']) => search(options).results.map(({ name }) => name);
  expect(found({ query: 'herrring' })).toEqual(['paper']);
  expect(found({ query: 'gannet' })).toEqual(['paper']);
  expect(found({ query: 'herring shoals', match: 'phrase' })).toEqual(['paper']);
  expect(found({ query: 'shoals herring', match: 'phrase' })).toEqual([]);
  expect(found({ query: 'herring tides', match: 'all' })).toEqual([]);
});

it('Records are counted once, each score has its own minimum, and filters and facets work as usual', () => {
  const both = search({ query: 'colony', facets: ['kind'] });
  expect(both.total_count).toBe(2);
  expect(both.facets).toEqual({
    kind: [
      { value: 'note', count: 1 },
      { value: 'survey', count: 1 },
    ],
  });
  const names = (options: SearchTask['options']) => search(options).results.map(({ name }) => name);
  const query = 'colony tides shoals';
  expect(names({ query }).toSorted()).toEqual(['note', 'paper']);
  expect(names({ query, minimum_document_score: 0.99 })).toEqual(['note']);
  // Each title has one of the words; of the two, pages have only "colony".
  expect(names({ query: 'colony survey', minimum_text_score: 0.99 })).toEqual(['paper']);
  expect(search({ query: 'colony', filter: "kind = 'survey'" }).total_count).toBe(1);
});
