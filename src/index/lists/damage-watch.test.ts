import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../../test/support/eventually.js';
import { DamageWatch } from './damage-watch.js';

let folder: string;
let unreadable: string[];
let told: string[];
let watching: DamageWatch;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-damage-watch-'));
  unreadable = [];
  told = [];
  const kernel = { takeUnreadableFiles: () => unreadable.splice(0), checkSegmentInBackground: () => Promise.resolve() };
  const listener = {
    segmentDamaged: (list: string) => told.push(`segment of ${list}`),
    storeDamaged: (list: string) => told.push(`store of ${list}`),
    otherUnreadable: () => undefined,
  };
  watching = new DamageWatch(kernel, listener, pino({ level: 'silent' }));
});
afterEach(() => {
  watching.close();
  rmSync(folder, { recursive: true, force: true });
});

async function areTold(list: string, place: string): Promise<void> {
  unreadable.push(join(place, 'segments', '00000001.mdb'), join(place, 'store', 'data.mdb'));
  await eventually(
    () => Promise.resolve(told),
    ({ length }) => length === 2,
  );
  expect(told).toEqual([`segment of ${list}`, `store of ${list}`]);
}

it('DamageWatch recognizes the files of a list by their real paths if the folder of lists is a symbolic link', async () => {
  for (const name of ['segments', 'store']) mkdirSync(join(folder, 'disk', 'one', name), { recursive: true });
  symlinkSync(join(folder, 'disk'), join(folder, 'lists'));
  const list = join(folder, 'lists', 'one');
  watching.opened(list);
  await areTold(list, join(folder, 'disk', 'one'));
});

it('DamageWatch recognizes unreadable files of a list whose folders the system cannot watch', async () => {
  const list = join(folder, 'one');
  mkdirSync(join(list, 'store'), { recursive: true });
  watching.opened(list);
  await areTold(list, list);
});
