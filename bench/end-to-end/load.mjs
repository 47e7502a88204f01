/**
 * Measures the service with a large list under steady load: the capacity for each kind of request, and latencies at parts
 * of it. A closed loop (wrk) measures the capacity, an open one the latencies.
 */
import { createReadStream, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { KeptRows } from './lib/kept-rows.mjs';
import { runOpenLoop } from './lib/open-loop.mjs';
import { barRow, formatCount, machineTable, markdownTable } from './lib/report.mjs';
import { arxivQueries, SENTENCES_DEFINITION, sentencesFile } from './lib/sentences.mjs';
import {
  ACCOUNT,
  call,
  createKey,
  importNdjson,
  startService,
  STEADY_AFTER_SECONDS,
  untilMerged,
  workFolder,
} from './lib/service.mjs';
import { ensureWrk, runWrk } from './lib/wrk.mjs';

const RECORDS = Number(process.env.GANNET_BENCH_RECORDS ?? 1_000_000);
const LIST = 'sentences';
const CONNECTIONS = 32;
const WARM_UP_SECONDS = 3;
const SECONDS = Number(process.env.GANNET_BENCH_SECONDS ?? 8);
/** Longest time of one run. The next run measures the rest. */
const MINUTES = Number(process.env.GANNET_BENCH_MINUTES ?? Infinity);
const SHARES = [0.25, 0.5, 0.75, 0.9];
const KIND_SECONDS = WARM_UP_SECONDS + SECONDS * (1 + SHARES.length);
const WRITES_PER_SECOND = 50;
const BARS = { uncached: 8000, cached: 70_000, p99AtHalfMs: 5, facetsAndSortP50Ms: 5 };

const search = (options) => `/search/${ACCOUNT}/${LIST}/1?${new URLSearchParams(options)}`;
const uncached = (options) => search({ ...options, cache: 'false' });
const prefixes = (text) => Array.from({ length: Math.min(12, text.length) }, (_, index) => text.slice(0, index + 1));

/** Kinds of requests. `everything` is a mix of all kinds of queries. */
function workloads() {
  const all = arxivQueries();
  return [
    { name: 'text, default options', paths: all.map((query) => uncached({ query })) },
    { name: 'text, from the cache', paths: all.slice(0, 200).map((query) => search({ query })) },
    { name: 'with a typo', paths: arxivQueries('typo').map((query) => uncached({ query })) },
    { name: 'all words', paths: all.map((query) => uncached({ query, match: 'all' })) },
    { name: 'phrase', paths: arxivQueries('phrase').map((query) => uncached({ query, match: 'phrase' })) },
    {
      name: 'filtered',
      paths: all.map((query, index) =>
        uncached({ query, filter: `words > ${10 + (index % 20)} and created >= '2010-01-01'` }),
      ),
    },
    { name: 'with facets', paths: all.map((query) => uncached({ query, facets: 'category,words' })) },
    { name: 'sorted by date', paths: all.map((query) => uncached({ query, order_by: 'created desc' })) },
    {
      name: 'suggestions',
      paths: all.flatMap(prefixes).map((query) => `/suggest/${ACCOUNT}/${LIST}/1?${new URLSearchParams({ query })}`),
    },
    {
      name: `text, with ${WRITES_PER_SECOND} writes/s beside`,
      paths: all.map((query) => uncached({ query })),
      writes: true,
    },
  ];
}

export async function measureLoad({ fresh }) {
  ensureWrk();
  const file = await sentencesFile(RECORDS);
  if (file === undefined) return '## Load\n\nSkipped: the abstracts are not there.\n';
  const dataDir = join(workFolder, `sentences-${RECORDS}`);
  const marker = join(dataDir, 'bench-imported.json');
  if (fresh || !existsSync(marker)) await importSentences(dataDir, marker, file);
  const { key } = JSON.parse(readFileSync(marker, 'utf8'));
  const kept = new KeptRows('load', { RECORDS, SECONDS });
  await measureMissing(kept, dataDir, key);
  const rows = workloads().map(({ name }) => kept.get(name));
  const measured = rows.filter((row) => row !== undefined).length;
  if (measured < rows.length)
    throw new Error(
      `${measured} of ${rows.length} kinds are measured and kept; the same command goes on with the rest`,
    );
  kept.forget();
  return reportText(rows, file);
}

/** Measures the kinds that are not in `kept`, as far as time allows. */
async function measureMissing(kept, dataDir, key) {
  const beganMs = performance.now();
  const isThereTime = (seconds) => performance.now() - beganMs + seconds * 1000 <= MINUTES * 60_000;
  const missing = workloads().filter(({ name }) => kept.get(name) === undefined);
  if (missing.length === 0 || !isThereTime(STEADY_AFTER_SECONDS + KIND_SECONDS)) return;
  const service = await startService(dataDir);
  try {
    const [{ paths }] = workloads();
    const { address } = service;
    await runWrk({ address, key, paths, seconds: STEADY_AFTER_SECONDS, connections: CONNECTIONS });
    for (const workload of missing) {
      if (!isThereTime(KIND_SECONDS)) break;
      const row = await measureWorkload(service, key, workload);
      process.stdout.write(`${row.name}: ${formatCount(row.capacity)} requests/s\n`);
      kept.set(row.name, row);
    }
  } finally {
    await service.stop();
  }
}

async function importSentences(dataDir, marker, file) {
  rmSync(dataDir, { recursive: true, force: true });
  const service = await startService(dataDir);
  const key = createKey(dataDir);
  await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name: LIST, ...SENTENCES_DEFINITION });
  process.stdout.write(`Importing ${formatCount(file.count)} sentences (once; kept for the next run) …\n`);
  await importNdjson(service.address, key, LIST, createReadStream(file.path));
  await untilMerged(dataDir);
  await service.stop();
  writeFileSync(marker, JSON.stringify({ key }));
}

async function measureWorkload(service, key, { name, paths, writes = false }) {
  const load = { address: service.address, key, paths };
  const writer = writes ? startWriting(service.address, key) : undefined;
  try {
    await runWrk({ ...load, seconds: WARM_UP_SECONDS, connections: CONNECTIONS });
    const closed = await runWrk({ ...load, seconds: SECONDS, connections: CONNECTIONS });
    const capacity = closed.requestsPerSecond;
    const open = [];
    for (const share of SHARES) {
      const beforeMs = service.cpuMs();
      const result = await runOpenLoop({ ...load, seconds: SECONDS, ratePerSecond: capacity * share });
      open.push({ share, ...result, processors: (service.cpuMs() - beforeMs) / 1000 / SECONDS });
    }
    const failed = closed.failed + open.reduce((sum, each) => sum + each.failed, 0);
    return { name, capacity, open, failed, memory: service.memory() };
  } finally {
    await writer?.stop();
  }
}

/** Adds one record at a time, with the same hundred names again and again, until it is stopped. */
function startWriting(address, key) {
  let stopped = false;
  const finished = (async () => {
    for (let written = 0; !stopped; written += 1) {
      const dueMs = performance.now() + 1000 / WRITES_PER_SECOND;
      const record = {
        name: `written-${written % 100}`,
        fields: { text: `A sentence written while others search, ${written}.` },
      };
      await call(address, key, 'POST', `/search-result/${ACCOUNT}/${LIST}`, record);
      await pause(Math.max(0, dueMs - performance.now()));
    }
  })();
  return {
    async stop() {
      stopped = true;
      await finished;
    },
  };
}

function reportText(rows, file) {
  const milliseconds = (value) => value.toFixed(2);
  const at = (row, share) => row.open.find((each) => each.share === share);
  const byName = (name) => rows.find((row) => row.name.startsWith(name));
  const text = byName('text, default');
  const cached = byName('text, from the cache');
  return [
    `## Load on ${formatCount(file.count)} records\n`,
    machineTable({
      Data: `${formatCount(file.count)} sentences of arXiv abstracts, ${Math.round(file.bytes / 2 ** 20)} MiB as NDJSON`,
      Requests: 'typo tolerance, stems and highlights on, size 10; cache off except where it says so',
      Capacity: `wrk, ${CONNECTIONS} connections, ${SECONDS} s after ${WARM_UP_SECONDS} s of warming up, the first after ${STEADY_AFTER_SECONDS} s`,
      Latencies: `open loop, random arrivals, over 64 connections, counted from when a request was due, ${SECONDS} s each`,
    }),
    markdownTable(
      [
        'Requests',
        'Capacity /s',
        ...SHARES.map((share) => `p50 / p99 / p99.9 ms at ${share * 100} %`),
        'Processors at 50 %',
        'Resident MiB',
        'Failed',
      ],
      rows.map((row) => [
        row.name,
        formatCount(row.capacity),
        ...row.open.map(({ p50, p99, p999 }) => [p50, p99, p999].map(milliseconds).join(' / ')),
        at(row, 0.5).processors.toFixed(2),
        Math.round(row.memory.all),
        row.failed,
      ]),
    ),
    markdownTable(
      ['What', 'Measured', 'Bar', ''],
      [
        barRow(
          'text, requests/s',
          formatCount(text.capacity),
          formatCount(BARS.uncached),
          text.capacity >= BARS.uncached,
        ),
        barRow(
          'text, p99 at 50 %',
          `${milliseconds(at(text, 0.5).p99)} ms`,
          `${BARS.p99AtHalfMs} ms`,
          at(text, 0.5).p99 < BARS.p99AtHalfMs,
        ),
        barRow(
          'cached, requests/s',
          formatCount(cached.capacity),
          formatCount(BARS.cached),
          cached.capacity >= BARS.cached,
        ),
        ...['with facets', 'sorted by date'].map((name) => {
          const { p50 } = at(byName(name), 0.25);
          return barRow(
            `${name}, p50 at 25 %`,
            `${milliseconds(p50)} ms`,
            `${BARS.facetsAndSortP50Ms} ms`,
            p50 < BARS.facetsAndSortP50Ms,
          );
        }),
      ],
    ),
  ].join('\n');
}
