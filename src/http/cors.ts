/** Cross-origin calls from browsers; disabled unless origins are configured. */
import type { Operation } from '../operations/index.js';

type Header = readonly [name: string, value: string];

/**
 * Headers that every request may have. Pages of other origins use a key, never a session: cookies are not sent across
 * origins.
 */
const REQUEST_HEADERS = ['Authorization', 'Content-Type', 'X-API-Key', 'X-Request-Id'];
const EXPOSED: Header = [
  'Access-Control-Expose-Headers',
  'Content-Range, ETag, Retry-After, Server-Timing, X-Cache, X-Request-Id',
];
const NO_HEADERS: readonly Header[] = [];

export interface Cors {
  headers(origin: string): readonly Header[];
  preflightHeaders(origin: string): readonly Header[];
}

/** Allows pages to send the request headers of all operations. */
export function createCors(origins: readonly string[], operations: readonly Pick<Operation, 'requestHeaders'>[]): Cors {
  if (origins.length === 0) return { headers: () => NO_HEADERS, preflightHeaders: () => NO_HEADERS };
  const preflight = preflightOf(operations);
  const any = origins.includes('*');
  const allowed = new Set(origins);
  const forOrigin = (origin: string): readonly Header[] => {
    if (any) return [['Access-Control-Allow-Origin', '*'], EXPOSED];
    // The answer depends on the origin even if that is refused, so a cache must keep the two apart.
    if (!allowed.has(origin)) return [['Vary', 'Origin']];
    return [['Access-Control-Allow-Origin', origin], ['Vary', 'Origin'], EXPOSED];
  };
  return {
    headers: (origin) => (origin === '' ? NO_HEADERS : forOrigin(origin)),
    preflightHeaders: (origin) =>
      any || allowed.has(origin) ? [...forOrigin(origin), ...preflight] : forOrigin(origin),
  };
}

function preflightOf(operations: readonly Pick<Operation, 'requestHeaders'>[]): readonly Header[] {
  const named = new Set(operations.flatMap(({ requestHeaders = [] }) => requestHeaders));
  return [
    ['Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE'],
    ['Access-Control-Allow-Headers', [...REQUEST_HEADERS, ...named].join(', ')],
    ['Access-Control-Max-Age', '86400'],
  ];
}
