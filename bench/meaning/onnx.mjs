/**
 * `node bench/meaning/onnx.mjs [folder]`: measures the cost of running a model of an ONNX folder in processes: vectors of search texts compared with
 * the model's own time, in turns; and texts of records per second, compared with one session of two threads and with the best that the runtime alone
 * does: two processes of one thread each that do nothing else. Prints Markdown.
 */
import { execFileSync, fork } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import ort from 'onnxruntime-node';
import { helpWhereAsked } from '../end-to-end/lib/options.mjs';
import { barRow, machineTable, markdownTable } from '../end-to-end/lib/report.mjs';
import { collectionsFolder, recordsOf } from '../relevance/collection-files.mjs';
import { modelFolder } from './fetch-model.mjs';

// Set before the first session, as in the service (docs/decisions/0372). Child processes inherit it.
process.env.ORT_DISABLE_TELEMETRY = '1';
import { servedModel } from './served-model.mjs';

const QUERIES = 600;
const QUERIES_A_TURN = 60;
const WORDS = ['gannet', 'dive', 'cold', 'sea', 'fish', 'small', 'wind', 'nest', 'cliff', 'island'];
const RECORDS = Number(process.env.GANNET_BENCH_RECORDS ?? 240);
const RECORD_TOKENS = 256;
const PROCESSES = 2;
/** Quantile that is compared. On a busy machine each process switch waits for a processor, so the fastest tenth shows the cost without waits. */
const QUIET = 0.1;
const TICKS_A_SECOND = 100;
const QUERY_BAR = 1.3;
const RECORDS_BAR = 1.15;

helpWhereAsked();
const [folder = modelFolder('minilm-int8')] = process.argv.slice(2);
const isOwn = process.argv[3] === 'own';

async function ownModel(threads) {
  const tokenizer = new Tokenizer(
    { ...JSON.parse(readFileSync(join(folder, 'tokenizer.json'), 'utf8')), truncation: null, padding: null },
    {},
  );
  const session = await ort.InferenceSession.create(join(folder, 'model.onnx'), {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
  });
  const run = (ids) => {
    const tensor = (values) => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, ids.length]);
    const all = { input_ids: ids, attention_mask: ids.map(() => 1), token_type_ids: ids.map(() => 0) };
    return session.run(Object.fromEntries(session.inputNames.map((name) => [name, tensor(all[name])])));
  };
  return { idsOf: (text) => tokenizer.encode(text).ids, run };
}

/** Returns texts as long as the model allows: abstracts joined together. */
function longTexts(idsOf) {
  const words = recordsOf('scifact')
    .map(({ fields: { title, text } }) => `${title} ${text}`)
    .join(' ')
    .split(/\s+/);
  const texts = [];
  for (let begin = 0; texts.length < RECORDS; begin += 150) {
    let text = words.slice(begin, begin + 150).join(' ');
    while (idsOf(text).length > RECORD_TOKENS) text = text.slice(0, text.lastIndexOf(' '));
    texts.push(text);
  }
  return texts;
}

/** Runs a share of the texts in this process whenever the parent asks for it. */
async function ownShare() {
  const { idsOf, run } = await ownModel(1);
  const ids = longTexts(idsOf).map(idsOf);
  await run(ids[0]);
  process.on('message', async (/** @type {number} */ share) => {
    for (let index = share; index < ids.length; index += PROCESSES) await run(ids[index]);
    process.send('done');
  });
  process.send('ready');
}

async function ownBest() {
  const processes = Array.from({ length: PROCESSES }, () => fork(import.meta.filename, [folder, 'own']));
  const heard = (child) => new Promise((resolve) => child.once('message', resolve));
  await Promise.all(processes.map(heard));
  return {
    run: async () => {
      const ended = processes.map(heard);
      for (const [share, child] of processes.entries()) child.send(share);
      await Promise.all(ended);
    },
    close: () => processes.forEach((child) => child.disconnect()),
  };
}

const quantile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];
const median = (values) => quantile(values, 0.5);

/** Returns the processor seconds of the processes that this one started, which other load hardly changes. */
function processorSeconds() {
  const listed = execFileSync('ps', ['-o', 'pid=', '--ppid', String(process.pid)], { encoding: 'utf8' });
  const ticks = listed.split('\n').map((line) => {
    try {
      const fields = readFileSync(`/proc/${Number.parseInt(line, 10)}/stat`, 'utf8')
        .split(') ')
        .at(-1)
        .split(' ');
      return Number(fields[11]) + Number(fields[12]);
    } catch {
      return 0;
    }
  });
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_A_SECOND;
}

/** Returns seconds of wall time and of processor time of the action. */
async function spent(action) {
  const [begun, processors] = [process.cpuUsage(), processorSeconds()];
  const seconds = (await timed(action)) / 1000;
  const { user, system } = process.cpuUsage(begun);
  return { seconds, processor: (user + system) / 1e6 + processorSeconds() - processors };
}

async function timed(action) {
  const begun = performance.now();
  await action();
  return performance.now() - begun;
}

async function queryTimes(own, embedder) {
  const texts = Array.from({ length: QUERIES }, (_, n) =>
    Array.from({ length: 10 }, (__, word) => WORDS[(n * 7 + word * (1 + (n % 9))) % WORDS.length]).join(' '),
  );
  const times = { own: [], served: [] };
  // Takes turns of many searches. After each single one, the caches would have the other's copy of the model.
  for (let begin = 0; begin < QUERIES; begin += QUERIES_A_TURN) {
    const some = texts.slice(begin, begin + QUERIES_A_TURN);
    for (const ids of some.map(own.idsOf)) times.own.push(await timed(() => own.run(ids)));
    for (const text of some) times.served.push(await timed(() => embedder.embed([text], 'query')));
  }
  const quiet = quantile(times.served, QUIET) / quantile(times.own, QUIET);
  return { own: median(times.own), served: median(times.served), quiet, tokens: own.idsOf(texts[0]).length };
}

async function main() {
  const models = await servedModel(folder, { processes: PROCESSES, tokensMax: RECORD_TOKENS });
  const embedder = models.embedder('bench', 'model');
  const cold = await timed(() => embedder.embed(['the first search'], 'query'));
  const single = await ownModel(1);
  await single.run(single.idsOf('warm'));
  const query = await queryTimes(single, embedder);
  const texts = longTexts(single.idsOf);
  const ids = texts.map(single.idsOf);
  const threads = await ownModel(PROCESSES);
  const best = await ownBest();
  await Promise.all([threads.run(ids[0]), embedder.embed(texts.slice(0, 8), 'document')]);
  const turns = { threads: [], best: [], served: [] };
  for (let turn = 0; turn < 3; turn += 1) {
    turns.best.push(await spent(() => best.run()));
    turns.served.push(await spent(() => embedder.embed(texts, 'document')));
    turns.threads.push(
      await spent(async () => {
        for (const each of ids) await threads.run(each);
      }),
    );
  }
  best.close();
  await models.close();
  const all = [turns.best, turns.served, turns.threads];
  const [own, served, other] = all.map((each) => median(each.map(({ seconds }) => seconds)));
  const processor = all.map((each) => median(each.map((turn) => turn.processor)));
  const rate = (value) => (RECORDS / value).toFixed(1);
  const rows = [
    barRow(
      `vector of a search text of ${query.tokens} tokens, p50, times the model's own`,
      (query.served / query.own).toFixed(2),
      `≤ ${QUERY_BAR}`,
      query.served <= QUERY_BAR * query.own,
    ),
    barRow(
      `${RECORDS} texts of ${RECORD_TOKENS} tokens, times the runtime's own best`,
      (served / own).toFixed(2),
      `≤ ${RECORDS_BAR}`,
      served <= RECORDS_BAR * own,
    ),
    barRow('two processes of one thread beside one session of two', (other / served).toFixed(2), '> 1', other > served),
  ];
  const figures = [
    ["the model's own time of a search text", `${query.own.toFixed(2)} ms`],
    ['the same in the service', `${query.served.toFixed(2)} ms`],
    ['p10 of it, times that of the model', query.quiet.toFixed(2)],
    ['the first, with process and model to be started', `${cold.toFixed(0)} ms`],
    ['texts a second: own best, served, two threads', `${rate(own)}, ${rate(served)}, ${rate(other)}`],
    ['the same a second of processor time', processor.map(rate).join(', ')],
  ];
  process.stdout.write(
    [
      '## Models of ONNX folders\n',
      machineTable({ Settings: `${basename(folder)}; ${PROCESSES} processes of one thread` }),
      markdownTable(['Figure', 'found', 'bar', 'reached'], rows),
      markdownTable(['Measured', 'value'], figures),
      '',
    ].join('\n'),
  );
}

if (isOwn) await ownShare();
else if (!existsSync(join(folder, 'model.onnx')) || !existsSync(collectionsFolder)) {
  process.stdout.write(
    'ONNX: skipped, the model (bench/meaning/fetch-model.mjs) or ../shared/data/relevance is not there.\n',
  );
} else await main();
