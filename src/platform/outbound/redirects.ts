/** What is asked after a redirect (RFC 9110, 15.4). Whether it may be asked is decided where it is asked. */
import type { OutboundHeaders } from './conditional.js';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Where the method stays, whatever it is. */
const KEEPING_METHOD: ReadonlySet<number> = new Set([307, 308]);
/** Of one origin alone, besides those that a request names. */
const SECRET_HEADERS = ['authorization', 'cookie', 'proxy-authorization'];
/** What describes a body, and goes with it. */
const BODY_HEADERS = ['content-type', 'content-length', 'content-encoding', 'content-language'];

export interface RedirectableRequest {
  readonly url: URL;
  readonly method: string;
  /** Names in lower case. */
  readonly headers: OutboundHeaders;
  readonly hasBody: boolean;
}

/** The URL that an answer leads to; undefined where it is no redirect, or one that leads nowhere. */
export function redirectTarget(status: number, location: string | undefined, from: URL): URL | undefined {
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}

export function redirected(
  { url, method, headers, hasBody }: RedirectableRequest,
  { status, target, secretHeaders }: { status: number; target: URL; secretHeaders: readonly string[] },
): RedirectableRequest {
  const isSafe = method === 'GET' || method === 'HEAD';
  const becomesGet = !isSafe && !KEEPING_METHOD.has(status);
  const left = [
    ...(target.origin === url.origin ? [] : [...SECRET_HEADERS, ...secretHeaders]),
    ...(becomesGet ? BODY_HEADERS : []),
  ];
  return {
    url: target,
    method: becomesGet ? 'GET' : method,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !left.includes(name))),
    hasBody: hasBody && !becomesGet,
  };
}
