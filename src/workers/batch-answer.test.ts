import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResponseWriter, type SearchAnswer } from '../search/index.js';
import { BatchAnswerWriter, readBatchAnswer } from './batch-answer.js';
import type { WorkerFailure } from '../platform/hosts/reply.js';

const answers = fc.record({
  body: fc.string({ unit: 'binary' }),
  totalCount: fc.nat(),
  workerMs: fc.double({ min: 0, noNaN: true }),
});
const failures: fc.Arbitrary<WorkerFailure> = fc.record(
  {
    ok: fc.constant(false as const),
    error: fc.record({ problem: fc.constant('unprocessable' as const), detail: fc.string({ unit: 'binary' }) }),
    bug: fc.string(),
  },
  { requiredKeys: ['ok', 'error'] },
);

function comparable({ body, isAlone, ...rest }: SearchAnswer, tasks: number) {
  expect(isAlone).toBe(tasks === 1);
  return { ...rest, body: Buffer.from(body).toString() };
}
const unfinished = fc.constantFrom('stopped' as const, 'deadline' as const, 'slice' as const);

describe('the answer of a batch', () => {
  it('is read back as it was written, whatever the answers are', () => {
    const writer = new ResponseWriter();
    fc.assert(
      fc.property(
        fc.array(fc.oneof(answers, failures, fc.record({ ok: fc.constant(false as const), unfinished }))),
        (batch) => {
          const answer = new BatchAnswerWriter(writer, batch.length);
          for (const one of batch) {
            if ('unfinished' in one) {
              answer.unfinished(one.unfinished);
            } else if ('ok' in one) {
              answer.failed(one);
            } else {
              writer.text(one.body);
              answer.answered(one.totalCount, one.workerMs);
            }
          }
          const read = readBatchAnswer(answer.take(), batch.length).map((reply) =>
            reply.ok ? comparable(reply.value, batch.length) : reply,
          );
          expect(read).toEqual(batch);
        },
      ),
    );
  });

  it('transfers the memory of long answers instead of copying it', () => {
    const writer = new ResponseWriter();
    writer.limitTo(20_000_000);
    const answer = new BatchAnswerWriter(writer, 1);
    for (let count = 0; count < 9001; count += 1) writer.ascii('x'.repeat(1000));
    answer.answered(1, 2);
    const [reply] = readBatchAnswer(answer.take(), 1);
    expect(reply).toMatchObject({ ok: true, value: { totalCount: 1, workerMs: 2, body: { length: 9_001_000 } } });
    expect(writer.length).toBe(0);
  });

  it('is refused if it has fewer answers than tasks', () => {
    expect(() => readBatchAnswer(new ArrayBuffer(16), 1)).toThrow('fewer searches');
  });
});
