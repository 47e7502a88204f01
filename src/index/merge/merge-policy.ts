/**
 * Chooses the segments to merge next. Tiered, so that each record is rewritten about once per tier; small segments are
 * merged first. Pure functions.
 */
import type { SegmentSize } from '../versions/published-generation.js';

/** Segments with fewer live documents than this are in the lowest tier; each tier above is `fanIn` times as large. */
const LOWEST_TIER_DOCUMENTS_MAX = 1000;
/** If more segments than this could still be merged, the smallest ones are, whatever their tiers. */
export const SEGMENTS_PER_VERSION_MAX = 20;
/** A segment is rewritten if a larger fraction of its documents is deleted. */
const DELETED_RATIO_MAX = 0.3;
/** Maximum number of segments in one merge. */
const MERGE_SOURCES_MAX = 32;

export interface MergePolicy {
  readonly fanIn: number;
  /** Maximum number of live documents in a merged segment. */
  readonly documentsMax: number;
}

/** Returns the ids of the segments to merge into one, in ascending order; empty if there is nothing to do. */
export function chooseMerge(segments: readonly SegmentSize[], policy: MergePolicy): readonly number[] {
  const empty = segments.filter((segment) => liveCount(segment) === 0);
  if (empty.length > 0) return sources(empty);

  const bySize = mergeableBySize(segments, policy);
  // In ascending order of size, the tiers come from the lowest up.
  for (let begin = 0, end = 0; begin < bySize.length; begin = end) {
    const tier = tierOf(liveCount(bySize[begin] as SegmentSize), policy.fanIn);
    while (end < bySize.length && tierOf(liveCount(bySize[end] as SegmentSize), policy.fanIn) === tier) end += 1;
    const chosen = end - begin >= policy.fanIn ? withinLimit(bySize.slice(begin, end), policy) : [];
    if (chosen.length > 1) return chosen;
  }

  if (bySize.length > SEGMENTS_PER_VERSION_MAX) {
    const chosen = withinLimit(bySize.slice(0, bySize.length - SEGMENTS_PER_VERSION_MAX + policy.fanIn - 1), policy);
    if (chosen.length > 1) return chosen;
  }
  const worn = segments.find(
    (segment) =>
      segment.deletedCount > segment.documentCount * DELETED_RATIO_MAX && liveCount(segment) <= policy.documentsMax,
  );
  return worn === undefined ? [] : [worn.id];
}

export interface QuietMergePolicy extends MergePolicy {
  /**
   * Maximum ratio of a segment's documents to those of all smaller segments together at which it is merged with them.
   * Default 1.
   */
  readonly outweighsTimes?: number;
}

/**
 * Chooses the segments to merge while the list is not being written: each search pays for every segment, so fewer are
 * better, and there is time. Returns the largest set in which no segment outweighs all smaller ones together. So
 * records that arrive a few at a time are rewritten about once each time the list doubles, and a large segment is left
 * alone until the smaller ones have grown to its size. With `outweighsTimes` above 1 that happens at a fraction of its
 * size, so it is rewritten more often.
 */
export function chooseQuietMerge(segments: readonly SegmentSize[], policy: QuietMergePolicy): readonly number[] {
  const { outweighsTimes = 1 } = policy;
  const bySize = mergeableBySize(segments, policy);
  let count = 0;
  let smaller = 0;
  for (const [index, segment] of bySize.entries()) {
    const live = liveCount(segment);
    if (smaller + live > policy.documentsMax) break;
    if (index > 0 && live <= smaller * outweighsTimes) count = index + 1;
    smaller += live;
  }
  return sources(bySize.slice(0, count));
}

/**
 * Chooses segments of vectors to build a graph for when nothing else is to be merged: those without a graph are merged,
 * the smallest first. A segment that exceeds the maximum of a merge is rewritten by itself, because it is no larger
 * than what was written at once.
 */
export function chooseForGraph(
  segments: readonly (SegmentSize & { readonly lacksGraph: boolean })[],
  policy: MergePolicy,
): readonly number[] {
  const bySize = segments
    .filter(({ lacksGraph }) => lacksGraph)
    .toSorted((left, right) => liveCount(left) - liveCount(right) || left.id - right.id);
  const together = withinLimit(bySize, policy);
  return together.length > 0 ? together : bySize.slice(0, 1).map(({ id }) => id);
}

function mergeableBySize(segments: readonly SegmentSize[], policy: MergePolicy): readonly SegmentSize[] {
  return (
    segments
      // Two larger ones might exceed the maximum of a merge.
      .filter((segment) => liveCount(segment) <= policy.documentsMax / 2)
      .toSorted((left, right) => liveCount(left) - liveCount(right) || left.id - right.id)
  );
}

function liveCount(segment: SegmentSize): number {
  return segment.documentCount - segment.deletedCount;
}

function tierOf(live: number, fanIn: number): number {
  return live < LOWEST_TIER_DOCUMENTS_MAX
    ? 0
    : 1 + Math.floor(Math.log(live / LOWEST_TIER_DOCUMENTS_MAX) / Math.log(fanIn));
}

/** Returns as many of the segments, given in ascending order of size, as a merge may take; may be empty. */
function withinLimit(bySize: readonly SegmentSize[], policy: MergePolicy): readonly number[] {
  const chosen: SegmentSize[] = [];
  let live = 0;
  for (const segment of bySize) {
    live += liveCount(segment);
    if (live > policy.documentsMax) break;
    chosen.push(segment);
  }
  return sources(chosen);
}

function sources(segments: readonly SegmentSize[]): readonly number[] {
  return segments
    .slice(0, MERGE_SOURCES_MAX)
    .map((segment) => segment.id)
    .toSorted((left, right) => left - right);
}
