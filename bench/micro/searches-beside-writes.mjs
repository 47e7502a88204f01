/**
 * Measures what searches cost in their worker while single records are written to the list, and what such a write costs: sentences of
 * the arXiv abstracts, in one thread and without HTTP, by processor time.
 *
 *   node bench/micro/search-stages.mjs --data sentences      makes the list, which this bench copies
 *   node bench/micro/searches-beside-writes.mjs [--records 1000000] [--searches-per-write 20] [--rounds 2]
 */
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { kernel } from '#native-bindings/index.js';
import { parseResult } from '#native-bindings/query-result.js';
import { RecordStoreCache } from '#src/records/index.js';
import { ListContexts } from '#src/search/index.js';
import { ListSearcher } from '#src/search/execution/list-search.js';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { seededRandom } from '../end-to-end/lib/random.mjs';
import { arxivQueries } from '../end-to-end/lib/sentences.mjs';
import { workFolder } from '../end-to-end/lib/service.mjs';
import { openIndexes } from './lib/indexes.mjs';
import { planOf, SETTINGS } from './lib/searching.mjs';

const args = readOptions({ records: 1_000_000, 'searches-per-write': 20, rounds: 2 });
const SEARCHES_PER_ROUND = 1500;
const SEARCHES_TO_WARM_UP = 3000;
/** Number of records that the writes replace one after the other. */
const WRITTEN_RECORDS = 100;
const WORDS_PER_WRITE = 20;
/** Longer than the time after which a list counts as quiet and is merged. */
const QUIET_MS = 2500;

const source = join(workFolder, `stages-sentences-${args.records}`);
if (!existsSync(join(source, 'complete'))) throw new Error(`make ${source} first, with search-stages.mjs`);
const folder = mkdtempSync(join(workFolder, 'beside-writes-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
cpSync(source, folder, { recursive: true });

const list = await openIndexes(folder, new RecordStoreCache(), { waitForRebuild: true }).open('stages', SETTINGS);
const contexts = new ListContexts(kernel);
const searcher = new ListSearcher(kernel);
const queries = arxivQueries();
const words = queries.join(' ').split(' ');
const random = seededRandom(7);

function cpuUs() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

let written = 0;
async function write() {
  const text = Array.from({ length: WORDS_PER_WRITE }, () => words[Math.floor(random() * words.length)]).join(' ');
  const name = `written-${written++ % WRITTEN_RECORDS}`;
  await list.write({ kind: 'put', name, fields: { text } });
}

/** Returns microseconds of processor time of a search's plan and kernel, and of a write with the merges that it causes. */
async function round(searches, searchesPerWrite) {
  const spent = { plan: 0, kernel: 0, write: 0 };
  let writes = 0;
  for (let search = 0; search < searches; ++search) {
    if (search % searchesPerWrite === searchesPerWrite - 1) {
      const begin = cpuUs();
      await write();
      writes += 1;
      spent.write += cpuUs() - begin;
    }
    const lease = list.lease();
    const generation = lease.handle;
    const begin = cpuUs();
    const options = { query: queries[(search * 7) % queries.length] };
    const { bytes } = planOf({ searcher, contexts }, generation, options);
    const planned = cpuUs();
    parseResult(kernel.search(generation, bytes));
    spent.kernel += cpuUs() - planned;
    spent.plan += planned - begin;
    lease.release();
  }
  return [spent.plan / searches, spent.kernel / searches, writes === 0 ? undefined : spent.write / writes];
}

console.log(`# ${args.records} sentences, ${args['searches-per-write']} searches a write\n`);
console.log('| | plan µs | kernel µs | write µs |\n| --- | --- | --- | --- |');
const print = (name, figures) => console.log(`| ${[name, ...figures.map((us) => us?.toFixed(0) ?? '')].join(' | ')} |`);
await round(SEARCHES_TO_WARM_UP, Infinity);
for (let count = 0; count < args.rounds; ++count) {
  print('alone', await round(SEARCHES_PER_ROUND, Infinity));
  print('beside writes', await round(SEARCHES_PER_ROUND, args['searches-per-write']));
  await wait(QUIET_MS);
}
process.exit(0);
