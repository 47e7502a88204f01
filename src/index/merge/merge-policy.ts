/**
 * Which segments to merge next: tiered, so that each record is rewritten about once a tier, and small segments go first.
 * A pure function.
 */
import type { SegmentSize } from '../versions/published-generation.js';

/** Segments with fewer live documents than this are in the lowest tier; each tier above is `fanIn` times as large. */
const LOWEST_TIER_DOCUMENTS_MAX = 1000;
/** With more segments than this that can still be merged the smallest are, whatever their tiers. */
export const SEGMENTS_PER_VERSION_MAX = 20;
/** A segment with a greater part of its documents deleted is rewritten. */
const DELETED_RATIO_MAX = 0.3;
/** Segments that one merge takes at most. */
const MERGE_SOURCES_MAX = 32;

export interface MergePolicy {
  readonly fanIn: number;
  /** Live documents of a merged segment. */
  readonly documentsMax: number;
}

/** Numbers of the segments to merge into one, ascending; empty where there is nothing to do. */
export function chooseMerge(segments: readonly SegmentSize[], policy: MergePolicy): readonly number[] {
  const empty = segments.filter((segment) => liveCount(segment) === 0);
  if (empty.length > 0) return sources(empty);

  const bySize = mergeableBySize(segments, policy);
  // In the order of sizes the tiers come from the lowest up.
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
  /** How many times as many documents as all smaller segments together one may have that is merged with them; absent: as many. */
  readonly outweighsTimes?: number;
}

/**
 * Which segments to merge when the list is not being written to: each search pays once for every segment, so that few are
 * better, and there is time. The largest set in which no segment outweighs all smaller ones together: what is written a
 * little at a time is rewritten about once each time that the list doubles, and a large segment is left alone until
 * as much has come to it; where it may outweigh them, until that part of it has, and it is rewritten more often.
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
 * Which segments of vectors to give a graph, where nothing else is to be merged: those that lack one together, the smallest first. One
 * that is more than a merge may make is rewritten by itself: it is no larger than what was written at once.
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
      // Of what is larger, two may be more than a merge may make.
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

/** As many of the segments, given in the order of their sizes, as stay within the greatest size of a merge; perhaps none. */
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
