/**
 * Kills the service (SIGKILL) while pages of documents are written, packed with words that the list has learned: each
 * document has all its pages or none, and all are read to the end after the next start.
 */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RecordStore } from '../../src/records/index.js';
import { eventually } from '../support/eventually.js';
import { pdfOf } from '../support/pdf.js';
import { SeededRandom } from '../support/random.js';
import { ScriptedServer, type Script } from '../support/scripted-server.js';
import { TestService } from '../support/service.js';
import { checkCopyOf } from './index-check.js';

const ROUNDS = Number(process.env['GANNET_PAGE_KILLS'] ?? 3);
/** Enough to learn words from. */
const FIRST_PAGES = 150;
const PAGES = 12;
const DOCUMENTS = 40;
const LINES = 40;
const PACKED = 3;
const PAGE_BYTES_OF_KEY = 4;
const TEST_MS_MAX = 600_000;

let folder: string;
let dataDir: string;
let service: TestService;
let server: ScriptedServer;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-page-kill-'));
  dataDir = join(folder, 'data');
  server = await ScriptedServer.start();
  server.script = answer;
  service = new TestService(dataDir, { dataDir, env: { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' } });
});
afterEach(async () => {
  await service.stop('SIGKILL');
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const pagesOf = (document: number) => (document === 0 ? FIRST_PAGES : PAGES);

/** Returns a document in which each page has a word of its own. */
function documentOf(document: number): Buffer {
  const random = new SeededRandom(document + 1);
  const vocabulary = Array.from({ length: 2000 }, (_, word) => ((word + 17) * 7919).toString(36).repeat(2));
  const line = () => Array.from({ length: 7 }, () => vocabulary[Math.floor(2000 * random.next() ** 2)]).join(' ');
  const lines = (page: number) => [`gannet unique${document}x${page}`, ...Array.from({ length: LINES }, line)];
  return pdfOf(Array.from({ length: pagesOf(document) }, (_, index) => ({ lines: lines(index + 1) })));
}

const answer: Script = ({ path }, response) => response.end(documentOf(Number(path.slice(1).split('.')[0])));

/** Holds back answers from the n-th requested document on, until `release`. */
function holdAnswersFrom(count: number): { readonly isAsked: Promise<void>; release(): void } {
  let asked = 0;
  let tell = (): void => undefined;
  const isAsked = new Promise<void>((resolve) => (tell = resolve));
  server.script = (...each) => {
    asked += 1;
    if (asked < count) answer(...each);
    else tell();
  };
  return {
    isAsked,
    release: () => {
      server.dropConnections();
      server.script = answer;
    },
  };
}

async function put(documents: readonly number[]): Promise<void> {
  const records = documents.map((document) => ({
    name: `r${document}`,
    title: `Report ${document}`,
    report: server.url(`/${document}.pdf`),
  }));
  const { body, text } = await service.client.bulk('default', 'papers', records);
  expect(body, text).toMatchObject({ created: documents.length });
}

async function isFound(document: number): Promise<boolean> {
  const query = { query: `unique${document}x${pagesOf(document)}` };
  const { status, text, body } = await service.client.get('/search/default/papers/1', query);
  expect(status, text).toBe(200);
  return (body as { results: unknown[] }).results.length === 1;
}

async function pageTexts(document: number): Promise<readonly string[] | undefined> {
  const query = { first_page: 1, max_pages: pagesOf(document) };
  const path = `/search-result/document-text/default/papers/r${document}`;
  const { status, text, body } = await service.client.get(path, query);
  expect(status, text).toBe(200);
  const [found] = (body as { documents: { pages: { text: string }[] }[] }).documents;
  return found?.pages.map((page) => page.text);
}

/**
 * Reads from a copy of lists that are not open: the number of dictionaries, and for each document the formats of its
 * rows of pages.
 */
async function storedRows(): Promise<{ words: number | undefined; rows: Map<string, number[]> }> {
  const copy = mkdtempSync(join(folder, 'copy-'));
  cpSync(join(dataDir, 'lists'), copy, { recursive: true });
  const [id = ''] = readdirSync(copy).filter((name) => !name.startsWith('.'));
  const store = new RecordStore(join(copy, id));
  const database = store.environment.database<Buffer, Buffer>('page-rows', {
    encoding: 'binary',
    keyEncoding: 'binary',
  });
  const rows = new Map<string, number[]>();
  for (const { key, value } of database.getRange()) {
    const file = key.toString('latin1', 0, key.length - PAGE_BYTES_OF_KEY);
    rows.set(file, [...(rows.get(file) ?? []), value[0] ?? 0]);
  }
  const words = store.wordsCount();
  await store.close();
  rmSync(copy, { recursive: true, force: true });
  return { words, rows };
}

it(
  `Each document has all its pages or none after a kill, and is then read to the end, ${ROUNDS} times`,
  async () => {
    await service.start();
    const made = await service.client.post('/list/default', {
      name: 'papers',
      model: 'own',
      searchable_fields: [{ name: 'title' }],
      resources: [{ name: 'report', kind: 'document' }],
    });
    expect(made.status, made.text).toBe(201);
    await put([0]);
    await eventually(() => isFound(0), Boolean);
    await service.stop();
    expect((await storedRows()).words).toBe(1);
    await service.start();
    const leftBehind: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      // Each round ends with all of its documents stored.
      const before = 1 + round * DOCUMENTS;
      const documents = Array.from({ length: DOCUMENTS }, (_, index) => 1 + round * DOCUMENTS + index);
      // Later in each round: while the first are stored, or after others. This document and those after it get no
      // answer.
      const held = holdAnswersFrom(8 + ((7 * round) % (DOCUMENTS / 2)));
      await put(documents);
      await held.isAsked;
      // Documents before it were answered, and some of them are stored.
      await eventually(
        () => Promise.all(documents.map(isFound)),
        (found) => found.some(Boolean),
      );
      await service.stop('SIGKILL');
      held.release();
      const { words, rows } = await storedRows();
      expect(words).toBe(1);
      leftBehind.push(rows.size - before);
      for (const [file, formats] of rows) expect([PAGES, FIRST_PAGES], file).toContain(formats.length);
      expect(await checkCopyOf(dataDir), `round ${round}`).toEqual([]);
      await service.start();
      await eventually(
        () => Promise.all(documents.map(isFound)),
        (found) => found.every(Boolean),
      );
      for (const document of documents) {
        const texts = await pageTexts(document);
        expect(texts?.length).toBe(PAGES);
        const wrong = texts?.filter((text, index) => !text.includes(`gannet unique${document}x${index + 1}`));
        expect(wrong, `document ${document}`).toEqual([]);
      }
    }
    // Kills that came too early or too late would show nothing.
    expect(leftBehind.filter((count) => count > 0 && count < DOCUMENTS)).toHaveLength(ROUNDS);
    await service.stop();
    const { words, rows } = await storedRows();
    expect(words).toBe(1);
    expect([...rows.values()].flat().filter((format) => format === PACKED).length).toBeGreaterThan(ROUNDS * DOCUMENTS);
    expect(await checkCopyOf(dataDir)).toEqual([]);
  },
  TEST_MS_MAX,
);
