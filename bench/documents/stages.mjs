/**
 * Measures what a search costs in its worker, over the pages of documents and over a list in which each page is a record: plan, kernel, total only,
 * and the whole, in one thread and without HTTP. Takes the least of the rounds for each query and then the mean, which is stable beside other load.
 *
 *   node bench/documents/pages.mjs       makes the lists; this bench uses those made last
 *   node bench/documents/stages.mjs [--documents 10000] [--pages 20] [--queries 200] [--rounds 6]
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { kernel } from '#native-bindings/index.js';
import { parseResult } from '#native-bindings/query-result.js';
import { RecordStoreCache } from '#src/records/index.js';
import { ListSearcher } from '#src/search/execution/list-search.js';
import { ListContexts, ResponseWriter, SearchExecutor, StoreRecordReader } from '#src/search/index.js';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { markdownTable } from '../end-to-end/lib/report.mjs';
import { arxivQueries } from '../end-to-end/lib/sentences.mjs';
import { ACCOUNT, workFolder } from '../end-to-end/lib/service.mjs';
import { openIndexes } from '../micro/lib/indexes.mjs';
import { planOf, SETTINGS, taskOf } from '../micro/lib/searching.mjs';

const {
  documents,
  pages,
  queries: count,
  rounds,
} = readOptions({ documents: 10_000, pages: 20, queries: 200, rounds: 6 });
const STAGES = ['plan', 'kernel', 'total', 'all'];
const HITS = 10;

const dataDir = join(workFolder, `pages-${documents}-${pages}`);
const stores = new RecordStoreCache();
const indexes = openIndexes(dataDir, stores, { waitForRebuild: true });
const contexts = new ListContexts(kernel);
const searcher = new ListSearcher(kernel);
const reader = new StoreRecordReader(stores);
const executor = new SearchExecutor(kernel, reader, contexts);
const writer = new ResponseWriter();
const all = arxivQueries();
const queries = Array.from({ length: count }, (_, at) => all[Math.floor((at * all.length) / count)]);

function microseconds(action) {
  const begin = process.hrtime.bigint();
  action();
  return Number(process.hrtime.bigint() - begin) / 1000;
}

/** Keeps the least time of each stage and query in `times`. */
function measure({ generation, times }, query, at) {
  const keep = (stage, us) => {
    times[stage][at] = Math.min(times[stage][at] ?? Infinity, us);
  };
  const planned = (size) => planOf({ searcher, contexts }, generation, { query, size });
  const search = ({ bytes, pages }) =>
    parseResult(kernel.search(generation, bytes, undefined, pages && { textFloor: 0, parts: pages.search }));
  let plan;
  keep('plan', microseconds(() => void (plan = planned(HITS)))); // prettier-ignore
  keep('kernel', microseconds(() => void search(plan))); // prettier-ignore
  plan = planned(0);
  keep('total', microseconds(() => void search(plan))); // prettier-ignore
  const answer = () => {
    executor.execute(taskOf(generation, { query }), writer);
    writer.take();
    reader.release();
  };
  keep('all', microseconds(answer));
}

const sides = [];
for (const id of readdirSync(join(dataDir, 'lists'))
  .filter((name) => !name.startsWith('.'))
  .toSorted()) {
  const list = await indexes.open(id, { ...SETTINGS, account: ACCOUNT, list: id, model: 'own' });
  const generation = list.lease().handle;
  const name = contexts.get(generation).hasPages ? 'pages' : 'records';
  sides.push({ name, generation, times: Object.fromEntries(STAGES.map((stage) => [stage, []])) });
}
for (let round = 0; round < rounds; round += 1)
  for (const side of sides) for (const [at, query] of queries.entries()) measure(side, query, at);
const mean = (figures) => (figures.reduce((sum, us) => sum + us, 0) / figures.length).toFixed(0);
const rows = sides.map(({ name, times }) => [name, ...STAGES.map((stage) => mean(times[stage]))]);
process.stdout.write(markdownTable(['', 'Plan µs', 'Kernel µs', 'The total alone µs', 'All µs'], rows));
process.exit(0);
