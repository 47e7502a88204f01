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

/** With room of its own on every file system: those that pack files would keep one byte that is repeated in none, and some take the room only when they write. */
const fill = (path: string, mib: number) => {
  writeFileSync(path, randomBytes(mib * MIB), { flush: true });
};

it('tells what takes the room, a file of two names once, the largest first', async () => {
  mkdirSync(join(folder, 'lists', 'one', 'segments'), { recursive: true });
  mkdirSync(join(folder, 'system'));
  fill(join(folder, 'lists', 'one', 'segments', 'a'), 3);
  linkSync(join(folder, 'lists', 'one', 'segments', 'a'), join(folder, 'lists', 'one', 'b'));
  fill(join(folder, 'system', 'data.mdb'), 1);
  const look = new DiskLook(folder, () => nowMs);
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

it('tells of a folder that is gone that it does not answer', async () => {
  expect(await new DiskLook(join(folder, 'none')).look()).toBeUndefined();
});
