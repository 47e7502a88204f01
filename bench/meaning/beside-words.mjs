/**
 * Measures the cost of a search by words and meaning compared with words alone: the service's processor time per search, and the rate, in turns.
 *
 *   node bench/meaning/beside-words.mjs [--records 100000] [--rounds 5] [--searches 2000] [--prepare] [--fresh] [--own]
 *
 * The records are sentences of the arXiv abstracts with vectors made from their words, so that texts with common words are near each other. In one list vectors are
 * sent with records and searches (`own`), in the other a model server supplies them, and those of search texts are cached from the first time on (`attached`).
 * Typos and highlights are on, as by default. The lists are made once and reused; `--prepare` only makes them, `--own` leaves
 * out the second. Prints Markdown.
 *
 * Latencies at half load, of requests at random times, are compared with those of words alone at their half load and at the same rate, in turns. The processors
 * that other processes used meanwhile are printed as well, as searches wait for them.
 */
import { createReadStream, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { sendAll } from '../end-to-end/lib/closed-loop.mjs';
import { runOpenLoop } from '../end-to-end/lib/open-loop.mjs';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { othersSince } from '../end-to-end/lib/processor-time.mjs';
import { seededRandom } from '../end-to-end/lib/random.mjs';
import { barRow, formatCount, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';
import { arxivQueries, SENTENCES_DEFINITION, sentencesFile } from '../end-to-end/lib/sentences.mjs';
import {
  ACCOUNT,
  addModel,
  call,
  createKey,
  importNdjson,
  startService,
  STEADY_AFTER_SECONDS,
  untilMerged,
  workFolder,
} from '../end-to-end/lib/service.mjs';
import { startKnownVectors } from './known-vectors-server.mjs';

const DIMENSIONS = 128;
const CONNECTIONS = 8;
const QUERIES = 500;
const BAR = 0.6;
/** Bar for the p99 of a search by both at half of the capacity. */
const P99_BAR_MS = 10;
const HALF_LOAD_SECONDS = 3;
const LOOK_MS = 1000;
/** Number of idle looks in a row. A list is merged further after ten seconds without writes. */
const IDLE_LOOKS = 20;
const IDLE_SHARE = 0.05;
/** Decimal digits of the components of vectors. */
const DIGITS = 4;

const {
  records: count,
  rounds,
  searches,
  prepare,
  fresh,
  own,
} = readOptions({ records: 100_000, rounds: 5, searches: 2000, prepare: false, fresh: false, own: false });
const LISTS = own ? ['own'] : ['own', 'attached'];

const wordVectors = new Map();
function wordVector(word) {
  let vector = wordVectors.get(word);
  if (vector === undefined) {
    const seed = [...word].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) >>> 0, 7);
    const random = seededRandom(seed);
    vector = Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5);
    wordVectors.set(word, vector);
  }
  return vector;
}

/** Returns the vector of a text. Long words have more weight. */
function vectorOf(text) {
  const sum = new Float32Array(DIMENSIONS);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? ['']) {
    const vector = wordVector(word);
    for (let at = 0; at < DIMENSIONS; at += 1) sum[at] += vector[at] * word.length;
  }
  return Array.from(sum, (value) => Number(value.toFixed(DIGITS)));
}

async function* recordsOf(file, name) {
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { name: id, ...fields } = JSON.parse(line);
    const vector = name === 'own' ? { vector: vectorOf(fields.text) } : {};
    yield `${JSON.stringify({ name: id, fields, ...vector })}\n`;
  }
}

async function fill({ address, key }, file, name) {
  await call(address, key, 'POST', `/list/${ACCOUNT}`, { name, model: name, language: 'en', ...SENTENCES_DEFINITION });
  await importNdjson(address, key, name, Readable.from(recordsOf(file, name)));
  for (;;) {
    const { meaning } = await call(address, key, 'GET', `/list/${ACCOUNT}/${name}`);
    if (meaning.state === 'ready' && meaning.embedded === count) return;
    await wait(LOOK_MS);
  }
}

const { path: file } = (await sentencesFile(count)) ?? {};
if (file === undefined) {
  process.stdout.write('Words and meaning: skipped, the abstracts are not there (see bench/README.md).\n');
  process.exit(0);
}
const dataDir = join(workFolder, `beside-words-${count}`);
const marker = join(dataDir, 'bench-prepared.json');
if (fresh || !existsSync(marker)) rmSync(dataDir, { recursive: true, force: true });
const made = existsSync(marker) ? JSON.parse(readFileSync(marker, 'utf8')) : { lists: [], port: 0 };
const server = await startKnownVectors(vectorOf, made.port);
const env = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true', GANNET_MODELS_QUERY_MS: '60000' };
const service = await startService(dataDir, env);

/** Makes missing lists, and waits until everything is merged and every graph is built. */
async function prepared() {
  const key = made.key ?? createKey(dataDir);
  if (made.port === 0) await addModel(dataDir, { name: 'attached', url: server.url, tokensMax: 8192 });
  for (const name of LISTS) {
    if (!made.lists.includes(name)) await fill({ address: service.address, key }, file, name);
    // The first request opens the list.
    await call(service.address, key, 'GET', `/list/${ACCOUNT}/${name}`);
  }
  await untilMerged(dataDir);
  await untilIdle();
  const lists = [...new Set([...made.lists, ...LISTS])];
  writeFileSync(marker, JSON.stringify({ key, lists, port: Number(new URL(server.url).port) }));
  return key;
}

async function untilIdle() {
  for (let idle = 0, before = service.cpuMs(); idle < IDLE_LOOKS; before = service.cpuMs()) {
    await wait(LOOK_MS);
    idle = service.cpuMs() - before < LOOK_MS * IDLE_SHARE ? idle + 1 : 0;
  }
}

/**
 * Runs a turn. Returns `p50`, `p99` and `others`, the number of processors that other processes used meanwhile.
 * @param {Omit<Parameters<typeof runOpenLoop>[0], 'paths' | 'seconds'> & { requests: { method: string; path: string; body: string }[] }} load
 */
async function halfLoad({ requests, ...load }) {
  const paths = requests.map(({ method, path, body }) => `${method} ${path} ${body}`);
  const othersHad = othersSince(service.pid);
  const { p50, p99, processorMs } = await runOpenLoop({ ...load, paths, seconds: HALF_LOAD_SECONDS });
  return { p50, p99, others: othersHad(processorMs) };
}

async function measure(of) {
  const queries = arxivQueries().slice(0, QUERIES);
  const vectors = queries.map(vectorOf);
  const post = (name, body) => ({
    method: 'POST',
    path: `/search/${ACCOUNT}/${name}/1`,
    body: JSON.stringify({ cache: false, ...body }),
  });
  const waysOf = {
    own: {
      words: (at) => post('own', { query: queries[at], vector_search: false }),
      own: (at) => post('own', { query: queries[at], vector: vectors[at] }),
    },
    attached: {
      'words of the other list': (at) => post('attached', { query: queries[at], vector_search: false }),
      attached: (at) => post('attached', { query: queries[at] }),
    },
  };
  const ways = Object.assign({}, ...LISTS.map((name) => waysOf[name]));
  const measured = Object.fromEntries(Object.keys(ways).map((way) => [way, { milliseconds: [], rates: [] }]));
  // Warms up, gets the vectors of all search texts from the model, and lasts until the service maps as much as under lasting load.
  const steadyAt = performance.now() + STEADY_AFTER_SECONDS * 1000;
  for (let round = -1; round < rounds; round += performance.now() < steadyAt ? 0 : 1) {
    for (const [way, requestAt] of Object.entries(ways)) {
      const [cpuMs, begun] = [service.cpuMs(), performance.now()];
      await sendAll({ ...of, count: searches, connections: CONNECTIONS, requestAt: (at) => requestAt(at % QUERIES) });
      if (round < 0) continue;
      measured[way].milliseconds.push((service.cpuMs() - cpuMs) / searches);
      measured[way].rates.push((searches * 1000) / (performance.now() - begun));
    }
  }
  const median = (values) =>
    quantile(
      values.toSorted((a, b) => a - b),
      0.5,
    );
  const cost = (way) => median(measured[way].milliseconds);
  const rows = LISTS.flatMap((name) => {
    const [words, way] = Object.keys(waysOf[name]);
    const kept = median(measured[way].rates.map((rate, round) => rate / measured[words].rates[round]));
    const share = cost(words) / cost(way);
    return [
      barRow(`${way}: searches a second by those of words alone`, kept.toFixed(2), `≥ ${BAR}`, kept >= BAR),
      [`${way}: processor time of words alone by that of both`, share.toFixed(2), '', ''],
    ];
  });
  const rate = (way) => median(measured[way].rates) / 2;
  const loads = LISTS.flatMap((name) => {
    const [words, way] = Object.keys(waysOf[name]);
    return [
      { way, at: 'half load', ratePerSecond: rate(way) },
      { way: words, at: 'half load', ratePerSecond: rate(words) },
      { way: words, at: `the half load of ${way}`, ratePerSecond: rate(way) },
    ].map((load) => ({ ...load, turns: [] }));
  });
  for (let round = 0; round < rounds; round += 1) {
    for (const { way, ratePerSecond, turns } of loads) {
      turns.push(
        await halfLoad({
          ...of,
          requests: Array.from({ length: QUERIES }, (_, at) => ways[way](at)),
          ratePerSecond,
          seed: round + 1,
        }),
      );
    }
  }
  const halfLoads = loads.map(({ way, at, ratePerSecond, turns }) => {
    const [p50, p99, others] = ['p50', 'p99', 'others'].map((figure) => median(turns.map((turn) => turn[figure])));
    const [least, most] = [Math.min, Math.max].map((of99) => of99(...turns.map((turn) => turn.p99)).toFixed(1));
    const what = `${way} at ${at}, ${formatCount(Math.round(ratePerSecond))}/s: p99, ms`;
    const found = `${p99.toFixed(1)} (${least} to ${most}; p50 ${p50.toFixed(1)}; others had ${others.toFixed(2)} processors)`;
    return LISTS.includes(way) ? barRow(what, found, `< ${P99_BAR_MS}`, p99 < P99_BAR_MS) : [what, found, '', ''];
  });
  const figures = Object.keys(ways).map((way) => [
    way,
    cost(way).toFixed(3),
    formatCount(Math.round(median(measured[way].rates))),
  ]);
  process.stdout.write(
    [
      '## Words and meaning beside words alone\n',
      machineTable({ Settings: `${formatCount(count)} records; ${DIMENSIONS} dimensions; ${CONNECTIONS} connections` }),
      markdownTable(['Searches by both', 'found', 'bar', 'reached'], [...rows, ...halfLoads]),
      markdownTable(['Searches', 'ms of a processor each', 'a second'], figures),
      '',
    ].join('\n'),
  );
}

try {
  const key = await prepared();
  if (!prepare) await measure({ address: service.address, key });
} finally {
  await service.stop();
  await server.close();
}
