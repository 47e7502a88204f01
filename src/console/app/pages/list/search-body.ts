/** Converts the options of a search between the page's address and the service. */
import type { SearchState } from '../../page-state.js';
import { searchListSchemas, type SearchListInput } from '../../service/client.js';
import { PICTURE } from '../search/picture.js';

export type SearchBody = SearchListInput['body'];

export const SIZE = 10;
/** Limit per page. */
export const SIZE_MAX = 100;
/**
 * Limit on the fields of all hits on a page, which shows a line of each: the answer stays below a megabyte whatever
 * records contain.
 */
const FIELDS_BYTES = 500_000;
/** Address parameter with the options of the second search, as JSON. */
const COMPARED = 'compare';
/** Address parameter with the days of a report beside the search. */
const DAYS = 'days';
/** Address parameters that are not options. */
const OTHERS: readonly string[] = [COMPARED, PICTURE, DAYS];

/** Converts the options. Addresses may be written by hand, so that a text option may look like a number. */
export function bodyOf(options: SearchState): SearchBody {
  const schemas = searchListSchemas.body.properties as Readonly<Record<string, { readonly type?: string }>>;
  const given = Object.entries(options).filter(([name]) => !OTHERS.includes(name));
  const typed = given.map(([name, value]) => {
    const { type } = schemas[name] ?? {};
    if (type === 'array') return [name, String(value).split(',').map(Number)];
    return [name, type === 'boolean' || type === 'number' || type === 'integer' ? value : String(value)];
  });
  return { size: SIZE, ...(Object.fromEntries(typed) as SearchBody) };
}

/** Returns the number of hits per page. */
export function sizeOf({ size = SIZE }: { readonly size?: unknown } = {}): number {
  return Math.min(Number(size), SIZE_MAX);
}

/** Limits the body to what the page shows. */
export function withinAnswer(body: SearchBody): SearchBody {
  const size = sizeOf(body);
  return { fields_bytes_max: Math.floor(FIELDS_BYTES / Math.max(1, size)), ...body, size };
}

/**
 * Returns the options of the second search, including the text. Undefined if nothing is compared. Invalid JSON counts
 * as no options.
 */
export function comparedOptions(options: SearchState): SearchState | undefined {
  const written = options[COMPARED];
  if (written === undefined) return undefined;
  const { query } = options;
  return { ...objectIn(String(written)), ...(query === undefined ? {} : { query }) };
}

/** Returns the change of the address that compares with these options. Undefined ends the comparison. */
export function comparing(options: SearchState | undefined): SearchState {
  if (options === undefined) return { [COMPARED]: undefined };
  const { query: _, skip: __, [COMPARED]: ___, [PICTURE]: ____, ...others } = options;
  return { [COMPARED]: JSON.stringify(others) };
}

function objectIn(written: string): SearchState {
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch {
    return {};
  }
  if (typeof value !== 'object' || value === null) return {};
  const members = Object.entries(value).filter(([, member]) => ['string', 'number', 'boolean'].includes(typeof member));
  return Object.fromEntries(members);
}

/** Returns the options with the change, without removed ones. */
export function changed(options: SearchState, change: SearchState): SearchState {
  const next = Object.entries({ ...options, ...change });
  return Object.fromEntries(next.filter(([, value]) => value !== undefined && value !== ''));
}

/** Adds a condition in the filter language: quotes are doubled, and unusual names and the keyword are in backticks. */
export function withCondition(filter: string, name: string, value: string | number | boolean): string {
  const written = typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
  const condition = `${isPlain(name) ? name : `\`${name}\``} = ${written}`;
  if (filter === '' || filter === condition) return condition;
  return `(${filter}) and ${condition}`;
}

function isPlain(name: string): boolean {
  return /^[A-Za-z_][\w-]*$/.test(name) && name.toLowerCase() !== 'not';
}
