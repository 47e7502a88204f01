import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OperatorError } from '../platform/index.js';
import { offeredPlans, planOfNewcomers } from './plan-settings.js';
import { LIMITS } from './types.js';

describe('offeredPlans', () => {
  it('reads names, limits and successors', () => {
    const plans = offeredPlans([
      'free records=10 storage_bytes=0  successor=team',
      ' team searches_a_month=9007199254740991',
    ]);
    expect([...plans.values()]).toEqual([
      { name: 'free', limits: { records: 10, storage_bytes: 0 }, successor: 'team' },
      { name: 'team', limits: { searches_a_month: 9_007_199_254_740_991 }, successor: undefined },
    ]);
    expect(offeredPlans([]).size).toBe(0);
  });

  it.each([
    [['default records=1'], /'default records=1': it begins with a name/],
    [[''], /begins with a name/],
    [['Free'], /begins with a name/],
    [['free records=-1'], /'records' is a whole number from 0 on, not '-1'/],
    [['free records=1e9'], /whole number/],
    [['free records=9007199254740992'], /whole number/],
    [['free records'], /'records' is none of records=/],
    [['free people=3'], /'people=3' is none of/],
    [['free =3'], /'=3' is none of/],
    [['free lists=1 lists=2'], /'lists' stands there twice/],
    [['free', 'free lists=1'], /there is another plan 'free'/],
    [['free successor=team'], /there is no plan 'team' to succeed it/],
    [['free successor=default'], /there is no plan 'default'/],
    [['free successor=free'], /succeeds itself by way of 'free'/],
    [['a successor=b', 'b successor=c', 'c successor=b'], /succeeds itself/],
  ])('refuses %j', (texts, reason) => {
    expect(() => offeredPlans(texts)).toThrow(OperatorError);
    expect(() => offeredPlans(texts)).toThrow(reason);
  });

  it('reads any texts or throws an OperatorError, and all chains of successors end', () => {
    const word = fc.oneof(
      fc.constantFrom(...LIMITS.map((limit) => `${limit}=5`), 'successor=a', 'successor=b', 'successor=c', 'a', 'b'),
      fc.string({ maxLength: 12 }),
    );
    const text = fc
      .tuple(fc.constantFrom('a', 'b', 'c', ''), fc.array(word, { maxLength: 4 }))
      .map(([name, words]) => [name, ...words].join(' '));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), (texts) => {
        try {
          const plans = offeredPlans(texts);
          for (let plan of plans.values()) {
            for (let steps = 0; plan.successor !== undefined; steps++) {
              expect(steps).toBeLessThan(plans.size);
              const next = plans.get(plan.successor);
              if (next === undefined) throw new Error('a successor that there is not');
              plan = next;
            }
          }
        } catch (error) {
          expect(error).toBeInstanceOf(OperatorError);
        }
      }),
    );
  });
});

describe('planOfNewcomers', () => {
  it('is one of the offered plans, or the one without limits', () => {
    const offered = offeredPlans(['trial lists=1']);
    expect(planOfNewcomers('trial', offered)).toBe('trial');
    expect(planOfNewcomers('default', offered)).toBe('default');
    expect(() => planOfNewcomers('free', offered)).toThrow("'free' is not one of the plans default, trial.");
  });
});
