/**
 * Reads the options of a search against the definitions of its lists. Everything that can be refused is refused here,
 * before the kernel is called.
 */
import type { FieldDefinition } from '../../catalog/index.js';
import { fieldKind } from '../../fields/index.js';
import { didYouMean, ServiceError } from '../../platform/index.js';
import type { FilterNode } from '../filter/filter-nodes.js';
import { FILTER_ALL } from '../filter/filter-nodes.js';
import { facetsByName, parseFilters } from '../filter/filter-resolver.js';
import type { RadiusOption, SearchOptions } from '../types.js';
import { filledOptions, isNarrowedToFields, narrowed, type FilledOptions } from './option-values.js';
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
  /** Distinct names of the fields to search, each a searchable field of at least one list; undefined: all. */
  readonly searchFields: readonly string[] | undefined;
  /** One per list. */
  readonly filters: readonly FilterNode[];
  readonly radius: RadiusOption | undefined;
  /** If empty, the order is by score. */
  readonly order: readonly SortKey[];
  /** True for the order in which records are stored, instead of by score. */
  readonly storageOrder: boolean;
  /** Distinct names, each a facet of at least one list. */
  readonly facets: readonly string[];
  /** Name of the facet by which hits are distinct: a Single facet of at least one list. Undefined: each match is a hit. */
  readonly distinct: string | undefined;
  readonly skip: number;
  readonly size: number;
}

/** Reads the options. Throws `invalid-filter` or `invalid-parameter`. */
export function readSearchRequest(options: SearchOptions, definitions: readonly FieldDefinition[]): SearchRequest {
  const radius = options.radius === undefined ? undefined : parseRadius(options.radius);
  for (const name of ['radius', 'box'] as const) {
    if (options[name] !== undefined && definitions.every((definition) => definition.location_field === null)) {
      throw invalid(name, `${name} needs a list with a location_field, and this list has none`);
    }
  }
  const filled = filledOptions(options);
  // A blank option counts as not given, for clients that always send every option.
  const filter = given(filled.filter);
  const orderBy = given(filled.order_by);
  if (filled.ranking === 'none' && orderBy !== undefined) {
    throw invalid('ranking', 'ranking=none and order_by cannot be combined: leave one of them out');
  }
  const facets = filled.facets === undefined ? [] : checkedFacets(filled.facets, definitions);
  if (given(filled.facet_query) !== undefined) checkFacetQuery(facets, definitions);
  const filters = filter === undefined ? definitions.map(() => FILTER_ALL) : parseFilters(filter, definitions);
  return Object.freeze({
    options: filled,
    query: filled.query.trim(),
    searchFields: isNarrowedToFields(filled) ? checkedFields(filled.search_fields ?? [], definitions) : undefined,
    filters: filters.map((each, list) => narrowed(each, options, definitions[list] as FieldDefinition)),
    radius,
    order: orderBy === undefined ? [] : parseOrderBy(orderBy, definitions, radius !== undefined),
    storageOrder: filled.ranking === 'none',
    facets,
    distinct: given(filled.distinct) === undefined ? undefined : checkedDistinct(filled.distinct.trim(), definitions),
    skip: filled.skip,
    size: filled.size,
  });
}

function given(text: string): string | undefined {
  return text.trim() === '' ? undefined : text;
}

function checkedFacets(names: readonly string[], definitions: readonly FieldDefinition[]): readonly string[] {
  const known = new Set(definitions.flatMap((definition) => [...facetsByName(definition).keys()]));
  return checkedNames({ parameter: 'facets', one: 'facet', all: 'Facets' }, names, known);
}

/** Throws unless all facets are of strings: other values have no words. */
function checkFacetQuery(facets: readonly string[], definitions: readonly FieldDefinition[]): void {
  if (facets.length === 0)
    throw invalid('facet_query', 'facet_query needs facets: name the facets whose values are searched');
  for (const name of facets) {
    const all = definitions.flatMap((definition) => facetsByName(definition).get(name) ?? []);
    const other = all.find(({ type }) => fieldKind(type).column !== 'string');
    if (other === undefined) continue;
    const what = `facet_query needs facets of strings, and "${name.slice(0, 80)}" is a facet of type ${other.type}`;
    throw invalid('facet_query', `${what}: leave out one of them`);
  }
}

/** Returns the name. Throws unless at least one list has it as a Single facet. */
function checkedDistinct(name: string, definitions: readonly FieldDefinition[]): string {
  const facets = definitions.flatMap(({ facets: each }) => each);
  const single = facets.filter(({ cardinality }) => cardinality === 'Single').map((facet) => facet.name);
  if (single.includes(name)) return name;
  const named = { parameter: 'distinct', one: 'facet', all: 'Single facets' };
  if (!facets.some((facet) => facet.name === name)) checkedNames(named, [name], new Set(single));
  const there = single.length === 0 ? 'there is none' : `such as ${[...new Set(single)].slice(0, 30).join(', ')}`;
  throw invalid(
    'distinct',
    `distinct needs a Single facet, ${there}; "${name.slice(0, 80)}" is a Many facet, whose records may have several values.`,
  );
}

function checkedFields(names: readonly string[], definitions: readonly FieldDefinition[]): readonly string[] {
  const known = new Set(definitions.flatMap((definition) => definition.searchable_fields.map(({ name }) => name)));
  return checkedNames({ parameter: 'search_fields', one: 'searchable field', all: 'Searchable fields' }, names, known);
}

interface NamedThings {
  readonly parameter: string;
  readonly one: string;
  readonly all: string;
}

function checkedNames(
  { parameter, one, all }: NamedThings,
  names: readonly string[],
  known: ReadonlySet<string>,
): readonly string[] {
  const wanted = [...new Set(names)];
  const unknown = wanted.find((name) => !known.has(name));
  if (unknown === undefined) return wanted;
  const others = [...known];
  const there = known.size === 0 ? 'There are none.' : `${all} are ${others.slice(0, 30).join(', ')}.`;
  throw invalid(parameter, `"${unknown.slice(0, 80)}" is no ${one}.${didYouMean(unknown, others)} ${there}`);
}

function invalid(parameter: string, detail: string): ServiceError {
  return new ServiceError('invalid-parameter', detail, { errors: [{ parameter, detail }] });
}
