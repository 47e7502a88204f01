/**
 * Measures the console beside searches: searches per second and the service's processor time per search, with and without 20 pages of the console open in
 * a browser, in turns; how soon the sign-in page is usable; and the longest time without a frame while large pages are scrolled. Needs Chromium. Prints Markdown.
 *
 *   npm run setup && node bench/console/run.mjs [--consoles 20] [--rounds 5] [--searches 20000] [--records 50000]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { CHROMIUM_ARGUMENTS, chromiumPath } from '../../scripts/lib/chromium.mjs';
import { sendAll } from '../end-to-end/lib/closed-loop.mjs';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { seededRandom } from '../end-to-end/lib/random.mjs';
import { barRow, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';
import { ACCOUNT, call, createKey, importNdjson, root, startService, untilMerged } from '../end-to-end/lib/service.mjs';
import { longestPauses } from './scrolls.mjs';

const { consoles, rounds, searches, records } = readOptions({
  consoles: 20,
  rounds: 5,
  searches: 20_000,
  records: 50_000,
});
const WORDS = 5000;
const SIGN_INS = 10;
const INTERACTIVE_MS_MAX = 500;
const SHARE_MIN = 0.97;
const PAUSE_MS_MAX = 1000;
/** Pages that the consoles open in turn. */
const PAGES = [
  '',
  'lists',
  'list/records/search?query=w1',
  'list/records/records',
  'list/records/settings',
  'feeds',
  'health',
];

const random = seededRandom(1);
const words = (count) => Array.from({ length: count }, () => `w${Math.floor(WORDS * random() ** 3)}`).join(' ');
async function* lines() {
  for (let number = 0; number < records; number += 1)
    yield `${JSON.stringify({ name: `r${number}`, fields: { title: words(6), text: words(60) } })}\n`;
}

const executablePath = chromiumPath();
if (executablePath === undefined) throw new Error('There is no Chromium: node scripts/install-chromium.mjs');
const dataDir = mkdtempSync(join(tmpdir(), 'gannet-bench-console-'));
const service = await startService(dataDir);
const { address } = service;
const key = createKey(dataDir);
await call(address, key, 'POST', `/list/${ACCOUNT}`, {
  name: 'records',
  searchable_fields: [{ name: 'title' }, { name: 'text' }],
});
await importNdjson(address, key, 'records', lines());
await untilMerged(dataDir);

const browser = await chromium.launch({ executablePath, args: [...CHROMIUM_ARGUMENTS] });
const signIns = [];
for (let i = 0; i < SIGN_INS; i += 1) signIns.push(await signInPageMs());
const pages = await signedInPages();
const pauses = await longestPauses(pages[0], (path) => openPath(pages[0], path));

const paths = Array.from(
  { length: 5000 },
  () => `/search/${ACCOUNT}/records/1?${new URLSearchParams({ query: words(2), cache: 'false' })}`,
);
await turn();
const turns = [];
for (let round = 0; round < rounds; round += 1) {
  await Promise.all(pages.map((page) => page.goto('about:blank')));
  const without = await turn();
  await Promise.all(pages.map(openConsole));
  turns.push({ without, beside: await turn() });
}
await browser.close();
await service.stop();
rmSync(dataDir, { recursive: true });

/** Measures the time from the address to a button that can be pressed, in a browser with an empty cache. */
async function signInPageMs() {
  const context = await browser.newContext();
  const page = await context.newPage();
  const startedMs = performance.now();
  await page.goto(`${address}/console/`, { waitUntil: 'commit' });
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  const tookMs = performance.now() - startedMs;
  await context.close();
  return tookMs;
}

async function signedInPages() {
  const env = { ...process.env, GANNET_DATA_DIR: dataDir };
  const printed = execFileSync(process.execPath, [join(root, 'bin', 'gannet.js'), 'console', 'link', '--json'], {
    env,
  });
  const { link } = JSON.parse(printed.toString());
  const context = await browser.newContext();
  const first = await context.newPage();
  await first.goto(`${address}/console/${link.slice(link.indexOf('#'))}`);
  await first.getByRole('button', { name: 'Sign in' }).click();
  await first.waitForURL(/\/console\/default/);
  const others = await Promise.all(Array.from({ length: consoles - 1 }, () => context.newPage()));
  return [first, ...others];
}

function openConsole(page, index) {
  return openPath(page, PAGES[index % PAGES.length]);
}

async function openPath(page, path) {
  await page.goto(`${address}/console/${ACCOUNT}/${path}`);
  await page.getByRole('heading').first().waitFor();
}

async function turn() {
  const requestAt = (number) => ({ path: paths[number % paths.length] });
  const [cpuMs, startedMs] = [service.cpuMs(), performance.now()];
  await sendAll({ address, key, count: searches, connections: 12, requestAt });
  return {
    perSecond: (searches * 1000) / (performance.now() - startedMs),
    cpuMicroseconds: ((service.cpuMs() - cpuMs) * 1000) / searches,
  };
}

const median = (pick) => quantile(turns.map(pick), 0.5);
const share = median(({ without, beside }) => beside.perSecond / without.perSecond);
const cost = median(({ without, beside }) => beside.cpuMicroseconds / without.cpuMicroseconds);
const interactive = quantile(signIns, 0.5);
const rows = [
  barRow(
    'searches a second, no console open (median of turns)',
    Math.round(median((t) => t.without.perSecond)),
    '',
    true,
  ),
  barRow(`the same beside ${consoles} open consoles`, Math.round(median((t) => t.beside.perSecond)), '', true),
  barRow('share (median of turns)', share.toFixed(3), `≥ ${SHARE_MIN}`, share >= SHARE_MIN),
  barRow(
    'times the processor time of the service a search',
    cost.toFixed(3),
    `≤ ${(1 / SHARE_MIN).toFixed(2)}`,
    cost <= 1 / SHARE_MIN,
  ),
  barRow(
    'sign-in page until it can be used, ms (median)',
    interactive.toFixed(0),
    `< ${INTERACTIVE_MS_MAX}`,
    interactive < INTERACTIVE_MS_MAX,
  ),
  ...pauses.map(({ what, ms }) =>
    barRow(`longest time without a frame, ms: ${what}`, ms.toFixed(0), `< ${PAUSE_MS_MAX}`, ms < PAUSE_MS_MAX),
  ),
];
console.log(`${machineTable()}\n\n${markdownTable(['What', 'Figure', 'Bar', ''], rows)}`);
