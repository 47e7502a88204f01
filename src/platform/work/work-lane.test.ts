import { expect, it } from 'vitest';
import { SimulatedTimers } from '../../../test/support/simulated-timers.js';
import { RetrySchedule } from './retry-schedule.js';
import type { ScheduledWork } from './work-kind.js';
import { WorkLane } from './work-lane.js';
import { WorkSlots } from './work-slots.js';

it('WorkLane tries work that became due while it was reading the queue, without being woken', async () => {
  const timers = new SimulatedTimers();
  let laterMs = 0;
  const dueMs = timers.nowMs() + 3;
  const waiting: ScheduledWork[] = [{ lane: 'a', dueMs, number: 1, attempts: 0, subject: 'b' }];
  const done: number[] = [];
  const lane = new WorkLane<{ item: string; result: null; note: null; failure: null }>({
    lane: 'a',
    timers: { nowMs: () => timers.nowMs() + laterMs, after: (ms, action) => timers.after(ms, action) },
    slots: new WorkSlots(1, 1),
    schedule: new RetrySchedule({ soonMs: [], laterMs: [], jitterPercent: 0 }),
    waitMsMax: 1000,
    queue: {
      due: (_lane, { nowMs }) => {
        const found = waiting.filter((each) => each.dueMs <= nowMs);
        // As on a busy machine: time passes before the lane asks when the next work is due.
        laterMs += 5;
        return found;
      },
      dueBehind: () => [],
      nextDueMs: (_lane, afterMs) => waiting.find((each) => each.dueMs > afterMs)?.dueMs,
      item: () => 'item',
    },
    worker: {
      receiver: 'a',
      batchMax: 1,
      perform: (work) => {
        done.push(...work.map(({ number }) => number));
        waiting.length = 0;
        return Promise.resolve([{ verdict: 'done', result: null }]);
      },
      note: () => null,
      failure: () => null,
    },
    settle: (_settlement, onSettled) => {
      onSettled();
    },
    afterAttempt: () => undefined,
  });
  lane.wake();
  await timers.pass(100, () => Promise.resolve());
  expect(done).toEqual([1]);
  await lane.stop(0);
});

it('WorkLane keeps little waiting work in memory, as there may be ten thousand lanes whose receivers are all down', () => {
  const timers = new SimulatedTimers();
  let read = 0;
  const lane = new WorkLane<{ item: string; result: null; note: null; failure: null }>({
    lane: 'a',
    timers,
    slots: new WorkSlots(0, 0),
    schedule: new RetrySchedule({ soonMs: [], laterMs: [], jitterPercent: 0 }),
    waitMsMax: 1000,
    queue: {
      due: (_lane, { behind, count }) => {
        read += count;
        return Array.from({ length: count }, (_, each) => {
          const number = (behind?.number ?? 0) + each + 1;
          return { lane: 'a', dueMs: 0, number, attempts: 0, subject: `subject ${number}` };
        });
      },
      dueBehind: () => [],
      nextDueMs: () => undefined,
      item: () => 'item',
    },
    worker: {
      receiver: 'a',
      batchMax: 1,
      perform: () => Promise.resolve([]),
      note: () => null,
      failure: () => null,
    },
    settle: () => undefined,
    afterAttempt: () => undefined,
  });
  for (let wake = 0; wake < 10; wake += 1) lane.wake();
  expect(read).toBeLessThanOrEqual(32);
});
