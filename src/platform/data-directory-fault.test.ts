import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { itWhere } from '../../test/support/skip.js';
import { dataDirectoryFault } from './data-directory-fault.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-fault-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

it('dataDirectoryFault accepts a folder, and one that can be created', () => {
  expect(dataDirectoryFault(folder)).toBeUndefined();
  expect(dataDirectoryFault(join(folder, 'a', 'b', 'c'))).toBeUndefined();
});

it('dataDirectoryFault reports a file in place of a folder', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(dataDirectoryFault(file)).toBe('it is no folder');
  expect(dataDirectoryFault(join(file, 'data'))).toBe(`it cannot be made in ${file}: it is no folder`);
});

it('dataDirectoryFault reports a symbolic link without a target, for example to an unmounted disk', () => {
  const link = join(folder, 'link');
  symlinkSync('/nowhere/disk', link);
  const fault = `${link} is a link to /nowhere/disk, which does not exist`;
  expect(dataDirectoryFault(link)).toBe(fault);
  expect(dataDirectoryFault(join(link, 'data'))).toBe(fault);
});

it('dataDirectoryFault reports a folder that all users share', () => {
  expect(dataDirectoryFault('/tmp')).toMatch(/^it is shared by all users/);
  const shared = join(folder, 'shared');
  mkdirSync(shared);
  writeFileSync(join(shared, 'of-somebody-else'), '');
  chmodSync(shared, 0o1777);
  expect(dataDirectoryFault(shared)).toMatch(/^it is shared by all users/);
});

it('dataDirectoryFault reports a folder with other files, which would become inaccessible to others', () => {
  for (const name of ['hosts', 'passwd', 'ssl', 'shells']) writeFileSync(join(folder, name), '');
  expect(dataDirectoryFault(folder)).toBe(
    'it has other things in it (hosts, passwd, shells and 1 more), which would be closed to other users with it: ' +
      `choose a folder of its own, such as ${join(folder, 'gannet')}`,
  );
  // A folder that the service created is its own, whatever else is put into it.
  mkdirSync(join(folder, 'system'));
  writeFileSync(join(folder, 'system', 'data.mdb'), '');
  expect(dataDirectoryFault(folder)).toBeUndefined();
});

it('dataDirectoryFault accepts a folder with files that are common before the first start', () => {
  const logs = ['log', 'nohup.out', 'gannet.log', 'gannet.toml', 'gannet.env'];
  for (const name of [
    'lost+found',
    'models',
    'media',
    'videos',
    '.snapshot',
    '.bashrc',
    'secret-keys',
    'lock',
    ...logs,
  ])
    mkdirSync(join(folder, name));
  expect(dataDirectoryFault(folder)).toBeUndefined();
});

it('dataDirectoryFault accepts a folder whose lists are a symbolic link to a disk mounted in it', () => {
  mkdirSync(join(folder, 'disk'));
  symlinkSync('disk', join(folder, 'lists'));
  expect(dataDirectoryFault(folder)).toBeUndefined();
});

it('dataDirectoryFault accepts a damaged queue that was set aside, even in a folder with the sticky bit', () => {
  mkdirSync(join(folder, 'queue.damaged-20261127T000000'));
  expect(dataDirectoryFault(folder)).toBeUndefined();
  chmodSync(folder, 0o1777);
  expect(dataDirectoryFault(folder)).toBeUndefined();
});

it('dataDirectoryFault accepts lists without a catalogue, which the start reports itself', () => {
  mkdirSync(join(folder, 'lists', 'a-list'), { recursive: true });
  writeFileSync(join(folder, 'notes.txt'), '');
  expect(dataDirectoryFault(folder)).toBeUndefined();
});

itWhere(process.getuid?.() !== 0, 'nobody keeps root from anything')(
  'dataDirectoryFault reports missing permissions of the user',
  () => {
    chmodSync(folder, 0o500);
    expect(dataDirectoryFault(folder)).toBe('this user may not do that (EACCES)');
    expect(dataDirectoryFault(join(folder, 'data'))).toBe(
      `it cannot be made in ${folder}: this user may not do that (EACCES)`,
    );
  },
);
