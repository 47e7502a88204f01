import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { kernel } from '../../native-bindings/index.js';
import { itWhere } from '../../test/support/skip.js';
import { canMount, SmallFileSystem } from '../../test/support/small-file-system.js';
import { lockHolder } from './lock-holder.js';

const mounting = canMount('holders of locks on two disks');

describe('lockHolder', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gannet-holder-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  itWhere(process.platform === 'linux', 'only Linux tells it')('returns the process while it holds the lock', () => {
    const path = join(folder, 'lock');
    const lock = kernel.lockFile(path);
    expect(lockHolder(path)).toEqual({ pid: process.pid, user: process.getuid?.() });
    lock?.release();
    expect(lockHolder(path)).toBeUndefined();
  });

  itWhere(mounting, 'no file system can be mounted')(
    'ignores a lock on a file with the same inode number on another disk',
    () => {
      const disks = ['one', 'two'].map((name) => SmallFileSystem.mount(join(folder, name)));
      try {
        const [one = '', two = ''] = disks.map((disk) => join(disk.path, 'lock'));
        for (const path of [one, two]) writeFileSync(path, '');
        expect(statSync(one).ino).toBe(statSync(two).ino);
        const lock = kernel.lockFile(two);
        expect(lockHolder(one)).toBeUndefined();
        expect(lockHolder(two)).toMatchObject({ pid: process.pid });
        lock?.release();
      } finally {
        for (const disk of disks) disk.unmount();
      }
    },
  );
});
