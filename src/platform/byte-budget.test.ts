import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ByteBudget, type ByteBudgetOptions, type Reservation } from './byte-budget.js';

const OPTIONS: ByteBudgetOptions = {
  bytesMax: 100,
  smallBytesMax: 10,
  keptForSmallBytes: 20,
  waitingMax: 3,
  waitMs: 1000,
  full: 'All is taken',
};

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Returns whether a reservation is admitted, refused or waiting. */
async function outcomeOf({ ready }: Reservation): Promise<string> {
  if (ready === undefined) return 'admitted';
  return Promise.race([
    ready.then(
      () => 'admitted',
      (error: unknown) => (error as { code: string }).code,
    ),
    vi.advanceTimersByTimeAsync(0).then(() => 'waiting'),
  ]);
}

describe('ByteBudget', () => {
  it('admits waiting reservations in their order as soon as there is room', async () => {
    const budget = new ByteBudget(OPTIONS);
    const first = budget.reserve(80);
    const second = budget.reserve(50);
    const third = budget.reserve(20);
    expect(await Promise.all([first, second, third].map(outcomeOf))).toEqual(['admitted', 'waiting', 'waiting']);
    first.shrinkTo(30);
    expect(await Promise.all([second, third].map(outcomeOf))).toEqual(['admitted', 'waiting']);
    second.release();
    expect(await outcomeOf(third)).toBe('admitted');
  });

  it('keeps small reservations from starving behind large ones', async () => {
    const budget = new ByteBudget(OPTIONS);
    budget.reserve(80);
    budget.reserve(80);
    expect(await outcomeOf(budget.reserve(10))).toBe('admitted');
    expect(await outcomeOf(budget.reserve(10))).toBe('admitted');
    expect(await outcomeOf(budget.reserve(10))).toBe('waiting');
  });

  it('refuses a reservation after its time, and at once if too many wait', async () => {
    const budget = new ByteBudget(OPTIONS);
    budget.reserve(80);
    const late = budget.reserve(80);
    await vi.advanceTimersByTimeAsync(999);
    expect(await outcomeOf(late)).toBe('waiting');
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcomeOf(late)).toBe('overloaded');
    for (let count = 0; count < 3; count += 1) budget.reserve(80);
    expect(() => budget.reserve(80)).toThrow(expect.objectContaining({ code: 'overloaded', retryAfterSeconds: 1 }));
    expect(await outcomeOf(budget.reserve(10))).toBe('admitted');
  });

  it('admits a reservation alone, however large it is', async () => {
    const budget = new ByteBudget(OPTIONS);
    const huge = budget.reserve(1_000_000);
    expect(await outcomeOf(huge)).toBe('admitted');
    huge.release();
    huge.release();
    expect(budget.usedBytes).toBe(0);
  });

  it('calls onShort before it refuses, so that bytes can be released', () => {
    const budget = new ByteBudget(OPTIONS);
    const held = budget.reserve(80);
    expect(budget.tryReserve(50)).toBeUndefined();
    budget.onShort = () => {
      held.release();
    };
    expect(budget.tryReserve(50)).toBeDefined();
    expect(budget.usedBytes).toBe(50);
  });

  it('never exceeds its limit, and has everything back in the end', async () => {
    const step = fc.oneof(
      fc.record({ reserve: fc.integer({ min: 0, max: 150 }) }),
      fc.record({ release: fc.nat(), to: fc.constantFrom(0, 1, 5) }),
      fc.record({ waitMs: fc.integer({ min: 0, max: 1200 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const budget = new ByteBudget(OPTIONS);
        const made: Reservation[] = [];
        for (const one of steps) {
          if ('reserve' in one) {
            try {
              made.push(budget.reserve(one.reserve));
            } catch (error) {
              expect(error).toMatchObject({ code: 'overloaded' });
            }
          } else if ('waitMs' in one) {
            await vi.advanceTimersByTimeAsync(one.waitMs);
          } else if (one.to === 0) {
            made[one.release % made.length]?.release();
          } else {
            made[one.release % made.length]?.shrinkTo(one.to);
          }
          expect(budget.usedBytes).toBeLessThanOrEqual(OPTIONS.bytesMax);
          expect(budget.usedBytes).toBeGreaterThanOrEqual(0);
        }
        for (const reservation of made) reservation.release();
        expect([budget.usedBytes, budget.waiting]).toEqual([0, 0]);
      }),
    );
  });
});
