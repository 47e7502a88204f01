/**
 * Measures how soon a record is found by its vector while many others are imported and their graphs are built.
 *
 *   node bench/vectors/beside-building.mjs [COUNT [DIMENSIONS]]     default 1000000 x 128
 *
 * Imports COUNT records with vectors by HTTP, 50,000 per request. Until a minute after that, writes one record after the other with a new vector, and searches by it
 * until the record is the first hit. The time counts from sending the write. Prints Markdown. All data is kept where memory.mjs keeps it.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readNumbers } from '../end-to-end/lib/options.mjs';
import { barRow, formatCount, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';
import { ACCOUNT, call, createKey, startService } from '../end-to-end/lib/service.mjs';
import { buildBench, folder } from './fetch-hnswlib.mjs';
import { createVectorList, importRows, LIST, MadeRows, QUERIES } from './made-rows.mjs';

const FOUND_MS_BAR = 1000;
const BETWEEN_MS = 200;
/** Time after the import, during which graphs are still built. */
const MERGING_MS = 60_000;

const { count, dimensions } = readNumbers({ count: 1_000_000, dimensions: 128 });
const file = join(folder, `made-${count}-${dimensions}.f32`);

async function writeAndFind({ address, key, name, vector }) {
  const begun = performance.now();
  await call(address, key, 'POST', `/search-result/${ACCOUNT}/${LIST}`, { name, fields: { title: name }, vector });
  const written = performance.now() - begun;
  for (let searches = 1; ; searches += 1) {
    const body = { vector, size: 1, cache: false };
    const { results } = await call(address, key, 'POST', `/search/${ACCOUNT}/${LIST}/1`, body);
    if (results[0]?.name === name) return { written, found: performance.now() - begun, searches };
  }
}

/** Writes records until `isOver` returns true. Returns the time of each write. */
async function writesUntil({ address, key, vectors, isOver }) {
  const writes = [];
  while (!isOver()) {
    // A vector near a query that no other record has.
    const vector = vectors[writes.length % QUERIES].map((value, at) => value + (at === 0 ? writes.length / 1000 : 0));
    writes.push(await writeAndFind({ address, key, name: `written-${writes.length}`, vector }));
    await wait(BETWEEN_MS);
  }
  return writes;
}

async function measure(service, dataDir) {
  const rows = new MadeRows({ file, count, dimensions });
  const of = { address: service.address, key: createKey(dataDir) };
  await createVectorList(of);
  const end = { isOver: false };
  const imported = importRows(of, rows).then(async (seconds) => {
    await wait(MERGING_MS);
    return seconds;
  });
  const [writes, seconds] = await Promise.all([
    writesUntil({ ...of, vectors: rows.queries(), isOver: () => end.isOver }),
    imported.finally(() => (end.isOver = true)),
  ]);
  return { writes, seconds, processorMs: service.cpuMs() };
}

execFileSync(buildBench('vector_memory_bench'), ['rows', String(count), String(dimensions), file], {
  stdio: ['ignore', 2, 2],
});
const dataDir = join(folder, 'beside-building');
rmSync(dataDir, { recursive: true, force: true });
const service = await startService(dataDir);
let measured;
try {
  measured = await measure(service, dataDir);
} finally {
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
const { writes, seconds, processorMs } = measured;
const row = (name, values) => [name, ...[0.5, 0.99, 1].map((share) => `${quantile(values, share).toFixed(0)} ms`)];
const found = writes.map((write) => write.found);
process.stdout.write(
  [
    '## A write while vectors are built\n',
    machineTable({
      Data: `${formatCount(count)} records with vectors of ${dimensions} dimensions, imported in ${seconds.toFixed(0)} s; ${(processorMs / 1000).toFixed(0)} s of processor time`,
      Writes: `${writes.length} single ones, ${BETWEEN_MS} ms between two, until ${MERGING_MS / 1000} s after the import`,
    }),
    markdownTable(
      ['What', 'p50', 'p99', 'slowest'],
      [
        row(
          'answered',
          writes.map((write) => write.written),
        ),
        row('found by its vector', found),
      ],
    ),
    markdownTable(
      ['Figure', 'found', 'bar', ''],
      [
        barRow(
          'found by meaning, slowest',
          row('', found)[3],
          `< ${FOUND_MS_BAR} ms`,
          quantile(found, 1) < FOUND_MS_BAR,
        ),
        [
          'searches until it was found, most',
          String(
            quantile(
              writes.map(({ searches }) => searches),
              1,
            ),
          ),
          '',
          '',
        ],
      ],
    ),
    '',
  ].join('\n'),
);
