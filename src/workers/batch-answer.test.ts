import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResponseWriter } from '../search/index.js';
import { BatchAnswerWriter, readBatchAnswer } from './batch-answer.js';
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
