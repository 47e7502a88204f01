/**
 * Measures an import with nothing beside it, by several checkouts in turns: wall time until every record is acknowledged, the service's processor
 * time until then and until all is merged, and the peak of memory. Prints Markdown.
 *
 *   node bench/end-to-end/import-in-turns.mjs [--records 300000] [--rounds 3] <name>=<folder> …
 */
import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutsOf, serviceOf } from './lib/checkouts.mjs';
import { readOptions } from './lib/options.mjs';
import { formatCount, machineTable, markdownTable, quantile } from './lib/report.mjs';
import { SENTENCES_DEFINITION, sentencesFile } from './lib/sentences.mjs';
import { ACCOUNT, call, importNdjson, untilMerged } from './lib/service.mjs';

const { records, rounds, positionals } = readOptions({ records: 300_000, rounds: 3 }, { positionals: true });
const checkouts = checkoutsOf(positionals);
const file = await sentencesFile(records);
if (file === undefined) {
  process.stderr.write('the abstracts are not there (see bench/README.md)\n');
  process.exit(2);
}

/** Returns the peak of resident memory in MiB, including mapped files. Linux only. */
const peakMemory = (pid) => Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** Imports into a new service. Returns seconds and MiB. */
async function turn(checkout) {
  const { createKey, startService } = await serviceOf(checkout);
  const dataDir = mkdtempSync(join(tmpdir(), 'gannet-import-'));
  const service = await startService(dataDir);
  try {
    const key = createKey(dataDir);
    await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name: 'sentences', ...SENTENCES_DEFINITION });
    const before = service.cpuMs();
    const { seconds } = await importNdjson(service.address, key, 'sentences', createReadStream(file.path));
    const imported = service.cpuMs() - before;
    const memory = peakMemory(service.pid);
    await untilMerged(dataDir);
    return { seconds, imported: imported / 1000, merged: (service.cpuMs() - before) / 1000, memory };
  } finally {
    await service.stop();
    rmSync(dataDir, { recursive: true });
  }
}

const turns = new Map(checkouts.map(({ name }) => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  for (const checkout of round % 2 === 0 ? checkouts : checkouts.toReversed())
    turns.get(checkout.name).push(await turn(checkout));
}
const rows = [...turns].map(([name, all]) => {
  const median = (measure) => quantile(all.map((each) => each[measure]), 0.5); // prettier-ignore
  return [
    name,
    median('seconds').toFixed(2),
    all.map(({ seconds }) => seconds.toFixed(2)).join(', '),
    formatCount(records / median('seconds')),
    median('imported').toFixed(2),
    median('merged').toFixed(2),
    formatCount(median('memory')),
  ];
});
process.stdout.write(machineTable({ Data: `${formatCount(records)} sentences of arXiv abstracts` }));
process.stdout.write(
  `\n${markdownTable(['Checkout', 'Import, s', 'in turns', 'records/s', 's of processor time', 'with merges', 'Peak, MiB'], rows)}`,
);
