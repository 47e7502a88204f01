/**
 * Searches beside a crawl and the import of what it finds, in turns with searches alone: p99 at half of what the service can answer. The server of
 * the website and the load are processes of their own; that of the website, which would be another machine's, gives way to all others. Prints Markdown.
 *
 *   npm run build && node bench/feeds/beside.mjs [--records 100000] [--seconds 10] [--rounds 5]
 */
import { execFileSync, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sendAll } from '../end-to-end/lib/closed-loop.mjs';
import { runOpenLoop } from '../end-to-end/lib/open-loop.mjs';
import { seededRandom } from '../end-to-end/lib/random.mjs';
import { barRow, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';
import { ACCOUNT, call, createKey, importNdjson, root, startService, untilMerged } from '../end-to-end/lib/service.mjs';

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '5' },
  },
});
const [records, seconds, rounds] = [values.records, values.seconds, values.rounds].map(Number);
/** More than are read in a turn. */
const PAGES = 1000 * seconds;
const WORDS = 5000;
const CAPACITY_REQUESTS = 20_000;

const random = seededRandom(1);
/** The first of them are frequent, as words are. */
const word = () => `w${Math.floor(WORDS * random() ** 3)}`;
const words = (count) => Array.from({ length: count }, word).join(' ');
async function* lines() {
  for (let number = 0; number < records; number += 1)
    yield `${JSON.stringify({ name: `r${number}`, fields: { title: words(6), text: words(60) } })}\n`;
}

const dataDir = mkdtempSync(join(tmpdir(), 'gannet-beside-'));
const site = fork(join(import.meta.dirname, 'crawl.mjs'), [String(PAGES), 'serve']);
setPriority(site.pid, constants.priority.PRIORITY_LOW);
const port = await new Promise((resolve) => site.once('message', resolve));
const service = await startService(dataDir, {
  GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
  GANNET_FEEDS_PAGES_PER_SECOND: '0',
});
const key = createKey(dataDir);
const { address } = service;
const api = (method, path, body) => call(address, key, method, path, body);

await api('POST', `/list/${ACCOUNT}`, {
  name: 'records',
  searchable_fields: [{ name: 'title' }, { name: 'text' }],
});
await importNdjson(address, key, 'records', lines());
await untilMerged(dataDir);
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
const load = (seed) => runOpenLoop({ address, key, paths, seconds, ratePerSecond: Math.round(capacity / 2), seed });

/** Crawls and imports while the searches run; resolves with theirs, and with the pages that were read. */
async function beside(round) {
  const name = `site${round}`;
  const settings = { start_urls: [`http://127.0.0.1:${port}/`], pages_max: PAGES, depth_max: 100, sitemaps: [] };
  await api('POST', `/list/${ACCOUNT}`, { name });
  await api('POST', `/feed/${ACCOUNT}/connect`, { name, provider: 'website', settings });
  await api('POST', `/list/${ACCOUNT}/${name}/feed`, { feed: name });
  const done = async () => {
    const { jobs } = await api('GET', `/progress/${ACCOUNT}`);
    return jobs.find((job) => job.kind === 'feed-sync' && job.name === name)?.done;
  };
  while (!((await done()) > 0)) await wait(20);
  const result = await load(round);
  const pages = (await done()) ?? PAGES;
  execFileSync(process.execPath, [join(root, 'bin', 'gannet.js'), 'feed', 'delete', name], {
    env: { ...process.env, GANNET_DATA_DIR: dataDir },
    stdio: 'ignore',
  });
  await api('DELETE', `/list/${ACCOUNT}/${name}`);
  return { ...result, pages };
}

const turns = [];
await load(0);
for (let round = 1; round <= rounds; round += 1) turns.push({ without: await load(round), with: await beside(round) });
await service.stop();
site.kill();
rmSync(dataDir, { recursive: true });

const median = (side, member) =>
  quantile(
    turns.map((turn) => turn[side][member]),
    0.5,
  );
const ratio = quantile(
  turns.map((turn) => turn.with.p99 / turn.without.p99),
  0.5,
);
const failed = turns.reduce((sum, turn) => sum + turn.with.failed + turn.without.failed, 0);
const rows = [
  barRow(`searches a second that ${records} records can answer`, Math.round(capacity), '', true),
  barRow('p99 at half of that, alone, ms (median of turns)', median('without', 'p99').toFixed(1), '', true),
  barRow('p99 beside a crawl, ms', median('with', 'p99').toFixed(1), '', true),
  barRow('times as much (median of turns)', ratio.toFixed(2), '≤ 1.2', ratio <= 1.2),
  barRow('pages that were read in a turn', Math.round(median('with', 'pages')), '', true),
  barRow('searches that failed', String(failed), '0', failed === 0),
];
console.log(`${machineTable()}\n\n${markdownTable(['What', 'Figure', 'Bar', ''], rows)}`);
