/** Names of folders are in the order of bytes, and those of large ones are as they are now, though they are kept. */
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FolderCalls } from './folder-calls.js';
import { FolderNames, inOrder } from './folder-names.js';
import { SafeFolder } from './safe-folder.js';

const MANY = 2500;

it('paths are in the order of their bytes in UTF-8', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'ä', '\ue000', '\uffee', '\u{10000}', '\u{10ffff}') });
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(Math.sign(inOrder(one, other))).toBe(Buffer.compare(Buffer.from(one), Buffer.from(other)));
    }),
  );
});

it('names of a large folder are read once, until something of it changes', async () => {
  const path = mkdtempSync(join(tmpdir(), 'gannet-names-'));
  for (let number = 0; number < MANY; number += 1) writeFileSync(join(path, `f${number}`), '');
  const longAgo = new Date('2026-01-01T00:00:00Z');
  const folder = await SafeFolder.root(path, new FolderCalls());
  try {
    const names = new FolderNames();
    // It was changed a moment ago, for all that is known: more may come within the same tick.
    const soon = new Date(Date.now() + 3_600_000);
    utimesSync(path, soon, soon);
    expect(await names.of(folder, '')).not.toBe(await names.of(folder, ''));
    utimesSync(path, longAgo, longAgo);
    const first = await names.of(folder, '');
    expect(first).toHaveLength(MANY);
    expect(await names.of(folder, '')).toBe(first);
    // The same folder lies at two places of a store: what is a path there may be none here.
    expect(await names.of(folder, 'other/')).not.toBe(first);
    writeFileSync(join(path, 'one-more'), '');
    utimesSync(path, longAgo, longAgo);
    expect(await names.of(folder, '')).toHaveLength(MANY + 1);
  } finally {
    await folder.close();
    rmSync(path, { recursive: true });
  }
});
