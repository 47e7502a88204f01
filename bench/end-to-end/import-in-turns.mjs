/**
 * Processor time of an import that nothing runs beside, in turns of several checkouts: of the service, until every record is acknowledged, and until
 * what it leaves is merged. Prints Markdown.
 *
 *   node bench/end-to-end/import-in-turns.mjs [--records 300000] [--rounds 3] <name>=<folder> …
 */
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readOptions } from './lib/options.mjs';
import { formatCount, machineTable, markdownTable, quantile } from './lib/report.mjs';
import { SENTENCES_DEFINITION, sentencesFile } from './lib/sentences.mjs';
import { ACCOUNT, call, importNdjson, untilMerged } from './lib/service.mjs';

const { records, rounds, positionals } = readOptions({ records: 300_000, rounds: 3 }, { positionals: true });
const checkouts = positionals.map((each) => /^(\w+)=(.+)$/.exec(each) ?? []);
const file = await sentencesFile(records);
if (file === undefined || checkouts.length === 0 || checkouts.some(([, name]) => name === undefined)) {
  process.stderr.write(
    'name the checkouts as <name>=<folder> …; the abstracts have to be there (see bench/README.md)\n',
  );
  process.exit(2);
}

/** Seconds of processor time. */
async function turn(folder) {
  // The checkout's own, which starts its own program.
  const { createKey, startService } = await import(join(resolve(folder), 'bench', 'end-to-end', 'lib', 'service.mjs'));
  const dataDir = mkdtempSync(join(tmpdir(), 'gannet-import-'));
  const service = await startService(dataDir);
  try {
    const key = createKey(dataDir);
    await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name: 'sentences', ...SENTENCES_DEFINITION });
    const before = service.cpuMs();
    await importNdjson(service.address, key, 'sentences', createReadStream(file.path));
    const imported = service.cpuMs() - before;
    await untilMerged(dataDir);
    return { imported: imported / 1000, merged: (service.cpuMs() - before) / 1000 };
  } finally {
    await service.stop();
    rmSync(dataDir, { recursive: true });
  }
}

const turns = new Map(checkouts.map(([, name]) => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  for (const [, name, folder] of round % 2 === 0 ? checkouts : checkouts.toReversed())
    turns.get(name).push(await turn(folder));
}
const rows = [...turns].map(([name, all]) => [
  name,
  quantile(all.map(({ imported }) => imported), 0.5).toFixed(2), // prettier-ignore
  all.map(({ imported }) => imported.toFixed(2)).join(', '),
  quantile(all.map(({ merged }) => merged), 0.5).toFixed(2), // prettier-ignore
]);
process.stdout.write(machineTable({ Data: `${formatCount(records)} sentences of arXiv abstracts` }));
process.stdout.write(
  `\n${markdownTable(['Checkout', 'Import, s of processor time', 'in turns', 'with merges'], rows)}`,
);
