/**
 * Which URLs the service may call on behalf of its users: HTTPS to hosts of the public internet, and HTTP only for what an operator said.
 *
 * The check of a URL is a courtesy to whoever registers it: what a name stands for can change at any time. What holds is
 * the check of the address that a connection is really made to (`guarded-agent.ts`), at each connection.
 */
import { isIP } from 'node:net';
import { addressFault, isLoopback } from './address-policy.js';

/** The exceptions that an operator has made; `[outbound]` of the settings. */
export interface OutboundRules {
  /** Host names and addresses that may be reached whatever range they lie in. */
  readonly allowed_hosts: readonly string[];
  /** HTTP and HTTPS to loopback addresses, for development and tests. */
  readonly loopback_allowed: boolean;
  /** HTTP to wherever HTTPS may go. No secret is sent over it. */
  readonly plain_http?: boolean;
}

/** The service does not call this. The message is one sentence for whoever gave the URL; it names no address behind a name. */
export class OutboundRefusedError extends Error {
  override readonly name = 'OutboundRefusedError';
  readonly code = 'ERR_OUTBOUND_REFUSED';
}

export const URL_CHARACTERS_MAX = 2048;

/** What a URL of the web begins with, for patterns of schemas, which have no flag for it: a scheme is the same in capitals (RFC 3986, 3.1). */
export const WEB_SCHEME_PATTERN = '[Hh][Tt][Tt][Pp][Ss]?://';

/** Names for use within one machine, one network or one provider (RFC 6761, 6762, 8375, and what ICANN keeps back). */
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

/** Who may change that, and how, for whoever is refused. */
const HOW_LOOPBACK =
  'Whoever runs the service allows this machine by the setting outbound.loopback_allowed (GANNET_OUTBOUND_LOOPBACK_ALLOWED=true).';

function howAllowed(host: string): string {
  if (host === 'localhost' || isLoopback(host)) return HOW_LOOPBACK;
  return `Whoever runs the service allows it by the setting outbound.allowed_hosts (GANNET_OUTBOUND_ALLOWED_HOSTS=${host}).`;
}

/** The parsed URL. Throws OutboundRefusedError where the service would never call it. */
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

/** The host without the brackets of IPv6 and without the dot that may end a name. */
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
  /** What is wrong with the host by its looks alone, as a sentence. */
  readonly fault: string | undefined;
}

/** Of the last hosts, for a site is asked for thousands of pages. */
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

/** Why no connection of this protocol may go to the address, in a few words; undefined where it may. */
export function connectionFault(protocol: string, address: string, rules: OutboundRules): string | undefined {
  if (rules.loopback_allowed && isLoopback(address)) return undefined;
  if (!isCalled(protocol, rules)) return 'only HTTPS is called';
  return rules.allowed_hosts.includes(address) ? undefined : addressFault(address);
}

/** Whether this protocol goes to the public internet. */
export function isCalled(protocol: string, rules: OutboundRules): boolean {
  return protocol === 'https:' || (protocol === 'http:' && rules.plain_http === true);
}

function mayBeHttp(host: string, rules: OutboundRules): boolean {
  if (rules.plain_http === true) return true;
  return rules.loopback_allowed && (host === 'localhost' || isLoopback(host));
}
