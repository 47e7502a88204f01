/**
 * Tests that `faulty-file-system.c` behaves like a disk for processes that have a file open or mapped: everybody
 * reads what was written.
 */
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from './eventually.js';
import { canMountFaulty, FaultyFileSystem } from './faulty-file-system.js';
import { describeWhere } from './skip.js';

const PAGE = 4096;
const LONG_AGO = new Date('2001-02-03T04:05:06Z');

describeWhere(await canMountFaulty(), 'no file system of our own can be mounted here (libfuse 3, and root)')(
  'a faulty file system',
  () => {
    let root: string;
    let disk: FaultyFileSystem;
    let file: FileHandle;
    const path = () => join(root, 'on', 'file');

    beforeEach(async () => {
      root = mkdtempSync(join(tmpdir(), 'gannet-faulty-disk-'));
      disk = await FaultyFileSystem.mount(join(root, 'under'), join(root, 'on'));
      file = await open(path(), 'w+');
    });
    afterEach(async () => {
      await file.close();
      await disk.unmount();
      rmSync(root, { recursive: true, force: true });
    });

    it("shows what was written, even to a process that read the file's times during the write", async () => {
      await file.write('a'.repeat(PAGE), 0);
      // The system now knows the file's time.
      statSync(path());
      const begin = () => readFileSync(path(), { encoding: 'utf8' }).slice(0, 1);
      expect(begin()).toBe('a');
      await disk.hold(['write'], '/file');
      const written = file.write('b'.repeat(PAGE), 0);
      await eventually(
        () => Promise.resolve(begin()),
        (letter) => letter === 'b',
      );
      // As an earlier write would do.
      utimesSync(join(root, 'under', 'file'), LONG_AGO, LONG_AGO);
      expect(statSync(path()).mtimeMs).toBe(LONG_AGO.getTime());
      const meanwhile = begin();
      await disk.heal();
      await written;
      expect([meanwhile, begin()]).toEqual(['b', 'b']);
    });

    it('keeps the content of an open file that is renamed or deleted', async () => {
      await file.write('a', 0);
      renameSync(path(), `${path()}.new`);
      await file.write('b', 1);
      rmSync(`${path()}.new`);
      await file.write('c', 2);
      await file.sync();
      await file.truncate(4);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
      // The system asks for the size by name, and is told that the name is stale.
      expect(buffer.toString('latin1', 0, bytesRead)).toBe('abc\0');
    });

    it('drops cached pages of a renamed file as well', async () => {
      await file.write('a'.repeat(PAGE), 0);
      await file.sync();
      renameSync(path(), `${path()}.new`);
      await disk.fail(['read'], 'EIO', '/file.new');
      await disk.forget();
      await expect(file.read(Buffer.alloc(1), 0, 1, 0)).rejects.toMatchObject({ code: 'EIO' });
    });

    it('fails for the current name of a file', async () => {
      renameSync(path(), `${path()}.new`);
      await disk.fail(['write'], 'EIO', '/file.new');
      const failed = await file.write('a', 0).then(
        () => file.sync(),
        (error: NodeJS.ErrnoException) => error,
      );
      expect(failed).toMatchObject({ code: 'EIO' });
    });
  },
);
