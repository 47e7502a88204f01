import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PieceStore } from './piece-store.js';
import { StoredTarget } from './stored-target.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-stored-target-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('At most two folders of a backup are on the disk: one that is sent, and one that is copied', async () => {
  // By folder: on a busy machine, the second one may be sent first.
  const accepts = new Map<string, () => void>();
  const store = {
    put: (piece: Buffer) =>
      new Promise((resolve) => {
        accepts.set(piece.toString(), () => resolve({ digest: 'x', shared: false }));
      }),
  } as unknown as PieceStore;
  const target = new StoredTarget(folder, store, new AbortController().signal);
  const copy = (name: string) => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'file'), name);
    return target.keepFolder(name);
  };
  await copy('a');
  const mayGoOn = copy('b');
  await expect.poll(() => accepts.size, { interval: 1 }).toBe(2);
  let goesOn = false;
  void mayGoOn.then(() => (goesOn = true));
  await new Promise(setImmediate);
  expect(goesOn).toBe(false);
  accepts.get('a')?.();
  await mayGoOn;
  expect([existsSync(join(folder, 'a')), existsSync(join(folder, 'b'))]).toEqual([false, true]);
  accepts.get('b')?.();
  expect((await target.files()).map(({ path }) => path)).toEqual(['a/file', 'b/file']);
});
