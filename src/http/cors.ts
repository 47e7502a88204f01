/** Cross-origin calls from browsers: off unless origins are configured. */
import type { Operation } from '../operations/index.js';

type Header = readonly [name: string, value: string];

/** What every request may have. A page has a key and never a session: cookies are not sent across origins. */
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

/** Pages may send the headers that any of the operations looks at. */
export function createCors(origins: readonly string[], operations: readonly Pick<Operation, 'requestHeaders'>[]): Cors {
  if (origins.length === 0) return { headers: () => NO_HEADERS, preflightHeaders: () => NO_HEADERS };
  const preflight = preflightOf(operations);
  const any = origins.includes('*');
  const allowed = new Set(origins);
  const forOrigin = (origin: string): readonly Header[] => {
    if (any) return [['Access-Control-Allow-Origin', '*'], EXPOSED];
    // The answer depends on the origin even where it is refused, so that a cache must not mix the two.
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
