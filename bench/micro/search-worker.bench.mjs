/**
 * Measures what a search costs in its worker, in one thread: plan, kernel, and fetch + highlight + serialise of 10 records.
 * The records are synthetic (Zipf-distributed words, fixed seed), so that it runs anywhere.
 *
 *   npm run build && node bench/micro/search-worker.bench.mjs [records]
 */
import { cpus, tmpdir } from 'node:os';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Bench } from 'tinybench';
import { kernel } from '#native-bindings/index.js';
import { parseResult } from '#native-bindings/query-result.js';
import { RecordStoreCache } from '#src/records/index.js';
import { ListContexts } from '#src/search/execution/list-context.js';
import { ListSearcher } from '#src/search/execution/list-search.js';
import { StoreRecordReader } from '#src/search/execution/record-reader.js';
import { SearchExecutor } from '#src/search/execution/search-executor.js';
import { ResponseWriter } from '#src/search/response/response-writer.js';
import { readNumbers } from '../end-to-end/lib/options.mjs';
import { openIndexes } from './lib/indexes.mjs';
import { latencyOf } from './lib/latency.mjs';
import { definitionOf, HitRecords, planOf, SETTINGS, taskOf } from './lib/searching.mjs';

const { records: RECORDS } = readNumbers({ records: 50_000 });
const VOCABULARY = 30_000;
const WORDS_PER_RECORD = 40;
const SEED = 42;
const BUDGET_US = { plan: 30, fetch: 50 };

function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const next = random(SEED);
/** Returns a Zipf-distributed word: its rank is exponential in a uniform number. */
const word = () => `w${Math.floor(VOCABULARY ** next()).toString(36)}`;
const words = (count) => Array.from({ length: count }, word).join(' ');

const definition = definitionOf({
  searchable_fields: [
    { name: 'title', weight: 3 },
    { name: 'text', weight: 1 },
  ],
  facets: [
    { name: 'brand', type: 'string', cardinality: 'Single' },
    { name: 'price', type: 'number', cardinality: 'Single' },
  ],
});

const dataDir = mkdtempSync(join(tmpdir(), 'gannet-micro-'));
const stores = new RecordStoreCache();
const indexes = openIndexes(dataDir, stores);
const list = await indexes.create('bench', SETTINGS, definition);
const session = list.startImport('ndjson');
for (let begin = 0; begin < RECORDS; begin += 1000) {
  const lines = Array.from({ length: Math.min(1000, RECORDS - begin) }, (_, index) =>
    JSON.stringify({
      name: `record-${begin + index}`,
      title: words(6),
      text: words(WORDS_PER_RECORD),
      brand: `brand ${Math.floor(next() * 50)}`,
      price: Math.floor(next() * 1000),
    }),
  );
  await session.push(Buffer.from(`${lines.join('\n')}\n`));
}
await session.end();
const lease = list.lease();
const generation = lease.handle;

const queries = Array.from({ length: 1000 }, (_, index) => words(1 + (index % 3)));
const optionsOf = {
  words: (query) => ({ query }),
  'words and filter': (query) => ({ query, filter: "brand = 'Brand 7' and price >= 10 and price < 900" }),
};
const searcher = new ListSearcher(kernel);
const contexts = new ListContexts(kernel);
const context = contexts.get(generation);
const reader = new StoreRecordReader(stores);
const executor = new SearchExecutor(kernel, reader, contexts);
const response = new ResponseWriter();

const plan = (options) => planOf({ searcher, contexts }, generation, options);

const bench = new Bench({ time: 1000, warmupTime: 300 });
const records = new HitRecords(reader, context);
let turn = 0;
const nextQuery = () => queries[turn++ % queries.length];

for (const [name, options] of Object.entries(optionsOf)) {
  const planned = queries.map((query) => {
    const { bytes } = plan(options(query));
    return { bytes: Uint8Array.from(bytes) };
  });
  const found = planned.map(({ bytes }) => ({ bytes, hits: parseResult(kernel.search(generation, bytes)).hits }));
  bench.add(`${name}: plan`, () => plan(options(nextQuery())));
  bench.add(`${name}: kernel`, () => parseResult(kernel.search(generation, planned[turn++ % planned.length].bytes)));
  bench.add(`${name}: fetch only`, () => {
    const { hits } = found[turn++ % found.length];
    for (let hit = 0; hit < hits.count; ++hit) reader.read(context, hits.recordNumber(hit));
    reader.release();
  });
  bench.add(`${name}: fetch + highlight`, () => {
    const { bytes, hits } = found[turn++ % found.length];
    records.mark(kernel, bytes, records.fetch(hits));
    reader.release();
  });
  bench.add(`${name}: whole search`, () => {
    executor.execute(taskOf(generation, options(nextQuery())), response);
    response.take();
    reader.release();
  });
}
await bench.run();

console.log(
  `# search worker: ${RECORDS} records of ${WORDS_PER_RECORD + 6} words, ${cpus()[0]?.model}, Node ${process.version}\n`,
);
console.log(`Budget: plan ${BUDGET_US.plan} µs; fetch, highlight and serialise 10 records ${BUDGET_US.fetch} µs.\n`);
console.log('| step | mean µs | p50 µs | p99 µs |\n|---|---|---|---|');
for (const task of bench.tasks) {
  const latency = latencyOf(task);
  const us = (milliseconds) => (milliseconds * 1000).toFixed(1);
  console.log(`| ${task.name} | ${us(latency.mean)} | ${us(latency.p50)} | ${us(latency.p99)} |`);
}

lease.release();
await indexes.close();
await stores.close();
rmSync(dataDir, { recursive: true, force: true });
process.exit(0);
