import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PacedReading } from './paced-reading.js';

describe('PacedReading', () => {
  it('makes one reading for all who ask while another is under way, and returns none that began before they asked', async () => {
    const open: (() => void)[] = [];
    let made = 0;
    const reading = new PacedReading(async () => {
      made += 1;
      const number = made;
      await new Promise<void>((resolve) => open.push(resolve));
      return number;
    });
    const first = reading.get();
    await expect.poll(() => open.length).toBe(1);
    const others = Array.from({ length: 100 }, () => reading.get());
    await setImmediate();
    expect(made).toBe(1);
    open[0]?.();
    expect(await first).toBe(1);
    await expect.poll(() => open.length).toBe(2);
    open[1]?.();
    expect(new Set(await Promise.all(others))).toEqual(new Set([2]));
    expect(made).toBe(2);
  });

  it('rests nine times as long as a reading took', async () => {
    const times: { began: number; ended: number }[] = [];
    const reading = new PacedReading(async () => {
      const began = performance.now();
      while (performance.now() < began + 5);
      await setImmediate();
      times.push({ began, ended: performance.now() });
    });
    for (let count = 0; count < 3; count += 1) await reading.get();
    for (const [at, { began }] of times.slice(1).entries()) {
      const before = times[at];
      // Timers may fire a millisecond early.
      expect(began - (before?.ended ?? 0)).toBeGreaterThanOrEqual(9 * 5 - 2);
    }
  });

  it('rejects for all who shared a failed reading, and tries again for the next', async () => {
    let made = 0;
    const reading = new PacedReading(() => {
      made += 1;
      return made === 1 ? Promise.reject(new Error('broken')) : Promise.resolve(made);
    });
    const [one, other] = await Promise.allSettled([reading.get(), reading.get()]);
    expect([one, other]).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect(await reading.get()).toBe(2);
  });
});
