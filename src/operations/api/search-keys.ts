/** Under which keys the answer of a search is kept: as it was sent, and what that means. Pure. */
import { optionsKey, type SearchOptions } from '../../search/index.js';
import type { RawInput } from '../dispatch/operation.js';

/** A longer body is parsed before it is looked for. */
const RAW_BODY_BYTES_MAX = 8192;

/** One key for all ways to ask for the same. `targets`: SearchTargets.key. */
export function normalisedKey(targets: string, options: SearchOptions): string {
  return `${targets}=${optionsKey(options)}`;
}

/** The request as it was sent, before anything of it is read; undefined where it is too long for a key. */
export function rawKey(targets: string, { queryString, contentType, body }: RawInput): string | undefined {
  if (body === undefined || body.length === 0) return `${targets}?${queryString}`;
  if (body.length > RAW_BODY_BYTES_MAX) return undefined;
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
  return `${targets}!${queryString}\n${contentType ?? ''}\n${text}`;
}
