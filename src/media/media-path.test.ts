import fc from 'fast-check';
import { expect, it } from 'vitest';
import { join, relative } from 'node:path';
import { pathFault } from './media-path.js';

it('pathFault accepts the paths that the contract allows, and explains all other faults', () => {
  for (const good of [
    'a',
    'a/b.pdf',
    '...',
    'a/.b',
    'ü 漢/😀',
    'a'.repeat(512),
    'a\\b',
    '~',
    'a:b',
    '漢'.repeat(512),
  ]) {
    expect(pathFault(good)).toBeUndefined();
  }
  for (const bad of [
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/../b',
    './a',
    'a/..',
    'a\0',
    'a\n',
    '\u0085',
    '\ud800',
    'a'.repeat(513),
  ]) {
    expect(pathFault(bad), bad).toMatch(/^[A-Z].*\.$/);
  }
  expect(pathFault('.gannet-uploads/x')).toBeDefined();
});

it('pathFault accepts no path that leaves its folder', () => {
  const part = fc.oneof(
    fc.constantFrom('.', '..', '', '\0', '....', '..\\', '~'),
    fc.string({ unit: 'binary', maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const path = parts.join('/');
      if (pathFault(path) !== undefined) return;
      expect(relative('/root/store', join('/root/store', path))).toBe(path);
    }),
    { numRuns: 2000 },
  );
});
