/** Reads, fills in and compares values of search options, driven by the table SEARCH_OPTIONS. Pure functions. */
import type { FieldDefinition } from '../../catalog/index.js';
import { allOf, type FilterNode } from '../filter/filter-nodes.js';
import { SEARCH_OPTIONS, type SearchOption } from './search-options.js';

type Table = typeof SEARCH_OPTIONS;
type ValueOf<Option> = Option extends SearchOption<infer Value> ? Value : never;

/** Options that were given, in the form that search workers take. */
export type SearchOptions = { readonly [Name in keyof Table]?: ValueOf<Table[Name]> };

/** Options with defaults filled in: an option whose row has a default always has a value. */
export type FilledOptions = SearchOptions & {
  readonly [Name in keyof Table as Table[Name] extends { readonly default: unknown } ? Name : never]: ValueOf<
    Table[Name]
  >;
};

const rows: readonly (readonly [name: string, option: SearchOption<unknown>])[] = Object.entries(SEARCH_OPTIONS);
const byName: ReadonlyMap<string, SearchOption<unknown>> = new Map(rows);
const defaults = Object.fromEntries(
  rows.flatMap(([name, option]) => (option.default === undefined ? [] : [[name, option.default]])),
) as FilledOptions;
const narrowing = rows.filter(([, option]) => option.narrow !== undefined);

/** Converts options given by a client, already validated against the schema of the query string or of the body. */
export function readOptions(given: Readonly<Record<string, unknown>>): SearchOptions {
  const options: Record<string, unknown> = {};
  for (const name in given) {
    const option = byName.get(name);
    const value = option?.read === undefined ? given[name] : option.read(given[name]);
    if (value !== undefined) options[name] = value;
  }
  return options;
}

export function filledOptions(options: SearchOptions): FilledOptions {
  return { ...defaults, ...options };
}

/** Returns whether only some fields are searched. Records are then found by words only, not by meaning, pages or pictures. */
export function isNarrowedToFields({ search_fields: fields, query }: SearchOptions): boolean {
  return fields !== undefined && fields.length > 0 && (query ?? '').trim() !== '';
}

/**
 * Adds to the filter the conditions that options other than `filter` impose on the records of one list. Throws what
 * these options throw.
 */
export function narrowed(filter: FilterNode, options: SearchOptions, definition: FieldDefinition): FilterNode {
  const conditions = narrowing.flatMap(([name, option]) => {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    return value === undefined || option.narrow === undefined ? [] : [option.narrow(value, definition)];
  });
  return conditions.length === 0 ? filter : allOf([filter, ...conditions]);
}

/** Returns a cache key that is equal for options with the same meaning: names sorted, defaults left out. */
export function optionsKey(options: SearchOptions): string {
  return keyOf(options, () => true);
}

/**
 * Returns a key that is equal for options with which a search of the same lists costs the same: they match, count and
 * sort alike.
 */
export function costKey(options: SearchOptions): string {
  return keyOf(options, (name) => byName.get(name)?.isOfSameCost !== true);
}

function keyOf(options: SearchOptions, counts: (name: string) => boolean): string {
  const members = Object.entries(options as Readonly<Record<string, unknown>>)
    .filter(([name]) => counts(name))
    .map(([name, value]) => [name, byName.get(name)?.isTrimmed === true ? String(value).trim() : value] as const)
    .filter(([name, value]) => value !== byName.get(name)?.default)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(members);
}
