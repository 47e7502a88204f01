import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SearchActivity, ServiceError } from '../platform/index.js';
import { ResponseWriter, type SearchTask } from '../search/index.js';
import { BatchAnswerWriter, TAKEN } from './batch-answer.js';
import { SearchBatcher } from './search-batcher.js';
import type { SearchBatch } from './search-messages.js';

const NEVER = new AbortController().signal;
const FLAGS = 16;

function task(queryId: string): SearchTask {
  const options = { query: queryId };
  return { kind: 'search', targets: [], subject: { kind: 'list', name: 'l', version: 1 }, options, queryId };
}

/** A thread that does what it is told, and claims as `search.worker.ts` does. */
class Thread {
  private readonly writer = new ResponseWriter();
  private readonly answer: BatchAnswerWriter;
  private next = 0;
  readonly ids: readonly string[];

  constructor(
    private readonly batch: SearchBatch,
    private readonly claims: Int32Array,
    private readonly name: number,
    private readonly settle: {
      readonly resolve: (bytes: ArrayBuffer) => void;
      readonly reject: (error: Error) => void;
    },
  ) {
    this.answer = new BatchAnswerWriter(this.writer, batch.tasks.length);
    this.ids = batch.tasks.map((each) => (each.kind === 'search' ? each.queryId : each.kind));
  }

  /** Runs the next of its searches, unless another thread has begun it. */
  runNext(): void {
    const flag = this.batch.stops[2 * this.next] as number;
    if (Atomics.compareExchange(this.claims, flag, 0, this.batch.ticket) !== 0) this.answer.unfinished(TAKEN);
    else {
      this.writer.text(`${this.ids[this.next]}, thread ${this.name}`);
      this.answer.answered(1, 0.1);
    }
    this.next += 1;
  }

  finish(): void {
    while (this.next < this.ids.length) this.runNext();
    this.settle.resolve(this.answer.take());
  }

  die(): void {
    this.settle.reject(new Error('died'));
  }
}

/** Two threads; a batch goes to the first of them that has nothing to do. */
function harness() {
  const claims = new Int32Array(new SharedArrayBuffer(FLAGS * Int32Array.BYTES_PER_ELEMENT));
  const threads: Thread[] = [];
  const free = Array.from({ length: FLAGS - 1 }, (_, index) => index + 1);
  const raised: number[] = [];
  const clock = { nowMs: 0 };
  let idle = 2;
  let lost = 0;
  const batcher = new SearchBatcher({
    workers: 2,
    inFlightMax: 4,
    batchMax: 8,
    queueMax: 50,
    dearMax: 1,
    deadlineMs: 60_000,
    nowMs: () => clock.nowMs,
    flags: {
      take: () => free.shift() as number,
      raise: (flag) => raised.push(flag),
      giveBack: (flag) => free.push(flag),
    },
    claims,
    hasIdle: () => idle > 0,
    run: (batch) => {
      idle -= 1;
      return new Promise<ArrayBuffer>((resolve, reject) => {
        threads.push(new Thread(batch, claims, threads.length, { resolve, reject }));
      }).finally(() => (idle += 1));
    },
    runDear: () => Promise.reject(new Error('nothing is dear')),
    answers: { admit: (answer) => answer, again: () => Promise.reject(new Error('no answer is large')) },
    observe: {
      refused: () => undefined,
      batch: () => undefined,
      answered: () => undefined,
      unfinished: () => undefined,
      bug: () => undefined,
      lost: (_, size) => {
        lost += size;
        return new ServiceError('internal-error', 'lost');
      },
    },
    activity: new SearchActivity(),
  });
  const search = (id: string, signal: AbortSignal = NEVER) =>
    batcher.search(task(id), signal).then(({ body }) => Buffer.from(body).toString());
  /** Six searches, three for each thread; the second is done with its own, the first has begun one. */
  const threeLeftBehind = async () => {
    const answers = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => search(id));
    await setImmediate();
    threads[0]?.runNext();
    clock.nowMs += 5;
    threads[1]?.finish();
    await Promise.all(answers.slice(3));
    await setImmediate();
    return answers.slice(0, 3);
  };
  const isFree = () => free.length === FLAGS - 1 && claims.every((claim) => claim === 0);
  return { batcher, threads, clock, claims, raised, search, threeLeftBehind, isFree, lost: () => lost };
}

describe('searches that no thread has begun', () => {
  it('go to a thread that has nothing to do, the last first, and each is run once', async () => {
    const { threads, threeLeftBehind, isFree } = harness();
    const answers = threeLeftBehind();
    await expect.poll(() => threads.length).toBe(3);
    expect(threads[2]?.ids).toEqual(['c', 'b']);
    threads[2]?.runNext();
    threads[0]?.runNext();
    threads[2]?.finish();
    threads[0]?.finish();
    expect(await Promise.all(await answers)).toEqual(['a, thread 0', 'b, thread 0', 'c, thread 2']);
    await expect.poll(isFree).toBe(true);
  });

  it('are answered while the thread that had them first has not gone on', async () => {
    const { threads, threeLeftBehind, isFree } = harness();
    const [a, ...rest] = await threeLeftBehind();
    threads[2]?.finish();
    expect(await Promise.all(rest)).toEqual(['b, thread 2', 'c, thread 2']);
    expect(isFree()).toBe(false);
    threads[0]?.finish();
    expect(await a).toBe('a, thread 0');
    await expect.poll(isFree).toBe(true);
  });

  it('stay where they are while they have hardly waited', async () => {
    const { threads, search } = harness();
    const answers = ['a', 'b', 'c', 'd'].map((id) => search(id));
    await setImmediate();
    threads[1]?.finish();
    await Promise.all(answers.slice(2));
    await setImmediate();
    expect(threads).toHaveLength(2);
  });

  it('are lost only with the thread that has begun them', async () => {
    const { threads, threeLeftBehind, isFree, lost } = harness();
    const [a, b, c] = await threeLeftBehind();
    const failed = expect(a).rejects.toThrow('lost');
    threads[2]?.runNext();
    threads[0]?.die();
    await failed;
    threads[2]?.finish();
    expect(await Promise.all([b, c])).toEqual(['b, thread 2', 'c, thread 2']);
    expect(lost()).toBe(1);
    await expect.poll(isFree).toBe(true);
  });

  it('are lost where both threads that have them die', async () => {
    const { threads, threeLeftBehind, isFree, lost } = harness();
    const outcomes = Promise.allSettled(await threeLeftBehind());
    threads[2]?.die();
    threads[0]?.die();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(lost()).toBe(3);
    await expect.poll(isFree).toBe(true);
  });
});
