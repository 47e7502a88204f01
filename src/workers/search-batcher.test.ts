import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../platform/index.js';
import { SearchBatcher, type SearchBatcherOptions } from './search-batcher.js';
import { ResponseWriter, type SearchTask } from '../search/index.js';
import { BatchAnswerWriter } from './batch-answer.js';

const NEVER = new AbortController().signal;

function task(queryId: string): SearchTask {
  return { kind: 'search', targets: [], subject: { kind: 'list', name: 'l', version: 1 }, options: {}, queryId };
}

/** An executor that answers when told to: the body of each answer is its query id. */
function harness(change: Partial<SearchBatcherOptions> = {}) {
  const batches: { ids: string[]; finish: () => void; fail: (error: Error) => void }[] = [];
  const bugs: string[] = [];
  let lost = 0;
  const batcher = new SearchBatcher({
    workers: 1,
    inFlightMax: 2,
    batchMax: 3,
    queueMax: 5,
    run: (tasks) =>
      new Promise((resolve, reject) => {
        const ids = tasks.map((each) => (each.kind === 'search' ? each.queryId : each.kind));
        batches.push({ ids, finish: () => { resolve(answerOf(ids)); }, fail: reject }); // prettier-ignore
      }),
    observe: {
      refused: () => undefined,
      batch: () => undefined,
      answered: () => undefined,
      bug: (stack) => bugs.push(stack),
      lost: () => {
        lost += 1;
        return new ServiceError('internal-error', 'lost');
      },
    },
    ...change,
  });
  const search = (id: string, signal: AbortSignal = NEVER) =>
    batcher.search(task(id), signal).then(({ body }) => Buffer.from(body).toString());
  return { batcher, batches, bugs, search, lost: () => lost };
}

function answerOf(ids: readonly string[]): ArrayBuffer {
  const writer = new ResponseWriter();
  const answer = new BatchAnswerWriter(writer, ids.length);
  for (const id of ids) {
    if (id === 'bad') {
      answer.failed({ ok: false, error: { code: 'invalid-filter', detail: 'bad' } });
    } else if (id === 'bug') {
      answer.failed({ ok: false, error: { code: 'internal-error', detail: 'x' }, bug: 'stack' });
    } else {
      writer.text(id);
      answer.answered(1, 0.1);
    }
  }
  return answer.take();
}

describe('the search batcher', () => {
  it('sends what came in one turn as one batch and hands each its own answer', async () => {
    const { batches, search } = harness();
    const answers = [search('a'), search('b')];
    expect(batches).toHaveLength(0);
    await setImmediate();
    expect(batches.map(({ ids }) => ids)).toEqual([['a', 'b']]);
    batches[0]?.finish();
    expect(await Promise.all(answers)).toEqual(['a', 'b']);
  });

  it('bounds batches and what is in flight; the rest goes when there is room', async () => {
    const { batcher, batches, search } = harness({ inFlightMax: 1 });
    const answers = ['a', 'b', 'c', 'd'].map((id) => search(id));
    await setImmediate();
    expect(batches.map(({ ids }) => ids)).toEqual([['a', 'b', 'c']]);
    expect(batcher.waitingCount).toBe(1);
    batches[0]?.finish();
    await Promise.all(answers.slice(0, 3));
    expect(batches[1]?.ids).toEqual(['d']);
    batches[1]?.finish();
    expect(await answers[3]).toBe('d');
  });

  it('shares among workers that are free', async () => {
    const { batches, search } = harness({ workers: 2, inFlightMax: 4 });
    const answers = ['a', 'b', 'c'].map((id) => search(id));
    await setImmediate();
    expect(batches.map(({ ids }) => ids)).toEqual([['a', 'b'], ['c']]);
    for (const batch of batches) batch.finish();
    await Promise.all(answers);
  });

  it('refuses what does not fit into the queue', async () => {
    const { batches, search } = harness({ queueMax: 2 });
    const accepted = [search('a'), search('b')];
    await expect(search('c')).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
    await setImmediate();
    batches[0]?.finish();
    await Promise.all(accepted);
    const later = search('d');
    await setImmediate();
    batches[1]?.finish();
    expect(await later).toBe('d');
  });

  it('drops searches whose client went away while they waited, also to make room', async () => {
    const { batches, search } = harness({ queueMax: 2 });
    const client = new AbortController();
    const gone = [search('a', client.signal), search('b', client.signal)];
    client.abort(new Error('gone'));
    const kept = search('c');
    for (const aborted of gone) await expect(aborted).rejects.toThrow('gone');
    await setImmediate();
    expect(batches.map(({ ids }) => ids)).toEqual([['c']]);
    batches[0]?.finish();
    expect(await kept).toBe('c');
  });

  it('answers only the searches of a lost batch with internal-error', async () => {
    const { batches, search, lost } = harness({ workers: 2, inFlightMax: 2 });
    const [first, second] = [search('a'), search('b')];
    await setImmediate();
    batches[0]?.fail(new Error('worker exited'));
    batches[1]?.finish();
    await expect(first).rejects.toMatchObject({ code: 'internal-error' });
    expect(await second).toBe('b');
    expect(lost()).toBe(1);
  });

  it('gives a failed search its own error and logs a bug', async () => {
    const { batches, search, bugs } = harness();
    const [good, bad, bug] = [search('a'), search('bad'), search('bug')];
    await setImmediate();
    batches[0]?.finish();
    expect(await good).toBe('a');
    await expect(bad).rejects.toMatchObject({ code: 'invalid-filter', status: 400 });
    await expect(bug).rejects.toMatchObject({ code: 'internal-error' });
    expect(bugs).toEqual(['stack']);
  });

  it('finishes what it has when closed, and takes no more', async () => {
    const { batches, search, batcher } = harness({ inFlightMax: 1, batchMax: 1 });
    const accepted = [search('a'), search('b')];
    let closed = false;
    const closing = batcher.close().then(() => (closed = true));
    await expect(search('c')).rejects.toMatchObject({ code: 'shutting-down' });
    await setImmediate();
    batches[0]?.finish();
    expect(await accepted[0]).toBe('a');
    expect(closed).toBe(false);
    batches[1]?.finish();
    expect(await accepted[1]).toBe('b');
    await closing;
  });
});
