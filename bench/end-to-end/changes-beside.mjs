/**
 * Measures searches beside changes of the catalogue: creating a list, changing a setting of the searched list, copying a list, and deleting lists. Runs
 * one or several checkouts of the service in turns, and takes medians of the rounds. Prints Markdown.
 *
 *   node bench/end-to-end/changes-beside.mjs [--records 100000] [--others 0] [--copied 100000] [--rate 500] [--rounds 10] [--fresh] <name>=<folder> …
 *
 * Each folder is a built checkout. `records` is the size of the searched list, `others` the number of empty lists beside it, and `copied`
 * the size of the list that is copied and deleted in each round. The data are made once and reused. Searches go out at a given rate whether answers
 * come or not. For each change, searches count that were due during it and 20 ms after it; without changes, those of half a second.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { checkoutsOf, serviceOf } from './lib/checkouts.mjs';
import { runOpenLoop } from './lib/open-loop.mjs';
import { readOptions } from './lib/options.mjs';
import { namedThreadTimesMs } from './lib/processor-time.mjs';
import { seededRandom } from './lib/random.mjs';
import { machineTable, markdownTable, quantile } from './lib/report.mjs';
import { ACCOUNT, call, createKey, importNdjson, untilMerged, workFolder } from './lib/service.mjs';

const { records, others, copied, rate, rounds, fresh, positionals } = readOptions(
  { records: 100_000, others: 0, copied: 100_000, rate: 500, rounds: 10, fresh: false },
  { positionals: true },
);
const checkouts = checkoutsOf(positionals);

const WORDS = 5000;
/** Time after a change, for work that it leaves. */
const AFTER_MS = 20;
const BETWEEN_MS = 150;
const NOTHING_MS = 500;
const WARM_UP_MS = 1000;
const FIELDS = { searchable_fields: [{ name: 'title' }, { name: 'text' }] };

const random = seededRandom(3);
/** Returns a random word. Words of low numbers are frequent, as in texts. */
const word = () => `w${Math.floor(WORDS * random() ** 3)}`;
const words = (count) => Array.from({ length: count }, word).join(' ');
async function* lines(count) {
  for (let number = 0; number < count; number += 1)
    yield `${JSON.stringify({ name: `r${number}`, fields: { title: words(6), text: words(60) } })}\n`;
}
const paths = Array.from(
  { length: 5000 },
  () => `/search/${ACCOUNT}/searched/1?${new URLSearchParams({ query: words(2), cache: 'false' })}`,
);

/** @param {import('./lib/checkouts.mjs').Checkout} checkout */
async function startSide(checkout) {
  const { name } = checkout;
  const { startService } = await serviceOf(checkout);
  const dataDir = join(workFolder, `changes-beside-${name}-${records}-${others}-${copied}`);
  const marker = join(dataDir, 'bench-prepared.json');
  if (fresh || !existsSync(marker)) rmSync(dataDir, { recursive: true, force: true });
  const service = await startService(dataDir);
  const { key } = existsSync(marker) ? JSON.parse(readFileSync(marker, 'utf8')) : await prepared(service, dataDir);
  writeFileSync(marker, JSON.stringify({ key }));
  const api = (method, path, body) => call(service.address, key, method, `/list/${ACCOUNT}${path}`, body);
  return { name, service, key, api, changes: new Map() };
}

async function prepared({ address }, dataDir) {
  const key = createKey(dataDir);
  for (const [name, count] of Object.entries({ searched: records, copied })) {
    await call(address, key, 'POST', `/list/${ACCOUNT}`, { name, ...FIELDS });
    if (count > 0) await importNdjson(address, key, name, lines(count));
  }
  for (let number = 0; number < others; number += 1)
    await call(address, key, 'POST', `/list/${ACCOUNT}`, { name: `other-${number}` });
  await untilMerged(dataDir);
  return { key };
}

const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

/**
 * Returns the changes of a round by name.
 * @returns {[string, () => Promise<unknown>][]}
 */
function changesOf({ api }, round) {
  return [
    ['nothing', () => wait(NOTHING_MS)],
    ['a list is made', () => api('POST', '', { name: 'made' })],
    ['a setting of the list that is searched', () => api('PUT', '/searched', { suggestions: { require_click: round % 2 === 0 } })],
    ['the list is deleted', () => api('DELETE', '/made')],
    ['a list is copied', () => api('POST', '/copied/clone', { name: 'copy' })],
    ['the copy is deleted', () => api('DELETE', '/copy')],
  ]; // prettier-ignore
}

/** Makes the changes of a round one after the other. Returns when each began and ended. */
async function changed(side, round) {
  const spans = [];
  for (const [name, change] of changesOf(side, round)) {
    const mainMs = () => namedThreadTimesMs(side.service.pid).get('main');
    const [before, fromMs] = [mainMs(), nowMs()];
    await change();
    const tookMs = nowMs() - fromMs;
    await wait(AFTER_MS);
    spans.push({ name, fromMs, toMs: nowMs(), tookMs, mainMs: mainMs() - before });
    await wait(BETWEEN_MS);
  }
  return spans;
}

/** Runs a round beside searches, which last one and a half times as long as the round before. */
async function turn(side, round) {
  const load = { address: side.service.address, key: side.key, paths, ratePerSecond: rate, seed: round, each: true };
  const searched = runOpenLoop({ ...load, seconds: (side.roundMs * 1.5 + WARM_UP_MS) / 1000 });
  await wait(WARM_UP_MS);
  const begunMs = nowMs();
  const spans = await changed(side, round);
  side.roundMs = nowMs() - begunMs;
  const { latencies, dueMs, failed } = await searched;
  if (failed > 0) throw new Error(`${failed} searches failed`);
  for (const { name, fromMs, toMs, tookMs, mainMs } of spans) {
    const of = latencies.filter((_, at) => dueMs[at] >= fromMs && dueMs[at] < toMs);
    const before = side.changes.get(name) ?? [];
    if (of.length > 0) side.changes.set(name, [...before, { tookMs, mainMs, p99: quantile(of, 0.99), longest: Math.max(...of) }]);
  } // prettier-ignore
}

const median = (values) => quantile(values, 0.5);

const sides = [];
for (const checkout of checkouts) sides.push(await startSide(checkout));
// The first round warms up compiled code.
for (const side of sides) side.roundMs = (await changed(side, 0)).reduce((sum, { tookMs }) => sum + tookMs + BETWEEN_MS + AFTER_MS, 0); // prettier-ignore
for (let round = 1; round <= rounds; round += 1) for (const side of sides) await turn(side, round);
for (const { service } of sides) await service.stop();

const rows = sides.flatMap(({ name, changes }) =>
  [...changes].map(([change, all]) => {
    const of = (member) => median(all.map((each) => each[member])).toFixed(1);
    const most = Math.max(...all.map(({ longest }) => longest)).toFixed(1);
    return [change, name, of('tookMs'), of('mainMs'), of('p99'), of('longest'), most];
  }),
);
const order = [...new Set(rows.map(([change]) => change))];
rows.sort(([one], [other]) => order.indexOf(one) - order.indexOf(other));
console.log(`${machineTable({ Searches: `${rate} a second in ${records} records`, Lists: `${others} beside it, a copy of ${copied} records`, Turns: `${rounds} rounds` })}
${markdownTable(['Beside', 'Service', 'it takes, ms', 'of that the main thread, ms of a processor', 'searches: p99, ms', 'longest, ms', 'longest of all, ms'], rows)}`);
