/** Tests the guard of outgoing connections against every notation of an address that it must not reach. */
import type { LookupAddress } from 'node:dns';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bytesOf,
  FORBIDDEN_IPV4,
  FORBIDDEN_IPV6,
  forbiddenUrls,
  notationsOf,
} from '../../../test/support/forbidden-urls.js';
import { addressFault } from './address-policy.js';
import { createGuardedAgent, type AddressLookup } from './guarded-agent.js';
import { checkOutboundUrl, OutboundRefusedError, type OutboundRules } from './url-policy.js';

const STRICT: OutboundRules = { allowed_hosts: [], loopback_allowed: false };

/** Resolves every name to these lists of addresses, one after the other; the last one is repeated. */
function names(...answers: readonly (readonly string[])[]): AddressLookup & { readonly asked: string[] } {
  const asked: string[] = [];
  const lookup: AddressLookup = (hostname, _options, callback) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(hostname);
    callback(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return Object.assign(lookup, { asked });
}

function agentFor(rules: OutboundRules, lookup?: AddressLookup) {
  const base = { rules, connectionsMax: 4, connectTimeoutMs: 100_000, keepAliveMs: 1 };
  return createGuardedAgent(lookup === undefined ? base : { ...base, lookup });
}

/** Returns the error that a request to the URL ends with, or a text if there is an answer. */
async function refusalOf(url: string, rules: OutboundRules, lookup?: AddressLookup): Promise<unknown> {
  const agent = agentFor(rules, lookup);
  try {
    const { statusCode } = await agent.request({ origin: new URL(url).origin, path: '/', method: 'POST', body: 'x' });
    return `answered ${statusCode}`;
  } catch (error) {
    return error;
  } finally {
    await agent.destroy();
  }
}

let server: Server;
let port = 0;
let requests = 0;
beforeAll(async () => {
  server = createServer((_request, response) => {
    requests += 1;
    response.writeHead(302, { Location: 'http://169.254.169.254/' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

describe('forbidden addresses', () => {
  const urls = forbiddenUrls();

  it(`are refused in more than 300 forms when a URL is registered (${urls.length})`, () => {
    expect(urls.length).toBeGreaterThan(300);
    const taken = urls.filter((url) => {
      try {
        checkOutboundUrl(url, STRICT);
        return true;
      } catch (error) {
        return !(error instanceof OutboundRefusedError);
      }
    });
    expect(taken).toEqual([]);
  });

  it('are refused in the same notations by the connection itself, even if no URL was checked', async () => {
    const literals = urls.filter((url) => URL.canParse(url) && /^\[|^[\d.]+$/.test(new URL(url).hostname));
    expect(literals.length).toBeGreaterThan(300);
    const lookup = names(['127.0.0.1']);
    for (const url of literals) {
      expect(await refusalOf(url, STRICT, lookup), url).toBeInstanceOf(OutboundRefusedError);
    }
    expect(lookup.asked).toEqual([]);
  });

  it.each([...FORBIDDEN_IPV4, ...FORBIDDEN_IPV6])('are refused if a name resolves to them: %s', async (address) => {
    const lookup = names([address]);
    expect(await refusalOf('https://hooks.example.com/', STRICT, lookup)).toBeInstanceOf(OutboundRefusedError);
    expect(lookup.asked).toEqual(['hooks.example.com']);
  });

  it('are refused in every notation, for any address of the ranges (property)', () => {
    const forbidden = fc.constantFrom(...FORBIDDEN_IPV4).chain((base) => {
      const [a, b] = bytesOf(base);
      // Other hosts of the same /16 if the range is that wide.
      const isWide = [10, 127, 169, 192, 198, 240].includes(a) && ![0, 51].includes(b) && base !== '192.0.2.1';
      const any = fc.tuple(fc.nat(255), fc.nat(255)).map(([c, d]) => `${a}.${b}.${c}.${d}`);
      return isWide ? any : fc.constant(base);
    });
    fc.assert(
      fc.property(forbidden, fc.nat(21), (ipv4, notation) => {
        const url = `https://${notationsOf(ipv4)[notation]}/`;
        expect(() => checkOutboundUrl(url, STRICT)).toThrow(OutboundRefusedError);
      }),
    );
  });
});

describe('checkOutboundUrl', () => {
  it.each([
    'https://hooks.example.com/a?b=c',
    'https://example.com:8443/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
  ])('accepts %s', (url) => {
    expect(checkOutboundUrl(url, STRICT).href).toBe(url);
  });

  it.each([
    ['http://example.com/', /begin with https:\/\/\.$/],
    [
      'http://localhost:8080/',
      /allows this machine by the setting outbound\.loopback_allowed \(GANNET_OUTBOUND_LOOPBACK_ALLOWED=true\)/,
    ],
    [
      'http://127.0.0.1/',
      /allows this machine by the setting outbound\.loopback_allowed \(GANNET_OUTBOUND_LOOPBACK_ALLOWED=true\)/,
    ],
    [
      'http://[::1]/',
      /allows this machine by the setting outbound\.loopback_allowed \(GANNET_OUTBOUND_LOOPBACK_ALLOWED=true\)/,
    ],
    ['ftp://example.com/', /https:/],
    ['file:///etc/passwd', /https:/],
    ['https://user:secret@example.com/', /user name/],
    ['https://example.com:0/', /port 0/],
    ['example.com', /not a URL/],
    ['https://', /not a URL/],
    [`https://example.com/${'a'.repeat(2048)}`, /2048/],
  ])('refuses %s', (url, reason) => {
    expect(() => checkOutboundUrl(url, STRICT)).toThrow(reason);
  });

  it('accepts or refuses any text and throws no other error (fuzz)', () => {
    const text = fc.oneof(
      fc.webUrl({ withFragments: true, withQueryParameters: true }),
      fc.string(),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(text, (url) => {
        try {
          expect(checkOutboundUrl(url, STRICT).protocol).toBe('https:');
        } catch (error) {
          expect(error).toBeInstanceOf(OutboundRefusedError);
        }
      }),
    );
  });

  it('makes the exceptions that the operator configured, and no others', () => {
    const loopback = { ...STRICT, loopback_allowed: true };
    for (const url of ['http://127.0.0.1:9/', 'http://localhost/', 'https://[::1]/']) checkOutboundUrl(url, loopback);
    for (const url of ['http://example.com/', 'http://10.0.0.1/', 'https://10.0.0.1/', 'https://router/']) {
      expect(() => checkOutboundUrl(url, loopback)).toThrow(OutboundRefusedError);
    }
    const named = { ...STRICT, allowed_hosts: ['hooks.intranet', '10.0.0.7'] };
    for (const url of ['https://hooks.intranet/', 'https://10.0.0.7/']) checkOutboundUrl(url, named);
    for (const url of ['http://hooks.intranet/', 'https://other.intranet/', 'https://10.0.0.8/']) {
      expect(() => checkOutboundUrl(url, named)).toThrow(OutboundRefusedError);
    }
  });
});

describe('addressFault', () => {
  it('accepts public addresses and refuses text that is not an address', () => {
    for (const address of ['1.1.1.1', '8.8.4.4', '93.184.215.14', '2606:4700::1111', '2a00:1450::8a']) {
      expect(addressFault(address)).toBeUndefined();
    }
    for (const text of ['', 'example.com', '1.2.3', '::g', '[::1]']) expect(addressFault(text)).toBeDefined();
  });
});

describe('the guarded agent', () => {
  const LOOPBACK = { ...STRICT, loopback_allowed: true };

  it('connects to loopback over HTTP only if that is allowed, and follows no redirect', async () => {
    const url = `http://127.0.0.1:${port}/`;
    const before = requests;
    expect(await refusalOf(url, STRICT)).toBeInstanceOf(OutboundRefusedError);
    expect(requests).toBe(before);
    expect(await refusalOf(url, LOOPBACK)).toBe('answered 302');
    expect(requests).toBe(before + 1);
  });

  it('sends no HTTP to a name that is not loopback, even if loopback is allowed', async () => {
    const refused = await refusalOf(`http://hooks.example.com:${port}/`, LOOPBACK, names(['93.184.215.14']));
    expect(refused).toBeInstanceOf(OutboundRefusedError);
  });

  it('sends plain HTTP, if allowed, only where HTTPS may go', async () => {
    const plain = { ...STRICT, plain_http: true };
    expect(checkOutboundUrl('http://birds.example.com/', plain).href).toBe('http://birds.example.com/');
    for (const url of ['ftp://birds.example.com/', 'ws://birds.example.com/', 'file:///etc/passwd'])
      expect(() => checkOutboundUrl(url, plain)).toThrow('https:// or http://');
    for (const url of forbiddenUrls().map((each) => each.replace(/^https:/, 'http:')))
      expect(() => checkOutboundUrl(url, plain), url).toThrow(OutboundRefusedError);
    const before = requests;
    for (const address of [...FORBIDDEN_IPV4, ...FORBIDDEN_IPV6])
      expect(await refusalOf(`http://birds.example.com:${port}/`, plain, names([address]))).toBeInstanceOf(
        OutboundRefusedError,
      );
    expect(requests).toBe(before);
    const moving = names(['127.0.0.1'], ['10.0.0.1']);
    const named = { ...plain, allowed_hosts: ['127.0.0.1'] };
    expect(await refusalOf(`http://birds.example.com:${port}/`, named, moving)).toBe('answered 302');
    expect(await refusalOf(`http://birds.example.com:${port}/`, named, moving)).toBeInstanceOf(OutboundRefusedError);
    expect(await refusalOf(`http://localhost:${port}/`, { ...plain, allowed_hosts: ['localhost'] })).toBe(
      'answered 302',
    );
  });

  it('connects to the address that was checked, even if the name resolves differently between two lookups', async () => {
    const rules = { ...STRICT, allowed_hosts: ['127.0.0.1'] };
    const lookup = names(['127.0.0.2', '127.0.0.1'], ['127.0.0.2']);
    const url = `https://rebind.example.com:${port}/`;
    // The server does not speak TLS: the failed handshake shows that a connection to the good address was made.
    const reached = await refusalOf(url, rules, lookup);
    expect(reached).toMatchObject({ code: expect.stringMatching(/SSL|EPROTO|ECONNRESET/) as string });
    expect(await refusalOf(url, rules, lookup)).toBeInstanceOf(OutboundRefusedError);
  });

  it('reaches an allowed host at any address, but only over HTTPS', async () => {
    const named = { ...STRICT, allowed_hosts: ['localhost'] };
    // The server does not speak TLS: the failed handshake shows that the connection was made.
    expect(await refusalOf(`https://localhost:${port}/`, named)).not.toBeInstanceOf(OutboundRefusedError);
    expect(await refusalOf(`http://localhost:${port}/`, named)).toBeInstanceOf(OutboundRefusedError);
  });
});
