/**
 * What a search with any options has to answer, made from the hits of the same words without any other option: no part
 * of the service is used for it.
 */
import { holds, withoutOwnConditions, type Filter } from '../model/reference-filter.js';
import { compareKeys, keyOf, membersOf, metresBetween, type Key, type Point } from '../model/reference-values.js';
import { FACETS, type MadeRecord } from './made-lists.js';
import type { OtherOptions } from './made-searches.js';

export interface Match {
  /** Index of the list among those that are searched. */
  readonly list: number;
  readonly number: number;
  readonly score: number;
  readonly record: MadeRecord;
}

export interface FacetCount {
  readonly value: string | number | boolean;
  readonly count: number;
}

const FACET_SIZE = 20;
const byName = new Map(FACETS.map((facet) => [facet.name, facet]));

function keysOf({ fields }: MadeRecord, name: string): Key[] {
  const facet = byName.get(name);
  if (facet === undefined) return [];
  return [...new Set(membersOf(fields[name]).map((value) => keyOf(facet.type, value)))];
}

function pointOf({ fields }: MadeRecord): Point | undefined {
  return fields['place'] as Point | undefined;
}

function passesFilter({ record }: Match, filter: Filter | undefined): boolean {
  if (filter === undefined) return true;
  return holds(filter, (field) => ({ facet: byName.get(field), values: membersOf(record.fields[field]) }));
}

function passesPlaces({ record }: Match, { radius, box }: OtherOptions): boolean {
  const point = pointOf(record);
  if (radius !== undefined && (point === undefined || metresBetween(radius, point) > radius.distance)) return false;
  if (box === undefined) return true;
  if (point === undefined || point.latitude < box.south || point.latitude > box.north) return false;
  const isEast = point.longitude >= box.west;
  const isWest = point.longitude <= box.east;
  return box.west <= box.east ? isEast && isWest : isEast || isWest;
}

function sortKey({ record }: Match, field: string, { radius }: OtherOptions): Key | undefined {
  if (field === 'name') return record.name;
  if (field !== 'distance') return keysOf(record, field)[0];
  const point = pointOf(record);
  return radius === undefined || point === undefined ? undefined : metresBetween(radius, point);
}

function compareMatches(left: Match, right: Match, options: OtherOptions): number {
  for (const { field, descending } of options.order ?? []) {
    const [one, other] = [sortKey(left, field, options), sortKey(right, field, options)];
    if (one === undefined || other === undefined) {
      const order = Number(one === undefined) - Number(other === undefined);
      if (order !== 0) return order;
    } else {
      const order = compareKeys(one, other);
      if (order !== 0) return descending ? -order : order;
    }
  }
  return right.score - left.score || left.list - right.list || left.number - right.number;
}

/** Scores are shown with six digits, and a floor is compared with what is shown. */
function shownScore({ score }: Match): number {
  return Number(score.toPrecision(6));
}

/** Equal for matches that are one hit. */
function hitOf(match: Match, distinct: string | undefined): string {
  const [key] = distinct === undefined ? [] : keysOf(match.record, distinct);
  return key === undefined ? `record ${match.list} ${match.number}` : `value ${key}`;
}

export interface Expected {
  readonly hits: readonly Match[];
  /** Of each hit, how many matches share its value. */
  readonly sharing: readonly number[];
  /** The matches, of which several may be one hit. */
  readonly matches: readonly Match[];
}

/** `base` are the matches of the words alone. */
export function expectedHits(base: readonly Match[], options: OtherOptions): Expected {
  const { filter, minimum = 0 } = options;
  const matches = base.filter((match) => {
    return shownScore(match) >= minimum && passesFilter(match, filter) && passesPlaces(match, options);
  });
  if (options.ranking !== 'none') matches.sort((left, right) => compareMatches(left, right, options));
  else matches.sort((left, right) => left.list - right.list || left.number - right.number);
  const shared = new Map<string, Match[]>();
  for (const match of matches) {
    const hit = hitOf(match, options.distinct);
    const others = shared.get(hit);
    if (others === undefined) shared.set(hit, [match]);
    else others.push(match);
  }
  return {
    hits: Array.from(shared.values(), ([first]) => first as Match),
    sharing: Array.from(shared.values(), ({ length }) => length),
    matches,
  };
}

/** The matches of which a facet is counted. */
function countedMatches(base: readonly Match[], options: OtherOptions, name: string): readonly Match[] {
  const { filter, disjunctive } = options;
  if (disjunctive !== true || filter === undefined) return expectedHits(base, options).matches;
  const { filter: _, ...others } = options;
  const rest = withoutOwnConditions(name, filter);
  return expectedHits(base, rest === undefined ? others : { ...others, filter: rest }).matches;
}

/** Least and greatest value. */
export function expectedRange(base: readonly Match[], options: OtherOptions, name: string) {
  const keys = countedMatches(base, options, name).flatMap(({ record }) => keysOf(record, name));
  if (keys.length === 0 || !['number', 'date'].includes(byName.get(name)?.type ?? '')) return undefined;
  const sorted = keys.sort(compareKeys);
  return { min: shownValue(name, sorted[0] as Key), max: shownValue(name, sorted.at(-1) as Key) };
}

function isLookedFor(value: Key, { facetQuery = '' }: OtherOptions): boolean {
  const wanted = facetQuery.toLowerCase().split(' ');
  return wanted.every((word) =>
    String(value)
      .split(' ')
      .some((each) => each.startsWith(word)),
  );
}

export function expectedFacet(base: readonly Match[], options: OtherOptions, name: string): FacetCount[] {
  const matches = countedMatches(base, options, name);
  const hitsByValue = new Map<Key, Set<string>>();
  for (const match of matches) {
    for (const key of keysOf(match.record, name)) {
      const hits = hitsByValue.get(key) ?? new Set<string>();
      hits.add(hitOf(match, options.distinct));
      hitsByValue.set(key, hits);
    }
  }
  return [...hitsByValue]
    .filter(([key]) => isLookedFor(key, options))
    .sort(([one, { size }], [other, { size: otherSize }]) => otherSize - size || compareKeys(one, other))
    .slice(0, options.facetSize ?? FACET_SIZE)
    .map(([key, { size }]) => ({ value: shownValue(name, key), count: size }));
}

function shownValue(name: string, key: Key): string | number | boolean {
  const type = byName.get(name)?.type;
  if (type === 'boolean') return key === 1;
  return type === 'date' ? new Date(Number(key)).toISOString() : key;
}
