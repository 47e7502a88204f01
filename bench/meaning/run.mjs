/**
 * `node bench/meaning/run.mjs [built-in | own <folder> | attached <folder> [bar]]`: measures nDCG@10 of words alone and of words with meaning, over HTTP, on the five
 * collections; prints Markdown. `own` and `attached` use vectors of any model from the files `<collection>.corpus.ndjson` and `<collection>.queries.ndjson` of `{"id",
 * "vector"}` in the folder, as embed.mjs makes them, and skip collections without files. `own` sends them with records and searches. With `attached` a model server
 * supplies them, as the model itself would; `bar` is the bar for the mean (default 0.615, that of MiniLM).
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { helpWhereAsked } from '../end-to-end/lib/options.mjs';
import { barRow, machineTable, markdownTable } from '../end-to-end/lib/report.mjs';
import {
  ACCOUNT,
  addModel,
  call,
  createKey,
  importNdjson,
  startService,
  workFolder,
} from '../end-to-end/lib/service.mjs';
import {
  COLLECTIONS,
  collectionsFolder,
  judgements,
  queriesOf,
  recordsOf,
  linesOf,
} from '../relevance/collection-files.mjs';
import { mean, normalisedDiscountedGain } from '../relevance/evaluation.mjs';
import { startKnownVectors } from './known-vectors-server.mjs';

const DEPTH = 10;
const BARS = {
  'built-in': { mean: 1.04, least: 0.995 },
  own: { mean: 1.02, least: 0.99 },
  attached: { mean: 1.02, least: 0.99 },
};
const ATTACHED_BAR = 0.615;
/** Limit of tokens, more than any text has. */
const TOKENS_MAX = 8192;
const SETTLED_TIMEOUT_MS = 300_000;
const LOOK_MS = 200;

helpWhereAsked();
const [model = 'built-in', folder, attachedBar = ATTACHED_BAR] = process.argv.slice(2);
if (!Object.hasOwn(BARS, model) || (model !== 'built-in') !== (folder !== undefined)) {
  process.stderr.write('Usage: node bench/meaning/run.mjs [built-in | own <folder> | attached <folder> [bar]]\n');
  process.exit(2);
}

function vectorsOf(name, part) {
  if (model === 'built-in') return new Map();
  const rows = linesOf(join(folder, `${name}.${part}.ndjson`)).map((line) => JSON.parse(line));
  return new Map(rows.map(({ id, vector }) => [id, vector]));
}

/** Waits until all records have vectors and their cosines are scaled by all of them. */
async function settled({ address, key, name, count, probe }) {
  const deadline = performance.now() + SETTLED_TIMEOUT_MS;
  for (let scale = 0; performance.now() < deadline; await wait(LOOK_MS)) {
    const { meaning } = await call(address, key, 'GET', `/list/${ACCOUNT}/${name}`);
    const answer = await call(address, key, 'POST', `/search/${ACCOUNT}/${name}/1`, {
      ...probe,
      size: 1,
      explain: true,
      cache: false,
    });
    const now = answer.results[0]?.explain?.meaning?.calibrated_on ?? 0;
    const isWhole = meaning.state === 'ready' && meaning.embedded + meaning.failed === count;
    if (isWhole && now === scale && 2 * now > meaning.embedded) return;
    scale = now;
  }
  throw new Error(`the vectors of ${name} were not there in time`);
}

async function gainOf({ address, key, name }, options) {
  const grades = judgements(name);
  const gains = [];
  for (const { id, text } of queriesOf(name)) {
    if (!grades.has(id)) continue;
    const body = { query: text.toLowerCase(), size: DEPTH, highlight: false, cache: false, ...options(id) };
    const { results } = await call(address, key, 'POST', `/search/${ACCOUNT}/${name}/1`, body);
    gains.push(
      normalisedDiscountedGain(
        results.map((result) => result.name),
        grades.get(id),
        DEPTH,
      ),
    );
  }
  return mean(gains);
}

/** Teaches the server the vectors by text. Records of the same text share one. */
function learn(server, records, queries, { documents, asked }) {
  for (const { name, fields } of records) server.learn(`${fields.title}\n${fields.text}`, documents.get(name));
  for (const { id, text } of queries) server.learn(text.toLowerCase(), asked.get(id));
}

async function measure({ address }, key, name) {
  const fields = ['title', 'text'].map((field) => ({ name: field, weight: 1 }));
  await call(address, key, 'POST', `/list/${ACCOUNT}`, { name, model, language: 'en', searchable_fields: fields });
  const [documents, asked] = [vectorsOf(name, 'corpus'), vectorsOf(name, 'queries')];
  if (model === 'attached') learn(server, recordsOf(name), queriesOf(name), { documents, asked });
  const ownVector = (vector) => (model === 'own' ? { vector } : {});
  const records = recordsOf(name).map((record) => ({ ...record, ...ownVector(documents.get(record.name)) }));
  await importNdjson(address, key, name, Readable.from(records.map((record) => `${JSON.stringify(record)}\n`)));
  const withVector = (id) => ownVector(asked.get(id));
  const [first] = queriesOf(name);
  await settled({ address, key, name, count: records.length, probe: { query: first.text, ...withVector(first.id) } });
  const list = { address, key, name };
  return { words: await gainOf(list, () => ({ vector_search: false })), both: await gainOf(list, withVector) };
}

if (!existsSync(collectionsFolder)) {
  process.stdout.write('Meaning: skipped, ../shared/data/relevance is not there.\n');
  process.exit(0);
}
const measuredOnes = COLLECTIONS.filter(
  (name) => model === 'built-in' || existsSync(join(folder, `${name}.corpus.ndjson`)),
);
if (measuredOnes.length === 0) {
  process.stderr.write(`${folder} has vectors of no collection: bench/meaning/embed.mjs makes them\n`);
  process.exit(2);
}
const dataDir = join(workFolder, 'meaning');
rmSync(dataDir, { recursive: true, force: true });
/** Number of unknown texts for which the server was asked. */
let unknown = 0;
const server = await startKnownVectors(() => {
  unknown += 1;
  return vectorsOf(measuredOnes[0], 'queries').values().next().value;
});
// Settings that let no search go without its vector on a busy machine.
const service = await startService(dataDir, {
  GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
  GANNET_MODELS_QUERY_MS: '60000',
});
const measured = [];
try {
  const key = createKey(dataDir);
  if (model === 'attached') await addModel(dataDir, { name: model, url: server.url, tokensMax: TOKENS_MAX });
  // The text by which an added model is tested is in no collection, so it does not count.
  unknown = 0;
  for (const name of measuredOnes) measured.push({ name, ...(await measure(service, key, name)) });
  if (unknown > 0) throw new Error(`${unknown} texts were embedded that are not in the folder`);
} finally {
  await service.stop();
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
}
const means = {
  name: 'mean',
  words: mean(measured.map(({ words }) => words)),
  both: mean(measured.map(({ both }) => both)),
};
const rows = [...measured, means].map(({ name, words, both }) => {
  const ofMean = model === 'attached' ? Number(attachedBar) / words : BARS[model].mean;
  const bar = name === 'mean' ? ofMean : BARS[model].least;
  const [what, found, wanted, reached] = barRow(name, (both / words).toFixed(4), bar.toFixed(3), both >= bar * words);
  return [what, words.toFixed(4), both.toFixed(4), found, wanted, reached];
});
process.stdout.write(
  [
    '## Meaning beside words\n',
    machineTable({ Settings: `model ${model}; match any; queries in lower case; nDCG@10` }),
    markdownTable(['Collection', 'words', 'with meaning', 'times', 'bar', 'reached'], rows),
    '',
  ].join('\n'),
);
