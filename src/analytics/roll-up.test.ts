import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENTS_FORMAT } from './events-format.js';
import { noSums, readRollUp, RollUp } from './roll-up.js';

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
  it('is unchanged by storing it, and adds up', () => {
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

  it('throws a RangeError for damaged bytes or counts them, and never reads beyond them', () => {
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

  it('of a day keeps the 500 most frequent terms, and how often the others can have occurred', () => {
    const many = Array.from({ length: 600 }, (_, number) => Array<string>(600 - number).fill(`term ${number}`)).flat();
    const list = readRollUp(rollUpOf(many).encodeDay()).list('terms');
    expect([list.length, list.errorMax, list.unlistedMax]).toEqual([500, 0, 100]);
    expect([list.counts[0], list.counts[499]]).toEqual([600, 101]);
  });

  it('has numbers of sums and lists that belong to the format number of the environment', () => {
    const [, sums, lists] = rollUpOf([]).encodeDay();
    const known: Readonly<Record<number, readonly [number, number]>> = { 1: [9, 4] };
    expect(
      known[EVENTS_FORMAT.number],
      `Roll-ups have ${sums} sums and ${lists} lists. A release before would misread them: where there are more than in the format ${EVENTS_FORMAT.number}, ` +
        'raise the number of EVENTS_FORMAT (events-format.ts) with an upgrade that does nothing, and add the row here and to docs/formats.md',
    ).toEqual([sums, lists]);
    expect(
      Object.keys(noSums()).slice(0, 9),
      'Sums are stored in this order: a new one stands behind the others',
    ).toEqual([
      'searches',
      'zeroResultSearches',
      'clicks',
      'rerankedSearches',
      'topChanged',
      'placesMovedUp',
      'resultsShown',
      'clickedPlacesMovedUp',
      'clickedResults',
    ]);
  });

  it('of an earlier release without these numbers, or with smaller ones, is read with what it has', () => {
    const bytes = rollUpOf(['red', 'red', 'sea']).encodeDay();
    const whole = readRollUp(bytes);
    // The first release wrote nine sums, four lists, and not how many.
    const [, sumCount = 0] = bytes;
    const lists = bytes.subarray(8 + 8 * sumCount);
    const unsaid = readRollUp(Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]), bytes.subarray(8, 80), lists]));
    expect(unsaid.sums).toEqual(whole.sums);
    expect(unsaid.list('clickedPairs').length).toBe(2);

    const head = Buffer.from(bytes.subarray(0, 8)).fill(8, 1, 2).fill(3, 2, 3);
    const withoutLastSum = Buffer.concat([head, bytes.subarray(8, 72), lists]);
    const fewer = readRollUp(withoutLastSum);
    expect(fewer.sums).toEqual({ ...whole.sums, clickedResults: 0 });
    expect(fewer.list('terms').length).toBe(2);
    expect(fewer.list('clickedPairs').length).toBe(0);
  });
});
