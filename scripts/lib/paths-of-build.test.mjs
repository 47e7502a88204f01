import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** `make` ends an absolute path at a space and takes the rest for another file. */
it('The kernel is compiled by paths relative to its own folder, so that the path of the project may have a space', () => {
  const gyp = readFileSync(join(import.meta.dirname, '../../native-bindings/binding.gyp'), 'utf8');
  const resolved = gyp.split('\n').filter((line) => /require\.resolve|process\.cwd/.test(line));
  expect(resolved.length).toBeGreaterThanOrEqual(3);
  for (const line of resolved) expect(line).toContain(".relative('.', ");
});
