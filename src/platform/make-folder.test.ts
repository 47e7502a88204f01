import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder, makeFolderNow, makeLastFolderNow, makeSyncedFolder, makeSyncedFolderNow } from './make-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'gannet-make-folder-'));
beforeAll(() => {
  writeFileSync(join(folder, 'file'), '');
  symlinkSync(join(folder, 'nowhere'), join(folder, 'link'));
  symlinkSync(join(folder, 'round'), join(folder, 'round'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const OWNER_ONLY = 0o700;

describe.each<[string, (path: string) => unknown]>([
  ['makeFolder', (path) => makeFolder(path, OWNER_ONLY)],
  ['makeFolderNow', (path) => makeFolderNow(path, OWNER_ONLY)],
  ['makeSyncedFolder', (path) => makeSyncedFolder(path, OWNER_ONLY)],
  ['makeSyncedFolderNow', makeSyncedFolderNow],
])('%s', (name, given) => {
  const make = async (path: string) => given(path);

  it('creates a folder and its parents, and accepts existing ones', async () => {
    const deep = join(folder, name, 'b', 'c');
    await make(deep);
    await make(deep);
    expect(statSync(deep).isDirectory()).toBe(true);
  });

  it('accepts folders that are created by another call meanwhile', async () => {
    const deep = join(folder, 'together', name);
    await Promise.all(['a', 'b', 'a/c'].map((each) => make(join(deep, each))));
    expect(statSync(join(deep, 'a', 'c')).isDirectory()).toBe(true);
  });

  it.each([
    ['file', /EEXIST/],
    ['file/below', /ENOTDIR/],
    ['link', /EEXIST/],
    ['round', /ELOOP|EEXIST/],
    ['n'.repeat(300), /ENAMETOOLONG/],
  ])('reports what is in the way of %s', async (path, code) => {
    await expect(make(join(folder, path))).rejects.toThrow(code);
  });

  it.skipIf(!existsSync('/proc/self'))('ends if no folder can be created', async () => {
    await expect(make('/proc/gannet/backups')).rejects.toThrow(/ENOENT/);
  });
});

it('makeLastFolderNow creates only the last folder, and fails if its parent is missing', () => {
  const above = join(folder, 'not-mounted');
  expect(() => makeLastFolderNow(join(above, 'b', 'c'))).toThrow(`There is no folder ${above}, so that `);
  expect(existsSync(above)).toBe(false);
  const last = join(folder, 'mounted');
  makeLastFolderNow(last);
  makeLastFolderNow(last);
  expect(statSync(last).isDirectory()).toBe(true);
  expect(() => makeLastFolderNow(join(folder, 'link'))).toThrow(/EEXIST/);
  makeLastFolderNow(`${folder}/by-a-dot/.`);
  expect(statSync(join(folder, 'by-a-dot')).isDirectory()).toBe(true);
});

it('makeFolder and makeFolderNow return the folders that they created, the uppermost first', async () => {
  const at = (...parts: string[]) => join(folder, 'told', ...parts);
  expect(makeFolderNow(at('now'))).toEqual([at(), at('now')]);
  expect(await makeFolder(at('then', 'below'))).toEqual([at('then'), at('then', 'below')]);
  expect(await makeFolder(at('then', 'below'))).toEqual([]);
});

it('makeSyncedFolderNow fails if the name cannot be synced to disk, although the folder exists', () => {
  const sync = () => {
    throw new Error('EIO');
  };
  expect(() => makeSyncedFolderNow(join(folder, 'unsynced'), sync)).toThrow('EIO');
});
