/**
 * Which hits a search has by the option `distinct`: one for each value of the facet among the records that match, and one
 * for each record without a value. Without the option, each record is a hit.
 */
import type { ModelRecord, ReferenceList } from './reference-list.js';

/** A record that matches, with the name of its list. */
export interface Match {
  readonly name: string;
  readonly list: ReferenceList;
  readonly record: ModelRecord;
}
interface Sharing {
  all: number;
  certain: number;
}

/**
 * Returns what tells the hit of this record from the others: equal for records that are one hit. A list in which the
 * facet is missing, or may have several values, keeps all its records.
 */
export function hitOf({ name, list, record }: Match, distinct: string | undefined): string {
  const facet = distinct === undefined ? undefined : list.facet(distinct);
  const [key] = facet?.cardinality === 'Single' ? list.keys(record, facet) : [];
  return JSON.stringify(key === undefined ? [name, record.serial] : { type: facet?.type, key });
}

export class DistinctHits {
  readonly #sharing = new Map<string, Sharing>();

  /** `isCertain` tells which matches there must be; the others may be missing. */
  constructor(
    private readonly distinct: string | undefined,
    matches: readonly Match[],
    isCertain: (match: Match) => boolean,
  ) {
    for (const match of matches) {
      const hit = hitOf(match, distinct);
      const sharing = this.#sharing.get(hit) ?? { all: 0, certain: 0 };
      sharing.all += 1;
      if (isCertain(match)) sharing.certain += 1;
      this.#sharing.set(hit, sharing);
    }
  }

  /** Number of hits, and how many there must be at least. */
  get total(): number {
    return this.#sharing.size;
  }
  get least(): number {
    return [...this.#sharing.values()].filter(({ certain }) => certain > 0).length;
  }

  hitOf(match: Match): string {
    return hitOf(match, this.distinct);
  }

  /** True if the hit of this match may tell this `distinct_count`: undefined without the option. */
  mayTell(match: Match, count: number | undefined): boolean {
    if (this.distinct === undefined) return count === undefined;
    if (count === undefined) return false;
    const { all, certain } = this.#sharing.get(this.hitOf(match)) ?? { all: 0, certain: 0 };
    return count >= Math.max(1, certain) && count <= all;
  }

  /** Returns, for each hit, the match that `compare` puts first. */
  firsts<T>(matches: readonly Match[], of: (match: Match) => T, compare: (left: T, right: T) => number): T[] {
    const firsts = new Map<string, T>();
    for (const match of matches) {
      const [hit, made] = [this.hitOf(match), of(match)];
      const first = firsts.get(hit);
      if (first === undefined || compare(made, first) < 0) firsts.set(hit, made);
    }
    return [...firsts.values()].sort(compare);
  }
}
