/**
 * Tests how the probe of the data directory judges a file system that fails: searches are served if anything can be
 * looked at.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { StorageProbe } from '../../src/platform/storage-state.js';
import { canMountFaulty, FaultyFileSystem } from '../support/faulty-file-system.js';
import { itWhere } from '../support/skip.js';

let root: string;
let data: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gannet-probe-'));
  data = join(root, 'data');
  mkdirSync(join(data, 'system'), { recursive: true });
  writeFileSync(join(data, 'system', 'data.mdb'), 'x');
  writeFileSync(join(data, 'lock'), '');
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

it('The probe reports writable if the file whose time it sets is missing', async () => {
  rmSync(join(data, 'lock'));
  expect(await new StorageProbe(data).look()).toEqual({ kind: 'writable' });
});

it('The probe reports gone if the catalogue is missing', async () => {
  rmSync(join(data, 'system'), { recursive: true });
  expect(await new StorageProbe(data).look()).toEqual({ kind: 'gone', reason: 'it does not exist (ENOENT)' });
});

itWhere(await canMountFaulty(), 'Mounting a file system that fails needs libfuse 3 and root.')(
  'The probe tells a disk that refuses writes from one that cannot answer that, and from one that is gone',
  async () => {
    const disk = await FaultyFileSystem.mount(data, join(root, 'disk'));
    try {
      const probe = new StorageProbe(disk.path);
      expect(await probe.look()).toEqual({ kind: 'writable' });
      for (const [code, kind] of [
        ['EIO', 'read-only'],
        ['EROFS', 'read-only'],
        ['ENOSPC', 'writable'],
        ['EOPNOTSUPP', 'writable'],
        ['EINVAL', 'writable'],
      ] as const) {
        await disk.heal();
        await disk.fail(['times'], code, '/lock');
        expect(await probe.look(), code).toEqual({ kind });
      }
      await disk.fail(['look'], 'EIO', '/system/data.mdb');
      expect(await probe.look()).toEqual({ kind: 'gone', reason: 'the disk reports an error (EIO)' });
    } finally {
      await disk.unmount();
    }
  },
);
