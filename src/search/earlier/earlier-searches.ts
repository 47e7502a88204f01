/**
 * Index of a list's earlier searches and clicks: finds searches by their beginning, and records that were clicked for
 * the same searches. Immutable.
 */
import { prefixDistance } from './prefix-distance.js';

/** A search that found something. */
export interface EarlierQuery {
  readonly text: string;
  readonly searches: number;
  /** Clicks on results of these searches, on the list route. */
  readonly clicks: number;
}

/** A record that was clicked for a search. */
export interface EarlierClick {
  readonly query: string;
  readonly record: string;
  readonly clicks: number;
}

export interface CompletionOptions {
  readonly max: number;
  /** True for only searches that led to a click. */
  readonly requireClick: boolean;
}

/** Returns the earlier searches of a list. Undefined if nothing is known of it. */
export type EarlierSearchesOf = (listId: string) => EarlierSearches | undefined;

/** A single click may be accidental. */
const COMMON_CLICKS_MIN = 2;
/** Syllables that are typed letter by letter. */
const HANGUL = /[\uac00-\ud7a3]+/gu;

interface Indexed extends EarlierQuery {
  readonly folded: string;
}

/** Returns a text as it is compared: without case, and with the words as an index has them. */
export type FoldQuery = (text: string) => string;

interface Learned {
  readonly queries: readonly EarlierQuery[];
  readonly clicks: readonly EarlierClick[];
  readonly fold: FoldQuery;
  /** Those of the same list so far, of which nothing is folded again. */
  readonly before?: EarlierSearches | undefined;
}

export class EarlierSearches {
  /** Sorted by folded text. */
  private readonly queries: readonly Indexed[];
  private readonly clicksOfQuery = new Map<string, EarlierClick[]>();
  private readonly clicksOfRecord = new Map<string, EarlierClick[]>();

  private readonly fold: FoldQuery;

  constructor({ queries, clicks, fold, before }: Learned) {
    this.fold = (text) => fold(text).replace(HANGUL, (syllables) => syllables.normalize('NFD'));
    const known = new Map((before?.queries ?? []).map(({ text, folded }) => [text, folded]));
    this.queries = queries
      .map((query) => ({ ...query, folded: known.get(query.text) ?? this.fold(query.text) }))
      .sort((a, b) => (a.folded < b.folded ? -1 : 1));
    for (const click of clicks) {
      append(this.clicksOfQuery, click.query, click);
      append(this.clicksOfRecord, click.record, click);
    }
  }

  /** Returns searches that begin with the typed text, most frequent first. */
  completions(typed: string, { max, requireClick }: CompletionOptions): readonly EarlierQuery[] {
    const prefix = this.fold(typed);
    const found: Indexed[] = [];
    for (let index = this.firstFrom(prefix); index < this.queries.length; ++index) {
      const query = this.queries[index] as Indexed;
      if (!query.folded.startsWith(prefix)) break;
      found.push(query);
    }
    return popular(found, max, requireClick);
  }

  /** Returns searches whose beginning is at most `editsMax` edits away from the typed text, nearest first. */
  nearCompletions(typed: string, editsMax: number, { max, requireClick }: CompletionOptions): readonly EarlierQuery[] {
    const prefix = this.fold(typed);
    const byDistance = new Map<number, Indexed[]>();
    for (const query of this.queries) {
      const distance = prefixDistance(prefix, query.folded, editsMax);
      if (distance <= editsMax) append(byDistance, distance, query);
    }
    const nearest = Array.from({ length: editsMax + 1 }, (_, distance) => byDistance.get(distance) ?? []);
    return nearest.flatMap((queries) => popular(queries, max, requireClick)).slice(0, max);
  }

  /** Returns the names of records that were clicked for the same searches as this one, closest first. */
  clickedTogether(record: string, max: number): readonly string[] {
    const scores = new Map<string, { score: number; common: number }>();
    for (const { query, clicks: own } of this.clicksOfRecord.get(record) ?? []) {
      const clicks = this.clicksOfQuery.get(query) ?? [];
      const all = clicks.reduce((sum, click) => sum + click.clicks, 0);
      for (const other of clicks) {
        if (other.record === record) continue;
        const known = scores.get(other.record) ?? { score: 0, common: 0 };
        // Divided by all clicks of the query: a query with clicks on nearly every record says little about this one.
        known.score += (own * other.clicks) / all;
        known.common += Math.min(own, other.clicks);
        scores.set(other.record, known);
      }
    }
    return [...scores]
      .filter(([, { common }]) => common >= COMMON_CLICKS_MIN)
      .sort(([a, { score: scoreA }], [b, { score: scoreB }]) => scoreB - scoreA || (a < b ? -1 : 1))
      .slice(0, max)
      .map(([name]) => name);
  }

  /** Returns the index of the first query that is not less than the prefix (binary search). */
  private firstFrom(prefix: string): number {
    let [low, high] = [0, this.queries.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.queries[middle] as Indexed).folded < prefix) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function popular(queries: readonly Indexed[], max: number, requireClick: boolean): Indexed[] {
  const usable = requireClick ? queries.filter(({ clicks }) => clicks > 0) : [...queries];
  return usable
    .sort(
      (a, b) => (requireClick ? b.clicks - a.clicks : 0) || b.searches - a.searches || (a.folded < b.folded ? -1 : 1),
    )
    .slice(0, max);
}

function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
