/** Cross-origin calls from browsers: off unless origins are configured. */
type Header = readonly [name: string, value: string];

const PREFLIGHT: readonly Header[] = [
  ['Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE'],
  ['Access-Control-Allow-Headers', 'Content-Type, X-API-Key, X-Request-Id'],
  ['Access-Control-Max-Age', '86400'],
];
const EXPOSED: Header = ['Access-Control-Expose-Headers', 'Retry-After, Server-Timing, X-Cache, X-Request-Id'];
const NO_HEADERS: readonly Header[] = [];

export interface Cors {
  headers(origin: string): readonly Header[];
  preflightHeaders(origin: string): readonly Header[];
}

export function createCors(origins: readonly string[]): Cors {
  if (origins.length === 0) return { headers: () => NO_HEADERS, preflightHeaders: () => NO_HEADERS };
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
      any || allowed.has(origin) ? [...forOrigin(origin), ...PREFLIGHT] : forOrigin(origin),
  };
}
