/** A disk that shows an older version of a page, as network file systems and FUSE programs can. */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEnvironment, type LmdbEnvironment } from './lmdb-environment.js';

const PAGE = 4096;
const META_PAGES = 2;

let folder: string;
let file: number;
let environment: LmdbEnvironment;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-older-page-'));
  environment = openEnvironment(folder, { kind: 'system' });
  environment.database('values');
  file = openSync(join(folder, 'data.mdb'), 'r+');
});
afterEach(async () => {
  await environment.close();
  closeSync(file);
  rmSync(folder, { recursive: true, force: true });
});

const values = () => environment.database<number, number>('values');
const write = (number: number) => environment.transaction(() => void values().putSync(number, number));
const metaPages = () => {
  const bytes = Buffer.alloc(META_PAGES * PAGE);
  readSync(file, bytes, 0, bytes.length, 0);
  return bytes;
};

it('An older meta page is refused for writing, which would undo commits, until the disk shows the newest one again', async () => {
  await write(1);
  const opened = values();
  const before = metaPages();
  for (const number of [2, 3]) await write(number);
  const newest = metaPages();
  writeSync(file, before, 0, before.length, 0);
  await expect(write(4)).rejects.toMatchObject({ code: 'storage-failed' });
  environment.root.resetReadTxn();
  expect(() => opened.get(1)).toThrow('Input/output error');
  writeSync(file, newest, 0, newest.length, 0);
  await write(5);
  expect([...values().getKeys()]).toEqual([1, 2, 3, 5]);
});
