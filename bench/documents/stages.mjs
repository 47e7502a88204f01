/**
 * What a search costs in its worker, over the pages of documents and over a list in which each of these pages is a record: plan, kernel, the
 * total alone, and all of it, in one thread and without HTTP. The least of the rounds for each query, then the mean: it holds beside other work, too.
 *
 *   node bench/documents/pages.mjs       makes the lists, of which this takes those that were asked for last
 *   node bench/documents/stages.mjs [--documents 10000] [--pages 20] [--queries 200] [--rounds 6]
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { kernel } from '../../dist/native-bindings/index.js';
import { parseResult } from '../../dist/native-bindings/query-result.js';
import { RecordStoreCache } from '../../dist/src/records/index.js';
import { ListSearcher } from '../../dist/src/search/execution/list-search.js';
import { ListContexts, ResponseWriter, SearchExecutor, StoreRecordReader } from '../../dist/src/search/index.js';
import { readSearchRequest } from '../../dist/src/search/options/search-request.js';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { markdownTable } from '../end-to-end/lib/report.mjs';
import { arxivQueries } from '../end-to-end/lib/sentences.mjs';
import { ACCOUNT, workFolder } from '../end-to-end/lib/service.mjs';
import { openIndexes } from '../micro/lib/indexes.mjs';

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

/** The least times by stage and query are kept in `times`. */
function measure({ generation, name, times }, query, at) {
  const context = contexts.get(generation);
  const keep = (stage, us) => {
    times[stage][at] = Math.min(times[stage][at] ?? Infinity, us);
  };
  const planned = (size) => {
    const request = readSearchRequest({ query, size }, [context.settings.definition]);
    const window = { skip: 0, size, facetValues: 0 };
    return searcher.plan(context, generation, { request, listIndex: 0, window, meaning: undefined });
  };
  const search = ({ bytes, pages }) =>
    parseResult(kernel.search(generation, bytes, undefined, pages && { textFloor: 0, parts: pages.search }));
  let plan;
  keep('plan', microseconds(() => void (plan = planned(HITS)))); // prettier-ignore
  keep('kernel', microseconds(() => void search(plan))); // prettier-ignore
  plan = planned(0);
  keep('total', microseconds(() => void search(plan))); // prettier-ignore
  const subject = { kind: 'list', name, version: 1 };
  const task = { kind: 'search', targets: [{ generation }], subject, options: { query }, queryId: 'q' };
  const answer = () => {
    executor.execute(task, writer);
    writer.take();
    reader.release();
  };
  keep('all', microseconds(answer));
}

const sides = [];
for (const id of readdirSync(join(dataDir, 'lists'))
  .filter((name) => !name.startsWith('.'))
  .toSorted()) {
  // prettier-ignore
  const settings = { account: ACCOUNT, list: id, language: 'en', model: 'own', synonym_rules: [], query_rules: [] };
  const list = await indexes.open(id, settings);
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
