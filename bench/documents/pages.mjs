/**
 * Compares searches over the pages of documents with a list in which each page is a record: words and highlights, through the service.
 *
 *   npm run setup && node bench/documents/pages.mjs [--documents 10000] [--pages 20] [--rounds 5] [--scale 1] [--fresh]
 *
 * A page is the abstract of a paper, and a document has several papers of one category, by date, so that its pages are similar. Pages come to
 * the list as from any reader of files, without files. Both lists are in one service and get requests in turns. Prints Markdown, and exits
 * with 1 if the bar is missed. The data is kept in the work folder for the next run.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { RecordStoreCache } from '#src/records/index.js';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { barRow, formatCount, machineTable, markdownTable } from '../end-to-end/lib/report.mjs';
import { ABSTRACTS, arxivQueries } from '../end-to-end/lib/sentences.mjs';
import {
  ACCOUNT,
  call,
  createKey,
  importNdjson,
  startService,
  untilMerged,
  workFolder,
} from '../end-to-end/lib/service.mjs';
import { openIndexes } from '../micro/lib/indexes.mjs';
import { SETTINGS } from '../micro/lib/searching.mjs';
import { CONNECTIONS, measureInTurns, rowOf, searchesOf } from './lib/turns.mjs';

const {
  documents,
  pages: pagesEach,
  rounds,
  scale,
  fresh,
} = readOptions({ documents: 10_000, pages: 20, rounds: 5, scale: 1, fresh: false });
const RATE_MIN = 0.8;
const POLL_MS = 200;
const URL_PREFIX = 'https://example.com/';
/** Lets the service check linked files again only after a year, as no server is there to answer. */
const ENVIRONMENT = { GANNET_RESOURCES_CHECK_HOURS: '8760' };
const ONE_BY_ONE = 'records';
const WITH_PAGES = 'documents';
const DEFINITIONS = {
  [ONE_BY_ONE]: { searchable_fields: [{ name: 'text', weight: 1 }] },
  [WITH_PAGES]: {
    searchable_fields: [{ name: 'title', weight: 1 }],
    resources: [{ name: 'file', kind: 'document' }],
  },
};
const dataDir = join(workFolder, `pages-${documents}-${pagesEach}`);
const done = join(dataDir, 'bench-complete.json');

/** Returns the papers, sorted by category and then by date. */
async function papersByCategory() {
  const unpack = spawn('xz', ['-dc', ABSTRACTS], { stdio: ['ignore', 'pipe', 'inherit'] });
  const papers = [];
  for await (const line of createInterface({ input: unpack.stdout })) {
    const { id, title, abstract, categories, created } = JSON.parse(line);
    papers.push({ id, title, text: abstract, key: `${categories[0]} ${created} ${id}` });
  }
  if (papers.length < documents * pagesEach)
    throw new Error(`there are ${papers.length} papers, too few for the pages`);
  return papers.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, documents * pagesEach);
}

const asNdjson = (records) => Readable.from(records.map((record) => `${JSON.stringify(record)}\n`));

/**
 * Reads the file of a URL from memory.
 * @returns {import('#src/extracts/index.js').FileReader}
 */
const readerOf = (papers) => ({
  checkMs: 3_600_000,
  parallelMax: 16,
  retryMs: [],
  pictureModel: () => undefined,
  framesBy: '',
  read({ url }) {
    const first = Number(url.slice(URL_PREFIX.length)) * pagesEach;
    const pages = papers.slice(first, first + pagesEach).map(({ text }, index) => ({ page: index + 1, text }));
    const hash = createHash('sha256').update(url).digest('hex');
    /** @type {import('#src/extracts/index.js').ReadContent} */
    const content = { kind: 'document', pageCount: pages.length, truncated: false, pages };
    return Promise.resolve({ kind: 'read', file: { validators: {}, hash }, content });
  },
});

/** Fills the list with records that link to documents, in this process. Waits until every page is in the index. */
async function fillWithPages(listId, papers) {
  const stores = new RecordStoreCache();
  const indexes = openIndexes(dataDir, stores);
  indexes.useReader(readerOf(papers));
  const list = await indexes.open(listId, { ...SETTINGS, account: ACCOUNT, list: WITH_PAGES, model: 'own' });
  const session = list.startImport('ndjson');
  for (let document = 0; document < documents; document += 1) {
    const { id, title } = papers[document * pagesEach];
    const record = { name: id, title, file: `${URL_PREFIX}${document}` };
    await session.push(Buffer.from(`${JSON.stringify(record)}\n`));
  }
  await session.end();
  for (let status = list.files.status(); status.read < documents; status = list.files.status()) {
    if (status.failed > 0) throw new Error(`documents failed: ${JSON.stringify(status.errors[0])}`);
    await wait(POLL_MS);
  }
  await untilMerged(dataDir);
  await indexes.close();
  await stores.close();
}

async function build() {
  rmSync(dataDir, { recursive: true, force: true });
  const papers = await papersByCategory();
  const service = await startService(dataDir, ENVIRONMENT);
  const key = createKey(dataDir);
  for (const [name, definition] of Object.entries(DEFINITIONS)) {
    const body = { name, language: 'en', model: 'own', ...definition };
    await call(service.address, key, 'POST', `/list/${ACCOUNT}`, body);
  }
  await importNdjson(service.address, key, ONE_BY_ONE, asNdjson(papers.map(({ id, text }) => ({ name: id, text }))));
  await untilMerged(dataDir);
  await service.stop();
  // Ids ascend by time.
  const ids = readdirSync(join(dataDir, 'lists')).filter((name) => !name.startsWith('.'));
  await fillWithPages(ids.sort().at(-1), papers);
  writeFileSync(done, JSON.stringify({ key }));
}

function measure(asked, queries) {
  const taken = queries.slice(0, Math.ceil(queries.length * scale));
  return measureInTurns(asked, [ONE_BY_ONE, WITH_PAGES].map((list) => searchesOf(list, taken)), rounds); // prettier-ignore
}

if (!existsSync(ABSTRACTS)) {
  process.stdout.write(`Pages: skipped, ${ABSTRACTS} is not there.\n`);
  process.exit(0);
}
if (fresh || !existsSync(done)) await build();
const { key } = JSON.parse(readFileSync(done, 'utf8'));
const service = await startService(dataDir, ENVIRONMENT);
try {
  const { results } = await call(service.address, key, 'GET', `/search/${ACCOUNT}/${WITH_PAGES}/1?query=energy`);
  if (results[0]?.document?.highlight === undefined) throw new Error('no page was found, or nothing is marked in it');
  const kinds = ['plain', 'frequent', 'phrase', 'typo'];
  const rows = [];
  for (const kind of kinds) rows.push(rowOf(kind, await measure({ service, key }, arxivQueries(kind))));
  const all = await measure({ service, key }, arxivQueries());
  rows.push(rowOf('all', all));
  const rate = all.perSecond[1] / all.perSecond[0];
  process.stdout.write(
    `${machineTable({
      Data: `${formatCount(documents)} records with ${formatCount(documents * pagesEach)} pages; as many records of one page`,
      Queries: 'those of the abstracts, default options, highlights on, cache=false',
      Turns: `${rounds} of each kind and list, ${CONNECTIONS} connections; medians`,
    })}\n${markdownTable(
      ['Queries', 'Records, µs of processor', 'Pages, µs', 'Ratio', 'Records, /s', 'Pages, /s', 'Ratio'],
      rows,
    )}\n${markdownTable(
      ['What', 'Measured', 'Bar', ''],
      [barRow('Rate over pages, of that over records', rate.toFixed(2), `at least ${RATE_MIN}`, rate >= RATE_MIN)],
    )}`,
  );
  process.exitCode = rate >= RATE_MIN ? 0 : 1;
} finally {
  await service.stop();
}
