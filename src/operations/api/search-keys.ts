/** Keys of cached search answers: one for the request as sent, one for its meaning. Pure functions. */
import { optionsKey, type SearchOptions } from '../../search/index.js';
import type { RawInput } from '../dispatch/operation.js';

/** A longer body is parsed before the cache is searched. */
const RAW_BODY_BYTES_MAX = 8192;

/** Returns a key that is the same for all ways to ask for the same. `targets` is SearchTargets.key. */
export function normalisedKey(targets: string, options: SearchOptions): string {
  return `${targets}=${optionsKey(options)}`;
}

/** Returns a key of the request as sent, before any of it is parsed. Undefined if it is too long. */
export function rawKey(targets: string, { queryString, contentType, body }: RawInput): string | undefined {
  if (body === undefined || body.length === 0) return `${targets}?${queryString}`;
  if (body.length > RAW_BODY_BYTES_MAX) return undefined;
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
  return `${targets}!${queryString}\n${contentType ?? ''}\n${text}`;
}
