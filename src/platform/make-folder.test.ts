import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeFolder } from './make-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'gannet-make-folder-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

it('makes a folder and those above it, and leaves one that is there', () => {
  const deep = join(folder, 'a', 'b', 'c');
  makeFolder(deep);
  makeFolder(deep);
  expect(statSync(deep).isDirectory()).toBe(true);
});

it('fails where the disk does not have the name, though the folder is there', () => {
  const sync = () => {
    throw new Error('EIO');
  };
  expect(() => makeFolder(join(folder, 'unsynced'), sync)).toThrow('EIO');
});

it('says what is in the way', () => {
  writeFileSync(join(folder, 'file'), '');
  symlinkSync(join(folder, 'nowhere'), join(folder, 'link'));
  symlinkSync(join(folder, 'round'), join(folder, 'round'));
  expect(() => makeFolder(join(folder, 'file'))).toThrow(/EEXIST/);
  expect(() => makeFolder(join(folder, 'file', 'below'))).toThrow(/ENOTDIR/);
  expect(() => makeFolder(join(folder, 'link'))).toThrow(/EEXIST/);
  expect(() => makeFolder(join(folder, 'round'))).toThrow(/ELOOP|EEXIST/);
  expect(() => makeFolder(join(folder, 'n'.repeat(300)))).toThrow(/ENAMETOOLONG/);
});

it.skipIf(!existsSync('/proc/self'))('comes to an end where no folder can be made', () => {
  expect(() => makeFolder('/proc/gannet/backups')).toThrow(/ENOENT/);
});
