/**
 * Pages served next to the operations, below one path and over HTTP only. The front end knows who answers them, not
 * their content.
 */

/** Prefix of all paths of the site; the root redirects browsers there. */
export const SITE_PATH = '/console';
export const ROOT_PATH = '/';

/** Headers of a browser that matter to a page; '' if missing. */
export interface PageHeaders {
  readonly acceptEncoding: string;
  readonly ifNoneMatch: string;
}

export interface PageRequest extends PageHeaders {
  /** As sent: `/console/assets/index-1a2b.js`. */
  readonly path: string;
}

export interface PageAnswer {
  readonly status: number;
  readonly contentType?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface Site {
  /** Returns undefined if there is no such page. */
  answer(request: PageRequest): PageAnswer | undefined;
}

/**
 * True for a page of the site, and for the root if a browser asks. `accept` returns the Accept header, and is only
 * called for the root, where other programs get the answer of an unknown path.
 */
export function isPageRequest(method: string, path: string, accept: () => string): boolean {
  if (path === ROOT_PATH) return (method === 'GET' || method === 'HEAD') && takes(accept(), 'text/html');
  return isSitePath(path);
}

/** True if a header such as `Accept` lists `wanted` with a weight other than 0 (RFC 9110, section 12.4.2). */
export function takes(header: string, wanted: string): boolean {
  return header
    .split(',')
    .map((each) => each.split(';').map((part) => part.trim().toLowerCase()))
    .some(([name, ...parameters]) => name === wanted && !parameters.some((each) => /^q=0(?:\.0{0,3})?$/.test(each)));
}

function isSitePath(path: string): boolean {
  return path.startsWith(SITE_PATH) && (path.length === SITE_PATH.length || path.charAt(SITE_PATH.length) === '/');
}
