/** The hits of a page where a reranker has put the best ones in another order. */
import type { Reranked } from '../types.js';
import type { HitPlace } from './group-ranking.js';

export interface RerankedPlace extends HitPlace {
  /** Its place by score, from 0. */
  readonly before: number;
  /** Undefined for what was not reranked. */
  readonly relevance: number | undefined;
}

/** `byScore`: from the first hit to the last of the page, at least as many as were reranked. */
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
