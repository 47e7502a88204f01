/** Identifies the sender of a request without an API key, by connection, proxy and browser headers. */
import { BlockList, isIP } from 'node:net';
import { sessionCookieNames } from '../access/index.js';
import type { Credential, Visitor } from '../operations/index.js';
import type { WireRequest, WireResponse } from './wire.js';

export interface VisitorOptions {
  /** The setting `console.public_url`. */
  readonly publicUrl: string;
  /** The setting `server.trusted_proxies`: addresses and networks (`10.0.0.0/8`). */
  readonly trustedProxies: readonly string[];
}

/** The visitor of a request with a key, for which nothing else is needed. */
export const UNKNOWN_VISITOR: Visitor = Object.freeze({ address: '', userAgent: '', fetchSite: '', origin: '' });

const NO_KEY: Credential = Object.freeze({ kind: 'key', header: undefined });
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

export class Visitors {
  readonly #cookieNames: readonly string[];
  readonly #trusted: BlockList | undefined;

  constructor({ publicUrl, trustedProxies }: VisitorOptions) {
    this.#cookieNames = sessionCookieNames(publicUrl);
    this.#trusted = trustedProxies.length === 0 ? undefined : networks(trustedProxies);
  }

  /** Must be called in the turn in which the request arrived. */
  visitor(req: WireRequest, res: WireResponse): Visitor {
    const peer = plainAddress(Buffer.from(res.getRemoteAddressAsText()).toString('latin1'));
    return {
      address: this.#trusted === undefined ? peer : clientBehind(this.#trusted, peer, forwardedFor(req)),
      userAgent: req.getHeader('user-agent'),
      fetchSite: req.getHeader('sec-fetch-site'),
      origin: req.getHeader('origin'),
    };
  }

  /** Returns the credential of the session whose cookie was sent. */
  credential(req: WireRequest): Credential {
    const cookies = req.getHeader('cookie');
    const token = cookies === '' ? undefined : this.#tokenIn(cookies);
    if (token === undefined || !TOKEN.test(token)) return NO_KEY;
    return {
      kind: 'session',
      token,
      csrfToken: req.getHeader('x-csrf-token'),
      account: req.getHeader('x-account'),
      fetchSite: req.getHeader('sec-fetch-site'),
    };
  }

  #tokenIn(cookies: string): string | undefined {
    for (const name of this.#cookieNames) {
      const token = cookieValue(cookies, name);
      if (token !== undefined) return token;
    }
    return undefined;
  }
}

/**
 * Returns all `X-Forwarded-For` headers joined. Some proxies, such as HAProxy, add a header after the client's instead
 * of extending it, and the library returns the first of several, which anybody could have written.
 */
function forwardedFor(req: WireRequest): string {
  const values: string[] = [];
  req.forEach((name, value) => {
    if (name === 'x-forwarded-for') values.push(value);
  });
  return values.join(',');
}

/** Returns the first cookie of that name in a `Cookie` header. */
export function cookieValue(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals !== -1 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}

/** Parses addresses and networks. Throws if a text is neither. */
export function networks(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [address = '', bits] = text.split('/');
    const family = familyOf(address);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/**
 * Returns the address of the client. Each proxy appends the address that it was called from to `X-Forwarded-For`, so
 * the client is the last one that is not a trusted proxy. Anybody could have written what precedes it.
 */
export function clientBehind(trusted: BlockList, peer: string, forwardedFor: string): string {
  const way = forwardedFor === '' ? [] : forwardedFor.split(',').map((text) => plainAddress(text.trim()));
  let client = peer;
  while (isTrusted(trusted, client)) {
    const before = way.pop();
    if (before === undefined || isIP(before) === 0) break;
    client = before;
  }
  return client;
}

function isTrusted(trusted: BlockList, address: string): boolean {
  return isIP(address) !== 0 && trusted.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

const MAPPED = /^(?:::ffff:|(?:0{1,4}:){5}ffff:)(.+)$/i;

/** Writes an IPv4 address in its own notation, even if it comes from an IPv6 socket. */
function plainAddress(address: string): string {
  const inner = MAPPED.exec(address)?.[1];
  if (inner === undefined) return address;
  if (isIP(inner) === 4) return inner;
  const [high, low] = inner.split(':').map((group) => Number.parseInt(group, 16));
  if (high === undefined || low === undefined || Number.isNaN(high + low)) return address;
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
