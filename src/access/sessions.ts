/** Sessions of people as the dispatcher sees them; who keeps them is a feature. */
import { serviceKey } from '../platform/index.js';
import type { Caller } from './types.js';

/** What a browser sends of its session. */
export interface SessionCredential {
  readonly kind: 'session';
  /** Of the cookie. */
  readonly token: string;
  /** Of `X-CSRF-Token`; '' where it is not there. */
  readonly csrfToken: string;
  /** Of `X-Account`: which account is meant where the path names none; ''. */
  readonly account: string;
  /** Of `Sec-Fetch-Site`: what the browser says of the page that asks; '' where it says nothing. */
  readonly fetchSite: string;
}

export interface SessionAuthenticator {
  /**
   * The caller behind a session, with the rights that its person has in the account (undefined: the one that the credential names, or
   * the person's first). `changes`: the request is more than a look, and has to carry the session's CSRF token.
   * Throws `not-signed-in`, `csrf-token` or `out-of-scope`.
   */
  authenticate(credential: SessionCredential, account: string | undefined, changes: boolean): Caller;
}

export const SESSION_AUTHENTICATOR = serviceKey<SessionAuthenticator>('session-authenticator');

const COOKIE_NAME = 'gannet_session';
/** Browsers take a cookie of this name from its own host over TLS alone. */
const TLS_COOKIE_NAME = '__Host-gannet_session';

/** The name of the session's cookie. `publicUrl`: the setting `console.public_url`. */
export function sessionCookieName(publicUrl: string): string {
  return isTls(publicUrl) ? TLS_COOKIE_NAME : COOKIE_NAME;
}

/** `Set-Cookie` for a new session, or with an empty token for one that ends. Until the browser closes, or the service ends it. */
export function sessionCookie(publicUrl: string, token: string): string {
  const parts = [`${sessionCookieName(publicUrl)}=${token}`, 'Path=/', 'HttpOnly', 'SameSite=Strict'];
  if (isTls(publicUrl)) parts.push('Secure');
  if (token === '') parts.push('Max-Age=0');
  return parts.join('; ');
}

function isTls(publicUrl: string): boolean {
  return publicUrl.startsWith('https:');
}
