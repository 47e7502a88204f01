import { describe, expect, it, vi } from 'vitest';
import { OwnMemory, residentOwnBytes } from './own-memory.js';
import { itWhere } from '../../test/support/skip.js';

const BUDGET = 1000;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Work that ends when the test says so. */
function work() {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const state = { begun: false };
  return {
    state,
    end,
    action: () => {
      state.begun = true;
      return ended;
    },
  };
}

function ownMemory(inUse: { bytes: number; freed: number }) {
  return new OwnMemory({
    budgetBytes: BUDGET,
    releaseFreeMemory: () => {
      inUse.bytes -= inUse.freed;
      inUse.freed = 0;
    },
    measure: () => inUse.bytes,
  });
}

describe('OwnMemory', () => {
  it('starts work at once while there is room', async () => {
    const memory = ownMemory({ bytes: 100, freed: 0 });
    const [first, second] = [work(), work()];
    const done = [memory.run(first.action), memory.run(second.action)];
    await turn();
    expect([first.state.begun, second.state.begun]).toEqual([true, true]);
    first.end();
    second.end();
    await Promise.all(done);
  });

  it('releases freed memory near the limit, and none while there is room', async () => {
    const [near, far] = [
      { bytes: 900, freed: 500 },
      { bytes: 100, freed: 50 },
    ];
    for (const inUse of [near, far]) ownMemory(inUse).letGo();
    await expect.poll(() => near.bytes).toBe(400);
    expect(far.bytes).toBe(100);
  });

  it('queues work near the limit until running work has ended, in order', async () => {
    const inUse = { bytes: 100, freed: 0 };
    const memory = ownMemory(inUse);
    const [first, second, third] = [work(), work(), work()];
    const done = [memory.run(first.action)];
    inUse.bytes = 990;
    done.push(memory.run(second.action), memory.run(third.action));
    await turn();
    expect([second.state.begun, third.state.begun, memory.waiting]).toEqual([false, false, 2]);
    first.end();
    await done[0];
    // Memory is still short, but nothing is running: waiting longer would not help.
    expect([second.state.begun, third.state.begun, memory.waiting]).toEqual([true, false, 1]);
    inUse.bytes = 100;
    await expect.poll(() => third.state.begun).toBe(true);
    second.end();
    third.end();
    await Promise.all(done);
  });

  it('releases freed memory before it queues work', async () => {
    const inUse = { bytes: 990, freed: 500 };
    const memory = ownMemory(inUse);
    const [first, second] = [work(), work()];
    const done = [memory.run(first.action), memory.run(second.action)];
    await turn();
    expect(second.state.begun).toBe(true);
    expect(inUse).toEqual({ bytes: 490, freed: 0 });
    first.end();
    second.end();
    await Promise.all(done);
  });

  it('reports a shortage while releasing memory does not end it, and then its end', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const inUse = { bytes: 900, freed: 0 };
    const told: boolean[] = [];
    const memory = ownMemory(inUse);
    memory.tellOfShortage((isShort) => told.push(isShort));
    const look = (now: { bytes: number; freed: number }) => {
      Object.assign(inUse, now);
      vi.runOnlyPendingTimers();
      return told.splice(0);
    };
    expect(look({ bytes: 900, freed: 0 })).toEqual([]);
    expect(look({ bytes: 1100, freed: 200 })).toEqual([]);
    expect(inUse.bytes).toBe(900);
    expect(look({ bytes: 1300, freed: 200 })).toEqual([true]);
    expect(look({ bytes: 1100, freed: 0 })).toEqual([true]);
    // A release that freed nothing blocked the main thread, so it is repeated only after a while.
    for (let again = 0; again < 14; again += 1) expect(look({ bytes: 1100, freed: 500 })).toEqual([true]);
    expect(inUse.bytes).toBe(1100);
    expect(look({ bytes: 1100, freed: 500 })).toEqual([]);
    expect(inUse.bytes).toBe(600);
    expect(look({ bytes: 800, freed: 0 })).toEqual([false]);
    memory.stop();
    expect(look({ bytes: 1300, freed: 0 })).toEqual([]);
    vi.useRealTimers();
  });

  it('continues after work fails', async () => {
    const memory = ownMemory({ bytes: 990, freed: 0 });
    const failing = memory.run(() => Promise.reject(new Error('no')));
    const after = memory.run(() => Promise.resolve('yes'));
    await expect(failing).rejects.toThrow('no');
    expect(await after).toBe('yes');
  });
});

itWhere(residentOwnBytes() !== undefined, 'this system does not tell what is resident')(
  'residentOwnBytes counts memory that belongs to no file',
  () => {
    const before = residentOwnBytes() ?? 0;
    const block = Buffer.alloc(64 * 2 ** 20, 1);
    expect((residentOwnBytes() ?? 0) - before).toBeGreaterThan(0.9 * block.length);
  },
);
