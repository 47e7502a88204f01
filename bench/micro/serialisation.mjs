/** Measures writing one record of an answer: reading the parts of its stored bytes, and joining them into the answer. */
import { Bench } from 'tinybench';
import { recordId } from '#src/platform/index.js';
import { encodeRecord, readRecordParts } from '#src/records/index.js';
import { ResponseWriter } from '#src/search/index.js';
import { writeResult } from '#src/search/response/result-writer.js';
import { latencyOf } from './lib/latency.mjs';
import { seededRandom } from '../end-to-end/lib/random.mjs';

const RECORDS = 1000;
const WORDS = 40;
const MEASURED_MS = 500;
const NS_A_MS = 1e6;
/** A hit of a search without options and without highlights, which are the kernel's work. */
const HIT = {
  score: 0.123456,
  distance: undefined,
  location: undefined,
  highlights: undefined,
  listName: undefined,
  explainJson: undefined,
  select: undefined,
};

function storedRecords() {
  const random = seededRandom(1);
  const word = () => Math.floor(50_000 ** random()).toString(36);
  return Array.from({ length: RECORDS }, (_, number) =>
    encodeRecord({
      id: recordId(number, 1),
      name: `record ${number}`,
      nameGenerated: false,
      asOf: '1970-01-01T00:00:00.001Z',
      createdMs: 1,
      modifiedMs: 1,
      fieldsJson: JSON.stringify({
        text: Array.from({ length: WORDS }, word).join(' '),
        category: [`c${number % 20}`],
        words: [WORDS],
      }),
    }),
  );
}

/** Returns rows of `{ name, nanoseconds, what }`. */
export async function measureSerialisation() {
  const records = storedRecords();
  const response = new ResponseWriter();
  const answer = (hit) => () => {
    for (const record of records) writeResult(response, readRecordParts(record), hit);
    response.truncate(0);
  };
  const bench = new Bench({ time: MEASURED_MS });
  bench.add('record', answer(HIT));
  bench.add('record-selected', answer({ ...HIT, select: new Set(['category', 'words']) }));
  await bench.run();
  const bytes = Math.round(records.reduce((sum, record) => sum + record.length, 0) / RECORDS);
  return bench.tasks.map((task) => ({
    name: task.name,
    nanoseconds: (latencyOf(task).p50 * NS_A_MS) / RECORDS,
    what: `${RECORDS} records of ${bytes} bytes each`,
  }));
}
