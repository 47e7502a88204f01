import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { NEVER, SearchActivity, ServiceError } from '../platform/index.js';
import { SearchBatcher, SLICE_MS, type SearchBatcherOptions } from './search-batcher.js';
import { ResponseWriter, type SearchTask } from '../search/index.js';
import { BatchAnswerWriter } from './batch-answer.js';
import type { SearchBatch } from './search-messages.js';

function task(queryId: string): SearchTask {
  const options = { query: queryId };
  return { kind: 'search', targets: [], subject: { kind: 'list', name: 'l', version: 1 }, options, queryId };
}

/** A batch of an executor that answers when told to; the body of each answer is its query id. */
interface Batch {
  readonly ids: string[];
  readonly batch: SearchBatch;
  readonly finish: () => void;
  readonly fail: (error: Error) => void;
}

function harness(change: Partial<SearchBatcherOptions> = {}) {
  const batches: Batch[] = [];
  const dear: Batch[] = [];
  const raised: number[] = [];
  const unfinished: string[] = [];
  const clock = { nowMs: 0 };
  let nextFlag = 1;
  const runOn = (lane: Batch[]) => (batch: SearchBatch) =>
    new Promise<ArrayBuffer>((resolve, reject) => {
      const ids = batch.tasks.map((each) => (each.kind === 'search' ? each.queryId : each.kind));
      lane.push({
        ids,
        batch,
        finish: () => {
          resolve(answerOf(ids, (index) => raised.includes(batch.stops[2 * index] as number), batch.sliceMs));
        },
        fail: reject,
      });
    });
  const bugs: string[] = [];
  let lost = 0;
  const activity = new SearchActivity();
  const atWork = new Int32Array(activity.shared);
  const batcher = new SearchBatcher({
    workers: 1,
    inFlightMax: 2,
    batchMax: 3,
    queueMax: 5,
    dearMax: 1,
    deadlineMs: 60_000,
    nowMs: () => clock.nowMs,
    flags: { take: () => nextFlag++, raise: (flag) => raised.push(flag), giveBack: () => undefined },
    run: runOn(batches),
    runDear: runOn(dear),
    answers: { admit: (answer) => answer, again: () => Promise.reject(new Error('no answer is large')) },
    observe: {
      refused: () => undefined,
      batch: () => undefined,
      answered: () => undefined,
      unfinished: (why) => unfinished.push(why),
      bug: (stack) => bugs.push(stack),
      lost: () => {
        lost += 1;
        return new ServiceError('internal-error', 'lost');
      },
    },
    activity,
    ...change,
  });
  const search = (id: string, signal: AbortSignal = NEVER, account = 'own') =>
    batcher.search(task(id), signal, account).then(({ body }) => Buffer.from(body).toString());
  return { batcher, batches, dear, raised, unfinished, clock, bugs, search, lost: () => lost, atWork: () => atWork[0] };
}

/**
 * Makes an answer in which `dear…` does not fit into a slice, `late` is past its deadline, and after `long` there is
 * no time for others.
 */
function answerOf(ids: readonly string[], isStopped: (index: number) => boolean, sliceMs: number): ArrayBuffer {
  const writer = new ResponseWriter();
  const answer = new BatchAnswerWriter(writer, ids.length);
  const long = ids.indexOf('long');
  for (const [index, id] of ids.entries()) {
    if (long !== -1 && index > long) {
      answer.unfinished('unbegun');
    } else if (isStopped(index)) {
      answer.unfinished('stopped');
    } else if (id === 'late') {
      answer.unfinished('deadline');
    } else if (id.startsWith('dear') && sliceMs !== Infinity) {
      answer.unfinished('slice');
    } else if (id === 'bad') {
      answer.failed({ ok: false, error: { problem: 'invalid-filter', detail: 'bad' } });
    } else if (id === 'bug') {
      answer.failed({ ok: false, error: { problem: 'internal-error', detail: 'x' }, bug: 'stack' });
    } else {
      writer.text(id);
      answer.answered(1, id.startsWith('dear') ? 2 * SLICE_MS : 0.1);
    }
  }
  return answer.take();
}

describe('SearchBatcher', () => {
  it('sends the searches of one turn as one batch, and gives each its own answer', async () => {
    const { batches, search } = harness();
    const answers = [search('a'), search('b')];
    expect(batches).toHaveLength(0);
    await setImmediate();
    expect(batches.map(({ ids }) => ids)).toEqual([['a', 'b']]);
    batches[0]?.finish();
    expect(await Promise.all(answers)).toEqual(['a', 'b']);
  });

  it('counts the batches in progress, including those that were lost', async () => {
    const { batches, dear, search, atWork } = harness();
    const answers = Promise.allSettled([search('a'), search('dear')]);
    expect(atWork()).toBe(0);
    await setImmediate();
    expect(atWork()).toBe(1);
    batches[0]?.finish();
    await expect.poll(() => dear.length).toBe(1);
    expect(atWork()).toBe(1);
    dear[0]?.fail(new Error('died'));
    await answers;
    await setImmediate();
    expect(atWork()).toBe(0);
  });

  it('limits batches and their number in progress, and sends the rest when there is room', async () => {
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

  it('divides searches among free workers', async () => {
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

  it('drops waiting searches whose client left, also to make room', async () => {
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

  it('fails only the searches of a lost batch with internal-error', async () => {
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

  it('finishes what it has when closed, and accepts no more', async () => {
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

  it('stops running searches whose client left, and settles them when their worker has finished', async () => {
    const { batches, search, raised, unfinished } = harness();
    const client = new AbortController();
    const [gone, kept] = [search('a', client.signal), search('b')];
    await setImmediate();
    let settled = false;
    const outcome = gone.catch((error: unknown) => {
      settled = true;
      return error;
    });
    client.abort(new Error('gone'));
    await setImmediate();
    expect(raised).toEqual([batches[0]?.batch.stops[0]]);
    expect(settled).toBe(false);
    batches[0]?.finish();
    expect(await outcome).toMatchObject({ message: 'gone' });
    expect(await kept).toBe('b');
    expect(unfinished).toEqual(['stopped']);
  });

  it('refuses a search whose client has already left', async () => {
    const { batches, search } = harness();
    await expect(search('a', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    await setImmediate();
    expect(batches).toEqual([]);
  });

  it('tells when each search must end, and answers `deadline` if it is not done by then', async () => {
    const { batches, search, clock } = harness({ deadlineMs: 3000 });
    clock.nowMs = 500;
    const [late, good] = [search('late'), search('a')];
    await setImmediate();
    expect(batches[0]?.batch.stops.filter((_, at) => at % 2 === 1)).toEqual([3500, 3500]);
    batches[0]?.finish();
    await expect(late).rejects.toMatchObject({ code: 'deadline', status: 503 });
    expect(await good).toBe('a');
  });

  it('counts the time in the queue towards the deadline', async () => {
    const { batches, search, clock } = harness({ inFlightMax: 1, batchMax: 1, deadlineMs: 20 });
    const first = search('a');
    await setImmediate();
    const waiting = search('b');
    clock.nowMs = 20;
    await expect(waiting).rejects.toMatchObject({ code: 'deadline' });
    batches[0]?.finish();
    expect(await first).toBe('a');
    expect(batches).toHaveLength(1);
  });

  it('runs searches that do not fit into a slice beside the others, a limited number at a time', async () => {
    const { batches, dear, search, unfinished } = harness({ inFlightMax: 1 });
    const answers = ['dear1', 'a', 'dear2'].map((id) => search(id));
    await setImmediate();
    expect(batches[0]?.batch.sliceMs).toBe(SLICE_MS);
    batches[0]?.finish();
    expect(await answers[1]).toBe('a');
    expect(unfinished).toEqual(['slice', 'slice']);
    expect(dear.map(({ ids, batch }) => [ids, batch.sliceMs])).toEqual([[['dear1'], Infinity]]);
    // Other searches do not wait for the dear ones.
    const cheap = search('b');
    await setImmediate();
    batches[1]?.finish();
    expect(await cheap).toBe('b');
    dear[0]?.finish();
    expect(await answers[0]).toBe('dear1');
    await setImmediate();
    dear[1]?.finish();
    expect(await answers[2]).toBe('dear2');
  });

  it('recognizes a dear search until it becomes cheap', async () => {
    const { batches, dear, search } = harness({ dearMax: 2 });
    const first = search('dear');
    await setImmediate();
    batches[0]?.finish();
    await setImmediate();
    dear[0]?.finish();
    expect(await first).toBe('dear');
    const second = search('dear');
    await setImmediate();
    expect(batches).toHaveLength(1);
    dear[1]?.finish();
    expect(await second).toBe('dear');
  });

  it('drops waiting dear searches whose client left', async () => {
    const { batches, dear, search, batcher } = harness();
    const client = new AbortController();
    const [first, second] = [search('dear1'), search('dear2', client.signal)];
    await setImmediate();
    batches[0]?.finish();
    await setImmediate();
    expect(batcher.waitingCount).toBe(1);
    client.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    dear[0]?.finish();
    expect(await first).toBe('dear1');
    await batcher.close();
    expect(dear).toHaveLength(1);
  });

  it('alternates between accounts, however many searches one has waiting', async () => {
    const { batches, search } = harness({ inFlightMax: 1, batchMax: 2, queueMax: 10 });
    const many = ['a1', 'a2', 'a3', 'a4', 'a5'].map((id) => search(id, NEVER, 'a'));
    await setImmediate();
    const other = search('b1', NEVER, 'b');
    const third = search('c1', NEVER, 'c');
    for (let at = 0; at < 4; at += 1) {
      batches[at]?.finish();
      await setImmediate();
    }
    await Promise.all([...many, other, third]);
    expect(batches.map(({ ids }) => ids)).toEqual([['a1', 'a2'], ['b1', 'c1'], ['a3', 'a4'], ['a5']]);
  });

  it('alternates between accounts for dear searches as well, and learns about dear ones by account', async () => {
    const { batches, dear, search } = harness({ queueMax: 10 });
    const many = ['dear1', 'dear2', 'dear3'].map((id) => search(id, NEVER, 'a'));
    await setImmediate();
    batches[0]?.finish();
    await setImmediate();
    const other = search('dear2', NEVER, 'b');
    await setImmediate();
    expect(batches[1]?.ids).toEqual(['dear2']);
    batches[1]?.finish();
    await setImmediate();
    for (let at = 0; at < 4; at += 1) {
      dear[at]?.finish();
      await setImmediate();
    }
    await Promise.all([...many, other]);
    expect(dear.map(({ ids }) => ids)).toEqual([['dear1'], ['dear2'], ['dear2'], ['dear3']]);
  });

  it('sends again what a batch had no time for, in its order, and before later searches', async () => {
    const { batches, search, unfinished } = harness({ inFlightMax: 1, queueMax: 10 });
    const answers = ['long', 'a', 'b', 'c', 'd'].map((id) => search(id));
    await setImmediate();
    for (let at = 0; at < 3; at += 1) {
      batches[at]?.finish();
      await setImmediate();
    }
    expect(await Promise.all(answers)).toEqual(['long', 'a', 'b', 'c', 'd']);
    expect(batches.map(({ ids }) => ids)).toEqual([['long', 'a', 'b'], ['a', 'b', 'c'], ['d']]);
    expect(unfinished).toEqual([]);
  });

  it('begins with other accounts if one alone had the batch before', async () => {
    const { batches, search } = harness({ inFlightMax: 1, queueMax: 20 });
    const many = Array.from({ length: 8 }, () => search('long', NEVER, 'a'));
    await setImmediate();
    const others = ['b', 'c'].map((account) => search(account, NEVER, account));
    for (let at = 0; at < 4; at += 1) {
      batches[at]?.finish();
      await setImmediate();
    }
    await Promise.all(others);
    expect(batches.slice(1, 3).map(({ ids }) => ids)).toEqual([
      ['b', 'c', 'long'],
      ['long', 'long', 'long'],
    ]);
    for (let at = 4; at < batches.length; at += 1) {
      batches[at]?.finish();
      await setImmediate();
    }
    await Promise.all(many);
  });

  it('returns the turn to accounts behind one that used all the time of a batch', async () => {
    const { batches, search } = harness({ inFlightMax: 1, queueMax: 20 });
    const all = ['a', 'b', 'c', 'a', 'a'].map((account) => search(account === 'a' ? 'long' : account, NEVER, account));
    await setImmediate();
    for (let at = 0; at < 4; at += 1) {
      batches[at]?.finish();
      await setImmediate();
    }
    await Promise.all(all);
    expect(batches.map(({ ids }) => ids)).toEqual([['long', 'b', 'c'], ['b', 'c', 'long'], ['long']]);
  });

  it('refuses the last search of the account with most waiting if the queue is full and another one comes', async () => {
    const { batches, search } = harness({ inFlightMax: 1, batchMax: 1, queueMax: 3 });
    const first = search('first', NEVER, 'a');
    await setImmediate();
    const many = ['a1', 'a2', 'a3'].map((id) => search(id, NEVER, 'a'));
    const other = search('b1', NEVER, 'b');
    await expect(many[2]).rejects.toMatchObject({ code: 'overloaded' });
    // Now a has two, and b one: accepting b's next search would only exchange one for another.
    await expect(search('b2', NEVER, 'b')).rejects.toMatchObject({ code: 'overloaded' });
    await expect(search('a4', NEVER, 'a')).rejects.toMatchObject({ code: 'overloaded' });
    for (let at = 0; at < 4; at += 1) {
      batches[at]?.finish();
      await setImmediate();
    }
    expect(await Promise.all([first, many[0], many[1], other])).toEqual(['first', 'a1', 'a2', 'b1']);
  });
});
