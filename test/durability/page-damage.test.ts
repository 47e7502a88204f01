/**
 * Tests searches and texts if the text of a page, or the dictionary that packs pages, is damaged: the others are
 * returned, and these are marked as damaged.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RecordStore } from '../../src/records/index.js';
import { gannet } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { pdfOf } from '../support/pdf.js';
import { SeededRandom } from '../support/random.js';
import { ScriptedServer } from '../support/scripted-server.js';
import { startTestService, TestService } from '../support/service.js';

const DOCUMENTS = 2;
const PAGES = 150;
const LINES = 40;
const PACKED = 3;
const DAMAGED = 'The text of the page is damaged on disk';
const ERROR = `${DAMAGED}; its document is read again.`;
const HIT_ERROR = `${DAMAGED}; it is read again when somebody reads the document, or refreshes those of the list.`;

let dataDir: string;
let service: TestService;
let server: ScriptedServer;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-page-damage-'));
  server = await ScriptedServer.start();
  service = new TestService(dataDir, { dataDir, env: { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' } });
});
afterEach(async () => {
  await service.stop('SIGKILL');
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Returns a document in which each page has a word of its own. */
function document(number: number): Buffer {
  const random = new SeededRandom(number);
  const vocabulary = Array.from({ length: 2000 }, (_, word) => ((word + 17) * 7919).toString(36).repeat(2));
  const line = () => Array.from({ length: 7 }, () => vocabulary[Math.floor(2000 * random.next() ** 2)]).join(' ');
  const lines = (page: number) => [`gannet unique${number}x${page}`, ...Array.from({ length: LINES }, line)];
  return pdfOf(Array.from({ length: PAGES }, (_, index) => ({ lines: lines(index + 1) })));
}

interface Hit {
  readonly name: string;
  readonly document?: { readonly page: number; readonly highlight?: string; readonly error?: string };
}

async function found(query: string, client = service.client): Promise<readonly Hit[]> {
  const { status, text, body } = await client.get('/search/default/papers/1', { query });
  expect(status, text).toBe(200);
  return (body as { results: Hit[] }).results;
}

async function textOf(record: string, firstPage: number, client = service.client) {
  const query = { first_page: firstPage, max_pages: 2 };
  const { status, text, body } = await client.get(`/search-result/document-text/default/papers/${record}`, query);
  expect(status, text).toBe(200);
  return (body as { documents: { pages: { page: number; text: string; error?: string }[] }[] }).documents[0]?.pages;
}

async function wholeAgain(record: string, page: number): Promise<void> {
  const isWhole = ({ text, error }: { text: string; error?: string }) => text !== '' && error === undefined;
  await eventually(
    () => textOf(record, page),
    (pages) => pages?.every(isWhole) === true,
  );
}

async function everythingIndexed(): Promise<void> {
  await eventually(
    async () => {
      const { body: progress } = await service.client.get('/progress/default');
      const { body: check } = await service.control().post('/list/default/papers/check', undefined);
      return { ...(progress as { job_count: number }), ...(check as { ok: boolean }) };
    },
    (state) => state.job_count === 0 && state.ok,
  );
}

async function change(damage: (store: RecordStore) => void): Promise<void> {
  await service.stop();
  const store = new RecordStore(listPathIn(dataDir));
  // Opens the database first outside a transaction.
  rowsOf(store);
  store.transaction(() => {
    damage(store);
  });
  await store.close();
  await service.start();
}

function listPathIn(folder: string): string {
  const [id = ''] = readdirSync(join(folder, 'lists')).filter((name) => !name.startsWith('.'));
  return join(folder, 'lists', id);
}

const rowsOf = (store: RecordStore) =>
  store.environment.database<Buffer, Buffer>('page-rows', { encoding: 'binary', keyEncoding: 'binary' });

/** Creates a list whose documents can be found, with pages packed by words learned from them. */
async function startWithDocuments(): Promise<void> {
  server.script = ({ path }, response) => response.end(document(Number(path.slice(1, 2))));
  await service.start();
  const { client } = service;
  const made = await client.post('/list/default', {
    name: 'papers',
    model: 'own',
    searchable_fields: [{ name: 'title' }],
    resources: [{ name: 'report', kind: 'document' }],
  });
  expect(made.status, made.text).toBe(201);
  const records = Array.from({ length: DOCUMENTS }, (_, number) => ({
    name: `r${number}`,
    title: `Report ${number}`,
    report: server.url(`/${number}.pdf`),
  }));
  expect((await client.bulk('default', 'papers', records)).body).toMatchObject({ created: DOCUMENTS });
  await eventually(
    async () => [await found(`unique0x${PAGES}`), await found(`unique1x${PAGES}`)],
    (all) => all.every(({ length }) => length === 1),
  );
}

it('A damaged page is marked as damaged by searches and with its text, and all others are returned', async () => {
  await startWithDocuments();
  let page = 0;
  await change((store) => {
    const all = Array.from(
      rowsOf(store).getRange(),
      ({ key, value }) => [Buffer.from(key), Buffer.from(value)] as const,
    );
    const packed = all.filter(([, row]) => row[0] === PACKED);
    expect(packed.length).toBeGreaterThan(PAGES / 2);
    const [key, row] = packed[2] as (typeof packed)[number];
    rowsOf(store).putSync(key, row.subarray(0, -1));
    page = key.readUInt32BE(key.length - 4);
  });
  const hits = await Promise.all([0, 1].map(async (number) => (await found(`unique${number}x${page}`))[0]));
  expect(hits.map((hit) => hit?.document?.page)).toEqual([page, page]);
  const told = hits.filter((hit) => hit?.document?.error !== undefined);
  expect(told.map((hit) => [hit?.document?.error, hit?.document?.highlight])).toEqual([[HIT_ERROR, undefined]]);
  const whole = hits.find((hit) => hit?.document?.error === undefined);
  expect(whole?.document?.highlight).toContain('<em>unique');
  const name = told[0]?.name ?? '';
  const texts = await textOf(name, page);
  expect(texts?.[0]).toEqual({ page, text: '', error: ERROR });
  expect(texts?.[1]?.text).toContain(`x${page + 1}`);
  // The file is unchanged, so only reading it again regardless of its validators brings the page back.
  await wholeAgain(name, page);
  // The index takes over the pages that were read again later; what waits then would meet the second damage at once.
  await everythingIndexed();

  await change((store) => {
    store.putWords(1, Buffer.alloc(100));
  });
  const lost = await found('gannet');
  expect(lost.map((hit) => hit.name).sort()).toEqual(['r0', 'r1']);
  const check = await service.control().post('/list/default/papers/check', undefined);
  expect(JSON.stringify(check.body)).toContain(
    'dictionary 1 of words is damaged or lost: what it packs cannot be read',
  );
  expect(JSON.stringify(check.body)).toMatch(/page \d+ of .*\.pdf cannot be read/u);
  const lostTexts = await textOf(name, page);
  expect(lostTexts?.map(({ error }) => error)).toContain(ERROR);
  await wholeAgain(name, page);
  const [again] = await found(`unique${name.slice(1)}x${page}`);
  expect(again?.document?.highlight).toContain('<em>unique');
});

it('Packed pages are in a backup together with their dictionary, and can be read and found after a restore', async () => {
  await startWithDocuments();
  const made = await service.control().post('/backup', { folder: `${dataDir}-backups` });
  expect(made.status, made.text).toBe(201);
  const target = `${dataDir}-restored`;
  const { status, notes } = await gannet(target, 'restore', (made.body as { path: string }).path);
  expect(status, notes).toBe(0);
  const texts = await textOf('r0', PAGES - 1);
  const { key } = service.client;
  await service.stop();
  // Nothing can be read again, as nothing answers.
  server.script = (_, response) => response.destroy();
  const restored = await startTestService({ dataDir: target, env: { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' } });
  try {
    expect(texts?.[0]?.text).toContain(`unique0x${PAGES - 1}`);
    const client = restored.clientWith(key);
    expect(await textOf('r0', PAGES - 1, client)).toEqual(texts);
    const [hit] = await found(`unique1x${PAGES}`, client);
    expect(hit?.document).toMatchObject({ page: PAGES, highlight: expect.stringContaining('<em>unique') as string });
  } finally {
    await restored.stop();
  }
  const store = new RecordStore(listPathIn(target));
  expect(store.wordsCount()).toBeGreaterThan(0);
  expect(Array.from(rowsOf(store).getRange(), ({ value }) => value[0])).toContain(PACKED);
  await store.close();
  for (const folder of [target, `${dataDir}-backups`]) rmSync(folder, { recursive: true, force: true });
});
