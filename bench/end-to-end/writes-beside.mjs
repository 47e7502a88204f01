/**
 * Measures searches beside small writes: the ratio of their rates with and without writes at a given rate, and the latencies of the writes.
 * Runs one or several checkouts of the service in turns, and prints medians.
 *
 *   node bench/end-to-end/writes-beside.mjs [--records 1000000] [--writes 50,500] [--same 100] [--rounds 5] [--seconds 5] <name>=<folder> …
 *   node bench/end-to-end/writes-beside.mjs --searches-per-write 80,8 [--requests 6000] … <name>=<folder> …
 *
 * Each folder is a built checkout. Every service first imports the same sentences into its own data directory, which the next run
 * reuses (unless --fresh). Half of the writes replace an existing record, half add a new one, with texts of other records.
 * Searches go out in a closed loop, writes in an open one. The generators share the processors with the service.
 *
 * With --same, writes replace a fixed set of this many new records, one after the other and again, each time with a number that is new to the list.
 *
 * With --searches-per-write there are that many searches per write and a fixed number of requests, in one closed loop. On a shared
 * machine the processor time is then more reliable than rates.
 */
import { createReadStream, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { checkoutsOf, serviceOf } from './lib/checkouts.mjs';
import { runOpenLoop } from './lib/open-loop.mjs';
import { readOptions } from './lib/options.mjs';
import { threadTimesMs } from './lib/processor-time.mjs';
import { seededRandom } from './lib/random.mjs';
import { barRow, formatCount, machineTable, markdownTable, quantile } from './lib/report.mjs';
import { arxivQueries, SENTENCES_DEFINITION, sentencesFile } from './lib/sentences.mjs';
import { ACCOUNT, call, createKey, importNdjson, untilMerged, workFolder } from './lib/service.mjs';

const { records, rounds, seconds, requests, positionals, ...options } = readOptions(
  {
    records: 1_000_000,
    writes: '50,500',
    rounds: 5,
    seconds: 5,
    'searches-per-write': '',
    requests: 6000,
    same: 0,
    fresh: false,
  },
  { positionals: true },
);
const numbersOf = (text) => (text === '' ? undefined : text.split(',').map(Number));
const perWrite = numbersOf(options['searches-per-write']);
/** Writes per second, or searches per write; 0: no writes. */
const rates = [0, ...(perWrite ?? numbersOf(options.writes))];
const checkouts = checkoutsOf(positionals);
if (![records, rounds, seconds].every((each) => each > 0))
  fail('--records, --rounds and --seconds take numbers above 0');
if (!rates.slice(1).every((each) => each > 0) || !(requests > 0))
  fail('--writes, --searches-per-write and --requests take numbers above 0, separated by commas');

const LIST = 'sentences';
const SEARCH_CONNECTIONS = 16;
const WRITE_CONNECTIONS = 64;
const WARM_UP_REQUESTS = 12_000;
/** Searches per write of the warm-up. The first writes of a service cost several times more, as V8 compiles their code beside the searches. */
const WARM_UP_SEARCHES_PER_WRITE = 5;
const MIXED_SECONDS_MAX = 600;
/** Number of different writes, after which they repeat. */
const WRITES = 20_000;
/** Time for work that writes leave behind, mostly merging. */
const AFTER_TURN_MS = 1500;
const MAPPED_MIB = '4000';
const BARS = { p99Ms: 25, ratios: new Map([[50, 0.8], [500, 0.6]]) }; // prettier-ignore

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

const file = (await sentencesFile(records)) ?? fail('the abstracts are not there (see bench/README.md)');
const searches = arxivQueries().map(
  (query) => `/search/${ACCOUNT}/${LIST}/1?${new URLSearchParams({ query, cache: 'false' })}`,
);

const post = (record) => `POST /search-result/${ACCOUNT}/${LIST} ${JSON.stringify(record)}`;

function writeRequests() {
  if (options.same > 0)
    return Array.from({ length: WRITES }, (_, index) =>
      post({
        name: `written-${index % options.same}`,
        fields: { text: `A sentence written while others search, ${index}.` },
      }),
    );
  const random = seededRandom(20);
  const lines = readFileSync(file.path, 'utf8').trimEnd().split('\n');
  const any = () => JSON.parse(lines[Math.floor(random() * lines.length)]);
  return Array.from({ length: WRITES }, (_, index) => {
    const { name: other, ...fields } = any();
    const name = index % 2 === 0 ? any().name : `new-${other}`;
    return post({ name, fields });
  });
}
const writes = writeRequests();

/** @param {import('./lib/checkouts.mjs').Checkout} checkout */
async function startSide(checkout) {
  const { name } = checkout;
  const { startService } = await serviceOf(checkout);
  const dataDir = join(workFolder, `writes-beside-${name}-${records}`);
  const marker = join(dataDir, 'bench-imported.json');
  if (options.fresh) rmSync(dataDir, { recursive: true, force: true });
  const start = () => startService(dataDir, { GANNET_MEMORY_MAPPED_MIB: MAPPED_MIB });
  if (existsSync(marker))
    return { name, service: await start(), ...JSON.parse(readFileSync(marker, 'utf8')), turns: new Map() };
  rmSync(dataDir, { recursive: true, force: true });
  const service = await start();
  const key = createKey(dataDir);
  await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name: LIST, ...SENTENCES_DEFINITION });
  await importNdjson(service.address, key, LIST, createReadStream(file.path));
  await untilMerged(dataDir);
  writeFileSync(marker, JSON.stringify({ key }));
  return { name, service, key, turns: new Map() };
}

let written = 0;

/** Returns writes that no turn has used yet. */
function nextWrites(count) {
  const own = [...writes.slice(written), ...writes.slice(0, written)];
  written = (written + count) % WRITES;
  return own;
}

/** Runs searches as fast as they are answered, beside writes at the given rate. */
async function beside(load, writesPerSecond) {
  const own = nextWrites(writesPerSecond * seconds);
  const [searched, wrote] = await Promise.all([
    runOpenLoop({ ...load, seconds, paths: searches, ratePerSecond: 0, connections: SEARCH_CONNECTIONS }),
    writesPerSecond > 0
      ? runOpenLoop({ ...load, seconds, paths: own, ratePerSecond: writesPerSecond, connections: WRITE_CONNECTIONS })
      : undefined,
  ]);
  return { searched, wrote, failed: searched.failed + (wrote?.failed ?? 0) };
}

/** Runs a fixed number of requests, one after the other. */
async function mixed(load, searchesPerWrite, turn, count = requests) {
  const own = nextWrites(Math.ceil(count / (searchesPerWrite + 1)));
  const paths = Array.from({ length: count }, (_, at) =>
    searchesPerWrite > 0 && at % (searchesPerWrite + 1) === searchesPerWrite
      ? own[Math.floor(at / (searchesPerWrite + 1)) % own.length]
      : searches[(at + turn * count) % searches.length],
  );
  const most = { seconds: MIXED_SECONDS_MAX, requestsMax: count };
  const all = await runOpenLoop({ ...load, ...most, paths, ratePerSecond: 0, connections: SEARCH_CONNECTIONS });
  const wrote = searchesPerWrite > 0 ? all.posts : undefined;
  return { searched: { ...all.gets, seconds: all.seconds }, wrote, failed: all.failed };
}

async function turn({ service, key, turns }, rate, round) {
  const load = { address: service.address, key, seed: round };
  const before = threadTimesMs(service.pid);
  const { searched, wrote, failed } = await (perWrite === undefined ? beside(load, rate) : mixed(load, rate, round));
  const after = threadTimesMs(service.pid);
  const count = searched.requestsPerSecond * searched.seconds;
  const us = (group) => ((after[group] - before[group]) * 1000) / count;
  const all = turns.get(rate) ?? [];
  turns.set(rate, [...all, { searched, wrote, spent: { all: us('all'), main: us('main') }, failed }]);
  await wait(AFTER_TURN_MS);
}

const median = (figures) => quantile(figures, 0.5);

function rowsOf({ name, turns }) {
  return rates.map((rate) => {
    const all = turns.get(rate);
    const byWithout = (figure) => median(all.map((each, at) => figure(each) / figure(turns.get(0)[at])));
    const at = (figure) => median(all.map(figure));
    const spent = (group) => at((each) => each.spent[group]).toFixed(0);
    const latency = (kind, figure) => (all[0][kind] === undefined ? '' : at((each) => each[kind][figure]).toFixed(1));
    return [
      name,
      rate,
      formatCount(at(({ searched }) => searched.requestsPerSecond)),
      rate === 0 ? '' : byWithout(({ searched }) => searched.requestsPerSecond).toFixed(2),
      spent('all'),
      rate === 0 ? '' : (1 / byWithout((each) => each.spent.all)).toFixed(2),
      spent('main'),
      `${latency('searched', 'p50')} / ${latency('searched', 'p99')}`,
      rate === 0 ? '' : ['p50', 'p99', 'p999'].map((figure) => latency('wrote', figure)).join(' / '),
      all.reduce((sum, { failed }) => sum + failed, 0),
    ];
  });
}

function bars({ name, turns }) {
  return rates.slice(1).flatMap((rate) => {
    const ratio = median(
      turns.get(rate).map((each, at) => each.searched.requestsPerSecond / turns.get(0)[at].searched.requestsPerSecond),
    );
    const p99 = median(turns.get(rate).map(({ wrote }) => wrote.p99));
    const bar = BARS.ratios.get(rate);
    return [
      ...(bar === undefined
        ? []
        : [barRow(`${name}: searches beside ${rate} writes/s by those without`, ratio.toFixed(2), bar, ratio >= bar)]),
      barRow(`${name}: p99 of a write at ${rate}/s`, `${p99.toFixed(1)} ms`, `${BARS.p99Ms} ms`, p99 < BARS.p99Ms),
    ];
  });
}

const HEADING = [
  'Checkout',
  perWrite === undefined ? 'Writes/s' : 'Searches a write',
  'Searches/s',
  'by without',
  'µs of processor a search, writes included',
  'without by with',
  'of the main thread',
  'Search p50 / p99 ms',
  'Write p50 / p99 / p99.9 ms',
  'Failed',
];

const sides = [];
try {
  for (const checkout of checkouts) sides.push(await startSide(checkout));
  for (const { service, key } of sides) {
    await mixed({ address: service.address, key, seed: 0 }, WARM_UP_SEARCHES_PER_WRITE, 0, WARM_UP_REQUESTS);
    await wait(AFTER_TURN_MS);
  }
  for (let round = 1; round <= rounds; round += 1) {
    for (const side of round % 2 === 1 ? sides : sides.toReversed())
      for (const rate of round % 2 === 1 ? rates : rates.toReversed()) await turn(side, rate, round);
  }
  process.stdout.write(
    machineTable({
      Data: `${formatCount(records)} sentences of arXiv abstracts`,
      Turns: `${rounds} of ${perWrite === undefined ? `${seconds} s` : `${formatCount(requests)} requests`} each; medians; searches over ${SEARCH_CONNECTIONS} connections, cache off`,
    }),
  );
  process.stdout.write(`\n${markdownTable(HEADING, sides.flatMap(rowsOf))}`);
  if (perWrite === undefined)
    process.stdout.write(`\n${markdownTable(['What', 'Measured', 'Bar', ''], sides.flatMap(bars))}`);
} finally {
  await Promise.allSettled(sides.map(({ service }) => service.stop()));
}
