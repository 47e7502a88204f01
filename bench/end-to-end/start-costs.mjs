/**
 * What a start costs in one or more checkouts of the service, in turns: processor time of `gannet serve` on an empty folder until it is
 * ready, until its first record is found, and until its end; and of a command that calls it. Prints medians of the rounds. Linux only.
 *
 *   node bench/end-to-end/start-costs.mjs [--rounds 11] before=<folder> after=<folder>
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutsOf } from './lib/checkouts.mjs';
import { readOptions } from './lib/options.mjs';
import { threadTimesMs } from './lib/processor-time.mjs';
import { machineTable, markdownTable, quantile } from './lib/report.mjs';
import { ACCOUNT, call } from './lib/service.mjs';

const MS_PER_TICK = 10;
const { rounds, positionals } = readOptions({ rounds: 11 }, { positionals: true });
const checkouts = checkoutsOf(positionals);

/** Returns the processor time of children that ended and were waited for. */
function endedChildrenMs() {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15);
  return (Number(user) + Number(system)) * MS_PER_TICK;
}

function start(folder, dataDir, ...words) {
  const env = { ...process.env, GANNET_DATA_DIR: dataDir, GANNET_PORT: '0', GANNET_SEARCH_THREADS: '1' };
  const child = spawn(process.execPath, [join(folder, 'bin', 'gannet.js'), ...words], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return { child, ended: new Promise((end) => child.once('close', end)) };
}

function readyAddress(child) {
  return new Promise((found) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const address = /ready on (http:\/\/\S+)/.exec(output)?.[1];
      if (address !== undefined) found(address);
    });
  });
}

async function createdKey(folder, dataDir) {
  const { child, ended } = start(folder, dataDir, 'key', 'create', '--access', 'full', '--json');
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  await ended;
  return JSON.parse(output).key;
}

async function measureOnce(folder, note) {
  const dataDir = mkdtempSync(join(tmpdir(), 'gannet-start-costs-'));
  try {
    const { child, ended } = start(folder, dataDir, 'serve');
    const address = await readyAddress(child);
    note('until ready', threadTimesMs(child.pid).all);
    note('until ready, main thread', threadTimesMs(child.pid).main);
    const beforeCommand = endedChildrenMs();
    const key = await createdKey(folder, dataDir);
    note('`gannet key create`', endedChildrenMs() - beforeCommand);
    const record = { name: 'one', fields: { text: 'one' } };
    await call(address, key, 'POST', `/list/${ACCOUNT}`, { name: 'one', searchable_fields: [{ name: 'text' }] });
    await call(address, key, 'POST', `/search-result/${ACCOUNT}/one`, record);
    await call(address, key, 'GET', `/search/${ACCOUNT}/one/1?query=one`);
    note('until a first record was written and found', threadTimesMs(child.pid).all);
    const beforeEnd = endedChildrenMs();
    child.kill('SIGTERM');
    await ended;
    note('all, with its end', endedChildrenMs() - beforeEnd);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const figures = new Map();
for (let round = 0; round < rounds; round += 1) {
  for (const { name, folder } of round % 2 === 0 ? checkouts : checkouts.toReversed()) {
    await measureOnce(folder, (what, ms) => {
      const row = figures.get(what) ?? new Map();
      figures.set(what, row.set(name, [...(row.get(name) ?? []), ms]));
    });
  }
}
const rows = [...figures].map(([what, row]) => [
  what,
  ...checkouts.map(({ name }) => Math.round(quantile(row.get(name), 0.5))),
]);
process.stdout.write(`${machineTable({ Rounds: `${rounds} of each, in turns; medians` })}\n`);
process.stdout.write(markdownTable(['Milliseconds of processor', ...checkouts.map(({ name }) => name)], rows));
