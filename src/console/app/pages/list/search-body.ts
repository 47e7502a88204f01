/** The options of a search as they are in the address of the page, and as the service takes them. */
import type { SearchState } from '../../page-state.js';
import { searchListSchemas, type SearchListInput } from '../../service/client.js';
import { PICTURE } from '../search/picture.js';

export type SearchBody = SearchListInput['body'];

export const SIZE = 10;
/** More hits stand on further pages. */
export const SIZE_MAX = 100;
/** Of the fields of all hits of a page, of which a person sees a line each: an answer stays below a megabyte whatever records hold. */
const FIELDS_BYTES = 500_000;
/** In the address: the options of the search beside it, as JSON. */
const COMPARED = 'compare';
/** In the address and no option: what else is searched by, and what it is compared with. */
const OTHERS: readonly string[] = [COMPARED, PICTURE];

/** An address may be written by hand: what is a text to the service is one, also where it looks like a number. */
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

/** Hits of a page. */
export function sizeOf({ size = SIZE }: { readonly size?: unknown } = {}): number {
  return Math.min(Number(size), SIZE_MAX);
}

/** The same as a page asks for it: no more than it shows. */
export function withinAnswer(body: SearchBody): SearchBody {
  const size = sizeOf(body);
  return { fields_bytes_max: Math.floor(FIELDS_BYTES / Math.max(1, size)), ...body, size };
}

/** With the text of the search; undefined where nothing is compared. What is no JSON object has no options. */
export function comparedOptions(options: SearchState): SearchState | undefined {
  const written = options[COMPARED];
  if (written === undefined) return undefined;
  const { query } = options;
  return { ...objectIn(String(written)), ...(query === undefined ? {} : { query }) };
}

/** What changes in the address where these are compared; undefined: nothing is. */
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

/** Without what was taken away. */
export function changed(options: SearchState, change: SearchState): SearchState {
  const next = Object.entries({ ...options, ...change });
  return Object.fromEntries(next.filter(([, value]) => value !== undefined && value !== ''));
}
