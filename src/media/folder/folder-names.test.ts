/** Names in folders are sorted by bytes, and those of large folders are current although they are cached. */
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FolderCalls } from './folder-calls.js';
import { FolderNames, inOrder } from './folder-names.js';
import { SafeFolder } from './safe-folder.js';

const MANY = 2500;

it('inOrder sorts paths by their bytes in UTF-8', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'ä', '\ue000', '\uffee', '\u{10000}', '\u{10ffff}') });
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(Math.sign(inOrder(one, other))).toBe(Buffer.compare(Buffer.from(one), Buffer.from(other)));
    }),
  );
});

it('FolderNames reads a large folder once until it changes', async () => {
  const path = mkdtempSync(join(tmpdir(), 'gannet-names-'));
  for (let number = 0; number < MANY; number += 1) writeFileSync(join(path, `f${number}`), '');
  const longAgo = new Date('2026-01-01T00:00:00Z');
  const folder = await SafeFolder.root(path, new FolderCalls());
  try {
    const names = new FolderNames();
    // The folder may have changed just now: more changes may come within the same tick of its timestamp.
    const soon = new Date(Date.now() + 3_600_000);
    utimesSync(path, soon, soon);
    expect(await names.of(folder, '')).not.toBe(await names.of(folder, ''));
    utimesSync(path, longAgo, longAgo);
    const first = await names.of(folder, '');
    expect(first).toHaveLength(MANY);
    expect(await names.of(folder, '')).toBe(first);
    // The same folder may be at two paths of a store: a name that is valid there may not be valid here.
    expect(await names.of(folder, 'other/')).not.toBe(first);
    writeFileSync(join(path, 'one-more'), '');
    utimesSync(path, longAgo, longAgo);
    expect(await names.of(folder, '')).toHaveLength(MANY + 1);
  } finally {
    await folder.close();
    rmSync(path, { recursive: true });
  }
});
