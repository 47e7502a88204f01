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

/** Name of the session's cookie. `publicUrl`: the setting `console.public_url`. */
export function sessionCookieName(publicUrl: string): string {
  return isTls(publicUrl) ? TLS_COOKIE_NAME : COOKIE_NAME;
}

/**
 * `Set-Cookie` for a new session, or with an empty token for one that ends. The cookie is kept until the browser
 * closes, or the service ends the session.
 */
export function sessionCookie(publicUrl: string, token: string): string {
  const parts = [`${sessionCookieName(publicUrl)}=${token}`, 'Path=/', 'HttpOnly', 'SameSite=Strict'];
  if (isTls(publicUrl)) parts.push('Secure');
  if (token === '') parts.push('Max-Age=0');
  return parts.join('; ');
}

function isTls(publicUrl: string): boolean {
  return publicUrl.startsWith('https:');
}
