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
/** No thread is to fail here. */
const fail = (what: unknown) => {
  throw new Error(String(what));
};
const UNHEARD = { onDeath: fail, onBug: fail };

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

it('asks for no file in the thread that answers everybody', async () => {
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

it('ends a look when it is closed, and begins none behind that', async () => {
  writeFileSync(join(folder, 'file'), '');
  const look = new DiskLook(folder, UNHEARD);
  const cut = look.look();
  await look.close();
  expect((await cut)?.entries).toBeUndefined();
  expect((await look.look())?.entries).toBeUndefined();
});

it('tells of a folder that is gone that it does not answer', async () => {
  expect(await new DiskLook(join(folder, 'none'), UNHEARD).look()).toBeUndefined();
});
