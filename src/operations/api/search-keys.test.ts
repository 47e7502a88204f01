import { describe, expect, it } from 'vitest';
import { normalisedKey, rawKey } from './search-keys.js';

describe('normalisedKey', () => {
  it('is equal for options with the same meaning', () => {
    const key = normalisedKey('l1', { query: 'a', size: 5 });
    expect(normalisedKey('l1', { size: 5, query: ' a ' })).toBe(key);
    expect(normalisedKey('l1', { size: 5, query: 'a', skip: 0, match: 'any', filter: ' ', cache: true })).toBe(key);
  });

  it('differs for all other options', () => {
    const options = [
      {},
      { query: 'a' },
      { filter: 'a' },
      { select: ['a', 'b'] },
      { select: ['a,b'] },
      { size: 0 },
      { highlight: false },
    ] as const;
    const keys = options.flatMap((each) => [normalisedKey('l1', each), normalisedKey('l2', each)]);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('rawKey', () => {
  it('differs by target, query string, body and their types, and is undefined for a long body', () => {
    const raws = [
      { queryString: 'query=a', contentType: undefined },
      { queryString: '', contentType: 'application/json', body: Buffer.from('query=a') },
      { queryString: '', contentType: 'text/plain', body: Buffer.from('query=a') },
      { queryString: 'query=a', contentType: 'application/json', body: Buffer.from('query=a') },
    ];
    const keys = raws.flatMap((raw) => [rawKey('l1', { params: {}, ...raw }), rawKey('l11', { params: {}, ...raw })]);
    expect(new Set(keys).size).toBe(keys.length);
    expect(rawKey('l1', { params: {}, queryString: '', contentType: '', body: Buffer.alloc(10_000) })).toBeUndefined();
  });
});
