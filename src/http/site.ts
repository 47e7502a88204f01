/** Pages beside the operations: what lies below one path, over HTTP alone. The front end knows who answers it, not what is on it. */

/** Every path of the site begins so. */
export const SITE_PATH = '/console';

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

export function isSitePath(path: string): boolean {
  return path.startsWith(SITE_PATH) && (path.length === SITE_PATH.length || path.charAt(SITE_PATH.length) === '/');
}
