/**
 * Outgoing connections on behalf of users. `guarded-agent.ts`, which opens them, is imported directly: it loads an HTTP
 * client that most threads never use.
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
