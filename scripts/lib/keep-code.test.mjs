import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepCode } from './keep-code.mjs';

let root;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gannet-keep-code-test-'));
  for (const folder of ['bin', 'dist/bundle']) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'package.json'), '{}');
  // What the recorder takes the place of.
  writeFileSync(join(root, 'dist', 'bundle', 'load-bundle.cjs'), '');
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

it('keepCode says of a service that hangs for how long it did nothing, and leaves no code', async () => {
  writeFileSync(join(root, 'bin', 'gannet.js'), 'setInterval(() => {}, 1_000_000);');
  await expect(keepCode(root, 100)).rejects.toThrow('the service ended: it did nothing for 0.1 s');
  expect(existsSync(join(root, 'dist', 'bundle', 'code'))).toBe(false);
});

it('keepCode says of a service that ends by itself what it has written', async () => {
  writeFileSync(join(root, 'bin', 'gannet.js'), "console.error('no memory'); process.exit(3);");
  await expect(keepCode(root)).rejects.toThrow('the service ended: no memory');
});
