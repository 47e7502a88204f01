import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue } from './fair-queue.js';

/** Returns a queue of these entries; `a1` is the first entry of the owner a. */
const queueOf = (entries: readonly string[]) => {
  const queue = new FairQueue<string>((entry) => entry.charAt(0));
  for (const entry of entries) queue.push(entry);
  return queue;
};

describe('FairQueue', () => {
  it('alternates between owners, and keeps the order of each', () => {
    const queue = queueOf(['a1', 'a2', 'a3', 'b1', 'c1', 'c2']);
    expect(queue.take(4)).toEqual(['a1', 'b1', 'c1', 'a2']);
    expect(queue.take(9)).toEqual(['c2', 'a3']);
    expect(queue.length).toBe(0);
    expect(queue.take(1)).toEqual([]);
  });

  it('puts an owner that comes again behind those that wait', () => {
    const queue = queueOf(['a1', 'a2', 'b1', 'b2']);
    expect(queue.take(1)).toEqual(['a1']);
    queue.push('c1');
    queue.push('a3');
    expect(queue.take(4)).toEqual(['b1', 'a2', 'c1', 'b2']);
  });

  it('begins with others after one owner alone was served', () => {
    const queue = queueOf(['a1', 'a2', 'a3']);
    expect(queue.take(1)).toEqual(['a1']);
    queue.push('b1');
    expect(queue.take(3)).toEqual(['b1', 'a2', 'a3']);
  });

  it('begins with others after all entries of one owner alone were taken', () => {
    const queue = queueOf(['a1']);
    expect(queue.take(5)).toEqual(['a1']);
    queue.push('a2');
    queue.push('b1');
    expect(queue.take(2)).toEqual(['b1', 'a2']);
  });

  it('begins again with an owner alone that was served before', () => {
    const queue = queueOf(['a1', 'a2', 'a3']);
    expect([queue.take(1), queue.take(1)]).toEqual([['a1'], ['a2']]);
    queue.push('b1');
    queue.push('c1');
    expect([queue.take(1), queue.take(1), queue.take(1)]).toEqual([['b1'], ['c1'], ['a3']]);
  });

  it('gives an owner back the turn that it was taken for, although it was the last one served', () => {
    const queue = queueOf(['a1', 'a2']);
    expect(queue.take(1)).toEqual(['a1']);
    queue.push('b1');
    queue.putFirst(['a']);
    expect(queue.take(2)).toEqual(['a2', 'b1']);
  });

  it('puts the given owners first', () => {
    const queue = queueOf(['a1', 'b1', 'c1', 'c2', 'd1']);
    queue.putFirst(['c', 'e', 'b']);
    expect(queue.take(9)).toEqual(['c1', 'b1', 'a1', 'd1', 'c2']);
  });

  it('counts entries by owner, and knows the last one of each', () => {
    const queue = queueOf(['a1', 'b1', 'a2']);
    expect([...queue.counts()]).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
    expect([queue.lastOf('a'), queue.lastOf('c')]).toEqual(['a2', undefined]);
  });

  it('inserts before the first entry that belongs behind, and removes entries', () => {
    const queue = queueOf(['a1', 'a3', 'b1']);
    queue.insert('a2', (other) => other === 'a3');
    queue.insert('b2', () => false);
    queue.remove('b1');
    queue.remove('b9');
    queue.remove('d1');
    expect([...queue]).toEqual(['a1', 'a2', 'a3', 'b2']);
    expect(queue.length).toBe(4);
  });

  it('returns every entry once, and no owner waits for two entries of another', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 40 }),
        fc.integer({ min: 1, max: 5 }),
        (owners, max) => {
          const entries = owners.map((owner, at) => `${owner}${at}`);
          const queue = queueOf(entries);
          const given: string[] = [];
          while (queue.length > 0) {
            const waiting = queue.length;
            const before = new Set([...queue].map((entry) => entry.charAt(0)));
            const taken = queue.take(max);
            expect(taken).toHaveLength(Math.min(max, waiting));
            expect(queue.length).toBe(waiting - taken.length);
            const served = new Set(taken.map((entry) => entry.charAt(0)));
            expect(served.size).toBe(Math.min(before.size, taken.length));
            given.push(...taken);
          }
          expect(given.toSorted()).toEqual(entries.toSorted());
        },
      ),
    );
  });
});
