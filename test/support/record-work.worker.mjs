/**
 * `node record-work.worker.mjs FOLDER RECORDS ROUNDS`: writes versions of records with their work, and does that work
 * until all is done. May be killed at any moment and started again. Prints a line for each version that the model was
 * asked for.
 */
import { openEnvironment } from '#src/platform/index.js';
import { RetrySchedule, systemTimers, WorkQueue, WorkRunner } from '#src/platform/work/index.js';

const [folder, records, rounds] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
/** @typedef {[record: string, version: number]} Item */
/** @typedef {{ item: Item; result: null; note: Item; failure: { reason: string } }} Asking */

const LANE = 'model';
const environment = openEnvironment(folder, { kind: 'list' });
const versions = environment.database('versions');
const vectors = environment.database('vectors');
/** @type {WorkQueue<Asking>} */
const queue = new WorkQueue(environment, {
  databases: { items: 'embed-items', schedule: 'embed-schedule', setAside: 'embed-set-aside', meta: 'embed-meta' },
  keeping: {
    kind: 'newest',
    databases: { subjects: 'embed-subjects', counts: 'embed-counts' },
    reasonOf: ({ reason }) => reason,
  },
  encode: (item) => item,
  decode: (stored) => /** @type {Item} */ (stored),
  subjectOf: ([record]) => record,
});
/** @type {WorkRunner<Asking>} */
const runner = new WorkRunner({
  queue,
  timers: systemTimers,
  schedule: new RetrySchedule({ soonMs: [10], laterMs: [], jitterPercent: 0 }),
  perReceiverMax: 1,
  totalMax: 1,
  writing: 'each',
  write: (settlements) =>
    environment.transaction(() => {
      for (const { note } of queue.settle(settlements)) vectors.putSync(note[0], note[1]);
    }),
  onWriteFailure: (error) => {
    throw error;
  },
});

/** Prints records and versions asked for together in one line. */
const say = (line) => new Promise((resolve) => process.stdout.write(`${line}\n`, resolve));

runner.add(LANE, {
  receiver: 'model',
  batchMax: 8,
  async perform(work) {
    await say(`asked ${work.map(({ item }) => item.join('/')).join(' ')}`);
    return work.map(() => ({ verdict: 'done', result: null }));
  },
  note: ({ work }) => work.item,
  failure: () => ({ reason: 'none' }),
});

const nextRound = () => {
  environment.root.resetReadTxn();
  return (versions.get('rounds') ?? 0) + 1;
};
for (let round = nextRound(); round <= rounds; round = nextRound()) {
  await environment.transaction(() => {
    for (let record = 0; record < records; record += 1) {
      // Each round changes a part of the records.
      if (round > 1 && (record + round) % 3 !== 0) continue;
      const name = `r${record}`;
      versions.putSync(name, round);
      queue.put([{ lane: LANE, item: [name, round] }], Date.now());
    }
    versions.putSync('rounds', round);
  });
  runner.wake(LANE);
  await new Promise((resolve) => setTimeout(resolve, 20));
}
while (queue.figures(LANE).pending > 0) await new Promise((resolve) => setTimeout(resolve, 10));
await runner.flushed();
await runner.close(0);

const wrong = Array.from(versions.getRange()).filter(
  ({ key, value }) => key !== 'rounds' && vectors.get(key) !== value,
);
await say(`done ${JSON.stringify({ figures: queue.figures(LANE), left: queue.size, wrong })}`);
await environment.close();
