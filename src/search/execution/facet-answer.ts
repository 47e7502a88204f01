/**
 * Builds the facets of an answer: merges those of several lists, and joins in facets that are counted without their own
 * conditions (disjunctive facets).
 */
import type { FieldDefinition } from '../../catalog/index.js';
import { withoutConditionsOn } from '../filter/filter-nodes.js';
import type { SearchRequest } from '../options/search-request.js';
import { mergeFacets, mergeRanges } from './facet-merge.js';
import type { ListSearch } from './list-search.js';
import { shownFacets, shownRanges } from './shown-facets.js';

/** A request and its searches, one per list. */
export interface SearchedLists {
  readonly request: SearchRequest;
  readonly searches: readonly ListSearch[];
}

/** Facets as the kernel counted them, with the definition that they belong to. */
export interface CountedFacets {
  readonly definition: FieldDefinition;
  /** JSON as in `QueryResult`. */
  readonly facetsJson: string;
  readonly rangesJson: string;
}

/** What was counted of the hits of a search. */
export interface CountedHits {
  readonly request: SearchRequest;
  readonly total: number;
  /** With one hit per value: the number of matches that share the value of a place, in the order of the places. */
  readonly sharing?: readonly number[];
  /** Of each list; counts of equal values are added. */
  readonly facets: readonly CountedFacets[];
}

/** Adds up the counts of lists each of whose matches is a hit. */
export function countOfLists({ request, searches }: SearchedLists): CountedHits {
  return {
    request,
    total: searches.reduce((sum, { result }) => sum + result.total, 0),
    facets: searches.map(({ list, result: { facetsJson, rangesJson } }) => {
      return { definition: list.settings.definition, facetsJson, rangesJson };
    }),
  };
}

/** Facets of an answer. Both members are JSON objects with a member per facet. */
export interface FacetAnswer {
  readonly facets: string;
  /** Undefined if no facet has a range. */
  readonly ranges: string | undefined;
}

export function facetAnswer(
  { request, facets: counted }: CountedHits,
  isOfList: boolean,
  stopIfAsked: () => void,
): FacetAnswer {
  const { facets: names, options } = request;
  const facets = counted
    .filter(({ facetsJson }) => facetsJson !== '')
    .map(({ definition, facetsJson }) => shownFacets({ json: facetsJson, definition }, names));
  // A list without segments reports '{}'; merging then adds each facet's name with no values.
  const own = isOfList && facets[0] !== '{}' ? facets[0] : undefined;
  const ranges = counted.map(({ definition, rangesJson }) => ({ json: rangesJson, definition }));
  return {
    facets: own ?? mergeFacets(facets, names, options.facet_size, stopIfAsked),
    ranges: shownRanges(ranges, names, isOfList ? ([json]) => json : mergeRanges),
  };
}

/**
 * Joins several answers into one, with facets in the order requested. If several answers have a facet, the last one
 * wins.
 */
export function joinedFacets(answers: readonly FacetAnswer[], names: readonly string[]): FacetAnswer {
  const [first] = answers;
  if (answers.length === 1) return first as FacetAnswer;
  const ranges = answers.flatMap((answer) => (answer.ranges === undefined ? [] : [answer.ranges]));
  return {
    facets: joined(
      answers.map(({ facets }) => facets),
      names,
    ),
    ranges: ranges.length === 0 ? undefined : joined(ranges, names),
  };
}

function joined(jsons: readonly string[], names: readonly string[]): string {
  const all = new Map(jsons.flatMap((json) => Object.entries(JSON.parse(json) as Record<string, unknown>)));
  return JSON.stringify(Object.fromEntries(names.flatMap((name) => (all.has(name) ? [[name, all.get(name)]] : []))));
}

/**
 * Returns a request that counts this facet alone, without the filter's conditions on it. Undefined if the filter has no
 * condition on the facet.
 */
export function requestWithoutOwnConditions(request: SearchRequest, facet: string): SearchRequest | undefined {
  const filters = request.filters.map((filter) => withoutConditionsOn(facet, filter));
  if (filters.every((filter) => filter === undefined)) return undefined;
  return Object.freeze({
    ...request,
    options: { ...request.options, explain: false },
    filters: filters.map((filter, list) => filter ?? request.filters[list]),
    facets: [facet],
    skip: 0,
    size: 0,
  }) as SearchRequest;
}
