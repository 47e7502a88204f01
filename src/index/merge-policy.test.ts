import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SEGMENTS_PER_VERSION_MAX, chooseMerge, type SegmentSize } from './merge-policy.js';

const policy = { fanIn: 8, documentsMax: 1_000_000 };
const segments = (...sizes: readonly (readonly [number, number])[]): SegmentSize[] =>
  sizes.map(([documentCount, deletedCount], index) => ({ id: index + 1, documentCount, deletedCount }));

describe('chooseMerge', () => {
  it('leaves few segments alone', () => {
    expect(chooseMerge(segments([5, 0], [70_000, 3]), policy)).toEqual([]);
  });
  it('merges a full tier and leaves larger segments alone', () => {
    expect(chooseMerge(segments([90_000, 0], ...Array.from({ length: 8 }, () => [3, 0] as const)), policy)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9,
    ]);
  });
  it('drops segments without a live document first', () => {
    expect(chooseMerge(segments([90_000, 0], [4, 4]), policy)).toEqual([2]);
  });
  it('rewrites a segment with many deletions', () => {
    expect(chooseMerge(segments([90_000, 30_000]), policy)).toEqual([1]);
  });

  it('comes to rest, within the bound on segments, rewriting each document about once a tier', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 400 }), (commits) => {
        let present: SegmentSize[] = [];
        let next = 1;
        let rewritten = 0;
        for (const documentCount of commits) {
          present.push({ id: next++, documentCount, deletedCount: 0 });
          for (let ids = chooseMerge(present, policy); ids.length > 0; ids = chooseMerge(present, policy)) {
            const sum = present
              .filter((segment) => ids.includes(segment.id))
              .reduce((total, segment) => total + segment.documentCount, 0);
            rewritten += sum;
            present = [
              ...present.filter((segment) => !ids.includes(segment.id)),
              { id: next++, documentCount: sum, deletedCount: 0 },
            ];
          }
          expect(present.length).toBeLessThanOrEqual(SEGMENTS_PER_VERSION_MAX + policy.fanIn);
        }
        const total = commits.reduce((sum, count) => sum + count, 0);
        expect(rewritten).toBeLessThanOrEqual(total * 8);
      }),
      { numRuns: 30 },
    );
  });
});
