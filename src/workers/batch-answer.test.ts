import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResponseWriter } from '../search/index.js';
import { BatchAnswerWriter, readBatchAnswer } from './batch-answer.js';
import { batchMessage, tasksOf, type SearchPoolTask } from './search-messages.js';
import type { WorkerFailure } from './worker-reply.js';

const answers = fc.record({
  body: fc.string({ unit: 'binary' }),
  totalCount: fc.nat(),
  workerMs: fc.double({ min: 0, noNaN: true }),
});
const failures: fc.Arbitrary<WorkerFailure> = fc.record(
  {
    ok: fc.constant(false as const),
    error: fc.record({ code: fc.constant('unprocessable' as const), detail: fc.string({ unit: 'binary' }) }),
    bug: fc.string(),
  },
  { requiredKeys: ['ok', 'error'] },
);

describe('the answer of a batch', () => {
  it('reads back as it was written, whatever the answers are', () => {
    const writer = new ResponseWriter();
    fc.assert(
      fc.property(fc.array(fc.oneof(answers, failures)), (batch) => {
        const answer = new BatchAnswerWriter(writer, batch.length);
        for (const one of batch) {
          if ('ok' in one) {
            answer.failed(one);
          } else {
            writer.text(one.body);
            answer.answered(one.totalCount, one.workerMs);
          }
        }
        const read = readBatchAnswer(answer.take(), batch.length).map((reply) =>
          reply.ok ? { ...reply.value, body: Buffer.from(reply.value.body).toString() } : reply,
        );
        expect(read).toEqual(batch);
      }),
    );
  });

  it('is refused where it is shorter than its tasks', () => {
    expect(() => readBatchAnswer(new ArrayBuffer(16), 1)).toThrow('fewer searches');
  });
});

describe('the message of a batch', () => {
  it('brings every kind of task to the worker as it was', () => {
    const tasks: SearchPoolTask[] = [
      {
        kind: 'search',
        targets: [{ generation: 7 }, { generation: 8, listName: 'Żółw' }],
        subject: { kind: 'group', name: 'g', version: 2 },
        options: {
          query: 'lone \ud800 "quoted"\u0000\u2028',
          radius: { latitude: -0.5, longitude: 1e-7, distance: 3 },
          skip: 0,
        },
        queryId: 'id',
      },
      { kind: 'abbreviations', generation: 1, afterRecord: -1 },
    ];
    const message = batchMessage(tasks);
    if (message.kind !== 'batch') throw new Error('another kind of message');
    expect(tasksOf(message)).toEqual(tasks);
  });
});
