/**
 * Measures what an unopened console costs the service: time and processor time until it is ready, and memory, compared in turns with
 * a copy without the pages of the console; and what opening it takes. Needs no browser. Linux only. Prints Markdown.
 *
 *   npm run setup && node bench/console/unopened.mjs [--rounds 9]
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { barRow, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';
import { root, startService } from '../end-to-end/lib/service.mjs';

const { rounds } = readOptions({ rounds: 9 });
/** Bars for a start and for its memory, above which differences are no noise. */
const START_SHARE_MAX = 1.05;
const MEMORY_MIB_MAX = 2;
const SETTLED_MS = 1_000;
const PAGES = join('dist', 'console-assets');

const folder = mkdtempSync(join(tmpdir(), 'gannet-bench-unopened-'));
try {
  const programs = { with: copyOf('with', () => true), without: copyOf('without', (path) => !path.includes(PAGES)) };
  // The first start of each fills the caches of the system and the runtime.
  for (const program of Object.values(programs)) await measured(program);
  const turns = [];
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? ['with', 'without'] : ['without', 'with'];
    const turn = {};
    for (const kind of order) turn[kind] = await measured(programs[kind], kind === 'with');
    turns.push(turn);
  }
  report(turns);
} finally {
  rmSync(folder, { recursive: true });
}

/** Copies what a start needs, as far as `filter` accepts it. Returns the program of the copy. */
function copyOf(name, isTaken) {
  const place = join(folder, name);
  mkdirSync(place);
  for (const each of ['bin', 'dist', 'package.json'])
    cpSync(join(root, each), join(place, each), { recursive: true, dereference: true, filter: isTaken });
  for (const each of ['config', 'native-bindings', 'node_modules']) symlinkSync(join(root, each), join(place, each));
  return join(place, 'bin', 'gannet.js');
}

/** Starts the service on an empty data directory, and then opens the console if asked for. */
async function measured(program, isOpened = false) {
  const dataDir = mkdtempSync(join(folder, 'data-'));
  const service = await startService(dataDir, {}, program);
  const startCpuMs = service.cpuMs();
  await wait(SETTLED_MS);
  const figures = { readyMs: service.readyMs, startCpuMs, memoryMib: service.memory().anonymous };
  if (isOpened) Object.assign(figures, await opened(service));
  await service.stop();
  rmSync(dataDir, { recursive: true });
  return figures;
}

/** Opens the page of the console, which makes the service read all of its files. */
async function opened(service) {
  const startedMs = performance.now();
  const page = await fetch(`${service.address}/console/`);
  if (page.status !== 200) throw new Error(`/console/ answered ${page.status}`);
  await page.text();
  const openMs = performance.now() - startedMs;
  await wait(SETTLED_MS);
  return { openMs, openMib: service.memory().anonymous };
}

function report(turns) {
  const median = (pick) => quantile(turns.map(pick), 0.5);
  const share = (name) => median((turn) => turn.with[name] / turn.without[name]);
  const [ready, cpu] = [share('readyMs'), share('startCpuMs')];
  const more = median((turn) => turn.with.memoryMib - turn.without.memoryMib);
  const taken = median((turn) => turn.with.openMib - turn.with.memoryMib);
  const rows = [
    [
      'ready after, ms (median of turns), without pages of the console',
      median((t) => t.without.readyMs).toFixed(0),
      '',
      '',
    ],
    ['the same with them, unopened', median((t) => t.with.readyMs).toFixed(0), '', ''],
    barRow('times the start', ready.toFixed(3), `≤ ${START_SHARE_MAX}`, ready <= START_SHARE_MAX),
    barRow('times the processor time of the start', cpu.toFixed(3), `≤ ${START_SHARE_MAX}`, cpu <= START_SHARE_MAX),
    barRow('more memory, MiB', more.toFixed(2), `≤ ${MEMORY_MIB_MAX}`, more <= MEMORY_MIB_MAX),
    ['first page of the console, ms', median((t) => t.with.openMs).toFixed(0), '', ''],
    ['memory that it takes once opened, MiB', taken.toFixed(1), '', ''],
  ];
  console.log(`${machineTable()}\n\n${markdownTable(['What', 'Figure', 'Bar', ''], rows)}`);
}
