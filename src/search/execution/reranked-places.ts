/** Builds a page of hits whose best ones were reordered by a reranker. */
import type { Reranked } from '../types.js';
import type { HitPlace } from './group-ranking.js';

export interface RerankedPlace extends HitPlace {
  /** Rank by score, from 0. */
  readonly before: number;
  /** Undefined for hits that were not reranked. */
  readonly relevance: number | undefined;
}

/**
 * Returns a page of hits. `byScore` has all hits from the first to the last of the page, and at least those that were
 * reranked.
 */
export function rerankedPage(
  byScore: readonly HitPlace[],
  { order, relevances }: Pick<Reranked, 'order' | 'relevances'>,
  { skip, size }: { readonly skip: number; readonly size: number },
): RerankedPlace[] {
  const known = (order ?? []).filter((place) => place < byScore.length);
  const all = [...known, ...Array.from(byScore.keys()).slice(known.length)];
  return all.slice(skip, skip + size).map((before, index) => {
    const relevance = skip + index < known.length ? relevances[skip + index] : undefined;
    return { ...(byScore[before] as HitPlace), before, relevance };
  });
}
