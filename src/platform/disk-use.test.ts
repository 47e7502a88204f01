import { createHook } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DiskLook } from './disk-use.js';

let folder: string;
let nowMs = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-disk-use-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const MIB = 2 ** 20;
/** Fails the test if a thread does. */
const fail = (what: unknown) => {
  throw new Error(String(what));
};
const UNHEARD = { onDeath: fail, onBug: fail };

/**
 * Writes random bytes and syncs them, because some file systems compress equal bytes, or allocate blocks only when
 * they write.
 */
const fill = (path: string, mib: number) => {
  writeFileSync(path, randomBytes(mib * MIB), { flush: true });
};

it('DiskLook reports what uses the disk, largest first, and counts a file with two names once', async () => {
  mkdirSync(join(folder, 'lists', 'one', 'segments'), { recursive: true });
  mkdirSync(join(folder, 'system'));
  fill(join(folder, 'lists', 'one', 'segments', 'a'), 3);
  linkSync(join(folder, 'lists', 'one', 'segments', 'a'), join(folder, 'lists', 'one', 'b'));
  fill(join(folder, 'system', 'data.mdb'), 1);
  const look = new DiskLook(folder, UNHEARD, () => nowMs);
  const found = await look.look();
  expect(found?.entries?.map(({ name, bytes }) => [name, Math.round(bytes / MIB)])).toEqual([
    ['lists', 3],
    ['system', 1],
  ]);
  expect(found?.freeBytes).toBeGreaterThan(0);
  expect(found?.bytes).toBeGreaterThan(found?.freeBytes ?? 0);
  fill(join(folder, 'system', 'more'), 8);
  const largest = async () => (await look.look())?.entries?.[0]?.name;
  expect(await largest()).toBe('lists');
  nowMs += 300_000;
  expect(await largest()).toBe('system');
});

it('DiskLook examines no files in the main thread', async () => {
  mkdirSync(join(folder, 'lists'));
  for (let file = 0; file < 100; file += 1) writeFileSync(join(folder, 'lists', String(file)), '');
  let asked = 0;
  const hook = createHook({
    init: (_id, type) => {
      if (type === 'FSREQPROMISE') asked += 1;
    },
  }).enable();
  const found = await new DiskLook(folder, UNHEARD).look();
  hook.disable();
  expect(found?.entries).toHaveLength(1);
  expect(asked).toBeLessThan(10);
});

it('DiskLook ends its work when it is closed, and starts none afterwards', async () => {
  writeFileSync(join(folder, 'file'), '');
  const look = new DiskLook(folder, UNHEARD);
  const cut = look.look();
  await look.close();
  expect((await cut)?.entries).toBeUndefined();
  expect((await look.look())?.entries).toBeUndefined();
});

it('DiskLook returns undefined for a missing folder', async () => {
  expect(await new DiskLook(join(folder, 'none'), UNHEARD).look()).toBeUndefined();
});
