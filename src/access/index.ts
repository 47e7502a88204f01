export * from './types.js';
export type { KeyUses } from './key-uses.js';
export { KEYS_PER_ACCOUNT_MAX, openAccess } from './access.js';
export { parseFutureExpiry } from './key-expiry.js';
export { isReadPermission, PermissionCatalogue, PermissionSet, type AccessPreset } from './permissions.js';
export { RateLimiter, type RateDecision, type RateLimit } from './rate-limiter.js';
export { assertReach, nameMeant, reaches, reachesFiles, reachesGroupOnly, scopeTargetId, type Reach } from './scope.js';
export { SEARCH_COUNTER, type SearchCounter } from './search-counter.js';
export {
  SESSION_AUTHENTICATOR,
  sessionCookie,
  type ConsolePlace,
  sessionCookieNames,
  type SessionAuthenticator,
  type SessionCredential,
} from './sessions.js';
