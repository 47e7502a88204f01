/**
 * Reads the options of a search against the definitions of its lists. Everything that can be refused is refused here,
 * before the kernel is called.
 */
import type { FieldDefinition } from '../../catalog/index.js';
import { didYouMean, ServiceError } from '../../platform/index.js';
import type { FilterNode } from '../filter/filter-nodes.js';
import { FILTER_ALL } from '../filter/filter-nodes.js';
import { facetsByName, parseFilters } from '../filter/filter-resolver.js';
import type { RadiusOption, SearchOptions } from '../types.js';
import { filledOptions, narrowed, type FilledOptions } from './option-values.js';
import { parseOrderBy, type SortKey } from './order-by.js';
import { parseRadius } from './radius.js';

export interface SearchRequest {
  /**
   * Options as given, with defaults. The members below are those read against the definitions, and the page, which
   * callers change.
   */
  readonly options: FilledOptions;
  /** Trimmed. If empty, every record matches. */
  readonly query: string;
  /** One per list. */
  readonly filters: readonly FilterNode[];
  readonly radius: RadiusOption | undefined;
  /** If empty, the order is by score. */
  readonly order: readonly SortKey[];
  /** True for the order in which records are stored, instead of by score. */
  readonly storageOrder: boolean;
  /** Distinct names, each a facet of at least one list. */
  readonly facets: readonly string[];
  readonly skip: number;
  readonly size: number;
}

/** Reads the options. Throws `invalid-filter` or `invalid-parameter`. */
export function readSearchRequest(options: SearchOptions, definitions: readonly FieldDefinition[]): SearchRequest {
  const radius = options.radius === undefined ? undefined : parseRadius(options.radius);
  if (radius !== undefined && definitions.every((definition) => definition.location_field === null)) {
    throw invalid('radius', 'radius needs a list with a location_field, and this list has none');
  }
  const filled = filledOptions(options);
  // A blank option counts as not given, for clients that always send every option.
  const filter = given(filled.filter);
  const orderBy = given(filled.order_by);
  if (filled.ranking === 'none' && orderBy !== undefined) {
    throw invalid('ranking', 'ranking=none and order_by cannot be combined: leave one of them out');
  }
  const filters = filter === undefined ? definitions.map(() => FILTER_ALL) : parseFilters(filter, definitions);
  return Object.freeze({
    options: filled,
    query: filled.query.trim(),
    filters: filters.map((each, list) => narrowed(each, options, definitions[list] as FieldDefinition)),
    radius,
    order: orderBy === undefined ? [] : parseOrderBy(orderBy, definitions, radius !== undefined),
    storageOrder: filled.ranking === 'none',
    facets: filled.facets === undefined ? [] : checkedFacets(filled.facets, definitions),
    skip: filled.skip,
    size: filled.size,
  });
}

function given(text: string): string | undefined {
  return text.trim() === '' ? undefined : text;
}

function checkedFacets(names: readonly string[], definitions: readonly FieldDefinition[]): readonly string[] {
  const wanted = [...new Set(names)];
  for (const name of wanted) {
    if (definitions.some((definition) => facetsByName(definition).has(name))) continue;
    const known = [...new Set(definitions.flatMap((definition) => [...facetsByName(definition).keys()]))];
    const all = known.length === 0 ? 'There are none.' : `Facets are ${known.slice(0, 30).join(', ')}.`;
    throw invalid('facets', `"${name.slice(0, 80)}" is no facet.${didYouMean(name, known)} ${all}`);
  }
  return wanted;
}

function invalid(parameter: string, detail: string): ServiceError {
  return new ServiceError('invalid-parameter', detail, { errors: [{ parameter, detail }] });
}
