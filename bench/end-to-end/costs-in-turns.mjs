/**
 * Measures what requests cost in two or more checkouts of the service, in turns: the service's processor time per request, which other load
 * on the machine changes less than rates, that of its main thread, and the rate. Prints medians of the turns.
 *
 *   node bench/end-to-end/costs-in-turns.mjs [--records 100000] [--rounds 7] [--scale 1] [--warm 8000] [--only search,import]
 *     before=<folder> after=<folder>
 *
 * Each folder is a built checkout. Every service first imports the same sentences into its own data directory. A turn sends a
 * fixed number of requests over a few connections, one at a time on each; --scale multiplies these numbers.
 *
 * --warm is the number of searches that every service answers before the first turn: a process needs some 8,000 until V8 has compiled
 * what a search runs and the search threads know the words of the queries; the first 2,000 take three times as long as later ones. What
 * they cost after a start is a row of its own, "start: µs of processor, first searches".
 */
import { createReadStream, createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { checkoutsOf, serviceOf } from './lib/checkouts.mjs';
import { sendAll } from './lib/closed-loop.mjs';
import { readOptions } from './lib/options.mjs';
import { formatCount, machineTable, markdownTable, quantile } from './lib/report.mjs';
import { arxivQueries, SENTENCES_DEFINITION, sentencesFile } from './lib/sentences.mjs';
import { threadTimesMs } from './lib/processor-time.mjs';
import { ACCOUNT, call, createKey, importNdjson, untilMerged, workFolder } from './lib/service.mjs';

const { records, rounds, scale, warm, positionals, ...options } = readOptions(
  { records: 100_000, rounds: 7, scale: 1, warm: 8000, only: '' },
  { positionals: true },
);
const only = options.only === '' ? undefined : options.only.split(',');
const checkouts = checkoutsOf(positionals);
if (![records, rounds, scale].every((each) => each > 0)) fail('--records, --rounds and --scale take numbers above 0');
if (!(warm >= 0)) fail('--warm takes a number of searches, or 0');

const LIST = 'sentences';
const CONNECTIONS = 16;
const WRITTEN_EACH = 50;
const FIRST_SEARCHES = 2000;
/** Time for work that requests leave behind, mostly merging, before a turn's time is taken. */
const AFTER_IMPORT_MS = 3000;
const DEFINITION = {
  ...SENTENCES_DEFINITION,
  facets: [...SENTENCES_DEFINITION.facets, { name: 'letters', type: 'string', cardinality: 'Many' }],
};
const NINE_HEADERS = {
  accept: 'application/json',
  'accept-encoding': 'gzip, deflate, br',
  'accept-language': 'en-GB,en;q=0.9',
  'cache-control': 'no-cache',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
};

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

/** Sentences with a facet of many values: the first letters of their words. */
async function recordsFile() {
  const { path } = (await sentencesFile(records)) ?? fail('the abstracts are not there (see bench/README.md)');
  const made = join(workFolder, `letters-${records}.ndjson`);
  if (existsSync(made)) return made;
  const out = createWriteStream(`${made}.unfinished`);
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const record = JSON.parse(line);
    const letters = [...new Set(record.text.toLowerCase().match(/\b[a-z]/g))];
    if (!out.write(`${JSON.stringify({ ...record, letters })}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
  renameSync(`${made}.unfinished`, made);
  return made;
}

const file = await recordsFile();
const queries = arxivQueries();
const SEARCH = `/search/${ACCOUNT}/${LIST}/1`;
const search = (query, options) => ({ path: `${SEARCH}?${new URLSearchParams({ query, ...options })}` });
const post = (body, headers) => ({ method: 'POST', path: SEARCH, body: JSON.stringify(body), headers });
const uncached = { cache: 'false' };
const write = (at) => ({
  method: 'POST',
  path: `/search-result/${ACCOUNT}/${LIST}`,
  body: JSON.stringify({
    name: `single-${at % 100}`,
    fields: { text: queries[at % queries.length], category: 'none' },
  }),
});
/** @typedef {{ path: string; method?: string; body?: string; headers?: Readonly<Record<string, string>> }} Sent */
/**
 * Name, number of requests per turn, and the request for a number. `ids` are record ids of the side.
 * @type {[string, number, (at: number, ids: readonly string[]) => Sent][]}
 */
const CASES = [
  ['search', 2000, (at) => search(queries[at % queries.length], uncached)],
  [
    'search, POST with nine headers',
    2000,
    (at) => post({ query: queries[at % queries.length], cache: false }, NINE_HEADERS),
  ],
  [
    'search, every 50th request a write',
    2000,
    (at) => (at % WRITTEN_EACH === 0 ? write(at) : search(queries[at % queries.length], uncached)),
  ],
  ['search, from the cache', 20_000, (at) => search(queries[at % 50])],
  ['search, POST from the cache', 20_000, (at) => post({ query: queries[at % 50] }, NINE_HEADERS)],
  ['one facet', 1000, (at) => search(queries[at % queries.length], { ...uncached, facets: 'category' })],
  ['facet of many values', 1000, (at) => search(queries[at % queries.length], { ...uncached, facets: 'letters' })],
  [
    'facets of a word and a number',
    500,
    (at) => search(queries[at % queries.length], { ...uncached, facets: 'category,words' }),
  ],
  ['facet over all records', 200, () => search('', { ...uncached, facets: 'letters,category', size: '0' })],
  ['sorted by date', 500, (at) => search(queries[at % queries.length], { ...uncached, order_by: 'created desc' })],
  [
    'filtered',
    1000,
    (at) =>
      search(queries[at % queries.length], {
        ...uncached,
        filter: `words > ${10 + (at % 20)} and created >= '2010-01-01'`,
      }),
  ],
  [
    'filtered and sorted',
    1000,
    (at) => search(queries[at % queries.length], { ...uncached, filter: 'words > 20', order_by: 'created' }),
  ],
  [
    'suggestions',
    2000,
    (at) => ({
      path: `/suggest/${ACCOUNT}/${LIST}/1?${new URLSearchParams({ query: queries[at % queries.length].slice(0, 4 + (at % 8)) })}`,
    }),
  ],
  ['record by its id', 10_000, (at, ids) => ({ path: `/search-result/${ACCOUNT}/${LIST}/${ids[at % ids.length]}` })],
  [
    'a page of 100 records',
    300,
    (at) => ({ path: `/search-result/${ACCOUNT}/${LIST}?size=100&skip=${(at % 20) * 100}` }),
  ],
  ['write of one record', 1000, write],
];

const isWanted = (name) => only === undefined || only.some((each) => name.includes(each));

/** @param {import('./lib/checkouts.mjs').Checkout} checkout */
async function startSide(checkout) {
  const { name } = checkout;
  const dataDir = join(workFolder, `costs-${name}`);
  rmSync(dataDir, { recursive: true, force: true });
  const { startService } = await serviceOf(checkout);
  const service = await startService(dataDir);
  const key = createKey(dataDir);
  await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name: LIST, ...DEFINITION });
  await importNdjson(service.address, key, LIST, createReadStream(file));
  await untilMerged(dataDir);
  const page = await call(service.address, key, 'GET', `/search-result/${ACCOUNT}/${LIST}?size=1000`);
  return { name, dataDir, startService, service, key, ids: page.results.map(({ id }) => id), figures: new Map() };
}

/** Sends searches that no cache answers. */
const sendSearches = ({ service, key }, count) =>
  sendAll({
    address: service.address,
    key,
    count,
    connections: CONNECTIONS,
    requestAt: (at) => search(queries[at % queries.length], uncached),
  });

function note({ figures }, what, figure) {
  const all = figures.get(what) ?? [];
  figures.set(what, [...all, figure]);
}

/** Runs each side in turn and reverses the order each time, so that changes over time affect both. */
async function inTurns(sides, turns, action) {
  for (let turn = 0; turn < turns; turn += 1) {
    for (const side of turn % 2 === 0 ? sides : sides.toReversed()) await action(side, turn);
  }
}

async function turnOfRequests(side, [name, requests, requestAt], turn) {
  const { address } = side.service;
  const count = Math.ceil(requests * scale);
  const beginMs = performance.now();
  const before = threadTimesMs(side.service.pid);
  const load = { address, key: side.key, count, connections: CONNECTIONS };
  await sendAll({ ...load, requestAt: (at) => requestAt(at + turn * count, side.ids) });
  const after = threadTimesMs(side.service.pid);
  note(side, name, {
    processorUs: ((after.all - before.all) * 1000) / count,
    mainUs: ((after.main - before.main) * 1000) / count,
    perSecond: (count * 1000) / (performance.now() - beginMs),
  });
}

async function turnOfImport(side) {
  const { address } = side.service;
  await call(address, side.key, 'POST', `/list/${ACCOUNT}`, { name: 'imported', ...DEFINITION });
  const beforeMs = side.service.cpuMs();
  const { seconds } = await importNdjson(address, side.key, 'imported', createReadStream(file));
  await wait(AFTER_IMPORT_MS);
  const processorUs = ((side.service.cpuMs() - beforeMs) * 1000) / records;
  note(side, 'import, a record', { processorUs, perSecond: records / seconds });
  await call(address, side.key, 'DELETE', `/list/${ACCOUNT}/imported`);
  await wait(1000);
}

/** Measures a start, the memory after it, the processor time until the first answer, and that of the searches after it. */
async function turnOfStart(side) {
  await side.service.stop();
  side.service = await side.startService(side.dataDir);
  const { address, readyMs } = side.service;
  await call(address, side.key, 'GET', search(queries[0]).path);
  note(side, 'start: ms until ready', { figure: readyMs });
  note(side, 'start: processor ms until an answer', { figure: side.service.cpuMs() });
  note(side, 'start: resident MiB of its own', { figure: side.service.memory().anonymous });
  const beforeMs = side.service.cpuMs();
  await sendSearches(side, FIRST_SEARCHES);
  const figure = ((side.service.cpuMs() - beforeMs) * 1000) / FIRST_SEARCHES;
  note(side, 'start: µs of processor, first searches', { figure });
}

/**
 * Columns of requests and imports: figure, heading, format. Imports have no figure for the main thread.
 * @type {[string, string, (value: number) => string][]}
 */
const COLUMNS = [
  ['processorUs', 'µs of processor', (value) => value.toFixed(1)],
  ['mainUs', 'µs of the main thread', (value) => value.toFixed(1)],
  ['perSecond', '/s', formatCount],
];

function reportText(sides) {
  const rows = [...sides[0].figures.keys()].map((what) => [
    what,
    ...COLUMNS.flatMap((column) => cells(sides, what, column)),
  ]);
  const heading = COLUMNS.flatMap(([, unit]) => [...sides.map(({ name }) => `${name}, ${unit}`), 'Ratio']);
  return markdownTable(['What', ...heading], rows);
}

/** Returns the medians of the sides and the ratio of the last to the first. Figures of a start are in the first column. */
function cells(sides, what, [figure, , format]) {
  const [first] = sides[0].figures.get(what);
  const shown = first.figure !== undefined && figure === 'processorUs' ? 'figure' : figure;
  if (first[shown] === undefined) return [...sides.map(() => ''), ''];
  const values = sides.map((side) => quantile(side.figures.get(what).map((each) => each[shown]), 0.5)); // prettier-ignore
  return [...values.map(format), values.length < 2 ? '' : (values.at(-1) / values[0]).toFixed(3)];
}

const sides = [];
try {
  for (const checkout of checkouts) sides.push(await startSide(checkout));
  if (isWanted('start')) await inTurns(sides, rounds, turnOfStart);
  await inTurns(sides, 1, (side) => sendSearches(side, warm));
  for (const each of CASES.filter(([name]) => isWanted(name))) {
    await inTurns(sides, 1, (side) => turnOfRequests(side, each, 0));
    for (const { figures } of sides) figures.delete(each[0]);
    await inTurns(sides, rounds, (side, turn) => turnOfRequests(side, each, turn));
    process.stderr.write(`${reportText(sides).trim().split('\n').at(-1)}\n`);
  }
  if (isWanted('import')) await inTurns(sides, Math.min(rounds, 5), turnOfImport);
  const settings = {
    Records: formatCount(records),
    Turns: `${rounds} of each (of imports 5 at most); medians`,
    'Searches before the first turn': formatCount(warm),
    Connections: CONNECTIONS,
  };
  process.stdout.write(`${machineTable(settings)}\n${reportText(sides)}`);
} finally {
  await Promise.allSettled(sides.map(({ service }) => service.stop()));
  for (const { dataDir } of sides) rmSync(dataDir, { recursive: true, force: true });
}
