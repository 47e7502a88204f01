import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SimulatedTimers } from '../../../test/support/simulated-timers.js';
import { RetrySchedule } from './retry-schedule.js';
import { SettlementBuffer } from './settlement-buffer.js';
import type { Settlement, WorkTypes } from './work-kind.js';
import { WorkSlots } from './work-slots.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function settlement(number: number): Settlement<WorkTypes> {
  const scheduled = { lane: 's', number, dueMs: 0, attempts: 0, subject: '' };
  return { scheduled, note: null, next: { kind: 'done' } };
}

describe('SettlementBuffer', () => {
  it('writes many outcomes at once, and tries again in the same order if the disk is full', async () => {
    const timers = new SimulatedTimers();
    const written: number[][] = [];
    const settled: number[] = [];
    const failures: unknown[] = [];
    let isFull = false;
    const buffer = new SettlementBuffer({
      timers,
      write: async (batch) => {
        await turn();
        if (isFull) throw new Error('the disk is full');
        written.push(batch.map(({ scheduled }) => scheduled.number));
      },
      onFailure: (error) => failures.push(error),
    });
    const push = (number: number) => {
      buffer.push(settlement(number), () => settled.push(number));
    };
    for (const number of [1, 2, 3]) push(number);
    await timers.pass(100, turn);
    await buffer.flush();
    expect(written).toEqual([[1, 2, 3]]);
    isFull = true;
    push(4);
    await buffer.flush();
    push(5);
    await buffer.flush();
    expect([failures.length, settled]).toEqual([2, [1, 2, 3]]);
    isFull = false;
    await timers.pass(2000, turn);
    await buffer.flush();
    expect(written).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
    expect(settled).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('WorkSlots', () => {
  it('limits each receiver and all together, and calls those that wait', () => {
    const slots = new WorkSlots(2, 3);
    const called: string[] = [];
    const at = (receiver: string) => ({ owner: '', receiver });
    const take = (receiver: string) => slots.take(at(receiver), () => called.push(receiver));
    expect([take('a'), take('a'), take('a')]).toEqual([true, true, false]);
    expect([take('b'), take('b')]).toEqual([true, false]);
    expect(called).toEqual([]);
    // All slots were taken, so the freed one may go to either receiver.
    slots.release(at('a'));
    expect(called.sort()).toEqual(['a', 'b']);
    expect([take('b'), take('a')]).toEqual([true, false]);
    slots.release(at('b'));
    slots.release(at('b'));
    slots.release(at('a'));
    expect([take('a'), take('a'), take('a')]).toEqual([true, true, false]);
  });
});

describe('RetrySchedule', () => {
  const options = { soonMs: [1000, 4000, 16_000], laterMs: [60_000, 300_000], jitterPercent: 10 };

  it('waits as configured plus up to a tenth', () => {
    const bases = [1, 4, 16, 60, 300];
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(4), (random, position) => {
        const next = new RetrySchedule({ ...options, random: () => random }).after(position + 1);
        const base = (bases[position] ?? 0) * 1000;
        expect(next?.waitMs).toBeGreaterThanOrEqual(base);
        expect(next?.waitMs).toBeLessThanOrEqual(base * 1.1);
        expect(next?.isSoon).toBe(position < 3);
      }),
    );
    expect(new RetrySchedule(options).after(6)).toBeUndefined();
  });

  it('sets work aside at once if no waits are configured', () => {
    const none = { soonMs: [], laterMs: [], jitterPercent: 0 };
    expect(new RetrySchedule(none).after(1)).toBeUndefined();
  });
});
