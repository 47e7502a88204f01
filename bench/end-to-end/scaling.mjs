/**
 * Measures the processor time per search of the one thread that answers all connections, and of the search threads, on one processor, on two, and so on
 * up to all. From this follows how many processors the one thread keeps busy. Prints Markdown. See bench/README.md.
 *
 *   node bench/end-to-end/scaling.mjs [--records 300000] [--seconds 5] [--rounds 3]
 *
 * The load runs on processors that the service does not use, if there are any, otherwise on the same. So processor times count, and rates only on
 * larger machines. Needs `taskset`. The list stays in the work folder for the next run.
 */
import { spawnSync } from 'node:child_process';
import { createReadStream, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { runOpenLoop } from './lib/open-loop.mjs';
import { readOptions } from './lib/options.mjs';
import { namedThreadTimesMs } from './lib/processor-time.mjs';
import { formatCount, machineTable, markdownTable, quantile } from './lib/report.mjs';
import { arxivQueries, SENTENCES_DEFINITION, sentencesFile } from './lib/sentences.mjs';
import { ACCOUNT, call, createKey, importNdjson, startService, untilMerged, workFolder } from './lib/service.mjs';

const { records, seconds, rounds } = readOptions({ records: 300_000, seconds: 5, rounds: 3 });
const LIST = 'sentences';
/** Processors before this process is bound to some of them. */
const PROCESSORS = Array.from({ length: availableParallelism() }, (_, processor) => processor);
const CONNECTIONS = 32;
const WARM_UP_SECONDS = 6;
const SEARCH_THREAD = 'gannet-search';
const KINDS = {
  'text, default options': {},
  phrase: { match: 'phrase' },
  'with a facet': { facets: 'category' },
  'from the cache': { cache: 'true' },
};
const dataDir = join(workFolder, `scaling-${records}`);
const marker = join(dataDir, 'bench-key.json');

const file = await sentencesFile(records);
if (file === undefined || spawnSync('taskset', ['--version']).status !== 0) {
  console.log(file === undefined ? 'Skipped: ../shared/data/bench is not there.' : 'Skipped: there is no taskset.');
  process.exit(0);
}

async function makeList() {
  rmSync(dataDir, { recursive: true, force: true });
  const service = await startService(dataDir);
  const key = createKey(dataDir);
  await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name: LIST, ...SENTENCES_DEFINITION });
  await importNdjson(service.address, key, LIST, createReadStream(file.path));
  await untilMerged(dataDir);
  await service.stop();
  writeFileSync(marker, JSON.stringify({ key }));
}

/** Binds existing threads and those that they start from now on. */
function bind(pid, processors) {
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', processors.join(','), String(pid)]);
}

/** Returns microseconds per search of the answering thread, of the search threads and of all others, and searches per second. */
async function turn(service, load) {
  const before = namedThreadTimesMs(service.pid);
  const { requestsPerSecond, failed } = await runOpenLoop({ address: service.address, ratePerSecond: 0, ...load });
  if (failed > 0) throw new Error(`${failed} searches failed`);
  const searches = requestsPerSecond * load.seconds;
  const took = { main: 0, search: 0, others: 0, rate: requestsPerSecond };
  for (const [name, ms] of namedThreadTimesMs(service.pid)) {
    const part = name === 'main' ? 'main' : name === SEARCH_THREAD ? 'search' : 'others';
    took[part] += (1000 * Math.max(0, ms - (before.get(name) ?? 0))) / searches;
  }
  return took;
}

async function measure(count, key) {
  const service = await startService(dataDir, { GANNET_SEARCH_THREADS: String(count) });
  bind(service.pid, PROCESSORS.slice(0, count));
  bind(process.pid, count < PROCESSORS.length ? PROCESSORS.slice(count) : PROCESSORS);
  const rows = [];
  try {
    for (const [kind, options] of Object.entries(KINDS)) {
      const queries = kind === 'from the cache' ? arxivQueries().slice(0, 100) : arxivQueries();
      const paths = queries.map(
        (query) =>
          `/search/${ACCOUNT}/${LIST}/1?${new URLSearchParams({ query, size: '10', cache: 'false', ...options })}`,
      );
      const load = { key, paths, connections: CONNECTIONS };
      await turn(service, { ...load, seconds: WARM_UP_SECONDS });
      const turns = [];
      for (let seed = 1; seed <= rounds; seed += 1) turns.push(await turn(service, { ...load, seconds, seed }));
      const median = (part) => quantile(turns.map((each) => each[part]), 0.5); // prettier-ignore
      rows.push({
        kind,
        count,
        main: median('main'),
        search: median('search'),
        others: median('others'),
        rate: median('rate'),
      });
    }
  } finally {
    await service.stop();
  }
  return rows;
}

if (!existsSync(marker)) await makeList();
const { key } = JSON.parse(readFileSync(marker, 'utf8'));
const measured = [];
for (let count = 1; count <= PROCESSORS.length; count *= 2) measured.push(...(await measure(count, key)));
console.log(
  machineTable({
    Data: `${formatCount(records)} sentences of arXiv abstracts`,
    Load: `${CONNECTIONS} connections, the next search when the last is answered, ${rounds} turns of ${seconds} s, medians`,
  }),
);
const heading = [
  'Searches',
  'Processors',
  'a second',
  'µs of the thread that answers',
  'of threads that search',
  'of others',
  'one thread answers, a second',
  'threads that search beside it',
];
console.log(
  markdownTable(
    heading,
    Object.keys(KINDS).flatMap((kind) =>
      measured
        .filter((row) => row.kind === kind)
        .map(({ count, rate, main, search, others }) => [
          kind,
          String(count),
          formatCount(rate),
          main.toFixed(1),
          search.toFixed(1),
          others.toFixed(1),
          formatCount(1e6 / main),
          (search / main).toFixed(1),
        ]),
    ),
  ),
);
