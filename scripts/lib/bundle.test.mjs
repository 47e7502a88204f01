import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { inLatin1 } from './bundle.mjs';
import { filesUnder } from './stamps.mjs';

const BUNDLE = fileURLToPath(new URL('../../dist/bundle/', import.meta.url));
const files = ['shared', 'src'].flatMap((name) => filesUnder(join(BUNDLE, name), (path) => path.endsWith('.cjs')));

it.each([
  ["'an ellipsis… and 𝒳'", 'an ellipsis… and 𝒳'],
  ['`${1}→${2}`', '1→2'],
  ["/^[=＝𝒳]+$/u.test('＝𝒳')", true],
  [String.raw`'\\…'`, String.raw`\…`],
  ['({ 名: 3 }).名', 3],
  ["'é' /* … */", 'é'],
])('inLatin1 writes %s in Latin-1 with the same value', (source, value) => {
  const escaped = inLatin1(source);
  expect(escaped).toMatch(/^[\0-\xff]*$/);
  expect(eval(escaped)).toBe(value);
});

it.each([String.raw`/\…/`, String.raw`'\\\…'`, '`a` + String.raw`…`'])(
  'inLatin1 throws if an escape would change the meaning: %s',
  (source) => {
    expect(() => inLatin1(source)).toThrow('cannot be escaped');
  },
);

it('Files of the bundle are Latin-1, so that V8 keeps them in one byte per letter', () => {
  expect(files.length).toBeGreaterThan(50);
  const wide = files.filter((path) => /[^\0-\xff]/.test(readFileSync(path, 'utf8')));
  expect(wide.map((path) => relative(BUNDLE, path))).toEqual([]);
});

it('The bundle loads no library both by require and by import', () => {
  const [required, imported, seen] = [new Set(), new Set(), new Set()];
  const read = (path) => {
    if (seen.has(path)) return;
    seen.add(path);
    const source = readFileSync(path, 'utf8');
    for (const [, id] of source.matchAll(/(?<![\w$.])importLibrary\("([^"]+)"\)/g)) imported.add(id);
    for (const [, id] of source.matchAll(/(?<![\w$.])require\("([^"]+)"\)/g)) {
      if (id.startsWith('.')) read(join(dirname(path), id));
      else required.add(id);
    }
  };
  read(join(BUNDLE, 'src', 'cli', 'index.cjs'));
  read(join(BUNDLE, 'src', 'main.cjs'));
  expect(seen.size).toBeGreaterThan(50);
  expect(required).toContain('@modelcontextprotocol/server');
  expect([...imported].filter((id) => required.has(id) && !isBuiltin(id))).toEqual([]);
});
