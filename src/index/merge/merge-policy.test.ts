import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SegmentSize } from '../versions/published-generation.js';
import { SEGMENTS_PER_VERSION_MAX, chooseForGraph, chooseMerge, chooseQuietMerge } from './merge-policy.js';

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
  it('removes segments without a live document first', () => {
    expect(chooseMerge(segments([90_000, 0], [4, 4]), policy)).toEqual([2]);
  });
  it('rewrites a segment with many deletions', () => {
    expect(chooseMerge(segments([90_000, 30_000]), policy)).toEqual([1]);
  });

  it('reaches an end with a limited number of segments, and rewrites each document about once per tier', () => {
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

describe('the greatest size of a merge', () => {
  it('also holds for two large segments of one tier', () => {
    const large = Array.from({ length: 25 }, () => [600_000, 0] as const);
    expect(chooseMerge(segments(...large), policy)).toEqual([]);
  });
  it('prevents that a segment is rewritten for each small one if there are many full ones', () => {
    const full = Array.from({ length: 25 }, () => [600_000, 0] as const);
    expect(chooseMerge(segments(...full, [300_000, 0], [10, 0]), policy)).toEqual([]);
  });
  it('counts live documents, so a segment with more of them is left alone', () => {
    expect(chooseMerge(segments([2_000_000, 900_000]), policy)).toEqual([]);
    expect(chooseMerge(segments([2_000_000, 1_100_000]), policy)).toEqual([1]);
  });
});

describe('chooseQuietMerge', () => {
  const sizes = (...live: readonly number[]) => segments(...live.map((count) => [count, 0] as const));

  it('merges segments of similar size', () => {
    expect(chooseQuietMerge(sizes(20_000, 20_000, 17_000), policy)).toEqual([1, 2, 3]);
  });
  it('leaves a large segment alone until the others together are as large', () => {
    expect(chooseQuietMerge(sizes(90_000, 300, 200, 1), policy)).toEqual([]);
    expect(chooseQuietMerge(sizes(90_000, 300, 200, 150), policy)).toEqual([2, 3, 4]);
    expect(chooseQuietMerge(sizes(90_000, 60_000, 50_000), policy)).toEqual([1, 2, 3]);
  });
  it('merges much smaller segments into a large one if outweighsTimes allows it', () => {
    const outweighing = { ...policy, documentsMax: 5_000_000, outweighsTimes: 16 };
    expect(chooseQuietMerge(sizes(910_000, 48_000, 28_000), policy)).toEqual([]);
    expect(chooseQuietMerge(sizes(910_000, 48_000, 28_000), outweighing)).toEqual([1, 2, 3]);
    expect(chooseQuietMerge(sizes(910_000, 30_000, 20_000), outweighing)).toEqual([2, 3]);
  });
  it('merges two segments of which one is three times as large, if outweighsTimes allows it', () => {
    expect(chooseQuietMerge(sizes(153_260, 46_740), policy)).toEqual([]);
    expect(chooseQuietMerge(sizes(153_260, 46_740), { ...policy, outweighsTimes: 4 })).toEqual([1, 2]);
  });
  it('leaves segments of the greatest size alone, and makes none larger', () => {
    expect(chooseQuietMerge(sizes(1_000_000, 600_000, 500_000), policy)).toEqual([]);
    expect(chooseQuietMerge(sizes(900_000, 200_000, 100_000, 100_000), policy)).toEqual([2, 3, 4]);
  });

  it('leaves few segments, and rewrites a document about once each time that the list grows by the factor', () => {
    const commitsMade = fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(commitsMade, fc.integer({ min: 1, max: 16 }), (commits, outweighsTimes) => {
        let present: SegmentSize[] = [];
        let rewritten = 0;
        for (const [index, documentCount] of commits.entries()) {
          present.push({ id: index * 2, documentCount, deletedCount: 0 });
          const ids = chooseQuietMerge(present, { ...policy, outweighsTimes });
          const merged = present
            .filter(({ id }) => ids.includes(id))
            .reduce((sum, each) => sum + each.documentCount, 0);
          rewritten += merged;
          present = present.filter(({ id }) => !ids.includes(id));
          if (merged > 0) present.push({ id: index * 2 + 1, documentCount: merged, deletedCount: 0 });
          expect(chooseQuietMerge(present, { ...policy, outweighsTimes })).toEqual([]);
        }
        const total = commits.reduce((sum, count) => sum + count, 0);
        const doublings = Math.ceil(Math.log2(total)) + 1;
        expect(present.length).toBeLessThanOrEqual(doublings);
        const times = Math.ceil(Math.log(total) / Math.log(1 + 1 / outweighsTimes)) + 1;
        expect(rewritten).toBeLessThanOrEqual(total * times);
      }),
      { numRuns: 100 },
    );
  });
});

describe('chooseForGraph', () => {
  const vectors = (lacking: readonly number[], ...sizes: readonly (readonly [number, number])[]) =>
    segments(...sizes).map((segment) => ({ ...segment, lacksGraph: lacking.includes(segment.id) }));

  it('chooses only segments without a graph, together or alone', () => {
    const sizes = [
      [90_000, 0],
      [10, 0],
      [5000, 0],
      [16_000, 7],
      [4000, 0],
    ] as const;
    expect(chooseForGraph(vectors([], ...sizes), policy)).toEqual([]);
    expect(chooseForGraph(vectors([3], ...sizes), policy)).toEqual([3]);
    expect(chooseForGraph(vectors([3, 4], ...sizes), policy)).toEqual([3, 4]);
  });
  it('chooses the smallest that a merge may combine, and larger ones by themselves', () => {
    const sizes = [
      [900_000, 0],
      [600_000, 0],
      [300_000, 0],
      [2_000_000, 0],
    ] as const;
    expect(chooseForGraph(vectors([1, 2, 3, 4], ...sizes), policy)).toEqual([2, 3]);
    expect(chooseForGraph(vectors([1, 4], ...sizes), policy)).toEqual([1]);
    expect(chooseForGraph(vectors([4], ...sizes), policy)).toEqual([4]);
  });
});
