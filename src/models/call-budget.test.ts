import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SimulatedTimers } from '../../test/support/simulated-timers.js';
import { CallBudget } from './call-budget.js';

const MINUTE_MS = 60_000;
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('CallBudget', () => {
  it('keeps requests and tokens of every minute within their limits, and admits all calls in their order', async () => {
    const call = fc.record({ pauseMs: fc.nat(30_000), tokens: fc.integer({ min: 1, max: 60 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 1, maxLength: 30 }),
        fc.record({ requests: fc.integer({ min: 1, max: 5 }), tokens: fc.integer({ min: 60, max: 120 }) }),
        async (calls, limits) => {
          const timers = new SimulatedTimers();
          const budget = new CallBudget({ requestsPerMinute: limits.requests, tokensPerMinute: limits.tokens }, timers);
          const admitted: { atMs: number; tokens: number; number: number }[] = [];
          for (const [number, { pauseMs, tokens }] of calls.entries()) {
            await timers.pass(pauseMs, settled);
            void budget.take(tokens).then(() => admitted.push({ atMs: timers.nowMs(), tokens, number }));
          }
          await timers.pass(MINUTE_MS * (calls.length + 1), settled);
          expect(admitted.map(({ number }) => number)).toEqual(calls.map((_call, number) => number));
          for (const { atMs } of admitted) {
            const minute = admitted.filter((each) => each.atMs >= atMs && each.atMs < atMs + MINUTE_MS);
            expect(minute.length).toBeLessThanOrEqual(limits.requests);
            expect(minute.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(limits.tokens);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it('admits a call alone that is larger than the limit of a minute', async () => {
    const timers = new SimulatedTimers();
    const budget = new CallBudget({ requestsPerMinute: null, tokensPerMinute: 10 }, timers);
    await budget.take(500);
    let isAdmitted = false;
    void budget.take(1).then(() => (isAdmitted = true));
    await timers.pass(MINUTE_MS - 1, settled);
    expect(isAdmitted).toBe(false);
    await timers.pass(2, settled);
    expect(isAdmitted).toBe(true);
  });

  it('admits the next call if the one before it is aborted', async () => {
    const timers = new SimulatedTimers();
    const budget = new CallBudget({ requestsPerMinute: null, tokensPerMinute: 10 }, timers);
    await budget.take(5);
    const left = new AbortController();
    const large = budget.take(10, left.signal);
    const small = budget.take(5);
    left.abort(new Error('left'));
    await expect(large).rejects.toThrow('left');
    await small;
    await expect(budget.take(1, left.signal)).rejects.toThrow('left');
  });

  it('never waits if nothing is limited', async () => {
    const budget = new CallBudget({ requestsPerMinute: null, tokensPerMinute: null }, new SimulatedTimers());
    await Promise.all(Array.from({ length: 1000 }, () => budget.take(1e9)));
  });
});
