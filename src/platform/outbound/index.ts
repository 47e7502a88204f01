/**
 * Outgoing connections on behalf of users. What opens them is in `guarded-agent.ts`, which is entered directly: it brings an
 * HTTP client with it that most threads have no use for.
 */
export { addressFault } from './address-policy.js';
export { faultSentence } from './fault-sentences.js';
export { validatorsOf, type Validators } from './conditional.js';
export {
  checkOutboundUrl,
  OutboundRefusedError,
  URL_CHARACTERS_MAX,
  WEB_SCHEME_PATTERN,
  type OutboundRules,
} from './url-policy.js';
