/** Measures a start with 200,000 arXiv records in place, and the memory of the start and of 1,000 searches. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { barRow, formatCount, machineTable, markdownTable, quantile } from './lib/report.mjs';
import { ACCOUNT, call, createKey, importNdjson, root, startService, untilMerged, workFolder } from './lib/service.mjs';

const DATA = join(root, '..', 'shared', 'data', 'bench');
const RECORDS = join(DATA, 'arxiv-200k.ndjson.xz');
const QUERIES = join(DATA, 'arxiv-queries.ndjson');
const STARTS = 5;
const SEARCHES = 1000;
const START_MS_BAR = 1000;
const MEMORY_MIB_BAR = 300;

const DEFINITION = {
  searchable_fields: [
    { name: 'title', weight: 3 },
    { name: 'abstract', weight: 1 },
    { name: 'authors', weight: 1 },
  ],
  facets: [
    { name: 'categories', type: 'string', cardinality: 'Many' },
    { name: 'created', type: 'date' },
  ],
};

export async function measureStart({ fresh }) {
  if (!existsSync(RECORDS)) return `## Start\n\nSkipped: ${RECORDS} is not there.\n`;
  const dataDir = join(workFolder, 'arxiv');
  const marker = join(dataDir, 'bench-imported.json');
  if (fresh || !existsSync(marker)) await importPapers(dataDir, marker);
  const { key } = JSON.parse(readFileSync(marker, 'utf8'));

  const startMs = [];
  for (let run = 1; run < STARTS; run += 1) {
    const service = await startService(dataDir);
    startMs.push(service.readyMs);
    await service.stop();
  }
  const service = await startService(dataDir);
  startMs.push(service.readyMs);
  const beforeSearches = service.memory();
  const searchMs = [];
  let memory;
  try {
    const queries = readFileSync(QUERIES, 'utf8').trimEnd().split('\n').slice(0, SEARCHES);
    for (const line of queries) {
      const query = new URLSearchParams({ query: JSON.parse(line).text, cache: 'false' });
      const beganMs = performance.now();
      await call(service.address, key, 'GET', `/search/${ACCOUNT}/arxiv/1?${query}`);
      searchMs.push(performance.now() - beganMs);
    }
    memory = service.memory();
  } finally {
    await service.stop();
  }
  return resultText({ startMs, searchMs, memory, beforeSearches });
}

async function importPapers(dataDir, marker) {
  rmSync(dataDir, { recursive: true, force: true });
  const service = await startService(dataDir);
  const key = createKey(dataDir);
  await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name: 'arxiv', ...DEFINITION });
  process.stdout.write('Importing the papers (once; kept for the next run) …\n');
  const unpack = spawn('xz', ['-dc', RECORDS], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { answer, seconds } = await importNdjson(service.address, key, 'arxiv', unpack.stdout);
  await untilMerged(dataDir);
  process.stdout.write(`${formatCount(answer.created)} records in ${seconds.toFixed(1)} s\n`);
  await service.stop();
  writeFileSync(marker, JSON.stringify({ key, created: answer.created }));
}

function resultText({ startMs, searchMs, memory, beforeSearches }) {
  const mib = ({ all, anonymous, files }) =>
    `${Math.round(all)} MiB (${Math.round(anonymous)} of its own, ${Math.round(files)} of mapped files)`;
  const slowest = Math.max(...startMs);
  return [
    '## Start with 200,000 records\n',
    machineTable({
      Data: '200,000 arXiv records, in the page cache',
      Searches: `${searchMs.length}, one after the other, cache off`,
    }),
    markdownTable(
      ['What', 'Measured', 'Bar', ''],
      [
        barRow(
          `ready, median of ${STARTS}`,
          `${Math.round(quantile(startMs, 0.5))} ms`,
          `${START_MS_BAR} ms`,
          quantile(startMs, 0.5) < START_MS_BAR,
        ),
        barRow(
          `ready, slowest of ${STARTS}`,
          `${Math.round(slowest)} ms`,
          `${START_MS_BAR} ms`,
          slowest < START_MS_BAR,
        ),
        ['resident after the start', mib(beforeSearches), '', ''],
        barRow(
          `resident after ${searchMs.length} searches`,
          mib(memory),
          `${MEMORY_MIB_BAR} MiB`,
          memory.all < MEMORY_MIB_BAR,
        ),
        [
          'a search, p50 / p99',
          `${quantile(searchMs, 0.5).toFixed(2)} / ${quantile(searchMs, 0.99).toFixed(2)} ms`,
          '',
          '',
        ],
      ],
    ),
  ].join('\n');
}
