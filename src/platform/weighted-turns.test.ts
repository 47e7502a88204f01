/**
 * The bound holds except for one that is larger by itself; turns are in order; and nobody who leaves keeps anything.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NEVER } from './cancellation.js';
import { WeightedTurns } from './weighted-turns.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('WeightedTurns keeps its bound under any order of taking, leaving and giving back', async () => {
  const action = fc.oneof(
    fc.record({ kind: fc.constant('take' as const), weight: fc.integer({ min: 0, max: 15 }) }),
    fc.record({ kind: fc.constantFrom('give' as const, 'leave' as const), which: fc.nat(20) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
      const turns = new WeightedTurns(10);
      const held: { weight: number; giveBack: () => void }[] = [];
      const waiting = new Set<AbortController>();
      const taken: Promise<void>[] = [];
      for (const each of actions) {
        if (each.kind === 'take') {
          const leaving = new AbortController();
          waiting.add(leaving);
          const { weight } = each;
          const turn = turns.take(weight, leaving.signal).then(
            (giveBack) => void held.push({ weight, giveBack }),
            () => undefined,
          );
          taken.push(turn.finally(() => waiting.delete(leaving)));
        } else if (each.kind === 'give') held.splice(each.which % Math.max(held.length, 1), 1)[0]?.giveBack();
        else [...waiting][each.which % Math.max(waiting.size, 1)]?.abort(new Error('left'));
        await settled();
        const sum = held.reduce((weight, one) => weight + one.weight, 0);
        expect(held.length === 1 || sum <= 10 || held.filter(({ weight }) => weight > 0).length === 1).toBe(true);
      }
      // All of them end once what is held is given back.
      while (waiting.size > 0) {
        for (const one of held.splice(0)) one.giveBack();
        await settled();
      }
      await Promise.all(taken);
    }),
  );
});

it('WeightedTurns lets no later caller pass an earlier one, and gives back once', async () => {
  const turns = new WeightedTurns(2);
  const order: string[] = [];
  const first = await turns.take(1, NEVER);
  const large = turns.take(2, NEVER).then((giveBack) => {
    order.push('large');
    return giveBack;
  });
  const small = turns.take(1, NEVER).then(() => order.push('small'));
  await settled();
  expect(order).toEqual([]);
  first();
  first();
  const giveBack = await large;
  expect(order).toEqual(['large']);
  giveBack();
  await small;
  expect(order).toEqual(['large', 'small']);
});

it('WeightedTurns rejects a caller who has left already', async () => {
  await expect(new WeightedTurns(1).take(1, AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
});
