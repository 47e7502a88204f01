/** Measures a list whose index files are missing: records per second until it answers again, compared with the import of the same records. */
import { createReadStream, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { formatCount, machineTable, markdownTable, quantile } from './lib/report.mjs';
import { ACCOUNT, call, createKey, importNdjson, startService, workFolder } from './lib/service.mjs';
import { wordnetFile } from './lib/wordnet.mjs';

const RUNS = 3;
const POLL_MS = 20;
const LIST = 'wordnet';

export async function measureRebuild() {
  const { file, count, definition } = await wordnetFile();
  const dataDir = join(workFolder, 'rebuild');
  const runs = [];
  for (let run = 1; run <= RUNS; run += 1) {
    rmSync(dataDir, { recursive: true, force: true });
    const imported = await importList({ dataDir, file, definition });
    const lists = join(dataDir, 'lists');
    for (const id of readdirSync(lists)) rmSync(join(lists, id, 'segments'), { recursive: true });
    const rebuilt = await rebuildList({ dataDir, key: imported.key, count });
    runs.push({ imported, rebuilt });
    process.stdout.write(
      `run ${run}: rebuilt in ${rebuilt.seconds.toFixed(2)} s (${formatCount(rebuilt.cpuMs)} ms of processor), ` +
        `imported in ${imported.seconds.toFixed(2)} s (${formatCount(imported.cpuMs)} ms)\n`,
    );
  }
  rmSync(dataDir, { recursive: true, force: true });
  return resultText(count, runs);
}

async function importList({ dataDir, file, definition }) {
  const service = await startService(dataDir);
  try {
    const key = createKey(dataDir);
    await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name: LIST, ...definition });
    const before = service.cpuMs();
    const { seconds } = await importNdjson(service.address, key, LIST, createReadStream(file));
    return { key, seconds, cpuMs: service.cpuMs() - before };
  } finally {
    await service.stop();
  }
}

/** Returns `seconds` from the start of the process to the first answer, and `readyMs` until other lists would be served. */
async function rebuildList({ dataDir, key, count }) {
  const startedMs = performance.now();
  const service = await startService(dataDir);
  try {
    for (;;) {
      const path = `${service.address}/list/${ACCOUNT}/${LIST}`;
      const response = await fetch(path, { headers: { 'x-api-key': key } });
      const body = /** @type {{ record_count?: number }} */ (await response.json());
      if (response.ok && body.record_count !== count)
        throw new Error(`${body.record_count} of ${count} records are back`);
      if (response.ok) break;
      if (response.status !== 503) throw new Error(`${response.status} ${JSON.stringify(body)}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    const seconds = (performance.now() - startedMs) / 1000;
    return { seconds, readyMs: service.readyMs, cpuMs: service.cpuMs() };
  } finally {
    await service.stop();
  }
}

function resultText(count, runs) {
  const median = (of) => quantile(runs.map(of), 0.5);
  const rate = (seconds) => `${formatCount(count / seconds)} records/s`;
  return [
    '## An index that is rebuilt from its records\n',
    machineTable({ Data: `WordNet 3.1, ${formatCount(count)} records`, Runs: `${RUNS}, each with an import; medians` }),
    markdownTable(
      ['What', 'Measured'],
      [
        ['the service is ready for other lists', `${formatCount(median(({ rebuilt }) => rebuilt.readyMs))} ms`],
        ['rebuilt, from the start of the process to the first answer', rate(median(({ rebuilt }) => rebuilt.seconds))],
        ['processor time of start and rebuild', `${formatCount(median(({ rebuilt }) => rebuilt.cpuMs))} ms`],
        ['imported over HTTP', rate(median(({ imported }) => imported.seconds))],
        ['processor time of the import', `${formatCount(median(({ imported }) => imported.cpuMs))} ms`],
        [
          'processor time of the rebuild by that of the import',
          median(({ imported, rebuilt }) => rebuilt.cpuMs / imported.cpuMs).toFixed(2),
        ],
      ],
    ),
  ].join('\n');
}
