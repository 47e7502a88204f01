/**
 * Decides which network addresses an outgoing connection may reach: those of the public internet only. Everything not
 * known to be public is refused, so that ranges reserved in the future are refused already.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The block that IANA has assigned as global unicast; all other IPv6 addresses are local, embedded or unassigned. */
const IPV6_GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
/** Addresses in public ranges that are services of the machine's own provider: Azure's wire server. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);
/** Interface identifiers of ISATAP (RFC 5214), which carry an IPv4 address: parts 4 and 5 of the address. */
const ISATAP_MARK = 0x5efe;
const ISATAP_FLAGS: ReadonlySet<number> = new Set([0x0000, 0x0200]);

/**
 * Returns why no connection may go to this address (IPv4 or IPv6, without brackets), in a few words for a message:
 * `loopback`, `private`, `linkLocal`, …; undefined for a public address.
 */
export function addressFault(address: string): string | undefined {
  // The library also accepts short and octal notations, which are never connected to.
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
