/**
 * Measures the processor time that counting takes a search on the main thread: writing its event into the recorder's buffer, compared with
 * a message to a worker; and the time per term of a roll-up: a table over bytes, compared with a Map of strings.
 * `node bench/analytics/recording.mjs`
 */
import { Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { AnalyticsRecorder } from '#src/analytics/analytics-recorder.js';
import { EventReader } from '#src/analytics/event-codec.js';
import { searchTerm } from '#src/analytics/search-term.js';
import { TermTable } from '#src/analytics/term-table.js';
import { systemClock, uuidv7 } from '#src/platform/index.js';
import { createMetrics } from '#src/platform/metrics.js';
import { helpWhereAsked } from '../end-to-end/lib/options.mjs';
import { machineTable, markdownTable } from '../end-to-end/lib/report.mjs';
import { TAKES_ALL } from './takes-all.mjs';
import { syntheticEvents } from './synthetic.mjs';

helpWhereAsked();
const EVENTS = 1_000_000;
const MESSAGES = 200_000;
/** @type {import('#src/analytics/targets.js').AnalyticsTarget} */
const TARGET = { kind: 'list', identity: 'list:019aa4f2-8c1e-7d3a-9b42-6f0e5d4c3b2a' };

/** Returns nanoseconds of processor time per call. They are this thread's as long as the process has no other work. */
async function nanosecondsEach(count, action) {
  const before = process.cpuUsage();
  await action();
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / count;
}

const queryIds = Array.from({ length: 4096 }, () => uuidv7());
const queries = Array.from({ length: 4096 }, (_, number) => `Red Sea ${number}`);

const recorder = new AnalyticsRecorder({
  executor: TAKES_ALL,
  flushMs: 500,
  bufferBytesMax: 2 ** 40,
  clock: systemClock,
  log: pino({ level: 'silent' }),
  metrics: createMetrics(),
  onAppended: () => undefined,
});
function record(count) {
  for (let index = 0; index < count; index += 1) {
    const term = searchTerm(queries[index % 4096]);
    recorder.searched(TARGET, { queryId: queryIds[index % 4096], term, hasResults: true });
  }
}
record(EVENTS);
await recorder.flush();
const recording = await nanosecondsEach(EVENTS, () => record(EVENTS));

const worker = new Worker('require("node:worker_threads").parentPort.on("message", () => undefined)', { eval: true });
await new Promise((resolve) => worker.once('online', resolve));
const sending = await nanosecondsEach(MESSAGES, () => {
  for (let index = 0; index < MESSAGES; index += 1) {
    worker.postMessage({ queryId: queryIds[index % 4096], term: queries[index % 4096], hasResults: true });
  }
});
await worker.terminate();

const block = syntheticEvents({ terms: 200_000 }).next(480_000, EVENTS);
const reader = new EventReader();
async function counting(add) {
  return nanosecondsEach(EVENTS, () => {
    reader.reset(block);
    while (reader.next()) add(reader);
  });
}
const nothing = await counting(() => undefined);
const table = new TermTable(Number.POSITIVE_INFINITY);
const inTable = await counting(({ bytes, textBegin, textEnd }) => table.add(bytes, textBegin, textEnd));
const map = new Map();
const asBuffer = Buffer.from(block.buffer, block.byteOffset, block.length);
const inMap = await counting(({ textBegin, textEnd }) => {
  const term = asBuffer.toString('latin1', textBegin, textEnd);
  map.set(term, (map.get(term) ?? 0) + 1);
});

const ns = (value) => `${Math.round(value)} ns`;
process.stdout.write(
  [
    '## Analytics: recording and counting an event\n',
    machineTable({ Data: `${EVENTS} events` }),
    markdownTable(
      ['What', 'Processor time'],
      [
        ['a search into the buffer of the recorder', ns(recording)],
        ['the same as a message to a worker (both threads)', ns(sending)],
        ['a term into the table over bytes', ns(inTable - nothing)],
        ['a term into a Map of strings', ns(inMap - nothing)],
      ],
    ),
  ].join('\n'),
);
