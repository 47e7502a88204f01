/** Sessions of people as the dispatcher sees them; implemented by a feature. */
import { serviceKey } from '../platform/index.js';
import type { Caller } from './types.js';

/** Headers that identify the session of a browser. */
export interface SessionCredential {
  readonly kind: 'session';
  /** Value of the cookie. */
  readonly token: string;
  /** `X-CSRF-Token`; '' if it is missing. */
  readonly csrfToken: string;
  /** `X-Account`: the account that is meant if the path names none; '' if it is missing. */
  readonly account: string;
  /** `Sec-Fetch-Site`: what the browser says about the requesting page; '' if it is missing. */
  readonly fetchSite: string;
}

export interface SessionAuthenticator {
  /**
   * Returns the caller of a session, with the rights of its person in the account (undefined: the account that the
   * credential names, or the person's first). `changes`: the request is not read-only, and must have the session's CSRF
   * token. Throws `not-signed-in`, `csrf-token` or `out-of-scope`.
   */
  authenticate(credential: SessionCredential, account: string | undefined, changes: boolean): Caller;
}

export const SESSION_AUTHENTICATOR = serviceKey<SessionAuthenticator>('session-authenticator');

const COOKIE_NAME = 'gannet_session';
/** Browsers accept a cookie with this name only from its own host over TLS. */
const TLS_COOKIE_NAME = '__Host-gannet_session';

/** From where a browser calls the service. */
export interface ConsolePlace {
  /** The setting `console.public_url`. */
  readonly publicUrl: string;
  /** Header `Origin`; '' if it is missing. */
  readonly origin: string;
}

/**
 * Names of the session's cookie, in the order in which they are looked for. `publicUrl`: the setting
 * `console.public_url`. Without it, a proxy may encrypt connections all the same.
 */
export function sessionCookieNames(publicUrl: string): readonly string[] {
  return isTls(publicUrl) ? [TLS_COOKIE_NAME] : [TLS_COOKIE_NAME, COOKIE_NAME];
}

/**
 * `Set-Cookie` for a new session, or with an empty token for one that ends. The cookie is kept until the browser
 * closes, or the service ends the session. It is for encrypted connections only if the browser has one, as the setting
 * or the origin of its page says.
 */
export function sessionCookie({ publicUrl, origin }: ConsolePlace, token: string): string {
  const encrypted = isTls(publicUrl) || isTls(origin);
  const name = encrypted ? TLS_COOKIE_NAME : COOKIE_NAME;
  const parts = [`${name}=${token}`, 'Path=/', 'HttpOnly', 'SameSite=Strict'];
  if (encrypted) parts.push('Secure');
  if (token === '') parts.push('Max-Age=0');
  return parts.join('; ');
}

function isTls(url: string): boolean {
  return url.startsWith('https:');
}
