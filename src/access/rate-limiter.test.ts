import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimiter } from './rate-limiter.js';

class FakeClock {
  ms = 1_700_000_000_000;
  nowMs(): number {
    return this.ms;
  }
  nowIso(): string {
    return new Date(this.ms).toISOString();
  }
}

const MINUTE_MS = 60_000;
const SLOT_MS = MINUTE_MS / 6000;

describe('RateLimiter', () => {
  it('allows calls up to the limit at once, then says exactly how long to wait', () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter({ limit: 3, windowMs: MINUTE_MS }, clock);
    expect([1, 2, 3].map(() => limiter.take('a').allowed)).toEqual([true, true, true]);
    clock.ms += 20_000;
    expect(limiter.take('a')).toEqual({ allowed: false, retryAfterSeconds: 40 });
    clock.ms += 39_900;
    expect(limiter.take('a')).toEqual({ allowed: false, retryAfterSeconds: 1 });
    clock.ms += 100;
    expect(limiter.take('a')).toEqual({ allowed: true });
  });

  it('never asks to wait longer than the window', () => {
    const clock = new FakeClock();
    clock.ms += 9;
    const limiter = new RateLimiter({ limit: 1, windowMs: MINUTE_MS }, clock);
    limiter.take('a');
    expect(limiter.take('a')).toEqual({ allowed: false, retryAfterSeconds: 60 });
  });

  it('counts each account separately', () => {
    const limiter = new RateLimiter({ limit: 1, windowMs: MINUTE_MS }, new FakeClock());
    expect(limiter.take('a').allowed).toBe(true);
    expect(limiter.take('b').allowed).toBe(true);
    expect(limiter.take('a').allowed).toBe(false);
  });

  it('allows calls again after the clock was set back', () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter({ limit: 1, windowMs: MINUTE_MS }, clock);
    limiter.take('a');
    clock.ms -= 3_600_000;
    expect(limiter.take('a').allowed).toBe(true);
    expect(limiter.take('a').allowed).toBe(false);
  });

  it('uses little memory for accounts with few calls', () => {
    const limiter = new RateLimiter({ limit: 60_000, windowMs: MINUTE_MS }, new FakeClock());
    const before = process.memoryUsage().arrayBuffers;
    for (let account = 0; account < 1000; account++) limiter.take(`a${account}`);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2_000_000);
  });

  it('forgets idle accounts, even if the clock is set back, and no call within the window', () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter({ limit: 1, windowMs: MINUTE_MS }, clock);
    for (const step of [MINUTE_MS, MINUTE_MS, -10 * MINUTE_MS, MINUTE_MS, 100 * MINUTE_MS]) {
      for (let account = 0; account < 10; account++) limiter.take(`${step} ${account}`);
      clock.ms += step - SLOT_MS;
      expect(limiter.take('a').allowed).toBe(true);
      clock.ms += SLOT_MS;
      expect(limiter.take('a').allowed).toBe(false);
      expect(limiter.accountCount).toBeLessThanOrEqual(21);
    }
    clock.ms += 2 * MINUTE_MS;
    limiter.take('a');
    expect(limiter.accountCount).toBe(1);
  });

  it('allows exactly the limit in every window, and gives the exact wait', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(
          fc.oneof(
            { weight: 50, arbitrary: fc.integer({ min: 0, max: 12_000 }) },
            { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 * MINUTE_MS }) },
          ),
          { maxLength: 300 },
        ),
        (limit, steps) => {
          const clock = new FakeClock();
          const limiter = new RateLimiter({ limit, windowMs: MINUTE_MS }, clock);
          const taken: number[] = [];
          for (const step of steps) {
            clock.ms += step;
            const slot = Math.floor(clock.ms / SLOT_MS);
            const inWindow = taken.filter((time) => Math.floor(time / SLOT_MS) > slot - 6000);
            const decision = limiter.take('a');
            expect(decision.allowed).toBe(inWindow.length < limit);
            if (decision.allowed) {
              taken.push(clock.ms);
              continue;
            }
            const oldestMs = Math.floor((inWindow[0] ?? 0) / SLOT_MS) * SLOT_MS;
            const waitMs = oldestMs + MINUTE_MS - clock.ms;
            expect(decision.retryAfterSeconds).toBe(Math.max(1, Math.ceil(waitMs / 1000)));
          }
        },
      ),
    );
  });

  it('counts tens of thousands of calls exactly', () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter({ limit: 60_000, windowMs: MINUTE_MS }, clock);
    let allowed = 0;
    for (let call = 0; call < 70_000; call++) {
      if (limiter.take('a').allowed) allowed++;
      if (call % 100 === 0) clock.ms += 1;
    }
    expect(allowed).toBe(60_000);
  });
});
