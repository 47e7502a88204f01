/** Imports WordNet over HTTP: records per second, each acknowledged, hence on disk and visible. */
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { barRow, formatCount, machineTable, markdownTable, quantile } from './lib/report.mjs';
import { ACCOUNT, call, createKey, importNdjson, startService, workFolder } from './lib/service.mjs';
import { wordnetFile } from './lib/wordnet.mjs';

const RUNS = 3;
const RECORDS_PER_SECOND_BAR = 20_000;

export async function measureImport() {
  const { file, count, definition } = await wordnetFile();
  const dataDir = join(workFolder, 'import');
  rmSync(dataDir, { recursive: true, force: true });
  const service = await startService(dataDir);
  const rates = [];
  try {
    const key = createKey(dataDir);
    for (let run = 1; run <= RUNS; run += 1) {
      const name = `wordnet-${run}`;
      await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name, ...definition });
      const { answer, seconds } = await importNdjson(service.address, key, name, createReadStream(file));
      if (answer.created !== count) throw new Error(`${answer.created} of ${count} records were created`);
      rates.push(count / seconds);
      process.stdout.write(`run ${run}: ${formatCount(count / seconds)} records/s (${seconds.toFixed(2)} s)\n`);
      await call(service.address, key, 'DELETE', `/list/${ACCOUNT}/${name}`);
    }
  } finally {
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  const median = quantile(rates, 0.5);
  const bar = `${formatCount(RECORDS_PER_SECOND_BAR)} records/s`;
  return [
    '## Import over HTTP, acknowledged and durable\n',
    machineTable({ Data: `WordNet 3.1, ${formatCount(count)} records`, Runs: `${RUNS}, the first on a new service` }),
    markdownTable(
      ['What', 'Measured', 'Bar', ''],
      [
        barRow('median of the runs', `${formatCount(median)} records/s`, bar, median >= RECORDS_PER_SECOND_BAR),
        barRow(
          'slowest run',
          `${formatCount(Math.min(...rates))} records/s`,
          bar,
          Math.min(...rates) >= RECORDS_PER_SECOND_BAR,
        ),
      ],
    ),
  ].join('\n');
}
