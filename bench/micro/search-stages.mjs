/**
 * Measures what searches cost in their worker, stage by stage, on real records: WordNet, or sentences of the arXiv abstracts. Runs in one
 * thread and without HTTP, so that two versions can be compared on a shared machine.
 *
 *   npm run setup && node bench/micro/search-stages.mjs [--data wordnet|sentences] [--records 1000000] [--rounds 5] [--cases] [--queries 'model|method'] [--options '{"facets":["words"]}']
 *
 * --cases also prints the slowest queries. --queries replaces the queries of the data. --options are options of each search besides its text. The list's folder stays in the work folder for the next run.
 */
import { createReadStream, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { kernel } from '#native-bindings/index.js';
import { parseResult } from '#native-bindings/query-result.js';
import { RecordStoreCache } from '#src/records/index.js';
import { ListContexts, ResponseWriter, SearchExecutor, StoreRecordReader } from '#src/search/index.js';
import { ListSearcher } from '#src/search/execution/list-search.js';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { arxivQueries, sentencesFile, SENTENCES_DEFINITION } from '../end-to-end/lib/sentences.mjs';
import { workFolder } from '../end-to-end/lib/service.mjs';
import { wordnetFile, wordnetQueries } from '../end-to-end/lib/wordnet.mjs';
import { openIndexes } from './lib/indexes.mjs';
import { definitionOf, HitRecords, planOf, SETTINGS, taskOf } from './lib/searching.mjs';

const args = readOptions({ data: 'wordnet', records: 1_000_000, rounds: 5, cases: false, queries: '', options: '{}' });
const options = JSON.parse(args.options);
const QUERIES = 3000;
const SLOWEST_SHOWN = 20;
const MERGE_SECONDS_MAX = 300;

async function source() {
  if (args.data === 'wordnet') {
    const { file, definition } = await wordnetFile();
    return { name: 'wordnet', file, definition, queries: await wordnetQueries(QUERIES) };
  }
  if (args.data !== 'sentences') throw new Error(`--data is wordnet or sentences, not ${args.data}`);
  const { path } = await sentencesFile(args.records);
  const name = `sentences-${args.records}`;
  return { name, file: path, definition: SENTENCES_DEFINITION, queries: arxivQueries() };
}

/** Imports the records, and waits until the list has one segment. */
async function build(dataDir, { file, definition }) {
  const making = `${dataDir}.making`;
  rmSync(making, { recursive: true, force: true });
  const stores = new RecordStoreCache();
  const indexes = openIndexes(making, stores);
  const list = await indexes.create('stages', SETTINGS, definition);
  const session = list.startImport('ndjson');
  for await (const piece of createReadStream(file, { highWaterMark: 1 << 20 })) await session.push(piece);
  await session.end();
  const segments = join(making, 'lists', 'stages', 'segments');
  for (
    let seconds = 0;
    readdirSync(segments).filter((file) => file.endsWith('.mdb')).length > 1 && seconds < MERGE_SECONDS_MAX;
    ++seconds
  )
    await wait(1000);
  await indexes.close();
  await stores.close();
  writeFileSync(join(making, 'complete'), '');
  renameSync(making, dataDir);
}

const given = await source();
const queries = args.queries === '' ? given.queries : args.queries.split('|');
const data = { ...given, queries, definition: definitionOf(given.definition) };
const dataDir = join(workFolder, `stages-${data.name}`);
if (!existsSync(join(dataDir, 'complete'))) {
  rmSync(dataDir, { recursive: true, force: true });
  await build(dataDir, data);
}
const stores = new RecordStoreCache();
const list = await openIndexes(dataDir, stores, { waitForRebuild: true }).open('stages', SETTINGS);
const generation = list.lease().handle;
const contexts = new ListContexts(kernel);
const context = contexts.get(generation);
const searcher = new ListSearcher(kernel);
const reader = new StoreRecordReader(stores);
const executor = new SearchExecutor(kernel, reader, contexts);
const writer = new ResponseWriter();
const records = new HitRecords(reader, context);

/** Adds the microseconds of an action to `times`, and returns its result for the next stage. */
function timed(times, action) {
  const begin = process.hrtime.bigint();
  const result = action();
  times.push(Number(process.hrtime.bigint() - begin) / 1000);
  return result;
}

function round() {
  const stages = { plan: [], kernel: [], fetch: [], highlight: [], whole: [] };
  for (const query of data.queries) {
    const planned = timed(stages.plan, () => planOf({ searcher, contexts }, generation, { query, ...options }));
    const { hits } = timed(stages.kernel, () => parseResult(kernel.search(generation, planned.bytes)));
    const found = timed(stages.fetch, () => records.fetch(hits));
    timed(stages.highlight, () => {
      if (planned.query.kind === 'groups') records.mark(kernel, planned.bytes, found);
    });
    reader.release();
    timed(stages.whole, () => {
      executor.execute(taskOf(generation, { query, ...options }), writer);
      writer.take();
      reader.release();
    });
  }
  return stages;
}

const quantile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)];
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
round();
const rounds = Array.from({ length: args.rounds }, round);
console.log(`# ${data.name}: ${data.queries.length} queries, ${rounds.length} rounds after one of warming up\n`);
console.log('| Stage | mean µs, median of the rounds | p50 µs | p99 µs |\n| --- | --- | --- | --- |');
for (const stage of Object.keys(rounds[0])) {
  const means = rounds.map((stages) => mean(stages[stage]));
  const all = rounds.flatMap((stages) => stages[stage]);
  const [middle, p50, p99] = [quantile(means, 0.5), quantile(all, 0.5), quantile(all, 0.99)].map((us) => us.toFixed(1));
  console.log(`| ${stage} | ${middle} | ${p50} | ${p99} |`);
}
if (args.cases) {
  const least = data.queries.map((query, index) => [Math.min(...rounds.map(({ kernel: us }) => us[index])), query]);
  console.log('\n| kernel µs, least of the rounds | query |\n| --- | --- |');
  for (const [us, query] of least.toSorted((a, b) => b[0] - a[0]).slice(0, SLOWEST_SHOWN)) {
    console.log(`| ${us.toFixed(1)} | ${query} |`);
  }
}
process.exit(0);
