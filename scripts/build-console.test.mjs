/** Tests the files of the built console. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { importsInCircle } from './build-console.mjs';

const ASSETS = join(import.meta.dirname, '..', 'dist', 'console-assets', 'assets');

const chunk = (fileName, ...imports) => ({ type: 'chunk', fileName, imports });

it('importsInCircle finds files that import each other', () => {
  expect(importsInCircle([chunk('a', 'b', 'c'), chunk('b', 'c'), chunk('c'), { type: 'asset' }])).toBe(false);
  expect(importsInCircle([chunk('a', 'b'), chunk('b', 'c'), chunk('c', 'b')])).toBe(true);
  expect(importsInCircle([chunk('a', 'a')])).toBe(true);
});

it('The built console has no files that import each other, which would run in the wrong order', () => {
  const built = readdirSync(ASSETS)
    .filter((name) => name.endsWith('.js'))
    .map((name) => {
      const imports = readFileSync(join(ASSETS, name), 'utf8').matchAll(
        /(?:from|import)\s*["'`]\.\/([^"'`]+\.js)["'`]/g,
      );
      return chunk(name, ...[...imports].map(([, imported]) => imported));
    });
  expect(built.some(({ imports }) => imports.length > 1)).toBe(true);
  expect(importsInCircle(built)).toBe(false);
});
