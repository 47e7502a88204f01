/**
 * Measures what support for files costs lists without files: searches of a list without a field for files and of the same list with such a
 * field that no record fills, in turns. For the cost before files existed at all: `bench/end-to-end/costs-in-turns.mjs` with a checkout from
 * then.
 *
 *   npm run setup && node bench/documents/without-files.mjs [--records 50000] [--rounds 7] [--scale 0.3]
 *
 * Prints Markdown, and exits with 1 if the bar is missed.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { barRow, formatCount, machineTable, markdownTable } from '../end-to-end/lib/report.mjs';
import { ABSTRACTS, arxivQueries } from '../end-to-end/lib/sentences.mjs';
import { ACCOUNT, call, createKey, importNdjson, startService, untilMerged } from '../end-to-end/lib/service.mjs';
import { CONNECTIONS, measureInTurns, rowOf, searchesOf } from './lib/turns.mjs';

const { records, rounds, scale } = readOptions({ records: 50_000, rounds: 7, scale: 0.3 });
/** Bar for the ratio. Turns of the same list differ by more. */
const PROCESSOR_MIN = 0.95;
const FIELDS = { searchable_fields: [{ name: 'title', weight: 2 }, { name: 'text', weight: 1 }] }; // prettier-ignore
const LISTS = {
  plain: FIELDS,
  declared: { ...FIELDS, resources: [{ name: 'file', kind: 'document' }] },
};

async function* papers() {
  const unpack = spawn('xz', ['-dc', ABSTRACTS], { stdio: ['ignore', 'pipe', 'inherit'] });
  let count = 0;
  for await (const line of createInterface({ input: unpack.stdout })) {
    const { id, title, abstract } = JSON.parse(line);
    yield `${JSON.stringify({ name: id, title, text: abstract })}\n`;
    if (++count === records) break;
  }
  unpack.kill();
}

if (!existsSync(ABSTRACTS)) {
  process.stdout.write(`Without files: skipped, ${ABSTRACTS} is not there.\n`);
  process.exit(0);
}
const dataDir = mkdtempSync(join(tmpdir(), 'gannet-without-files-'));
const service = await startService(dataDir);
try {
  const key = createKey(dataDir);
  for (const [name, definition] of Object.entries(LISTS)) {
    const body = { name, language: 'en', model: 'own', ...definition };
    await call(service.address, key, 'POST', `/list/${ACCOUNT}`, body);
    await importNdjson(service.address, key, name, Readable.from(papers()));
  }
  await untilMerged(dataDir);
  const queries = arxivQueries();
  const taken = queries.slice(0, Math.ceil(queries.length * scale));
  const sides = Object.keys(LISTS).map((list) => searchesOf(list, taken));
  const measured = await measureInTurns({ service, key }, sides, rounds);
  const ratio = measured.processorUs[0] / measured.processorUs[1];
  process.stdout.write(
    `${machineTable({
      Data: `${formatCount(records)} papers, twice: without a field for files, and with one that is empty`,
      Queries: 'those of the abstracts, default options, highlights on, cache=false',
      Turns: `${rounds} of ${formatCount(taken.length)} searches of each list, ${CONNECTIONS} connections; medians`,
    })}\n${markdownTable(
      ['Queries', 'Without, µs of processor', 'Declared, µs', 'Ratio', 'Without, /s', 'Declared, /s', 'Ratio'],
      [rowOf('all', measured)],
    )}\n${markdownTable(
      ['What', 'Measured', 'Bar', ''],
      [
        barRow(
          'Processor without, of that with',
          ratio.toFixed(2),
          `at least ${PROCESSOR_MIN}`,
          ratio >= PROCESSOR_MIN,
        ),
      ],
    )}`,
  );
  process.exitCode = ratio >= PROCESSOR_MIN ? 0 : 1;
} finally {
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
