/**
 * Compares Gannet's kernel with Tantivy and Lucene: the same records and queries, in one thread of a process for each engine,
 * timed inside it. Prints Markdown. See bench/README.md.
 *
 *   node bench/peers/run.mjs [--engines gannet,gannet-avx2,tantivy,lucene] [--kinds union,phrase] [--rounds 7]
 *                             [--indexing-seconds 2]  (per turn; 0 skips the measurements while indexing)
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { formatCount, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';
import { root } from '../end-to-end/lib/service.mjs';
import { compareResults } from './comparison.mjs';
import { makeCorpus, makeQueries, RECORD_COUNT } from './corpus.mjs';
import { buildEngine, EngineProcess } from './engine-process.mjs';
import { COMMANDS_BY_KIND, measureWhileIndexing } from './while-indexing.mjs';

/** Engines. `gannet-avx2` runs without AVX-512, `gannet-baseline` also without AVX2. */
const ENGINES = ['gannet', 'gannet-avx2', 'tantivy', 'lucene'];
const COMMANDS = ['TOP_10', 'TOP_100', 'TOP_100_COUNT', 'COUNT'];
const WARM_UP_ROUNDS = 4;
/** Kinds of queries for lists with deletions. */
const KINDS_WITH_DELETIONS = ['union', 'intersection', 'phrase'];

const options = readOptions({
  engines: ENGINES.join(','),
  kinds: '',
  commands: COMMANDS.join(','),
  rounds: 7,
  'indexing-seconds': 2,
});

function readKinds(queries) {
  const kinds = new Map();
  readFileSync(queries, 'utf8')
    .trim()
    .split('\n')
    .forEach((line, index) => {
      const kind = line.slice(0, line.indexOf('\t'));
      const range = kinds.get(kind) ?? { first: index };
      kinds.set(kind, { ...range, end: index + 1 });
    });
  const wanted = options.kinds === '' ? undefined : options.kinds.split(/,(?! )/);
  return new Map([...kinds].filter(([kind]) => wanted === undefined || wanted.includes(kind)));
}

const median = (values) => quantile(values, 0.5);
const geometricMean = (values) => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

/** Returns the median nanoseconds of every query by engine. Engines take turns. */
async function measure(engines, command, view, range) {
  const times = engines.map(() => []);
  for (let round = -WARM_UP_ROUNDS; round < options.rounds; round += 1) {
    for (const [index, engine] of engines.entries()) {
      const nanoseconds = await engine.time(command, view, range);
      if (round >= 0) times[index].push(nanoseconds);
    }
  }
  return times.map(mediansByQuery);
}

const mediansByQuery = (rounds) => rounds[0].map((_, query) => median(rounds.map((round) => round[query])));

function tableRow(kind, command, means) {
  return [
    kind,
    command,
    ...means.map((mean) => (mean / 1000).toFixed(1)),
    ...means.slice(1).map((mean) => (mean / means[0]).toFixed(2)),
  ];
}

async function measureAll(engines, kinds) {
  const rows = [];
  const views = [...kinds].flatMap(([kind, range]) => [
    { kind, view: 'all', range },
    ...(KINDS_WITH_DELETIONS.includes(kind) ? [{ kind: `${kind}, 10 % deleted`, view: 'deleted', range }] : []),
  ]);
  for (const { kind, view, range } of views) {
    for (const command of options.commands.split(',')) {
      const means = (await measure(engines, command, view, range)).map(geometricMean);
      rows.push(tableRow(kind, command, means));
    }
  }
  return rows;
}

/** Returns rows of the same table, with the records indexed meanwhile. */
async function measureAllWhileIndexing(engines, kinds) {
  const [rows, rates] = [[], []];
  const turnMs = options['indexing-seconds'] * 1000;
  for (const [kind, commands] of turnMs > 0 ? COMMANDS_BY_KIND : []) {
    if (!kinds.has(kind)) continue;
    for (const command of commands.filter((each) => options.commands.split(',').includes(each))) {
      const measured = await measureWhileIndexing(engines, command, kinds.get(kind), turnMs);
      const name = `${kind}, while indexing`;
      rows.push(
        tableRow(
          name,
          command,
          measured.map(({ times }) => geometricMean(mediansByQuery(times))),
        ),
      );
      rates.push([name, command, ...measured.map((engine) => formatCount(median(engine.rates)))]);
    }
  }
  return { rows, rates };
}

async function main() {
  const data = join(root, '..', 'shared', 'data', 'bench');
  const source = [process.env.GANNET_BENCH_DATA, data].find((path) => path !== undefined && existsSync(path));
  if (source === undefined) {
    console.log(`Skipped: ${data} is not there.`);
    return;
  }
  const work = join(process.env.GANNET_BENCH_FOLDER ?? join(os.tmpdir(), 'gannet-bench'), 'peers');
  mkdirSync(work, { recursive: true });
  const corpus = await makeCorpus(source, work);
  const queries = await makeQueries(source, work, corpus);
  const kinds = readKinds(queries);
  const engines = [];
  for (const name of options.engines.split(',')) {
    const { command, missing } = buildEngine(name, work);
    if (missing === undefined) engines.push(new EngineProcess(name, command, { corpus, queries, work }));
    else console.log(`${name} is left out: ${missing}.\n`);
  }
  try {
    for (const engine of engines) await engine.start();
    console.log(
      machineTable({
        Records: `${RECORD_COUNT.toLocaleString('en-GB')} sentences of arXiv abstracts, one segment`,
        ...Object.fromEntries(engines.map((engine) => [engine.name, engine.description])),
      }),
    );
    const names = engines.map((engine) => engine.name);
    const ratios = names.slice(1).map((name) => `${name} / ${names[0]}`);
    const heading = ['Queries', 'Command', ...names.map((name) => `${name}, µs`), ...ratios];
    for (const engine of engines) engine.useOneProcessor();
    const rows = await measureAll(engines, kinds);
    // Each engine indexes in a second thread.
    for (const engine of engines) engine.useAllProcessors();
    const meanwhile = await measureAllWhileIndexing(engines, kinds);
    console.log(markdownTable(heading, [...rows, ...meanwhile.rows]));
    if (meanwhile.rates.length > 0) {
      const indexed = names.map((name) => `${name}, records/s indexed`);
      console.log(markdownTable(['Queries', 'Command', ...indexed], meanwhile.rates));
    }
    console.log(await compareResults(engines, kinds));
  } finally {
    for (const engine of engines) engine.stop();
  }
}

await main();
