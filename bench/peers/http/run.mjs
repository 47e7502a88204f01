/**
 * Compares Gannet with Meilisearch and OpenSearch as services on the same machine, over HTTP and under the same load: import, size, memory, searches
 * per second, latencies at given rates, and the order of results. Engines take turns within one run. Prints Markdown. See bench/README.md.
 *
 *   npm run build && node bench/peers/http/run.mjs [--engines gannet,meilisearch,opensearch] [--records 300000] [--rounds 3] [--seconds 8]
 *       [--rates 50,500] [--heap 2048] [--collections false]
 *
 * Meilisearch is the program in the environment variable MEILISEARCH. OpenSearch is fetched by mvn and needs a JDK from 21 on.
 */
import { createReadStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { runOpenLoop } from '../../end-to-end/lib/open-loop.mjs';
import { readOptions } from '../../end-to-end/lib/options.mjs';
import { seededRandom } from '../../end-to-end/lib/random.mjs';
import { barRow, formatCount, machineTable, markdownTable, quantile } from '../../end-to-end/lib/report.mjs';
import { sentencesFile } from '../../end-to-end/lib/sentences.mjs';
import { workFolder } from '../../end-to-end/lib/service.mjs';
import { COLLECTIONS, judgements, queriesOf, recordsOf } from '../../relevance/collection-files.mjs';
import { mean, normalisedDiscountedGain } from '../../relevance/evaluation.mjs';
import { ENGINES, startEngine } from './engines.mjs';

const QUERIES = 5000;
const CONNECTIONS = [8, 32];
const NDCG_DEPTH = 10;
const LATENCY_CONNECTIONS = 64;
const FACET = 'category';

const {
  records,
  rounds,
  seconds,
  heap: heapMib,
  ...options
} = readOptions({
  engines: ENGINES.join(','),
  records: 300_000,
  rounds: 3,
  seconds: 8,
  rates: '50,500',
  heap: 2048,
  collections: 'true',
});
const rates = options.rates.split(',').map(Number);
const median = (numbers) => quantile(numbers, 0.5);

const sentences = await sentencesFile(records);
if (sentences === undefined) {
  console.log('Skipped: ../shared/data/bench is not there.');
  process.exit(0);
}

async function* sentenceRecords() {
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(sentences.path) })) {
    number += 1;
    const { text, category } = JSON.parse(line);
    yield { id: `s${number}`, text, [FACET]: category };
  }
}

/** Returns queries of one to three adjacent words of a sentence. */
async function queriesOfSentences() {
  const random = seededRandom(1);
  const chosen = new Set(Array.from({ length: QUERIES }, () => Math.floor(random() * records) + 1));
  const queries = [];
  let number = 0;
  for await (const { text } of sentenceRecords()) {
    number += 1;
    if (!chosen.has(number)) continue;
    const words = text.toLowerCase().match(/[a-z]{2,}/g) ?? [];
    const length = 1 + Math.floor(random() * 3);
    if (words.length < length) continue;
    const first = Math.floor(random() * (words.length - length + 1));
    queries.push(words.slice(first, first + length).join(' '));
  }
  return queries;
}

async function importInto(engine) {
  const startedMs = performance.now();
  await engine.load('sentences', { fields: ['text'], facets: [FACET] }, sentenceRecords());
  const importSeconds = (performance.now() - startedMs) / 1000;
  await engine.settle('sentences');
  return { importSeconds, diskMib: engine.diskMib(), idleMib: engine.memory() };
}

/** Measures searches per second by number of connections, and p50 and p99 by rate, as medians of the rounds. */
async function measureLoad(engines, queries, options, openRates) {
  const paths = engines.map((engine) => queries.map((query) => engine.path('sentences', query, options)));
  const found = engines.map(() => ({ closed: new Map(), open: new Map() }));
  const add = (map, key, value) => map.set(key, [...(map.get(key) ?? []), value]);
  const load = (at, more) =>
    runOpenLoop({
      address: engines[at].address,
      key: engines[at].key,
      paths: paths[at],
      seconds,
      ratePerSecond: 0,
      ...more,
    });
  for (const at of engines.keys()) await load(at, { connections: Math.max(...CONNECTIONS) });
  for (let round = 1; round <= rounds; round += 1) {
    for (const at of engines.keys()) {
      for (const connections of CONNECTIONS)
        add(found[at].closed, connections, await load(at, { connections, seed: round }));
      for (const ratePerSecond of openRates)
        add(
          found[at].open,
          ratePerSecond,
          await load(at, { connections: LATENCY_CONNECTIONS, ratePerSecond, seed: round }),
        );
    }
  }
  return found;
}

async function gainsOf(engine, options) {
  const gains = [];
  for (const name of COLLECTIONS) {
    const grades = judgements(name);
    const own = [];
    for (const { id, text } of queriesOf(name).filter(({ id }) => grades.has(id))) {
      const answer = await engine.search(
        engine.path(name, text.toLowerCase(), { fields: ['title', 'text'], ...options }),
      );
      own.push(normalisedDiscountedGain(engine.names(answer), grades.get(id), NDCG_DEPTH));
    }
    gains.push(mean(own));
  }
  return gains;
}

async function measureOrder(engines) {
  const rows = [];
  for (const engine of engines) {
    for (const name of COLLECTIONS) {
      const documents = recordsOf(name).map(({ name: id, fields }) => ({ id, ...fields }));
      await engine.load(name, { fields: ['title', 'text'] }, documents);
    }
    const ways = engine.name === 'opensearch' ? [{ typos: true }, { typos: false }] : [{}];
    for (const way of ways) {
      const gains = await gainsOf(engine, way);
      const label = way.typos === false ? `${engine.name}, without typos` : engine.name;
      rows.push([label, ...gains.map((gain) => gain.toFixed(4)), mean(gains).toFixed(4)]);
    }
  }
  return rows;
}

const work = join(workFolder, 'peers-http');
mkdirSync(work, { recursive: true });
const engines = [];
const missing = [];
for (const name of options.engines.split(',')) {
  const engine = await startEngine(name, { work, heapMib });
  if (engine.missing === undefined) engines.push({ name, ...engine });
  else missing.push(`${name} is left out: ${engine.missing}.`);
}

const imports = [];
for (const engine of engines) imports.push(await importInto(engine));
const queries = await queriesOfSentences();
const load = await measureLoad(engines, queries, {}, rates);
const counted = await measureLoad(engines, queries, { facet: FACET }, []);
const busyMib = engines.map((engine) => engine.memory());
const order = options.collections === 'true' ? await measureOrder(engines) : [];
for (const engine of engines) await engine.stop();

const figure = (map, key, member) => median(map.get(key).map((one) => one[member]));
const times = (map, key) => ['p50', 'p99'].map((member) => figure(map, key, member).toFixed(1)).join(' / ');
const failed = ({ closed, open }) =>
  [...closed.values(), ...open.values()].flat().reduce((sum, one) => sum + one.failed, 0);
const rateColumns = ({ closed }) =>
  CONNECTIONS.map((connections) => formatCount(figure(closed, connections, 'requestsPerSecond')));
const timeColumns = ({ closed }) => CONNECTIONS.map((connections) => times(closed, connections));
const SERIES_HEADS = [
  ...CONNECTIONS.map((connections) => `Searches/s, ${connections} connections`),
  ...CONNECTIONS.map((connections) => `p50 / p99 ms, ${connections} connections`),
];

const rows = engines.map((engine, at) => [
  engine.name,
  formatCount(records / imports[at].importSeconds),
  formatCount(imports[at].diskMib),
  formatCount(imports[at].idleMib),
  formatCount(busyMib[at]),
  ...rateColumns(load[at]),
  ...timeColumns(load[at]),
  ...rates.map((rate) => times(load[at].open, rate)),
  failed(load[at]),
]);
const countedRows = engines.map((engine, at) => [
  engine.name,
  ...rateColumns(counted[at]),
  ...timeColumns(counted[at]),
  failed(counted[at]),
]);

/** Returns the bars, if Gannet and another service were measured; the one for disk only with OpenSearch. */
function bars() {
  const own = engines.findIndex(({ name }) => name === 'gannet');
  const others = [...engines.keys()].filter((at) => at !== own);
  if (own < 0 || others.length === 0) return [];
  const most = Math.max(...CONNECTIONS);
  const rate = (found) => (at) => figure(found[at].closed, most, 'requestsPerSecond');
  const lead = (found) => rate(found)(own) / Math.max(...others.map(rate(found)));
  const memory = busyMib[own] / Math.min(...others.map((at) => busyMib[at]));
  const faster = (name) => {
    const at = engines.findIndex((engine) => engine.name === name);
    return at < 0 ? undefined : imports[at].importSeconds / imports[own].importSeconds;
  };
  const atLeast = (what, ratio, bar) => barRow(what, `${ratio.toFixed(2)} ×`, `≥ ${bar} ×`, ratio >= bar);
  const found = [
    atLeast(`searches/s, ${most} connections, by the better of the others`, lead(load), 10),
    atLeast('with a facet', lead(counted), 10),
    barRow('memory after searches, by the better', `${memory.toFixed(2)} ×`, '≤ 0.4 ×', memory <= 0.4),
  ];
  for (const [name, bar] of [
    ['meilisearch', 5],
    ['opensearch', 3],
  ]) {
    const ratio = faster(name);
    if (ratio !== undefined) found.push(atLeast(`import, records/s by those of ${name}`, ratio, bar));
  }
  const disk = engines.findIndex(({ name }) => name === 'opensearch');
  if (disk >= 0) {
    const ratio = imports[own].diskMib / imports[disk].diskMib;
    found.push(barRow('disk, by that of opensearch', `${ratio.toFixed(2)} ×`, '≤ 1 ×', ratio <= 1));
  }
  return [markdownTable(['What', 'Measured', 'Bar', ''], found)];
}

console.log(
  [
    machineTable({
      Records: `${formatCount(records)} sentences of arXiv abstracts, one text field and one facet`,
      Searches: `${formatCount(queries.length)} of 1 to 3 neighbouring words, typos and highlights on, 10 hits`,
      Load: `bench/end-to-end/open_loop.cc, ${seconds} s a turn, ${rounds} rounds, medians`,
      ...Object.fromEntries(engines.map(({ name, version }) => [name, version])),
    }),
    markdownTable(
      [
        'Service',
        'Import, records/s',
        'Disk MiB',
        'Resident MiB, imported',
        'after searches',
        ...SERIES_HEADS,
        ...rates.map((rate) => `p50 / p99 ms at ${rate}/s`),
        'Failed',
      ],
      rows,
    ),
    markdownTable(['With a facet', ...SERIES_HEADS, 'Failed'], countedRows),
    ...bars(),
    ...(order.length === 0 ? [] : [markdownTable(['nDCG@10', ...COLLECTIONS, 'mean'], order)]),
    ...missing,
  ].join('\n'),
);
