/**
 * Measures how all costs grow with a list: import, disk, start, memory, latency and throughput of searches alone, building a version, a
 * copy, and the deletion of a tenth by a filter.
 *
 *   node bench/end-to-end/growth.mjs [--sizes 100000,1000000,10000000] [--seconds 10] [--rate 100]
 *
 * The records are sentences of the arXiv abstracts, which are repeated with variations if there are too few. Ten million take about 15 GiB
 * in the work folder and need a machine without other work.
 */
import { createReadStream, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { runOpenLoop } from './lib/open-loop.mjs';
import { readOptions } from './lib/options.mjs';
import { threadTimesMs } from './lib/processor-time.mjs';
import { barRow, formatCount, machineTable, markdownTable } from './lib/report.mjs';
import { arxivQueries, SENTENCES_DEFINITION, sentencesFile } from './lib/sentences.mjs';
import { ACCOUNT, call, createKey, importNdjson, startService, untilMerged, workFolder } from './lib/service.mjs';

const { seconds, rate: ratePerSecond, ...options } = readOptions({ sizes: '100000,1000000', seconds: 10, rate: 100 });
const sizes = options.sizes.split(',').map(Number);
if (![...sizes, seconds, ratePerSecond].every((each) => each > 0)) {
  process.stderr.write('--sizes, --seconds and --rate take numbers above 0\n');
  process.exit(2);
}

const LIST = 'sentences';
/** Time under load for the budget of mapped files to grow three times, every 15 s (src/platform/mapped-memory.ts). */
const WARM_UP_SECONDS = 48;
const CONNECTIONS = 32;
const POLL_MS = 50;
/** Bar: factor of a search's processor time per decade of records. */
const DECADE_BAR = 4;

const listPath = `/list/${ACCOUNT}/${LIST}`;
const paths = arxivQueries().map(
  (query) => `/search/${ACCOUNT}/${LIST}/1?${new URLSearchParams({ query, cache: 'false' })}`,
);

/** Records per import, so that the body is shorter than the limit. */
const IMPORTED_AT_A_TIME = 1_000_000;
const PIECE_CHARACTERS = 262_144;

/** Returns records as lines of NDJSON, with a `tenth` that divides them into ten equal parts. */
async function* ndjson(file) {
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(file.path) })) {
    yield `${line.slice(0, -1)},"tenth":${number % 10}}\n`;
    number += 1;
  }
}

const filesBelow = (folder) => readdirSync(folder, { recursive: true, withFileTypes: true });

function diskMib(folder) {
  const files = filesBelow(folder).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).blocks * 512, 0) / 2 ** 20;
}

async function timed(action) {
  const beganMs = performance.now();
  await action();
  return (performance.now() - beganMs) / 1000;
}

async function until(isSo) {
  while (!(await isSo())) await wait(POLL_MS);
}

async function imported(service, key, size, file) {
  const definition = {
    ...SENTENCES_DEFINITION,
    facets: [...SENTENCES_DEFINITION.facets, { name: 'tenth', type: 'number', cardinality: 'Single' }],
  };
  await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name: LIST, ...definition });
  const lines = ndjson(file);
  let importSeconds = 0;
  for (let done = 0; done < size; done += IMPORTED_AT_A_TIME) {
    const body = Readable.from(next(lines, Math.min(IMPORTED_AT_A_TIME, size - done)));
    importSeconds += (await importNdjson(service.address, key, LIST, body)).seconds;
  }
  return importSeconds;
}

/** Joins records to pieces as large as reads of a file. A piece per record would measure the sending. */
async function* next(lines, count) {
  let piece = '';
  for (let left = count; left > 0; left -= 1) {
    piece += (await lines.next()).value;
    if (piece.length < PIECE_CHARACTERS && left > 1) continue;
    yield piece;
    piece = '';
  }
}

async function searched({ address, pid }, key) {
  const load = { address, key, paths, connections: CONNECTIONS };
  await runOpenLoop({ ...load, seconds: WARM_UP_SECONDS, ratePerSecond: 0 });
  const steady = await runOpenLoop({ ...load, seconds, ratePerSecond });
  const before = threadTimesMs(pid);
  const most = await runOpenLoop({ ...load, seconds, ratePerSecond: 0 });
  const processorUs = ((threadTimesMs(pid).all - before.all) * 1000) / (most.requestsPerSecond * most.seconds);
  if (steady.failed + most.failed > 0) throw new Error(`${steady.failed + most.failed} searches failed`);
  return { p50: steady.p50, p99: steady.p99, perSecond: most.requestsPerSecond, processorUs };
}

/** Measures the seconds of operations on the whole list. */
async function changed({ address }, key) {
  const ask = (method, path, body) => call(address, key, method, path, body);
  const build = await timed(async () => {
    await ask('PUT', listPath, { searchable_fields: [{ name: 'text', weight: 2 }] });
    await until(async () => (await ask('GET', listPath)).current_version === 2);
  });
  const clone = await timed(() => ask('POST', `${listPath}/clone`, { name: 'copy' }));
  const before = (await ask('GET', listPath)).record_count;
  const deletion = await timed(() =>
    ask('DELETE', `/search-result/${ACCOUNT}/${LIST}?${new URLSearchParams({ filter: 'tenth = 0' })}`),
  );
  const after = (await ask('GET', listPath)).record_count;
  if (after !== before - Math.ceil(before / 10)) throw new Error(`${after} of ${before} records are left`);
  return { build, clone, deletion };
}

async function measureSize(size) {
  const file = await sentencesFile(size);
  if (file === undefined) return undefined;
  const dataDir = join(workFolder, 'growth');
  rmSync(dataDir, { recursive: true, force: true });
  let service = await startService(dataDir);
  try {
    const key = createKey(dataDir);
    const importSeconds = await imported(service, key, size, file);
    const mergeSeconds = await timed(() => untilMerged(dataDir));
    const diskMibs = diskMib(join(dataDir, 'lists'));
    await service.stop();
    service = await startService(dataDir);
    const { readyMs } = service;
    const figures = await searched(service, key);
    const { anonymous, files } = service.memory();
    const segments = filesBelow(join(dataDir, 'lists')).filter(({ name }) => /^\d+\.mdb$/.test(name)).length;
    const disk = { diskMibs, segments };
    const memory = { ownMib: anonymous, filesMib: files };
    const sizes = { importSeconds, mergeSeconds, readyMs, ...disk, ...memory };
    return { size, ...sizes, ...figures, ...(await changed(service, key)) };
  } finally {
    await service.stop().catch(() => undefined);
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** @type {[string, (row: Awaited<ReturnType<typeof measureSize>>) => string | number][]} heading and cell */
const COLUMNS = [
  ['Records', ({ size }) => formatCount(size)],
  ['Imported/s', ({ size, importSeconds }) => formatCount(size / importSeconds)],
  ['Merged after s', ({ mergeSeconds }) => mergeSeconds.toFixed(1)],
  ['Segments', ({ segments }) => segments],
  ['Disk MiB', ({ diskMibs }) => formatCount(diskMibs)],
  ['Start ms', ({ readyMs }) => Math.round(readyMs)],
  ['Memory of its own / of files MiB', ({ ownMib, filesMib }) => `${Math.round(ownMib)} / ${Math.round(filesMib)}`],
  [`p50 / p99 ms at ${ratePerSecond}/s`, ({ p50, p99 }) => `${p50.toFixed(2)} / ${p99.toFixed(2)}`],
  ['Searches/s', ({ perSecond }) => formatCount(perSecond)],
  ['µs of processor a search', ({ processorUs }) => Math.round(processorUs)],
  ['Version built s', ({ build }) => build.toFixed(1)],
  ['Copied s', ({ clone }) => clone.toFixed(2)],
  ['A tenth deleted s', ({ deletion }) => deletion.toFixed(2)],
];

function barsOf(rows) {
  return rows.slice(1).map((row, at) => {
    const before = rows[at];
    const decades = Math.log10(row.size / before.size);
    const growth = (row.processorUs / before.processorUs) ** (1 / decades);
    const what = `a search, from ${formatCount(before.size)} to ${formatCount(row.size)} records, by decade`;
    return barRow(what, `${growth.toFixed(2)} ×`, `${DECADE_BAR} ×`, growth < DECADE_BAR);
  });
}

const rows = [];
for (const size of sizes) {
  const row = await measureSize(size);
  if (row === undefined) break;
  rows.push(row);
  process.stderr.write(`${formatCount(size)}: ${formatCount(row.perSecond)} searches/s\n`);
}
if (rows.length === 0) {
  process.stdout.write('## Growth\n\nSkipped: the abstracts are not there.\n');
} else {
  process.stdout.write('## Growth\n\n');
  process.stdout.write(
    machineTable({
      Data: 'sentences of arXiv abstracts, one text field, four facets; beyond a million repeated with variations',
      Latency: `open loop at ${ratePerSecond}/s for ${seconds} s`,
      Searches: `closed loop, ${CONNECTIONS} connections, ${seconds} s, cache off`,
    }),
  );
  const table = markdownTable(
    COLUMNS.map(([heading]) => heading),
    rows.map((row) => COLUMNS.map(([, cell]) => cell(row))),
  );
  process.stdout.write(`\n${table}`);
  if (rows.length > 1) process.stdout.write(`\n${markdownTable(['What', 'Measured', 'Bar', ''], barsOf(rows))}`);
}
