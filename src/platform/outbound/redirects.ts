/** The request that follows a redirect (RFC 9110, 15.4). Whether it may be sent is decided by the client. */
import type { OutboundHeaders } from './conditional.js';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Statuses that keep the method. */
const KEEPING_METHOD: ReadonlySet<number> = new Set([307, 308]);
/** Headers that are only sent to one origin, in addition to those that a request names. */
const SECRET_HEADERS = ['authorization', 'cookie', 'proxy-authorization'];
/** Headers that describe the body, and are dropped with it. */
const BODY_HEADERS = ['content-type', 'content-length', 'content-encoding', 'content-language'];

export interface RedirectableRequest {
  readonly url: URL;
  readonly method: string;
  /** Names in lower case. */
  readonly headers: OutboundHeaders;
  readonly hasBody: boolean;
}

/** Returns the URL that an answer redirects to; undefined if it is no redirect, or has no valid target. */
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
