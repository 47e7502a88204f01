/** That `faulty-file-system.c` is a disk to who has a file open or mapped: what was written is what everybody reads. */
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
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

    it('shows what was written, also to who looked at the file while that was on its way', async () => {
      await file.write('a'.repeat(PAGE), 0);
      // The system knows its time as of now.
      statSync(path());
      const begin = () => readFileSync(path(), { encoding: 'utf8' }).slice(0, 1);
      expect(begin()).toBe('a');
      await disk.hold(['write'], '/file');
      const written = file.write('b'.repeat(PAGE), 0);
      await eventually(
        () => Promise.resolve(begin()),
        (letter) => letter === 'b',
      );
      // As by a write before.
      utimesSync(join(root, 'under', 'file'), LONG_AGO, LONG_AGO);
      expect(statSync(path()).mtimeMs).toBe(LONG_AGO.getTime());
      const meanwhile = begin();
      await disk.heal();
      await written;
      expect([meanwhile, begin()]).toEqual(['b', 'b']);
    });
  },
);
