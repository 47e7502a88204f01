import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { canMountFaulty, FaultyFileSystem } from '../../test/support/faulty-file-system.js';
import { describeWhere } from '../../test/support/skip.js';
import { linkOrCopyNow } from '../platform/index.js';
import { keepCopy, linked } from './file-keeping.js';

const WRITTEN_AT = new Date('2026-02-03T04:05:06Z');

describeWhere(await canMountFaulty(), 'no file system of our own can be mounted here (libfuse 3, and root)')(
  'a file that the previous backup also has',
  () => {
    let root: string;
    let disk: FaultyFileSystem;
    const on = (name: string) => join(root, 'on', name);

    beforeEach(async () => {
      root = mkdtempSync(join(tmpdir(), 'gannet-kept-file-'));
      disk = await FaultyFileSystem.mount(join(root, 'under'), join(root, 'on'));
      for (const name of ['file', 'before']) {
        writeFileSync(on(name), 'the same');
        utimesSync(on(name), WRITTEN_AT, WRITTEN_AT);
      }
    });
    afterEach(async () => {
      await disk.unmount();
      rmSync(root, { recursive: true, force: true });
    });

    it('is hard-linked to that backup', async () => {
      expect(await keepCopy(on('file'), on('copy'), on('before'))).toEqual({ bytes: 8, shared: true });
      expect(statSync(on('copy')).ino).toBe(statSync(on('before')).ino);
    });

    it("is copied if that backup's file cannot be read", async () => {
      await disk.fail(['read'], 'EIO', '/before');
      await disk.forget();
      expect(await keepCopy(on('file'), on('copy'), on('before'))).toEqual({ bytes: 8, shared: false });
      expect(readFileSync(on('copy'), 'utf8')).toBe('the same');
    });

    it('fails if the file itself cannot be read', async () => {
      await disk.fail(['read'], 'EIO', '/file');
      await disk.forget();
      await expect(keepCopy(on('file'), on('copy'), on('before'))).rejects.toMatchObject({ code: 'EIO' });
    });

    it('is copied if the file system has no hard links, whatever error it reports', async () => {
      for (const code of ['EPERM', 'EINVAL', 'EACCES'] as const) {
        await disk.fail(['link'], code, '/');
        expect(await linked(on('file'), on('second'))).toBe(false);
        linkOrCopyNow(on('file'), on(code));
        expect(readFileSync(on(code), 'utf8')).toBe('the same');
      }
      await expect(linked(on('none'), on('second'))).rejects.toMatchObject({ code: 'ENOENT' });
      expect(() => linkOrCopyNow(on('none'), on('second'))).toThrow('ENOENT');
    });
  },
);
