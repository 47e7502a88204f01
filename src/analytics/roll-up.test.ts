import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRollUp, RollUp } from './roll-up.js';

function rollUpOf(terms: readonly string[]): RollUp {
  const rollUp = new RollUp();
  for (const term of terms) {
    const bytes = Buffer.from(term);
    rollUp.sums.searches += 1;
    rollUp.tables.terms.add(bytes, 0, bytes.length);
    rollUp.tables.clickedPairs.add(bytes, 0, bytes.length);
  }
  return rollUp;
}

const terms = fc.array(fc.string({ maxLength: 5 }), { maxLength: 50 });

describe('a roll-up', () => {
  it('is the same once it was stored, and adds up', () => {
    fc.assert(
      fc.property(terms, terms, (first, second) => {
        const sum = new RollUp();
        sum.addStored(readRollUp(rollUpOf(first).encodeHour()));
        sum.addStored(readRollUp(rollUpOf(second).encodeDay()));
        const together = rollUpOf([...first, ...second]);
        expect(sum.sums).toEqual(together.sums);
        expect(sum.tables.terms.top(100)).toEqual(together.tables.terms.top(100));
        expect(sum.tables.clickedPairs.top(100)).toEqual(together.tables.clickedPairs.top(100));
        expect(sum.tables.clickedTerms.size).toBe(0);
      }),
    );
  });

  it('is refused where its bytes are damaged, or counted, and never read beyond them', () => {
    fc.assert(
      fc.property(terms, fc.nat(), fc.nat(255), fc.nat(), (counted, at, byte, cut) => {
        const bytes = rollUpOf(counted).encodeDay();
        bytes[at % bytes.length] = byte;
        try {
          new RollUp().addStored(readRollUp(bytes.subarray(0, bytes.length - (cut % 64))));
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });

  it('of a day keeps the 500 most frequent terms and says how often the others occurred', () => {
    const many = Array.from({ length: 600 }, (_, number) => Array<string>(600 - number).fill(`term ${number}`)).flat();
    const list = readRollUp(rollUpOf(many).encodeDay()).list('terms');
    expect([list.length, list.errorMax, list.unlistedMax]).toEqual([500, 0, 100]);
    expect([list.counts[0], list.counts[499]]).toEqual([600, 101]);
  });
});
