import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientBehind, cookieValue, networks } from './visitors.js';

describe('clientBehind', () => {
  const trusted = networks(['127.0.0.1', '10.0.0.0/8', 'fd00::/8']);

  it('trusts only known proxies, from the last address to the first', () => {
    expect(clientBehind(trusted, '203.0.113.9', '198.51.100.1')).toBe('203.0.113.9');
    expect(clientBehind(trusted, '127.0.0.1', '')).toBe('127.0.0.1');
    expect(clientBehind(trusted, '127.0.0.1', '198.51.100.1')).toBe('198.51.100.1');
    expect(clientBehind(trusted, '127.0.0.1', '1.2.3.4, 198.51.100.1')).toBe('198.51.100.1');
    expect(clientBehind(trusted, '127.0.0.1', '198.51.100.1, 10.2.3.4')).toBe('198.51.100.1');
    expect(clientBehind(trusted, 'fd00::1', '2001:db8::1, ::ffff:10.2.3.4')).toBe('2001:db8::1');
  });

  it('never returns text that is no address, whatever the header says', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (header) => {
        const client = clientBehind(trusted, '127.0.0.1', header);
        expect(client === '127.0.0.1' || header.includes(client)).toBe(true);
        expect(client).toMatch(/^[0-9a-fA-F.:%a-z]+$/);
      }),
    );
    expect(clientBehind(trusted, '127.0.0.1', 'unknown')).toBe('127.0.0.1');
    expect(clientBehind(trusted, '127.0.0.1', '<script>, ')).toBe('127.0.0.1');
  });
});

describe('cookieValue', () => {
  it('finds the first cookie of a name', () => {
    expect(cookieValue('a=1; b=2;c=3', 'b')).toBe('2');
    expect(cookieValue('a=1; b=2;c=3', 'c')).toBe('3');
    expect(cookieValue('ab=1; b=2; b=3', 'b')).toBe('2');
    expect(cookieValue('b', 'b')).toBeUndefined();
    expect(cookieValue('', 'b')).toBeUndefined();
  });
});
