import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aligned, TermList } from './term-list.js';
import { TermTable } from './term-table.js';

const terms = fc.array(fc.string({ maxLength: 3 }), { maxLength: 400 });

function counted(values: readonly string[], capacity: number): TermTable {
  const table = new TermTable(capacity);
  for (const value of values) {
    const bytes = Buffer.from(value);
    table.add(bytes, 0, bytes.length);
  }
  return table;
}

function naive(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values)
    counts.set(Buffer.from(value).toString(), (counts.get(Buffer.from(value).toString()) ?? 0) + 1);
  return counts;
}

function naiveTop(counts: ReadonlyMap<string, number>, max: number) {
  return [...counts]
    .sort(([a, countA], [b, countB]) => countB - countA || Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .slice(0, max)
    .map(([term, count]) => ({ term, count }));
}

const stored = (table: TermTable, max: number) => new TermList(table.encode(max, { isSorted: false }), 0);

describe('TermTable', () => {
  it('counts like a map while there is room', () => {
    fc.assert(
      fc.property(terms, fc.integer({ min: 1, max: 30 }), (values, max) => {
        const table = counted(values, 1000);
        expect(table.top(max)).toEqual(naiveTop(naive(values), max));
        expect(table.errorMax).toBe(0);
      }),
    );
  });

  it('never counts too much beyond its room, and too little only by as much as it says', () => {
    fc.assert(
      fc.property(terms, fc.integer({ min: 1, max: 20 }), (values, capacity) => {
        const table = counted(values, capacity);
        expect(table.size).toBeLessThan(2 * capacity + 1);
        expect(table.errorMax).toBeLessThanOrEqual(values.length / capacity);
        for (const [term, count] of naive(values)) {
          expect(table.count(term)).toBeLessThanOrEqual(count);
          expect(table.count(term)).toBeGreaterThanOrEqual(count - table.unlistedMax);
        }
      }),
    );
  });

  it('has the same sums however the terms were stored in between', () => {
    fc.assert(
      fc.property(fc.array(terms, { maxLength: 4 }), (parts) => {
        const table = new TermTable(Number.POSITIVE_INFINITY);
        for (const part of parts) table.addList(stored(counted(part, 1000), 1000));
        expect(table.top(20)).toEqual(naiveTop(naive(parts.flat()), 20));
        const directly = new TermTable(Number.POSITIVE_INFINITY);
        for (const part of parts) counted(part, 1000).addTo(directly);
        expect(directly.top(20)).toEqual(table.top(20));
      }),
    );
  });

  it('tells for shortened lists how often a missing term can have occurred', () => {
    fc.assert(
      fc.property(terms, fc.integer({ min: 1, max: 10 }), (values, max) => {
        const list = stored(counted(values, 1000), max);
        const listed = new TermTable(Number.POSITIVE_INFINITY);
        listed.addList(list);
        for (const [term, count] of naive(values))
          if (listed.count(term) === 0) expect(count).toBeLessThanOrEqual(list.unlistedMax);
      }),
    );
  });
});

describe('TermList', () => {
  it('throws a RangeError for inconsistent bytes, and never reads beyond them', () => {
    fc.assert(
      fc.property(terms, fc.nat(), fc.nat(255), fc.nat(), (values, at, byte, cut) => {
        const bytes = Buffer.from(counted(values, 1000).encode(1000, { isSorted: true }));
        bytes[at % bytes.length] = byte;
        const damaged = aligned(bytes.subarray(0, bytes.length - (cut % 40)));
        let list: TermList;
        try {
          list = new TermList(damaged, 0);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
          return;
        }
        expect(list.textBegin + list.lengths.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(list.end);
        expect(list.end).toBeLessThanOrEqual(damaged.length);
      }),
    );
  });
});
