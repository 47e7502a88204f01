/** Imports 10^5, 10^6 and, if asked for, 10^7 sentences over HTTP: how time, memory and disk grow. */
import { createReadStream, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { barRow, formatCount, machineTable, markdownTable, quantile } from './lib/report.mjs';
import { arxivQueries, SENTENCES_DEFINITION, sentencesFile } from './lib/sentences.mjs';
import { ACCOUNT, call, createKey, importNdjson, startService, untilMerged, workFolder } from './lib/service.mjs';

const SIZES = (process.env.GANNET_BENCH_SIZES ?? '100000,1000000').split(',').map(Number);
const LIST = 'sentences';
const RECORDS_PER_SECOND_BAR = 40_000;
const INDEX_SHARE_BAR = 0.6;
const START_MS_BAR = 1000;
const STARTS = 3;
const SAMPLE_MS = 50;

export async function measureIndexing() {
  const rows = [];
  for (const size of SIZES) {
    const file = await sentencesFile(size);
    if (file === undefined) return '## Indexing\n\nSkipped: the abstracts are not there.\n';
    const row = await measureSize(file);
    process.stdout.write(`${formatCount(size)}: ${formatCount(row.rate)} records/s\n`);
    rows.push(row);
  }
  return reportText(rows);
}

async function measureSize(file) {
  const dataDir = join(workFolder, 'indexing');
  rmSync(dataDir, { recursive: true, force: true });
  try {
    const row = await importAndMerge(file, dataDir);
    return { ...row, startMs: await measureStarts(dataDir) };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function importAndMerge(file, dataDir) {
  const service = await startService(dataDir);
  const budgetMib = (await metric(service.address, 'gannet_memory_budget_bytes')) / 2 ** 20;
  const peak = { own: 0 };
  const sampling = setInterval(() => (peak.own = Math.max(peak.own, service.memory().anonymous)), SAMPLE_MS);
  try {
    const key = createKey(dataDir);
    await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name: LIST, ...SENTENCES_DEFINITION });
    const { answer, seconds } = await importNdjson(service.address, key, LIST, createReadStream(file.path));
    if (answer.created !== file.count) throw new Error(`${answer.created} of ${file.count} records were created`);
    const [query] = arxivQueries('plain');
    const beganMs = performance.now();
    await call(service.address, key, 'GET', `/search/${ACCOUNT}/${LIST}/1?${new URLSearchParams({ query })}`);
    const firstSearchMs = performance.now() - beganMs;
    await untilMerged(dataDir);
    const [listDir] = readdirSync(join(dataDir, 'lists'));
    return {
      ...file,
      rate: file.count / seconds,
      firstSearchMs,
      peakMib: peak.own,
      budgetMib,
      mergeSeconds: await metric(service.address, 'gannet_ingest_task_seconds_sum{kind="merge"}'),
      processorSeconds: service.cpuMs() / 1000,
      indexBytes: folderBytes(join(dataDir, 'lists', listDir, 'segments')),
      storeBytes: folderBytes(join(dataDir, 'lists', listDir, 'store')),
      segments: readdirSync(join(dataDir, 'lists', listDir, 'segments')).filter((file) => file.endsWith('.mdb')).length,
    };
  } finally {
    clearInterval(sampling);
    await service.stop();
  }
}

async function measureStarts(dataDir) {
  const readyMs = [];
  for (let run = 0; run < STARTS; run += 1) {
    const service = await startService(dataDir);
    readyMs.push(service.readyMs);
    await service.stop();
  }
  return quantile(readyMs, 0.5);
}

/** Returns a metric of the service by its name and labels as written there, or 0 if it is not there yet. */
async function metric(address, name) {
  const lines = (await (await fetch(`${address}/metrics`)).text()).split('\n');
  return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? 0);
}

function folderBytes(folder) {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).blocks * 512, 0);
}

function reportText(rows) {
  const largest = rows.at(-1);
  const share = (bytes, { bytes: input }) => `${Math.round((bytes / input) * 100)} %`;
  return [
    '## Indexing\n',
    machineTable({
      Data: 'sentences of arXiv abstracts as NDJSON, one text field, three facets',
      Way: 'one bulk request',
    }),
    markdownTable(
      [
        'Records',
        'Input MiB',
        'Records/s',
        'First search ms',
        'Merging s',
        'Processor s',
        'Segments after',
        'Index / input',
        'Store / input',
        'Peak memory of its own MiB',
        'Memory budget MiB',
        'Start ms',
      ],
      rows.map((row) => [
        formatCount(row.count),
        Math.round(row.bytes / 2 ** 20),
        formatCount(row.rate),
        row.firstSearchMs.toFixed(1),
        row.mergeSeconds.toFixed(1),
        row.processorSeconds.toFixed(1),
        row.segments,
        share(row.indexBytes, row),
        share(row.storeBytes, row),
        Math.round(row.peakMib),
        Math.round(row.budgetMib),
        Math.round(row.startMs),
      ]),
    ),
    markdownTable(
      ['What', 'Measured', 'Bar', ''],
      [
        barRow(
          `${formatCount(largest.count)} records, records/s`,
          formatCount(largest.rate),
          formatCount(RECORDS_PER_SECOND_BAR),
          largest.rate >= RECORDS_PER_SECOND_BAR,
        ),
        barRow(
          'index by input',
          share(largest.indexBytes, largest),
          `${INDEX_SHARE_BAR * 100} %`,
          largest.indexBytes <= largest.bytes * INDEX_SHARE_BAR,
        ),
        barRow(
          'peak memory of its own',
          `${Math.round(Math.max(...rows.map(({ peakMib }) => peakMib)))} MiB`,
          `${Math.round(largest.budgetMib)} MiB, the budget`,
          rows.every(({ peakMib, budgetMib }) => peakMib <= budgetMib),
        ),
        barRow(
          `start, median of ${STARTS}`,
          `${Math.round(largest.startMs)} ms`,
          `${START_MS_BAR} ms`,
          largest.startMs < START_MS_BAR,
        ),
      ],
    ),
  ].join('\n');
}
