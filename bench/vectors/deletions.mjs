/**
 * Measures what searches by vectors find while half of a list is deleted, and during the merges after that.
 *
 *   node bench/vectors/deletions.mjs [COUNT [DIMENSIONS]]     default 1000000 x 128
 *
 * Deletes a copy of the list of memory.mjs in hundredths until half is gone. After each deletion, and until the service is at rest, some searches
 * by vectors ask for their ten nearest. The right ones are known from searches that scanned all vectors before the first deletion. Prints Markdown.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readNumbers } from '../end-to-end/lib/options.mjs';
import { barRow, formatCount, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';
import { ACCOUNT, call, startService } from '../end-to-end/lib/service.mjs';
import { buildBench, folder } from './fetch-hnswlib.mjs';
import { importedService, isAtRest, LIST, MadeRows, PARTS } from './made-rows.mjs';

const RECALL_BAR = 0.95;
const QUERIES = 100;
const QUERIES_A_PART = 20;
const WANTED = 10;
/** Number of known nearest vectors, of which ten are left if a random half is deleted. */
const NEAREST = 60;

const { count, dimensions } = readNumbers({ count: 1_000_000, dimensions: 128 });
const file = join(folder, `made-${count}-${dimensions}.f32`);

class Searches {
  /** Share of the right ones that was found, by moment. */
  recalls = [];
  times = [];
  refused = 0;

  constructor({ address, key, queries }) {
    this.address = address;
    this.key = key;
    this.queries = queries;
  }

  async #names(vector, options) {
    const body = { vector, cache: false, ...options };
    const { results, applied } = await call(this.address, this.key, 'POST', `/search/${ACCOUNT}/${LIST}/1`, body);
    if (applied.meaning !== 'used')
      throw new Error(`a search by a vector was answered with meaning: ${applied.meaning}`);
    return results.map(({ name }) => Number(name));
  }

  async compareAll() {
    this.nearest = [];
    for (const vector of this.queries) this.nearest.push(await this.#names(vector, { exact: true, size: NEAREST }));
  }

  /** `isLeft` is true for numbers of records that are not deleted. */
  async ask(queries, isLeft) {
    let found = 0;
    for (const query of queries) {
      const right = this.nearest[query].filter(isLeft).slice(0, WANTED);
      if (right.length < WANTED) throw new Error(`only ${right.length} of ${NEAREST} neighbours are left`);
      const begun = performance.now();
      try {
        const names = await this.#names(this.queries[query], { size: WANTED });
        found += right.filter((number) => names.includes(number)).length;
      } catch (error) {
        process.stderr.write(`${error.message}\n`);
        this.refused += 1;
      }
      this.times.push(performance.now() - begun);
    }
    this.recalls.push(found / (queries.length * WANTED));
  }
}

const all = Array.from({ length: QUERIES }, (_, query) => query);

async function measure(service, searches) {
  const { address, key } = searches;
  await searches.compareAll();
  await searches.ask(all, () => true);
  const deletions = [];
  for (let part = 0; part < PARTS; part += 2) {
    const begun = performance.now();
    await call(
      address,
      key,
      'DELETE',
      `/search-result/${ACCOUNT}/${LIST}?filter=${encodeURIComponent(`part = ${part}`)}`,
    );
    deletions.push(performance.now() - begun);
    const some = all.map((query) => (query + part * QUERIES_A_PART) % QUERIES).slice(0, QUERIES_A_PART);
    await searches.ask(some, (number) => number % PARTS > part || number % 2 === 1);
  }
  do await searches.ask(all, (number) => number % 2 === 1);
  while (!(await isAtRest(service)));
  await searches.ask(all, (number) => number % 2 === 1);
  return deletions;
}

execFileSync(buildBench('vector_memory_bench'), ['rows', String(count), String(dimensions), file], {
  stdio: ['ignore', 2, 2],
});
const rows = new MadeRows({ file, count, dimensions });
const { dataDir: whole, key } = await importedService(rows);
const dataDir = join(folder, 'deletions');
rmSync(dataDir, { recursive: true, force: true });
cpSync(whole, dataDir, { recursive: true });
const service = await startService(dataDir);
const searches = new Searches({ address: service.address, key, queries: rows.queries().slice(0, QUERIES) });
let deletions;
let left;
try {
  deletions = await measure(service, searches);
  left = (await call(service.address, key, 'GET', `/list/${ACCOUNT}/${LIST}`)).meaning.embedded;
} finally {
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
const { recalls, times, refused } = searches;
const least = quantile(recalls, 0);
process.stdout.write(
  [
    '## Half of all vectors deleted\n',
    machineTable({
      Data: `${formatCount(count)} records with vectors of ${dimensions} dimensions, of which ${formatCount(left)} are left`,
      Searches: `${times.length}, of ${QUERIES} vectors in turn, the ten nearest`,
    }),
    markdownTable(
      ['Figure', 'found', 'bar', ''],
      [
        barRow(
          'recall of the ten nearest, least of all moments',
          least.toFixed(3),
          `≥ ${RECALL_BAR}`,
          least >= RECALL_BAR,
        ),
        barRow('searches refused', String(refused), '0', refused === 0),
        ['recall before the first deletion', recalls[0].toFixed(3), '', ''],
        ['recall with all merges made', recalls.at(-1).toFixed(3), '', ''],
        [
          'a search, p50 and slowest',
          `${quantile(times, 0.5).toFixed(1)} and ${quantile(times, 1).toFixed(0)} ms`,
          '',
          '',
        ],
        [
          `one of the ${deletions.length} deletions, p50 and slowest`,
          `${quantile(deletions, 0.5).toFixed(0)} and ${quantile(deletions, 1).toFixed(0)} ms`,
          '',
          '',
        ],
      ],
    ),
    '',
  ].join('\n'),
);
