/** Random options of a search: each alone, and together with any others. */
import type { SearchOptions } from '../../src/search/index.js';
import type { SeededRandom } from '../support/random.js';
import type { Filter } from '../model/reference-filter.js';
import type { Scalar } from '../model/reference-values.js';
import { COLOURS, dateOf, FACETS, TAGS, type MadeList } from './made-lists.js';
import { madeQuery } from './made-texts.js';

/** What decides the matches and scores of words. */
export type WordOptions = Pick<SearchOptions, 'query' | 'match' | 'typo_tolerance' | 'prefix' | 'search_fields'>;

export interface Circle {
  readonly latitude: number;
  readonly longitude: number;
  readonly distance: number;
}
export interface Box {
  readonly south: number;
  readonly west: number;
  readonly north: number;
  readonly east: number;
}
export interface Order {
  readonly field: string;
  readonly descending: boolean;
}

/** The other options, in the form in which the reference reads them. */
export interface OtherOptions {
  readonly filter?: Filter;
  readonly radius?: Circle;
  readonly box?: Box;
  readonly order?: readonly Order[];
  readonly ranking?: 'none';
  readonly distinct?: string;
  readonly facets?: readonly string[];
  readonly facetSize?: number;
  readonly facetQuery?: string;
  readonly disjunctive?: boolean;
  /** Lowest score of a hit. */
  readonly minimum?: number;
}

export function madeWords(random: SeededRandom, list: MadeList): WordOptions {
  const names = list.definition.searchable_fields.map(({ name }) => name);
  const fields = random.below(4) === 0 ? { search_fields: [random.pick(names), random.pick(names)] } : {};
  return {
    query: random.below(20) === 0 ? '' : madeQuery(random, list.vocabulary),
    match: random.pick(['any', 'any', 'any', 'all', 'all', 'phrase'] as const),
    typo_tolerance: random.below(3) > 0,
    prefix: random.below(4) === 0,
    ...fields,
  };
}

export function madeOthers(random: SeededRandom): OtherOptions {
  const isAt = (end: number) => random.below(end) === 0;
  const radius = isAt(6) ? { radius: madeCircle(random) } : {};
  const facets = isAt(2) ? madeFacets(random) : {};
  return {
    ...(isAt(2) && { filter: madeFilter(random, 0) }),
    ...radius,
    ...(isAt(6) && { box: madeBox(random) }),
    ...(isAt(3) && { order: madeOrder(random, radius.radius !== undefined) }),
    ...(isAt(3) && { distinct: random.pick(['colour', 'price', 'active', 'released', 'product', 'product']) }),
    ...facets,
    ...(isAt(3) && { facetSize: 1 + random.below(5) }),
    ...(isAt(3) && { disjunctive: true }),
    ...(isAt(6) && { minimum: (1 + random.below(random.pick([10, 999]))) / 1000 }),
  };
}

function madeFacets(random: SeededRandom): Pick<OtherOptions, 'facets' | 'facetQuery'> {
  if (random.below(4) > 0) return { facets: FACETS.map(({ name }) => name).filter(() => random.below(3) === 0) };
  const facets = ['colour', 'tags', 'product'].filter(() => random.below(2) === 0);
  return facets.length === 0
    ? {}
    : { facets, facetQuery: random.pick(['r', 'GR', 'dark', 'p1', 're da', 'b', 'x', 'a']) };
}

function madeCircle(random: SeededRandom): Circle {
  // Two places are as far only if they are one: the order of others does not depend on how a formula is rounded.
  return {
    latitude: random.next() * 180 - 90,
    longitude: random.next() * 360 - 180,
    distance: random.below(12_000_000),
  };
}

function madeBox(random: SeededRandom): Box {
  const [south, north] = [random.below(1801) / 10 - 90, random.below(1801) / 10 - 90].sort((a, b) => a - b);
  return {
    south: south as number,
    north: north as number,
    west: random.below(3600) / 10 - 180,
    east: random.below(3600) / 10 - 180,
  };
}

function madeOrder(random: SeededRandom, hasDistance: boolean): Order[] {
  const fields = ['colour', 'price', 'active', 'released', 'product', 'name', ...(hasDistance ? ['distance'] : [])];
  const keys = 1 + random.below(3);
  const chosen = Array.from({ length: keys }, () => random.pick(fields));
  return [...new Set(chosen)].map((field) => ({ field, descending: random.below(2) === 0 }));
}

export function madeFilter(random: SeededRandom, depth: number): Filter {
  const draw = depth >= 2 ? 4 + random.below(6) : random.below(10);
  if (draw < 2) {
    const parts = Array.from({ length: 2 + random.below(2) }, () => madeFilter(random, depth + 1));
    return { kind: random.pick(['and', 'or'] as const), parts };
  }
  if (draw < 4) return { kind: 'not', part: madeFilter(random, depth + 1) };
  const { name: field, type } = random.pick(FACETS);
  if (draw === 4) return { kind: 'null', field, by: random.pick(['=', '!='] as const) };
  if (draw === 5)
    return { kind: 'in', field, values: Array.from({ length: 1 + random.below(4) }, () => valueOf(random, field)) };
  const comparisons =
    type === 'boolean' ? (['=', '!='] as const) : (['=', '!=', '<', '<=', '>', '>=', '>', '<'] as const);
  return { kind: 'compare', field, by: random.pick(comparisons), value: valueOf(random, field) };
}

function valueOf(random: SeededRandom, field: string): Scalar {
  switch (field) {
    case 'colour':
      return random.pick([...COLOURS, 'between', 'RED']);
    case 'tags':
      return random.pick([...TAGS, 'f']);
    case 'price':
      return random.below(2) === 0 ? random.below(10) : random.below(2000) / 100 - 5;
    case 'sizes':
      return random.below(12);
    case 'active':
      return random.below(2) === 0;
    case 'released':
      return dateOf(random.below(300));
    default:
      return `p${random.below(random.pick([5, 400]))}`;
  }
}
