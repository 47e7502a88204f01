/**
 * Measures searches beside a crawl, and beside the import of what a crawl has found, in turns with searches alone: p99 at half of the service's capacity. The server
 * of the website and the load are separate processes. The server stands for another machine, so it runs only when nothing else needs the processor (SCHED_IDLE), and
 * its processor time is printed. Prints Markdown.
 *
 * A round has a turn alone, one beside a crawl, one alone, one beside imports, and one alone, which is also the first of the next round. A ratio divides the medians
 * of the turns' p99. It is printed with its spread by resampling of rounds, and with the ratio of turns alone to each other.
 *
 *   npm run build && node bench/feeds/beside.mjs [--records 100000] [--seconds 2] [--rounds 12] [--prepare] [--fresh]
 *
 * The data are made once and reused; `--prepare` only makes them.
 */
import { execFileSync, fork } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { runOpenLoop } from '../end-to-end/lib/open-loop.mjs';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { namedThreadTimesMs, threadTimesMs } from '../end-to-end/lib/processor-time.mjs';
import { seededRandom } from '../end-to-end/lib/random.mjs';
import { barRow, machineTable, markdownTable } from '../end-to-end/lib/report.mjs';
import {
  ACCOUNT,
  call,
  createKey,
  importNdjson,
  root,
  startService,
  untilMerged,
  workFolder,
} from '../end-to-end/lib/service.mjs';
import { rowsAlone, rowsOf, threadRows } from './lib/beside-figures.mjs';

const { records, seconds, rounds, prepare, fresh } = readOptions({
  records: 100_000,
  seconds: 2,
  rounds: 12,
  prepare: false,
  fresh: false,
});
const BAR = 1.2;
/** Number of pages, more than are read in a turn. */
const PAGES = 1000 * seconds;
/** Number of pages that are imported again and again during a turn. */
const IMPORTED_PAGES = 2000;
const WORDS = 5000;
const CAPACITY_SECONDS = 4;
const CAPACITY_CONNECTIONS = 32;
const WATCHED_EACH_MS = 500;
/** Time until the load has begun. */
const LEAD_MS = 400;
/** Interval of a feed, so long that it is only due when a sync is requested. */
const INTERVAL_MINUTES = 43_200;

const random = seededRandom(1);
/** Returns a random word. Words of low numbers are frequent, as in texts. */
const word = () => `w${Math.floor(WORDS * random() ** 3)}`;
const words = (count) => Array.from({ length: count }, word).join(' ');
async function* lines() {
  for (let number = 0; number < records; number += 1)
    yield `${JSON.stringify({ name: `r${number}`, fields: { title: words(6), text: words(60) } })}\n`;
}
const paths = Array.from(
  { length: 5000 },
  () => `/search/${ACCOUNT}/records/1?${new URLSearchParams({ query: words(2), cache: 'false' })}`,
);

/** Lets the process run only when no other one does, or with the lowest priority if the system has no such policy. */
function makeIdle(pid) {
  try {
    execFileSync('chrt', ['--all-tasks', '--idle', '--pid', '0', String(pid)], { stdio: 'ignore' });
  } catch {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  }
}

const site = fork(join(import.meta.dirname, 'crawl.mjs'), [String(PAGES), 'serve']);
process.once('exit', () => site.kill());
const port = await new Promise((resolve) => site.once('message', resolve));
makeIdle(site.pid);
const dataDir = join(workFolder, `beside-${records}`);
const marker = join(dataDir, 'bench-prepared.json');
if (fresh || !existsSync(marker)) rmSync(dataDir, { recursive: true, force: true });
const service = await startService(dataDir, {
  GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
  GANNET_FEEDS_PAGES_PER_SECOND: '0',
});
const { address } = service;
const { key } = existsSync(marker) ? JSON.parse(readFileSync(marker, 'utf8')) : await prepared();
const load = { address, key, paths };

function api(method, path, body, as = key) {
  return call(address, as, method, path, body);
}

async function connect(name, pages_max, as = key) {
  const settings = { start_urls: [`http://127.0.0.1:${port}/`], pages_max, depth_max: 100, sitemaps: [] };
  const feed = { name, provider: 'website', interval_minutes: INTERVAL_MINUTES, settings };
  await api('POST', `/feed/${ACCOUNT}/connect`, feed, as);
}

function disconnect(name) {
  execFileSync(process.execPath, [join(root, 'bin', 'gannet.js'), 'feed', 'delete', name], {
    env: { ...process.env, GANNET_DATA_DIR: dataDir },
    stdio: 'ignore',
  });
}

async function prepared() {
  const made = createKey(dataDir);
  await api(
    'POST',
    `/list/${ACCOUNT}`,
    { name: 'records', searchable_fields: [{ name: 'title' }, { name: 'text' }] },
    made,
  );
  await importNdjson(address, made, 'records', lines());
  await untilMerged(dataDir);
  await connect('found', IMPORTED_PAGES, made);
  while ((await api('GET', `/feed/${ACCOUNT}/found`, undefined, made)).status !== 'Synced') await wait(100);
  writeFileSync(marker, JSON.stringify({ key: made }));
  return { key: made };
}

async function stop() {
  await service.stop();
  site.kill();
}

if (prepare) {
  await stop();
  process.exit(0);
}

const capacityOf = (ofSeconds) =>
  runOpenLoop({ ...load, seconds: ofSeconds, ratePerSecond: 0, connections: CAPACITY_CONNECTIONS });
await capacityOf(CAPACITY_SECONDS / 2);
const capacity = (await capacityOf(CAPACITY_SECONDS)).requestsPerSecond;

/** Runs searches. Returns latencies, and the processor milliseconds of the service's threads, the load and the website's server. */
async function searches(seed) {
  const times = () => new Map([...namedThreadTimesMs(service.pid), ['(the website)', threadTimesMs(site.pid).all]]);
  const before = times();
  const result = await runOpenLoop({ ...load, seconds, ratePerSecond: Math.round(capacity / 2), seed, each: true });
  const threads = new Map([...times()].map(([name, ms]) => [name, ms - (before.get(name) ?? 0)]));
  return { ...result, threads: threads.set('(the load)', result.processorMs) };
}

/** Runs searches beside a crawl. `found` is the number of pages read meanwhile, without those before the load begins, when the crawl runs at full speed. */
async function besideCrawl(round) {
  const name = `site${round}`;
  await connect(name, PAGES);
  const done = async () => {
    const { jobs } = await api('GET', `/progress/${ACCOUNT}`);
    return jobs.find((job) => job.kind === 'feed-sync' && job.name === name)?.done;
  };
  while (!((await done()) > 0)) await wait(20);
  const before = wait(LEAD_MS).then(done);
  const result = await searches(round);
  const found = ((await done()) ?? PAGES) - (await before);
  disconnect(name);
  return { ...result, found };
}

const recordsOf = async (list) => (await api('GET', `/list/${ACCOUNT}/${list}`)).record_count;

/**
 * Runs searches while new lists are filled from the feed's file one after the other. `found` is the number of imported records. Asks for progress
 * rarely, as asking takes processor time from the measured searches.
 */
async function besideImport(round) {
  let isOver = false;
  let found = 0;
  const importing = async () => {
    for (let number = 0; !isOver; number += 1) {
      const list = `copy${round}-${number}`;
      await api('POST', `/list/${ACCOUNT}`, { name: list });
      await api('POST', `/list/${ACCOUNT}/${list}/feed`, { feed: 'found' });
      const isImported = async () => (await api('GET', `/list/${ACCOUNT}/${list}/source`)).status === 'Imported';
      while (!isOver && !(await isImported())) await wait(WATCHED_EACH_MS);
      found += isOver ? await recordsOf(list) : IMPORTED_PAGES;
      await api('DELETE', `/list/${ACCOUNT}/${list}`);
    }
  };
  const imports = importing();
  const result = await searches(round);
  isOver = true;
  await imports;
  return { ...result, found };
}

/** @typedef {Awaited<ReturnType<typeof searches>> & { found?: number }} Turn */
/** @typedef {{ before: Turn; turn: Turn; after: Turn }[]} Turns */
/** @type {Turns} */
const crawls = [];
/** @type {Turns} */
const imports = [];
/** @type {[(round: number) => Promise<Turn>, Turns][]} */
const BESIDES = [
  [besideCrawl, crawls],
  [besideImport, imports],
];
let alone = await searches(0);
for (let round = 0; round <= rounds; round += 1) {
  for (const [beside, kept] of BESIDES) {
    const turn = await beside(round);
    const after = await searches(round);
    // The first round warms up compiled code.
    if (round > 0) kept.push({ before: alone, turn, after });
    alone = after;
  }
}
await stop();

const all = [...crawls, ...imports];
const turnsOf = (each) => each.map(({ turn }) => turn);
const failed = all.reduce((sum, { turn, after }) => sum + turn.failed + after.failed, 0);
const rows = [
  barRow(`searches a second that ${records} records can answer`, Math.round(capacity), '', true),
  ...rowsAlone(all),
  ...rowsOf('a crawl', crawls, { bar: BAR, unit: 'pages', seconds: seconds - LEAD_MS / 1000 }),
  ...rowsOf('an import', imports, {
    bar: BAR,
    unit: 'records (those of the moment before the load included)',
    seconds,
  }),
  barRow('searches that failed', String(failed), '0', failed === 0),
];
const kinds = { alone: all.map(({ after }) => after), crawl: turnsOf(crawls), import: turnsOf(imports) };
console.log(`${machineTable({ Turns: `${rounds} rounds of ${seconds} s each` })}
${markdownTable(['What', 'Figure', 'Bar', ''], rows)}
${markdownTable(['Processor time a second, ms', 'alone', 'beside a crawl', 'beside an import'], threadRows(kinds, seconds))}`);
