/** Compares the answer of a search with the documented result. */
import { isDeepStrictEqual } from 'node:util';
import { Difference, holdsTrue, same } from './difference.js';
import { DistinctHits, hitOf, type Match } from './distinct-hits.js';
import type { Search } from './operations.js';
import { filterFields, hasNestedAnds, withoutOwnConditions, type Filter } from './reference-filter.js';
import { compareRows, type ReferenceList, type SortKey } from './reference-list.js';
import {
  compareKeys,
  instantOf,
  keyOf,
  type FacetDefinition,
  type Key,
  type Scalar,
  type Value,
} from './reference-values.js';
import { isDirection, type Near, type Scale, type Vector } from './reference-vectors.js';
import { matchesFacetQuery } from './reference-words.js';
import { checkHighlights } from './highlight-check.js';

export interface Hit {
  readonly name: string;
  readonly list_name?: string;
  readonly '@text_score'?: number;
  readonly distance?: number;
  readonly distinct_count?: number;
  readonly fields: Readonly<Record<string, Value>>;
  readonly highlights?: Readonly<Record<string, string>>;
}
export interface SearchAnswer {
  readonly total_count: number;
  readonly results: readonly Hit[];
  readonly facets?: Readonly<Record<string, readonly { readonly value: Scalar; readonly count: number }[]>>;
  readonly facet_ranges?: Readonly<Record<string, { readonly min?: Scalar; readonly max?: Scalar }>>;
}
/** List that is searched, with the name that hits of a group give it. */
export interface Searched {
  readonly name: string;
  readonly list: ReferenceList;
  readonly version: number;
  /** Length of the current list's vectors, which an old version may not have. */
  readonly dimensions?: number | undefined;
  /** Scale of the list's vectors; set if the search has a vector that is compared with them. */
  readonly scale?: Scale | undefined;
}
/** Relative tolerance, since the service computes distances in another way. */
const DISTANCE_TOLERANCE = 0.006;
const DISTANCE_METRES_MIN = 1;
const RECORD_KEYS: ReadonlySet<string> = new Set(['name', 'created_utc', 'modified_utc']);

/**
 * True if the service must refuse the search: an unknown field, an unusable vector, or a radius or box without a location
 * field.
 */
export function isRefused(search: Search, lists: readonly Searched[]): boolean {
  const known = (name: string) => lists.some(({ list }) => list.facet(name) !== undefined);
  const single = (name: string) => lists.some(({ list }) => list.facet(name)?.cardinality === 'Single');
  const filtered = search.filter === undefined ? [] : filterFields(search.filter);
  if (![...filtered, ...search.facets].every(known)) return true;
  if (search.vector !== undefined && isVectorRefused(search.vector, lists)) return true;
  const isOwn = (key: SortKey) => RECORD_KEYS.has(key.by) || isFarness(key, search, lists);
  if (!search.order.every((key) => isOwn(key) || single(key.by))) return true;
  if (isFacetQueryRefused(search, lists)) return true;
  if (search.distinct !== undefined && !single(search.distinct)) return true;
  const isSearchable = (name: string) => lists.some(({ list }) => list.definition.searchable.includes(name));
  if (search.query !== undefined && search.searchFields?.every(isSearchable) === false) return true;
  return (search.radius ?? search.box) !== undefined && lists.every(({ list }) => list.definition.location === null);
}

/** True for a facet query without facets, or with one that has no words. */
function isFacetQueryRefused({ facets, facetQuery }: Search, lists: readonly Searched[]): boolean {
  if (facetQuery === undefined) return false;
  const types = facets.flatMap((name) => lists.flatMap(({ list }) => list.facet(name)?.type ?? []));
  return facets.length === 0 || types.some((type) => type !== 'string');
}

/**
 * True if the key means the distance of a record: the search has a radius, and the key is not a facet's name in
 * backticks.
 */
function isFarness({ by, quoted = false }: SortKey, { radius }: Search, lists: readonly Searched[]): boolean {
  if (by !== 'distance' || radius === undefined) return false;
  return !quoted || lists.every(({ list }) => list.facet(by) === undefined);
}

function isVectorRefused(vector: Vector, lists: readonly Searched[]): boolean {
  const taking = lists.filter(({ list }) => list.model === 'own');
  if (taking.length === 0 || !isDirection(vector)) return true;
  const lengths = taking.flatMap(({ list, dimensions }) => dimensions ?? list.dimensions ?? []);
  return lengths.length > 0 && !lengths.includes(vector.length);
}

export class SearchCheck {
  readonly #expected: readonly Match[];
  /** Keys of records so close to a limit (of the radius or of the vector) that finding them or not are both right. */
  readonly #doubtful: ReadonlySet<string>;
  readonly #byKey: ReadonlyMap<string, Match>;
  readonly #distinct: DistinctHits;

  constructor(
    private readonly search: Search,
    private readonly lists: readonly Searched[],
  ) {
    const { radius } = search;
    const wide = radius && {
      centre: radius.centre,
      metres: radius.metres * (1 + DISTANCE_TOLERANCE) + DISTANCE_METRES_MIN,
    };
    const { vector, exact = false } = search;
    const isNarrow = search.searchFields !== undefined && search.query !== undefined;
    const isOfVector = vector !== undefined && search.query?.match !== 'phrase' && !isNarrow;
    const near = (scale: Scale | undefined, doubt: Near['doubt']) =>
      isOfVector && scale !== undefined ? { vector, scale, exact, doubt } : undefined;
    const asked = { ...search, isOfVector, ...(wide && { radius: wide }) };
    this.#expected = lists.flatMap(({ name, list, scale }) =>
      list.search(asked, near(scale, 1)).map((record) => ({ name, list, record })),
    );
    const surely = new Set(
      lists.flatMap(({ name, list, scale }) =>
        list.search(asked, near(scale, -1)).map((record) => this.#key({ name, list, record })),
      ),
    );
    const certain = ({ name, list, record }: Match) =>
      surely.has(this.#key({ name, list, record })) &&
      (radius === undefined ||
        list.distance(record, radius.centre) <= radius.metres * (1 - DISTANCE_TOLERANCE) - DISTANCE_METRES_MIN ||
        list.distance(record, radius.centre) === 0);
    this.#doubtful = new Set(this.#expected.filter((each) => !certain(each)).map((each) => this.#key(each)));
    this.#byKey = new Map(this.#expected.map((each) => [this.#key(each), each]));
    this.#distinct = new DistinctHits(search.distinct, this.#expected, certain);
  }

  /** Number of hits, which may be less than matches (`distinct`). */
  get total(): number {
    return this.#distinct.total;
  }

  get matches(): number {
    return this.#expected.length;
  }

  /** Returns the first hit of each value of `distinct`, from the hits of the same search without it. */
  firstOfEachValue(hits: readonly Hit[]): Hit[] {
    const seen = new Set<string>();
    return hits.filter((hit) => {
      const value = this.#distinct.hitOf(this.#matchOf(hit));
      return !seen.has(value) && seen.add(value);
    });
  }

  answer(answer: SearchAnswer): void {
    const { skip, size } = this.search;
    const total = answer.total_count;
    holdsTrue('total_count', total >= this.#distinct.least && total <= this.total, () => [
      total,
      'instead of',
      this.total,
      this.#missing(answer),
    ]);
    same('length of the page', answer.results.length, Math.max(0, Math.min(size, total - skip)));
    this.#hits(answer.results, skip);
    if (this.#doubtful.size > 0) return;
    this.#facets(answer);
  }

  /** Checks the hits of all pages together. */
  pages(hits: readonly Hit[]): void {
    holdsTrue('records that no page has', hits.length >= this.#distinct.least, () => [hits.length, this.total]);
    this.#hits(hits, 0);
  }

  #hits(hits: readonly Hit[], skip: number): void {
    const keys = hits.map((hit) => this.#keyOfHit(hit));
    same('records that come twice', keys.length, new Set(keys).size);
    const found = hits.map((hit) => ({ hit, expected: this.#matchOf(hit) }));
    const values = found.map(({ expected }) => this.#distinct.hitOf(expected));
    same('values that come twice', values.length, new Set(values).size);
    for (const { hit, expected } of found) this.#hit(hit, expected);
    this.#order(
      found.map(({ expected }) => expected),
      skip,
    );
    if (this.search.order.length > 0 || this.search.asStored === true) return;
    const scores = hits.map((hit) => hit['@text_score'] ?? -1);
    holdsTrue(
      'scores from 0 to 1',
      scores.every((score) => score >= 0 && score <= 1),
      () => scores,
    );
    holdsTrue(
      'scores that fall',
      scores.every((score, at) => at === 0 || score <= (scores[at - 1] ?? 0)),
      () => scores,
    );
  }

  #matchOf(hit: Hit): Match {
    const key = this.#keyOfHit(hit);
    const match = this.#byKey.get(key);
    if (match === undefined) throw new Difference('a record that does not match', key);
    return match;
  }

  #hit(hit: Hit, match: Match): void {
    const { record, list } = match;
    const { select, query, radius } = this.search;
    const { distinct_count: count } = hit;
    holdsTrue('distinct_count', this.#distinct.mayTell(match, count), () => [hit.name, count]);
    const fields = [...record.fields].filter(([name]) => select === undefined || select.includes(name));
    same('fields of a hit', { ...hit.fields }, Object.fromEntries(fields));
    if (radius !== undefined) {
      const metres = list.distance(record, radius.centre);
      const off = Math.abs((hit.distance ?? Infinity) - metres);
      holdsTrue('distance', off <= metres * DISTANCE_TOLERANCE + DISTANCE_METRES_MIN, () => [hit.distance, metres]);
    }
    checkHighlights(hit.highlights ?? {}, record, query, list, this.search.searchFields);
  }

  /** Checks the order; records that are equal in all keys may come in any order. */
  #order(page: readonly Match[], skip: number): void {
    const { order } = this.search;
    if (order.length === 0) return;
    if (order.some((key) => this.#isFarness(key))) return this.#orderByDistance(page);
    const row = ({ list, record }: Match) => list.sortValues(record, order);
    const rows = page.map(row);
    if (this.#doubtful.size > 0) {
      rows.every(
        (each, at) =>
          at === 0 || holdsTrue('order', compareRows(order, rows[at - 1] ?? [], each) <= 0, () => rows) === undefined,
      );
      return;
    }
    const all = this.#distinct.firsts(this.#expected, row, (left, right) => compareRows(order, left, right));
    same('order', rows, all.slice(skip, skip + rows.length));
  }

  #isFarness(key: SortKey): boolean {
    return isFarness(key, this.search, this.lists);
  }

  /**
   * Checks the order by distance: about equal distances may come in any order; only for equal points, the next key
   * decides.
   */
  #orderByDistance(page: readonly Match[]): void {
    const { order, radius } = this.search;
    if (radius === undefined) return;
    const compare = (one: Match, other: Match): number => {
      for (const key of order) {
        if (!this.#isFarness(key)) {
          const rows = [one, other].map(({ list, record }) => list.sortValues(record, [key]));
          const compared = compareRows([key], rows[0] ?? [], rows[1] ?? []);
          if (compared !== 0) return compared;
          continue;
        }
        const places = [one, other].map(({ list, record }) => list.placeOf(record));
        if (isDeepStrictEqual(places[0], places[1])) continue;
        const [near = 0, far = 0] = [one, other].map(({ list, record }) => list.distance(record, radius.centre));
        const isDoubtful = Math.abs(near - far) <= DISTANCE_METRES_MIN + far * DISTANCE_TOLERANCE;
        if (isDoubtful) return 0;
        return key.direction === 'asc' ? near - far : far - near;
      }
      return 0;
    };
    for (const [at, each] of page.entries()) {
      const before = page[at - 1];
      holdsTrue('order by distance', before === undefined || compare(before, each) <= 0, () => [before, each]);
    }
  }

  #facets(answer: SearchAnswer): void {
    const names = [...new Set(this.search.facets)];
    same('facets that were counted', Object.keys(answer.facets ?? {}).sort(), [...names].sort());
    for (const name of names) {
      const facet = this.lists.map(({ list }) => list.facet(name)).find((each) => each !== undefined);
      if (facet === undefined) continue;
      const counted = this.#countedFor(name);
      if (counted === undefined) continue;
      const counts = this.#counts(facet, counted);
      this.#values(facet, answer.facets?.[name] ?? [], counts);
      if (facet.type !== 'number' && facet.type !== 'date') continue;
      const keys = [...counts.keys()].sort(compareKeys);
      const range = answer.facet_ranges?.[name] ?? {};
      const ends = [range.min, range.max].map((end) => (end === undefined ? undefined : keyOf(facet.type, end)));
      same(`range of a ${facet.type} facet`, ends, [keys[0], keys.at(-1)]);
    }
  }

  /** Returns the records of which a facet is counted; undefined if the reference cannot tell. */
  #countedFor(name: string): readonly Match[] | undefined {
    const { filter, disjunctive = false, radius, vector } = this.search;
    if (!disjunctive || filter === undefined) return this.#expected;
    // Near a limit, more records may be found than those that were compared.
    if (radius !== undefined || vector !== undefined || hasNestedAnds(filter)) return undefined;
    const others: Filter | undefined = withoutOwnConditions(name, filter);
    const { filter: _, ...rest } = this.search;
    const search = others === undefined ? rest : { ...rest, filter: others };
    return this.lists.flatMap(({ name: listName, list }) =>
      list.search(search).map((record) => ({ name: listName, list, record })),
    );
  }

  #counts(facet: FacetDefinition, counted: readonly Match[]): Map<Key, number> {
    const hits = new Map<Key, Set<string>>();
    for (const match of counted) {
      if (match.list.facet(facet.name) === undefined) continue;
      for (const key of match.list.keys(match.record, facet)) {
        const ofValue = hits.get(key) ?? new Set();
        hits.set(key, ofValue.add(hitOf(match, this.search.distinct)));
      }
    }
    return new Map([...hits].map(([key, ofValue]) => [key, ofValue.size]));
  }

  #values(facet: FacetDefinition, actual: readonly { value: Scalar; count: number }[], counts: Map<Key, number>): void {
    const what = `values of a ${facet.type} facet`;
    const keys = actual.map(({ value }) => keyOf(facet.type, value));
    same(`${what} that come twice`, keys.length, new Set(keys).size);
    for (const [at, { count }] of actual.entries())
      same(`${what}: count of ${String(keys[at])}`, count, counts.get(keys[at] ?? ''));
    const { facetQuery, facetSize } = this.search;
    const matches = (key: Key) => facetQuery === undefined || matchesFacetQuery(facetQuery, String(key));
    holdsTrue(`${what} that have the words`, keys.every(matches), () => [facetQuery, keys]);
    const wanted = [...counts].filter(([key]) => matches(key));
    const most = wanted
      .map(([, count]) => count)
      .sort((left, right) => right - left)
      .slice(0, facetSize);
    same(
      what,
      actual.map(({ count }) => count),
      most,
    );
    if (facet.type === 'date')
      holdsTrue(
        `${what} as ISO dates`,
        actual.every(({ value }) => new Date(instantOf(String(value))).toISOString() === value),
        () => actual,
      );
  }

  #missing({ results }: SearchAnswer): string[] {
    const found = new Set(results.map((hit) => this.#keyOfHit(hit)));
    return [...this.#byKey.keys()].filter((key) => !found.has(key)).slice(0, 5);
  }

  #key({ name, record }: Match): string {
    return `${name}/${record.name}`;
  }

  #keyOfHit(hit: Hit): string {
    return `${hit.list_name ?? this.lists[0]?.name ?? ''}/${hit.name}`;
  }
}
