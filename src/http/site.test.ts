import { expect, it } from 'vitest';
import { isPageRequest, takes } from './site.js';

it.each([
  ['br', 'br', true],
  ['gzip, deflate, br, zstd', 'br', true],
  ['BR;q=0.1', 'br', true],
  ['br;q=0', 'br', false],
  ['br; q=0.000', 'br', false],
  ['gzip', 'br', false],
  ['', 'br', false],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html', true],
  ['*/*', 'text/html', false],
])('An Accept-Encoding of "%s" allows %s: %s', (header, wanted, answer) => {
  expect(takes(header, wanted)).toBe(answer);
});

it.each([
  ['GET', '/', 'text/html', true],
  ['HEAD', '/', 'text/html', true],
  ['POST', '/', 'text/html', false],
  ['GET', '/', '*/*', false],
  ['GET', '/nowhere', 'text/html', false],
  ['GET', '/console', '', true],
  ['POST', '/console/x', '', true],
  ['GET', '/consoles', '', false],
])('%s %s with the Accept header "%s" is a request for a page: %s', (method, path, accept, answer) => {
  expect(isPageRequest(method, path, () => accept)).toBe(answer);
});
