/** Measures search throughput on WordNet: mixed queries of one to three words, cache off, load by wrk on the same machine. */
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { barRow, formatCount, machineTable, markdownTable } from './lib/report.mjs';
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
import { wordnetFile, wordnetQueries } from './lib/wordnet.mjs';
import { ensureWrk, runWrk } from './lib/wrk.mjs';

const QUERIES = 3000;
const SECONDS = 15;
const CONNECTIONS = [1, 12, 32];
const REQUESTS_PER_SECOND_BAR = 5000;
const P99_MS_BAR = 10;
const BAR_CONNECTIONS = 12;

export async function measureSearch() {
  ensureWrk();
  const { file, count, definition } = await wordnetFile();
  const dataDir = join(workFolder, 'search');
  rmSync(dataDir, { recursive: true, force: true });
  const service = await startService(dataDir);
  const rows = [];
  try {
    const key = createKey(dataDir);
    await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name: 'wordnet', ...definition });
    await importNdjson(service.address, key, 'wordnet', createReadStream(file));
    await untilMerged(dataDir);
    const paths = (await wordnetQueries(QUERIES)).map(
      (query) => `/search/${ACCOUNT}/wordnet/1?${new URLSearchParams({ query, cache: 'false' })}`,
    );
    const load = { address: service.address, key, paths };
    await runWrk({ ...load, seconds: STEADY_AFTER_SECONDS, connections: BAR_CONNECTIONS });
    for (const connections of CONNECTIONS) {
      const result = await runWrk({ ...load, seconds: SECONDS, connections });
      process.stdout.write(`${connections} connections: ${formatCount(result.requestsPerSecond)} requests/s\n`);
      rows.push({ connections, ...result });
    }
  } finally {
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  return [
    '## Search throughput\n',
    machineTable({
      Data: `WordNet 3.1, ${formatCount(count)} records`,
      Queries: `${formatCount(QUERIES)} different ones of 1 to 3 words (seeded), match=any, size=10, highlights on, cache=false`,
      Load: `wrk, 1 thread, ${SECONDS} s each after ${STEADY_AFTER_SECONDS} s of warming up`,
    }),
    markdownTable(
      [
        'Connections',
        'Requests/s',
        'p50 ms',
        'p99 ms',
        'p99.9 ms',
        'Failed',
        `Bar: ${formatCount(REQUESTS_PER_SECOND_BAR)}/s, p99 ${P99_MS_BAR} ms, 0 failed`,
      ],
      rows.map((row) => [
        row.connections,
        formatCount(row.requestsPerSecond),
        row.p50.toFixed(2),
        row.p99.toFixed(2),
        row.p999.toFixed(2),
        row.failed,
        verdict(row),
      ]),
    ),
  ].join('\n');
}

function verdict(row) {
  if (row.connections === 1) return '(latency of a lone client)';
  if (row.connections > BAR_CONNECTIONS) return '(more clients than processors can serve at once: they queue)';
  const [, , , reached] = barRow(
    '',
    '',
    '',
    row.requestsPerSecond >= REQUESTS_PER_SECOND_BAR && row.p99 < P99_MS_BAR && row.failed === 0,
  );
  return reached;
}
