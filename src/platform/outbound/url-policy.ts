/**
 * Decides which URLs the service may call on behalf of its users: HTTPS to hosts of the public internet, and HTTP only
 * where an operator allows it.
 *
 * Checking a URL only gives early feedback to whoever registers it: what a name resolves to can change at any time. The
 * decisive check is that of the address of each connection (`guarded-agent.ts`).
 */
import { isIP } from 'node:net';
import { addressFault, isLoopback } from './address-policy.js';

/** Exceptions that an operator allows: section `[outbound]` of the settings. */
export interface OutboundRules {
  /** Host names and addresses that may be reached in any range. */
  readonly allowed_hosts: readonly string[];
  /** Allows HTTP and HTTPS to loopback addresses, for development and tests. */
  readonly loopback_allowed: boolean;
  /** Allows HTTP wherever HTTPS is allowed. No secret is sent over it. */
  readonly plain_http?: boolean;
}

/**
 * The service refuses to call this. The message is one sentence for whoever gave the URL; it never reveals the address
 * of a name.
 */
export class OutboundRefusedError extends Error {
  override readonly name = 'OutboundRefusedError';
  readonly code = 'ERR_OUTBOUND_REFUSED';
}

export const URL_CHARACTERS_MAX = 2048;

/**
 * Beginning of a web URL, for patterns of schemas, which have no flag for ignoring case: schemes ignore it (RFC 3986,
 * 3.1).
 */
export const WEB_SCHEME_PATTERN = '[Hh][Tt][Tt][Pp][Ss]?://';

/**
 * Name suffixes for use within one machine, network or provider (RFC 6761, 6762, 8375, and those that ICANN reserves).
 */
const LOCAL_SUFFIXES = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
] as const;

/** Hint about the setting that allows it. */
const HOW_LOOPBACK =
  'Whoever runs the service allows this machine by the setting outbound.loopback_allowed (GANNET_OUTBOUND_LOOPBACK_ALLOWED=true).';

function howAllowed(host: string): string {
  if (host === 'localhost' || isLoopback(host)) return HOW_LOOPBACK;
  return `Whoever runs the service allows it by the setting outbound.allowed_hosts (GANNET_OUTBOUND_ALLOWED_HOSTS=${host}).`;
}

/** Returns the parsed URL. Throws OutboundRefusedError if the service would never call it. */
export function checkOutboundUrl(text: string, rules: OutboundRules): URL {
  if (text.length > URL_CHARACTERS_MAX)
    throw new OutboundRefusedError(`A URL has at most ${URL_CHARACTERS_MAX} characters.`);
  const url = parsed(text);
  const { mayBeHttp, fault } = policyOf(hostOf(url), rules);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && mayBeHttp)) {
    const begins = `https://${rules.plain_http === true ? ' or http://' : ''}`;
    const isOfThisMachine = url.protocol === 'http:' && (hostOf(url) === 'localhost' || isLoopback(hostOf(url)));
    const remedy = isOfThisMachine ? ` ${HOW_LOOPBACK}` : '';
    throw new OutboundRefusedError(`The URL has to begin with ${begins}.${remedy}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new OutboundRefusedError('The URL must not hold a user name or a password.');
  }
  if (url.port === '0') throw new OutboundRefusedError('The URL names port 0, which nothing listens on.');
  if (fault !== undefined) throw new OutboundRefusedError(`${fault} ${howAllowed(hostOf(url))}`);
  return url;
}

function parsed(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new OutboundRefusedError('This is not a URL.');
  }
}

/** Returns the host without the brackets of IPv6 and without a trailing dot. */
export function hostOf(url: URL): string {
  return bareHost(url.hostname);
}

export function bareHost(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}

interface HostPolicy {
  readonly mayBeHttp: boolean;
  /** What is wrong with the host as it is written, as a sentence; undefined if nothing is. */
  readonly fault: string | undefined;
}

/** Cache of recent hosts, since thousands of pages of one site may be requested. */
const lastPolicies = new WeakMap<OutboundRules, Map<string, HostPolicy>>();
const LAST_POLICIES_MAX = 1000;

function policyOf(host: string, rules: OutboundRules): HostPolicy {
  const last = lastPolicies.get(rules) ?? new Map<string, HostPolicy>();
  const known = last.get(host);
  if (known !== undefined) return known;
  const policy = { mayBeHttp: mayBeHttp(host, rules), fault: hostFault(host, rules) };
  if (last.size >= LAST_POLICIES_MAX) last.clear();
  lastPolicies.set(rules, last.set(host, policy));
  return policy;
}

function hostFault(host: string, rules: OutboundRules): string | undefined {
  if (rules.allowed_hosts.includes(host)) return undefined;
  if (isIP(host) !== 0) return literalFault(host, rules);
  if (rules.loopback_allowed && host === 'localhost') return undefined;
  const isLocal =
    !host.includes('.') || LOCAL_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  return isLocal ? `The host '${host}' is not one of the public internet.` : undefined;
}

function literalFault(address: string, rules: OutboundRules): string | undefined {
  if (rules.loopback_allowed && isLoopback(address)) return undefined;
  const fault = addressFault(address);
  return fault === undefined ? undefined : `The address ${address} is not one of the public internet (${fault}).`;
}

/** Returns why no connection of this protocol may go to the address, in a few words; undefined if it may. */
export function connectionFault(protocol: string, address: string, rules: OutboundRules): string | undefined {
  if (rules.loopback_allowed && isLoopback(address)) return undefined;
  if (!isCalled(protocol, rules)) return 'only HTTPS is called';
  return rules.allowed_hosts.includes(address) ? undefined : addressFault(address);
}

/** True if this protocol may be used on the public internet. */
export function isCalled(protocol: string, rules: OutboundRules): boolean {
  return protocol === 'https:' || (protocol === 'http:' && rules.plain_http === true);
}

function mayBeHttp(host: string, rules: OutboundRules): boolean {
  if (rules.plain_http === true) return true;
  return rules.loopback_allowed && (host === 'localhost' || isLoopback(host));
}
