import { describe, expect, it } from 'vitest';
import { createCors } from './cors.js';

const names = (headers: readonly (readonly [string, string])[]) => headers.map(([name]) => name);

describe('CORS', () => {
  it('is off by default', () => {
    const cors = createCors([], []);
    expect(cors.headers('https://shop.example')).toEqual([]);
    expect(cors.preflightHeaders('https://shop.example')).toEqual([]);
  });

  it('names the origin if it is allowed, and otherwise only sends Vary so that caches are kept separate', () => {
    const cors = createCors(['https://shop.example'], []);
    expect(cors.headers('https://shop.example')).toContainEqual([
      'Access-Control-Allow-Origin',
      'https://shop.example',
    ]);
    expect(cors.headers('https://evil.example')).toEqual([['Vary', 'Origin']]);
    expect(names(cors.preflightHeaders('https://shop.example'))).toContain('Access-Control-Allow-Headers');
    expect(names(cors.preflightHeaders('https://evil.example'))).toEqual(['Vary']);
    expect(cors.headers('')).toEqual([]);
  });

  it('allows every page if the origins are *', () => {
    expect(createCors(['*'], []).headers('https://any.example')).toContainEqual(['Access-Control-Allow-Origin', '*']);
  });
});
