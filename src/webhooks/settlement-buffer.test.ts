import { describe, expect, it } from 'vitest';
import { SimulatedTimers } from '../../test/support/webhook-engine.js';
import { ConnectionSlots } from './connection-slots.js';
import type { Settlement } from './delivery-queue.js';
import { SettlementBuffer } from './settlement-buffer.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function settlement(number: number): Settlement {
  const scheduled = { subscriptionId: 's', number, dueMs: 0, attempts: 0, subject: '' };
  const result = { ok: true, status: 200, error: null, durationMs: 1, answer: '', atMs: 0 };
  const log = {
    ...result,
    deliveryId: String(number),
    type: 'webhook.ping',
    attempt: 1,
    outcome: 'delivered',
  } as const;
  return { scheduled, log, next: { kind: 'delivered' } };
}

describe('SettlementBuffer', () => {
  it('writes many outcomes at once, and tries again in the same order where the disk is full', async () => {
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

describe('ConnectionSlots', () => {
  it('bounds each receiver and all together, and calls whoever waits', () => {
    const slots = new ConnectionSlots(2, 3);
    const called: string[] = [];
    const take = (receiver: string) => slots.take(receiver, () => called.push(receiver));
    expect([take('a'), take('a'), take('a')]).toEqual([true, true, false]);
    expect([take('b'), take('b')]).toEqual([true, false]);
    expect(called).toEqual([]);
    // All were taken, so that the one that comes free may be anybody's.
    slots.release('a');
    expect(called.sort()).toEqual(['a', 'b']);
    expect([take('b'), take('a')]).toEqual([true, false]);
    slots.release('b');
    slots.release('b');
    slots.release('a');
    expect([take('a'), take('a'), take('a')]).toEqual([true, true, false]);
  });
});
