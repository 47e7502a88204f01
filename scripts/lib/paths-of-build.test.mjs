import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** What `make` is given as it stands ends at a space, and the rest is taken for another file. */
it('the kernel is compiled by paths from its own folder: in a folder whose name has a space it was not', () => {
  const gyp = readFileSync(join(import.meta.dirname, '../../native-bindings/binding.gyp'), 'utf8');
  const resolved = gyp.split('\n').filter((line) => /require\.resolve|process\.cwd/.test(line));
  expect(resolved.length).toBeGreaterThanOrEqual(3);
  for (const line of resolved) expect(line).toContain(".relative('.', ");
});
