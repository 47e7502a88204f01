/**
 * Measures what planning a search costs, with words that the thread has not seen yet and with cached ones. A list that is written to has a
 * new generation with every commit, so most of its searches find less cached than search-stages.mjs shows.
 *
 *   node bench/micro/planning.mjs [--records 100000] [--rounds 8]
 *
 * Uses the list of sentences that search-stages.mjs with the same number of records leaves in the work folder.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { kernel } from '#native-bindings/index.js';
import { RecordStoreCache } from '#src/records/index.js';
import { ListSearcher } from '#src/search/execution/list-search.js';
import { ListContexts } from '#src/search/index.js';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { arxivQueries } from '../end-to-end/lib/sentences.mjs';
import { workFolder } from '../end-to-end/lib/service.mjs';
import { openIndexes } from './lib/indexes.mjs';
import { planOf, SETTINGS } from './lib/searching.mjs';

const WARM_UP_ROUNDS = 4;
const { records, rounds } = readOptions({ records: 100_000, rounds: 8 });
const folder = join(workFolder, `stages-sentences-${records}`);
if (!existsSync(join(folder, 'complete'))) {
  console.error(`${folder} is missing: run bench/micro/search-stages.mjs --data sentences --records ${records} first`);
  process.exit(2);
}
const list = await openIndexes(folder, new RecordStoreCache(), { waitForRebuild: true }).open('stages', SETTINGS);
const generation = list.lease().handle;
const contexts = new ListContexts(kernel);
const queries = arxivQueries();

/**
 * Returns a kernel for which no dictionary is cached: caches are kept by kernel.
 * @returns {typeof kernel}
 */
const newKernel = () => Object.create(kernel);

/** Returns the microseconds that planning each query took. */
function round(searcher) {
  return queries.map((query) => {
    const begin = process.hrtime.bigint();
    planOf({ searcher, contexts }, generation, { query });
    return Number(process.hrtime.bigint() - begin) / 1000;
  });
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const [unseen, cached] = [[], []];
for (let number = 0; number < WARM_UP_ROUNDS + rounds; number += 1) {
  const searcher = new ListSearcher(newKernel());
  const [first] = [round(searcher), round(searcher)];
  const last = round(searcher);
  if (number < WARM_UP_ROUNDS) continue;
  unseen.push(median(first));
  cached.push(median(last));
}
console.log(
  `# ${queries.length} queries, ${records} sentences: µs to plan a search (p50, median of ${rounds} rounds)\n`,
);
console.log(
  `| words not cached | cached words |\n| --- | --- |\n| ${median(unseen).toFixed(1)} | ${median(cached).toFixed(1)} |`,
);
process.exit(0);
