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

it('tells what takes the room, a file of two names once, the largest first', async () => {
  mkdirSync(join(folder, 'lists', 'one', 'segments'), { recursive: true });
  mkdirSync(join(folder, 'system'));
  writeFileSync(join(folder, 'lists', 'one', 'segments', 'a'), Buffer.alloc(3 * MIB, 1));
  linkSync(join(folder, 'lists', 'one', 'segments', 'a'), join(folder, 'lists', 'one', 'b'));
  writeFileSync(join(folder, 'system', 'data.mdb'), Buffer.alloc(MIB, 1));
  const look = new DiskLook(folder, () => nowMs);
  const found = await look.look();
  expect(found?.entries?.map(({ name, bytes }) => [name, Math.round(bytes / MIB)])).toEqual([
    ['lists', 3],
    ['system', 1],
  ]);
  expect(found?.freeBytes).toBeGreaterThan(0);
  expect(found?.bytes).toBeGreaterThan(found?.freeBytes ?? 0);
  writeFileSync(join(folder, 'system', 'more'), Buffer.alloc(8 * MIB, 1));
  const largest = async () => (await look.look())?.entries?.[0]?.name;
  expect(await largest()).toBe('lists');
  nowMs += 300_000;
  expect(await largest()).toBe('system');
});

it('tells of a folder that is gone that it does not answer', async () => {
  expect(await new DiskLook(join(folder, 'none')).look()).toBeUndefined();
});
