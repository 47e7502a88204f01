import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StorePages } from './store-pages.js';

const LIMITS = { bytesMax: 24_000, batchBytesMin: 100, batchBytesMax: 4000 };

describe('StorePages', () => {
  it('allows large batches until the pages they leave fill the share, and small ones afterwards', () => {
    const pages = new StorePages(LIMITS);
    const allowed = ['a', 'b', 'c', 'd', 'e'].map((list) => {
      const bytes = pages.batchBytesMax(list);
      pages.written(list, bytes);
      return bytes;
    });
    expect(allowed).toEqual([4000, 4000, 2000, 100, 100]);
    // The next batch of a list can use the pages that its store already has.
    expect(pages.batchBytesMax('a')).toBe(4000);
    expect(pages.batchBytesMax('c')).toBe(2000);
  });

  it('has room again when a list is closed', () => {
    const pages = new StorePages(LIMITS);
    for (const list of ['a', 'b', 'c']) pages.written(list, 4000);
    expect(pages.batchBytesMax('d')).toBe(100);
    pages.closed('a');
    pages.closed('b');
    expect(pages.batchBytesMax('d')).toBe(4000);
    pages.closed('unknown');
    pages.closed('c');
    expect(pages.bytes).toBe(0);
  });

  it('stays within its share, plus the least batch of each list, whatever is written', () => {
    const step = fc.record({
      list: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        const pages = new StorePages(LIMITS);
        for (const { list, share } of steps) pages.written(list, pages.batchBytesMax(list) * share);
        expect(pages.bytes).toBeLessThanOrEqual(LIMITS.bytesMax + 6 * LIMITS.batchBytesMin * 2.4);
      }),
    );
  });
});
