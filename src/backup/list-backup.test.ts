/** A list that is deleted while its store is copied, on a disk that holds the copy up. */
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../test/support/eventually.js';
import { canMountFaulty, FaultyFileSystem } from '../../test/support/faulty-file-system.js';
import { LIST_DEFINITION } from '../../test/support/lists-with-models.js';
import { LIST_SETTINGS, ListsInFolder } from '../../test/support/lists-in-folder.js';
import { describeWhere } from '../../test/support/skip.js';
import { storePath } from '../store/index.js';
import { backUpList } from './list-backup.js';

const ID = 'a1';

describeWhere(await canMountFaulty(), 'no file system of our own can be mounted here (libfuse 3, and root)')(
  'a list that is deleted while its store is copied',
  () => {
    let root: string;
    let disk: FaultyFileSystem;
    const on = (name: string) => join(root, 'on', name);

    beforeEach(async () => {
      root = mkdtempSync(join(tmpdir(), 'gannet-list-backup-'));
      disk = await FaultyFileSystem.mount(join(root, 'under'), join(root, 'on'));
      const lists = new ListsInFolder().open();
      const list = await lists.indexes.create(ID, LIST_SETTINGS, LIST_DEFINITION);
      await list.write({ kind: 'put', name: 'first', fields: { title: 'a word' } });
      await lists.close();
      cpSync(lists.path(ID), on(ID), { recursive: true });
      await lists.remove();
    });
    afterEach(async () => {
      await disk.unmount();
      rmSync(root, { recursive: true, force: true });
    });

    // A disk in a process, or of another machine, says ESTALE of an open file that has lost its name.
    it('is left out, whatever the disk says of files that are gone', async () => {
      const target = on('backup');
      await disk.hold(['write'], '/backup/');
      const places = { listPath: on(ID), target, before: undefined, staging: on('staging') };
      const made = backUpList({ ...places, printAtRest: () => undefined });
      await eventually(
        () => Promise.resolve(existsSync(join(storePath(target), 'data.mdb'))),
        (isBegun) => isBegun,
      );
      rmSync(on(ID), { recursive: true });
      await disk.heal();
      expect(await made).toBeUndefined();
      expect(existsSync(target)).toBe(false);
    });
  },
);
