import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Absolute paths broke builds in a folder with a space in its name, as `make` splits paths at spaces. */
it('binding.gyp uses relative paths, so that the kernel compiles in a folder with a space in its name', () => {
  const gyp = readFileSync(join(import.meta.dirname, '../../native-bindings/binding.gyp'), 'utf8');
  const resolved = gyp.split('\n').filter((line) => /require\.resolve|process\.cwd/.test(line));
  expect(resolved.length).toBeGreaterThanOrEqual(3);
  for (const line of resolved) expect(line).toContain(".relative('.', ");
});
