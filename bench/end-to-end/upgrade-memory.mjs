/**
 * Private memory of a service (`RssAnon`) whose release was exchanged, while its indexes are made anew, its lists are searched, and a
 * list with the built-in model gets its next one. The first checkout is of the release before: it imports two lists of sentences, one
 * with the built-in model. Each other one starts on a copy of its data, with a small budget, and is searched ten times a second. Linux only.
 *
 *   node bench/end-to-end/upgrade-memory.mjs [--records 300000] [--mib 250] [--seconds 300] before=<folder> after=<folder> …
 *
 * Ends before the seconds are over once the next model has been in force for half a minute.
 */
import { cpSync, createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { checkoutsOf, serviceOf } from './lib/checkouts.mjs';
import { readOptions } from './lib/options.mjs';
import { machineTable, markdownTable } from './lib/report.mjs';
import { SENTENCES_DEFINITION, sentencesFile } from './lib/sentences.mjs';
import { ACCOUNT, call, importNdjson, untilMerged } from './lib/service.mjs';

const QUERIES = ['quantum field', 'neural network', 'dark matter halo'];
const SEARCH_EACH_MS = 100;
const IN_FORCE_SECONDS = 30;
const LISTS = { meant: { model: 'built-in' }, plain: {} };

const { records, mib, seconds, positionals } = readOptions(
  { records: 300_000, mib: 250, seconds: 300 },
  { positionals: true },
);
const [before, ...others] = checkoutsOf(positionals);
if (before === undefined || others.length === 0) {
  process.stderr.write('name the checkout before and at least one after it\n');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'gannet-upgrade-memory-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const made = join(folder, 'made');

async function makeData() {
  const sentences = await sentencesFile(records);
  if (sentences === undefined) throw new Error('the abstracts are not there (see bench/README.md)');
  const { startService, createKey } = await serviceOf(before);
  const service = await startService(made);
  const key = createKey(made);
  for (const [name, settings] of Object.entries(LISTS)) {
    await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name, ...SENTENCES_DEFINITION, ...settings });
    await importNdjson(service.address, key, name, createReadStream(sentences.path));
  }
  await untilMerged(made);
  while (!(await isEmbedded(service.address, key))) await wait(1000);
  // Releases of November 2026 may end by a signal; what they have acknowledged is there.
  await service.stop().catch((error) => process.stderr.write(`the release before: ${error.message}\n`));
}

async function isEmbedded(address, key) {
  const { meaning } = await call(address, key, 'GET', `/list/${ACCOUNT}/meant`);
  return meaning?.state === 'ready' && meaning.pending === 0;
}

function privateMib(pid) {
  const [, kib] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}

/** Returns the greatest private memory until the index is there, until the next model is, and from then on. */
async function measured(checkout) {
  const dataDir = join(folder, checkout.name);
  cpSync(made, dataDir, { recursive: true });
  const { startService, createKey } = await serviceOf(checkout);
  const service = await startService(dataDir, { GANNET_MEMORY_MIB: String(mib) });
  const key = createKey(dataDir);
  const ask = (path) => fetch(`${service.address}${path}`, { headers: { 'x-api-key': key } });
  const most = [0, 0, 0];
  let phase = 0;
  let sinceMs = 0;
  const endMs = performance.now() + seconds * 1000;
  for (let turn = 0; performance.now() < endMs; ++turn) {
    const list = turn % 2 === 0 ? 'meant' : 'plain';
    const options = new URLSearchParams({ query: QUERIES[turn % QUERIES.length] ?? '', cache: 'false' });
    const { status } = await ask(`/search/${ACCOUNT}/${list}/1?${options}`);
    most[phase] = Math.max(most[phase] ?? 0, privateMib(service.pid));
    if (phase === 0 && list === 'meant' && status === 200) phase = 1;
    if (turn % 10 === 0) {
      const asked = await ask(`/list/${ACCOUNT}/meant`);
      const { meaning } = /** @type {{ meaning?: { state: string } }} */ (await asked.json());
      if (meaning?.state === 'embedding' && sinceMs === 0) sinceMs = performance.now();
      if (phase === 1 && sinceMs > 0 && meaning?.state === 'ready') [phase, sinceMs] = [2, performance.now()];
      if (phase === 2 && performance.now() - sinceMs > IN_FORCE_SECONDS * 1000) break;
    }
    await wait(SEARCH_EACH_MS);
  }
  await service.stop();
  rmSync(dataDir, { recursive: true });
  return { name: checkout.name, most, isReached: phase === 2 };
}

await makeData();
const rows = [];
for (const checkout of others) {
  const { name, most, isReached } = await measured(checkout);
  const [index = 0, model = 0, after = 0] = most;
  rows.push([name, ...[index, model].map(Math.round), isReached ? Math.round(after) : 'not reached']);
}
process.stdout.write(
  machineTable({ Records: `2 lists of ${records}`, 'memory.mib': String(mib), 'Release before': before.name }),
);
process.stdout.write(
  `\n${markdownTable(['MiB at most', 'until the index is there', 'until the next model is in force', 'from then on'], rows)}`,
);
