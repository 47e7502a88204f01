/**
 * Searches beside a crawl, and beside the import of what a crawl has found, in turns with searches alone: p99 at half of what the service can answer.
 * The server of the website and the load are processes of their own. The server would be another machine's: it has the processor only when nothing
 * else wants it (SCHED_IDLE), and its processor time is printed. Prints Markdown.
 *
 *   npm run build && node bench/feeds/beside.mjs [--records 100000] [--seconds 10] [--rounds 5]
 */
import { execFileSync, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sendAll } from '../end-to-end/lib/closed-loop.mjs';
import { runOpenLoop } from '../end-to-end/lib/open-loop.mjs';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { threadTimesMs } from '../end-to-end/lib/processor-time.mjs';
import { seededRandom } from '../end-to-end/lib/random.mjs';
import { barRow, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';
import { ACCOUNT, call, createKey, importNdjson, root, startService, untilMerged } from '../end-to-end/lib/service.mjs';

const { records, seconds, rounds } = readOptions({ records: 100_000, seconds: 10, rounds: 5 });
/** More than are read in a turn. */
const PAGES = 1000 * seconds;
/** That are imported again and again while a turn lasts. */
const IMPORTED_PAGES = 2000;
const WORDS = 5000;
const CAPACITY_REQUESTS = 20_000;
const WATCHED_EACH_MS = 500;

const random = seededRandom(1);
/** The first of them are frequent, as words are. */
const word = () => `w${Math.floor(WORDS * random() ** 3)}`;
const words = (count) => Array.from({ length: count }, word).join(' ');
async function* lines() {
  for (let number = 0; number < records; number += 1)
    yield `${JSON.stringify({ name: `r${number}`, fields: { title: words(6), text: words(60) } })}\n`;
}

/** Of no weight beside all others, where the system knows that; else of the least. */
function makeIdle(pid) {
  try {
    execFileSync('chrt', ['--all-tasks', '--idle', '--pid', '0', String(pid)], { stdio: 'ignore' });
  } catch {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  }
}

const dataDir = mkdtempSync(join(tmpdir(), 'gannet-beside-'));
const site = fork(join(import.meta.dirname, 'crawl.mjs'), [String(PAGES), 'serve']);
const port = await new Promise((resolve) => site.once('message', resolve));
makeIdle(site.pid);
const service = await startService(dataDir, {
  GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
  GANNET_FEEDS_PAGES_PER_SECOND: '0',
});
const key = createKey(dataDir);
const { address } = service;
const api = (method, path, body) => call(address, key, method, path, body);
const connect = (name, pages_max) =>
  api('POST', `/feed/${ACCOUNT}/connect`, {
    name,
    provider: 'website',
    settings: { start_urls: [`http://127.0.0.1:${port}/`], pages_max, depth_max: 100, sitemaps: [] },
  });

await api('POST', `/list/${ACCOUNT}`, {
  name: 'records',
  searchable_fields: [{ name: 'title' }, { name: 'text' }],
});
await importNdjson(address, key, 'records', lines());
await untilMerged(dataDir);
await connect('found', IMPORTED_PAGES);
while ((await api('GET', `/feed/${ACCOUNT}/found`)).status !== 'Synced') await wait(100);
const paths = Array.from(
  { length: 5000 },
  () => `/search/${ACCOUNT}/records/1?${new URLSearchParams({ query: words(2), cache: 'false' })}`,
);

const requestAt = (number) => ({ path: paths[number % paths.length] });
const all = (count) => sendAll({ address, key, count, connections: 32, requestAt });
await all(CAPACITY_REQUESTS / 4);
const startedMs = performance.now();
await all(CAPACITY_REQUESTS);
const capacity = (CAPACITY_REQUESTS / (performance.now() - startedMs)) * 1000;

/** Latencies, and milliseconds of processor time that the service and the server of the website took a second. */
async function load(seed) {
  const before = [service.pid, site.pid].map((pid) => threadTimesMs(pid).all);
  const result = await runOpenLoop({ address, key, paths, seconds, ratePerSecond: Math.round(capacity / 2), seed });
  const [own, sites] = [service.pid, site.pid].map((pid, at) => (threadTimesMs(pid).all - before[at]) / seconds);
  return { ...result, own, sites };
}

/** The load while a site is crawled; `found`: the pages that were read meanwhile. */
async function besideCrawl(round) {
  const name = `site${round}`;
  await connect(name, PAGES);
  const done = async () => {
    const { jobs } = await api('GET', `/progress/${ACCOUNT}`);
    return jobs.find((job) => job.kind === 'feed-sync' && job.name === name)?.done;
  };
  while (!((await done()) > 0)) await wait(20);
  const before = await done();
  const result = await load(round);
  const found = ((await done()) ?? PAGES) - before;
  execFileSync(process.execPath, [join(root, 'bin', 'gannet.js'), 'feed', 'delete', name], {
    env: { ...process.env, GANNET_DATA_DIR: dataDir },
    stdio: 'ignore',
  });
  return { ...result, found };
}

const recordsOf = async (list) => (await api('GET', `/list/${ACCOUNT}/${list}`)).record_count;

/**
 * The load while a new list is filled from the feed's file, and another one when that is done; `found`: the records that were taken over. It is
 * seldom asked how far it is: asking takes the processors that searches are measured on.
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
  const result = await load(round);
  isOver = true;
  await imports;
  return { ...result, found };
}

const turns = [];
await load(0);
for (let round = 1; round <= rounds; round += 1)
  turns.push({ alone: await load(round), crawl: await besideCrawl(round), import: await besideImport(round) });
await service.stop();
site.kill();
rmSync(dataDir, { recursive: true });

const median = (valueOf) => quantile(turns.map(valueOf), 0.5);
const kinds = ['alone', 'crawl', 'import'];
const failed = turns.reduce((sum, turn) => sum + kinds.reduce((of, kind) => of + turn[kind].failed, 0), 0);
const perSecond = (kind, member) => Math.round(median((turn) => turn[kind][member]));
function rowsOf(kind, what, unit) {
  const ratio = median((turn) => turn[kind].p99 / turn.alone.p99);
  return [
    barRow(`beside ${what}: p50 and p99, ms`, latencies(kind), '', true),
    barRow(`beside ${what}: times the p99 alone (median of turns)`, ratio.toFixed(2), '≤ 1.2', ratio <= 1.2),
    barRow(`${unit} a second meanwhile`, Math.round(median((turn) => turn[kind].found) / seconds), '', true),
    barRow(
      `processor time a second, ms: of the service, of the website's server`,
      `${perSecond(kind, 'own')}, ${perSecond(kind, 'sites')}`,
      '',
      true,
    ),
  ];
}
function latencies(kind) {
  return `${median((turn) => turn[kind].p50).toFixed(1)}, ${median((turn) => turn[kind].p99).toFixed(1)}`;
}
const rows = [
  barRow(`searches a second that ${records} records can answer`, Math.round(capacity), '', true),
  barRow('half of that, alone: p50 and p99, ms (median of turns)', latencies('alone'), '', true),
  barRow('processor time of the service a second, ms', String(perSecond('alone', 'own')), '', true),
  ...rowsOf('crawl', 'a crawl', 'pages'),
  ...rowsOf('import', 'an import', 'records'),
  barRow('searches that failed', String(failed), '0', failed === 0),
];
console.log(`${machineTable()}\n\n${markdownTable(['What', 'Figure', 'Bar', ''], rows)}`);
