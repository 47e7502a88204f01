import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../platform/index.js';
import type { WriteRequest, WriteResult } from '../contract/types.js';
import { approximateBytes, ListQueue, type WaitingWrite } from './list-queue.js';

const request: WriteRequest = { kind: 'delete', id: 'one' };
const result = { outcome: 'deleted' } as WriteResult;
const admission = { admitWrite: () => undefined, writesTaken: () => undefined };

/** Returns a queue whose commits and pauses end when the test says so. */
function scriptedQueue() {
  const groups: (readonly WaitingWrite[])[] = [];
  const pauses: (() => void)[] = [];
  const commits: (() => void)[] = [];
  const queue = new ListQueue({
    admission: admission as never,
    groupBytesMax: () => Infinity,
    commitGroup: async (writes) => {
      groups.push(writes);
      await new Promise<void>((resolve) => commits.push(resolve));
      for (const { resolve } of writes) resolve(result);
    },
    timer: { nowMs: () => 0, pause: () => new Promise<void>((resolve) => pauses.push(resolve)) },
  });
  const sizes = () => groups.map(({ length }) => length);
  const untilCommits = (count: number) => expect.poll(() => groups.length, { interval: 1 }).toBe(count);
  return { queue, sizes, pauses, commits, untilCommits };
}

describe('small writes of a list', () => {
  it('are committed at once if each comes after the one before is done', async () => {
    const { queue, sizes, pauses, commits, untilCommits } = scriptedQueue();
    for (let count = 1; count <= 20; count += 1) {
      const written = queue.write(request);
      await untilCommits(count);
      commits.shift()?.();
      expect(await written).toBe(result);
    }
    expect(sizes()).toEqual(Array.from({ length: 20 }, () => 1));
    expect(pauses).toEqual([]);
  });

  it('are gathered if others come while one is committed', async () => {
    const { queue, sizes, pauses, commits, untilCommits } = scriptedQueue();
    const first = queue.write(request);
    await untilCommits(1);
    const second = queue.write(request);
    commits.shift()?.();
    await first;
    await expect.poll(() => pauses.length, { interval: 1 }).toBe(1);
    expect(sizes()).toEqual([1]);
    const third = queue.write(request);
    pauses.shift()?.();
    await untilCommits(2);
    commits.shift()?.();
    await Promise.all([second, third]);
    expect(sizes()).toEqual([1, 2]);
  });

  it('are gathered across a task run with between(), which runs meanwhile', async () => {
    const { queue, sizes, pauses, commits, untilCommits } = scriptedQueue();
    const done: string[] = [];
    const first = queue.write(request);
    await untilCommits(1);
    const second = queue.write(request).then(() => done.push('second'));
    const merged = queue.between(() => Promise.resolve()).then(() => done.push('merged'));
    const third = queue.write(request).then(() => done.push('third'));
    commits.shift()?.();
    await Promise.all([first, merged]);
    await expect.poll(() => pauses.length, { interval: 1 }).toBe(1);
    pauses.shift()?.();
    await untilCommits(2);
    commits.shift()?.();
    await Promise.all([second, third]);
    expect(done).toEqual(['merged', 'second', 'third']);
    expect(sizes()).toEqual([1, 2]);
  });

  it('wait for a task run with between(), even if there are no other writes', async () => {
    const { queue, sizes, commits, untilCommits } = scriptedQueue();
    const done: string[] = [];
    let end = () => undefined as void;
    const merged = queue.between(() => new Promise<void>((resolve) => (end = resolve))).then(() => done.push('merged'));
    const failed = queue.between(() => Promise.reject(new Error('no merge'))).catch(() => done.push('failed'));
    const written = queue.write(request).then(() => done.push('written'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(sizes()).toEqual([]);
    end();
    await untilCommits(1);
    commits.shift()?.();
    await Promise.all([merged, failed, written]);
    expect(done).toEqual(['merged', 'failed', 'written']);
    expect(queue.isIdle).toBe(true);
  });

  it('keep their order with exclusive steps, and are not delayed when the list is closed', async () => {
    const { queue, sizes, pauses, commits, untilCommits } = scriptedQueue();
    const done: string[] = [];
    const first = queue.write(request).then(() => done.push('first'));
    await untilCommits(1);
    const second = queue.write(request).then(() => done.push('second'));
    const step = queue.exclusive(() => Promise.resolve()).then(() => done.push('step'));
    const reason = new ServiceError('shutting-down', 'Stopping.');
    const closed = queue.close(reason);
    await expect(queue.write(request)).rejects.toBe(reason);
    commits.shift()?.();
    await untilCommits(2);
    commits.shift()?.();
    await Promise.all([first, second, step, closed]);
    expect(done).toEqual(['first', 'second', 'step']);
    expect(sizes()).toEqual([1, 1]);
    expect(pauses).toEqual([]);
    expect(queue.isIdle).toBe(true);
  });
});

describe('a last step', () => {
  const reason = new ServiceError('list-not-found', 'The list has been deleted.');

  it('refuses what comes while it runs, and everything after it', async () => {
    const { queue } = scriptedQueue();
    let refused: Promise<unknown> = Promise.resolve();
    const isDone = await queue.last(
      reason,
      () => true,
      () => {
        refused = Promise.allSettled([queue.write(request), queue.exclusive(() => Promise.resolve())]);
        return Promise.resolve();
      },
    );
    expect(isDone).toBe(true);
    const rejected = { status: 'rejected', reason };
    expect(await refused).toEqual([rejected, rejected]);
    await expect(queue.write(request)).rejects.toBe(reason);
  });

  it('is not taken if a write waits behind it, or if it is no longer wanted', async () => {
    const { queue, commits, untilCommits } = scriptedQueue();
    let ran = 0;
    const run = () => Promise.resolve(void (ran += 1));
    const beside = queue.last(reason, () => true, run);
    const written = queue.write(request);
    expect(await beside).toBe(false);
    await untilCommits(1);
    commits.shift()?.();
    expect(await written).toBe(result);
    expect([await queue.last(reason, () => false, run), ran]).toEqual([false, 0]);
  });

  it('leaves the queue open if it fails', async () => {
    const { queue, commits, untilCommits } = scriptedQueue();
    const failed = queue.last(
      reason,
      () => true,
      () => Promise.reject(new Error('no disk')),
    );
    await expect(failed).rejects.toThrow('no disk');
    const written = queue.write(request);
    await untilCommits(1);
    commits.shift()?.();
    expect(await written).toBe(result);
  });
});

describe('approximateBytes', () => {
  it('counts 8 bytes for each number of an array, and no text for its index', () => {
    expect(approximateBytes({ kind: 'put', fields: { numbers: [0, 0.5, null, 'ab'] } })).toBe(
      32 + 4 + (16 + 6) + 6 + 32 + 7 + 32 + 8 + 8 + 8 + (16 + 4),
    );
    const numbers = Array.from({ length: 1000 }, () => 0);
    expect(approximateBytes(numbers)).toBe(32 + 8 * numbers.length);
  });
});
