/** Kinds of errors of people and sessions. */
export const SIGN_IN_FAILED = {
  code: 'sign-in-failed',
  status: 401,
  title: 'The email and password, or the link, are wrong',
} as const;
export const PROVIDER_UNAVAILABLE = {
  code: 'provider-unavailable',
  status: 503,
  title: 'The sign-in provider cannot be reached',
} as const;
export const NO_PROVIDER = {
  code: 'no-provider',
  status: 404,
  title: 'Sign-in by OpenID Connect is not set up',
} as const;
export const CONTRIBUTOR_NOT_FOUND = {
  code: 'contributor-not-found',
  status: 404,
  title: 'There is no such person',
} as const;
export const SESSION_NOT_FOUND = { code: 'session-not-found', status: 404, title: 'There is no such session' } as const;
