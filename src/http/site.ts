/** Pages beside the operations: what lies below one path, over HTTP alone. The front end knows who answers it, not what is on it. */

/** Every path of the site begins so, but one: browsers are led there from the root. */
export const SITE_PATH = '/console';
export const ROOT_PATH = '/';

/** What a browser says that matters to a page; '' where it says nothing. */
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
  /** Undefined: there is no such page. */
  answer(request: PageRequest): PageAnswer | undefined;
}

/** `accept`: the header of that name, asked for where it matters. Programs are answered at the root as at any path that there is not. */
export function isPageRequest(method: string, path: string, accept: () => string): boolean {
  if (path === ROOT_PATH) return (method === 'GET' || method === 'HEAD') && takes(accept(), 'text/html');
  return isSitePath(path);
}

/** Whether a header such as `Accept` names it, with any weight but 0 (RFC 9110, section 12.4.2). */
export function takes(header: string, wanted: string): boolean {
  return header
    .split(',')
    .map((each) => each.split(';').map((part) => part.trim().toLowerCase()))
    .some(([name, ...parameters]) => name === wanted && !parameters.some((each) => /^q=0(?:\.0{0,3})?$/.test(each)));
}

function isSitePath(path: string): boolean {
  return path.startsWith(SITE_PATH) && (path.length === SITE_PATH.length || path.charAt(SITE_PATH.length) === '/');
}
