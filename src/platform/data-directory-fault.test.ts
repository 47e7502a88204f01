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

it('is nothing for a folder, and for one that can be made', () => {
  expect(dataDirectoryFault(folder)).toBeUndefined();
  expect(dataDirectoryFault(join(folder, 'a', 'b', 'c'))).toBeUndefined();
});

it('names what is no folder', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(dataDirectoryFault(file)).toBe('it is no folder');
  expect(dataDirectoryFault(join(file, 'data'))).toBe(`it cannot be made in ${file}: it is no folder`);
});

it('names a link that leads nowhere, as to a disk that is not mounted', () => {
  const link = join(folder, 'link');
  symlinkSync('/nowhere/disk', link);
  const fault = `${link} is a link to /nowhere/disk, which does not exist`;
  expect(dataDirectoryFault(link)).toBe(fault);
  expect(dataDirectoryFault(join(link, 'data'))).toBe(fault);
});

it('names a folder that all users share', () => {
  expect(dataDirectoryFault('/tmp')).toMatch(/^it is shared by all users/);
  const shared = join(folder, 'shared');
  mkdirSync(shared);
  writeFileSync(join(shared, 'of-somebody-else'), '');
  chmodSync(shared, 0o1777);
  expect(dataDirectoryFault(shared)).toMatch(/^it is shared by all users/);
});

itWhere(process.getuid?.() !== 0, 'nobody keeps root from anything')('names what this user may not do', () => {
  chmodSync(folder, 0o500);
  expect(dataDirectoryFault(folder)).toBe('this user may not do that (EACCES)');
  expect(dataDirectoryFault(join(folder, 'data'))).toBe(
    `it cannot be made in ${folder}: this user may not do that (EACCES)`,
  );
});
