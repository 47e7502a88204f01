/** Under which keys the answer of a search is kept: as it was sent, and what that means. Pure. */
import { FACET_SIZE_DEFAULT, SEARCH_SIZE_DEFAULT } from '../../platform/index.js';
import type { SearchOptions } from '../../search/index.js';
import type { RawInput } from '../dispatch/validation.js';

/** A longer body is parsed before it is looked for. */
const RAW_BODY_BYTES_MAX = 8192;

/** Options that say what would hold without them. `cache` decides where an answer comes from, not what it is. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  query: '',
  match: 'any',
  filter: '',
  order_by: '',
  minimum_text_score: 0,
  facet_size: FACET_SIZE_DEFAULT,
  highlight: true,
  explain: false,
  typo_tolerance: true,
  vector_search: true,
  reranker: true,
  cache: true,
  skip: 0,
  size: SEARCH_SIZE_DEFAULT,
};
const BLANKS_AROUND = new Set(['query', 'filter', 'order_by']);

/** One key for all ways to ask for the same. `targets`: SearchTargets.key. */
export function normalisedKey(targets: string, options: SearchOptions): string {
  const members = Object.entries(options)
    .map(([name, value]) => [name, BLANKS_AROUND.has(name) ? String(value).trim() : (value as unknown)] as const)
    .filter(([name, value]) => value !== DEFAULTS[name])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `${targets}=${JSON.stringify(members)}`;
}

/** The request as it was sent, before anything of it is read; undefined where it is too long for a key. */
export function rawKey(targets: string, { queryString, contentType, body }: RawInput): string | undefined {
  if (body === undefined || body.length === 0) return `${targets}?${queryString}`;
  if (body.length > RAW_BODY_BYTES_MAX) return undefined;
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
  return `${targets}!${queryString}\n${contentType ?? ''}\n${text}`;
}
