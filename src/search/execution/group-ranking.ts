/**
 * Merges the hits of a group's lists into one ranking (k-way merge). The hits of each list are sorted already, so the
 * group's next hit is always the best of the lists' next hits. Sort values are read from the records, and only for hits
 * that reach the head of their list; those of a record that cannot be read, by which its list was sorted, are in the
 * index.
 *
 * If hits are distinct by a facet, each list has only its first hit of each value. Of the hits of several lists with the
 * same value, the one that comes first here stays.
 *
 * Ties are broken by score, then by the order of the lists in the group, then by record number.
 */
import type { SearchRequest } from '../options/search-request.js';
import type { IndexedValues } from './indexed-values.js';
import type { ListSearch } from './list-search.js';
import type { RecordReader } from './record-reader.js';
import {
  compareSortValues,
  distinctKey,
  recordSortValues,
  storedValues,
  type SortValue,
  type ValueOf,
} from './sort-values.js';

/** Position of a hit: which list, and which of its hits. */
export interface HitPlace {
  readonly listIndex: number;
  readonly hit: number;
  /** With one hit per value: the number of matches that share its value. */
  readonly sharing?: number | undefined;
}

interface Stream {
  readonly listIndex: number;
  readonly search: ListSearch;
  next: number;
  /** Sort values of the next hit. Undefined until they are needed. */
  values: readonly SortValue[] | undefined;
}

/** Number of hits ranked between two checks whether the search has to stop. Each hit may read a record. */
const RANKED_BETWEEN_LOOKS = 32;

export class GroupRanking {
  private readonly streams: Stream[];

  constructor(
    private readonly request: SearchRequest,
    searches: readonly ListSearch[],
    private readonly values: { readonly records: RecordReader; readonly indexed: IndexedValues },
    /** Throws if the search has to stop. */
    private readonly stopIfAsked: () => void,
  ) {
    this.streams = searches.map((search, listIndex) => ({ listIndex, search, next: 0, values: undefined }));
  }

  page(skip: number, size: number): HitPlace[] {
    const places: HitPlace[] = [];
    const seen = new Set<string>();
    let looked = 0;
    for (let rank = 0; rank < skip + size;) {
      if (looked++ % RANKED_BETWEEN_LOOKS === 0) this.stopIfAsked();
      const best = this.best();
      if (best === undefined) break;
      const isHit = this.isFirstOfItsValue(best, seen);
      if (isHit && rank >= skip) places.push({ listIndex: best.listIndex, hit: best.next });
      if (isHit) rank += 1;
      best.next += 1;
      best.values = undefined;
    }
    return places;
  }

  private isFirstOfItsValue(stream: Stream, seen: Set<string>): boolean {
    const { distinct } = this.request;
    if (distinct === undefined || this.streams.length === 1) return true;
    const key = distinctKey(distinct, stream.search.list, this.valueOf(stream));
    if (key === undefined) return true;
    const isFirst = !seen.has(key);
    seen.add(key);
    return isFirst;
  }

  private best(): Stream | undefined {
    let best: Stream | undefined;
    for (const stream of this.streams) {
      if (stream.next >= stream.search.result.hits.count) continue;
      // In storage order, the lists follow one another.
      if (this.request.storageOrder) return stream;
      if (best === undefined || this.before(stream, best)) best = stream;
    }
    return best;
  }

  private before(left: Stream, right: Stream): boolean {
    const { order } = this.request;
    if (order.length > 0) {
      const [leftValues, rightValues] = [this.sortValues(left), this.sortValues(right)];
      for (const [index, key] of order.entries()) {
        const compared = compareSortValues(leftValues[index], rightValues[index], key.descending);
        if (compared !== 0) return compared < 0;
      }
    }
    // On equal scores, the list that comes first in the group wins, which is `right`.
    return left.search.result.hits.score(left.next) > right.search.result.hits.score(right.next);
  }

  private sortValues(stream: Stream): readonly SortValue[] {
    stream.values ??= recordSortValues(
      this.request.order,
      this.valueOf(stream),
      stream.search.result.hits.distance(stream.next),
    );
    return stream.values;
  }

  /** Returns the values of the next hit. */
  private valueOf({ search, next }: Stream): ValueOf {
    const { records, indexed } = this.values;
    const number = search.result.hits.recordNumber(next);
    const parts = records.read(search.list, number);
    return parts === undefined ? indexed.of(search, number) : storedValues(search.list, parts);
  }
}
