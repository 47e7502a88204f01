/**
 * Which addresses of the network an outgoing connection may reach: those of the public internet and no other. Everything
 * that is not known to be public is refused, so that a range which is set aside one day is refused from the start.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** What IANA has given out as global unicast; all else in IPv6 is local, embedded or not assigned. */
const IPV6_GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
/** Public by their range, and yet services of the machine's own provider: Azure's wire server. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);
/** Interface identifiers of ISATAP (RFC 5214), which carry an IPv4 address: parts 4 and 5 of the address. */
const ISATAP_MARK = 0x5efe;
const ISATAP_FLAGS: ReadonlySet<number> = new Set([0x0000, 0x0200]);

/**
 * Why no connection may go to this address (of either family, without brackets), as a few words for a sentence:
 * `loopback`, `private`, `linkLocal`, …; undefined for a public one.
 */
export function addressFault(address: string): string | undefined {
  // The library also takes short and octal notations, which no connection is given.
  if (isIP(address) === 0) return 'not an address';
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range !== 'unicast') return range;
  if (METADATA_ADDRESSES.has(parsed.toString())) return 'metadata';
  return parsed instanceof ipaddr.IPv6 ? ipv6Fault(parsed) : undefined;
}

function ipv6Fault(address: ipaddr.IPv6): string | undefined {
  if (!address.match(IPV6_GLOBAL_UNICAST)) return 'not global unicast';
  const [flags = 0, mark = 0] = address.parts.slice(4, 6);
  return mark === ISATAP_MARK && ISATAP_FLAGS.has(flags) ? 'isatap' : undefined;
}

/** True for 127.0.0.0/8 and ::1. */
export function isLoopback(address: string): boolean {
  return isIP(address) !== 0 && ipaddr.parse(address).range() === 'loopback';
}
