/** A folder on a file system that has its own mind: what it refuses is told as that, and what cannot be read is not taken for gone. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { itWhere } from '../../../test/support/skip.js';
import { canMount, SmallFileSystem } from '../../../test/support/small-file-system.js';
import { FolderStore } from './folder-store.js';

const MEMORY = '/dev/shm';
/** Who has no rights of his own. */
const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;
const mayMount = canMount('A media store on a disk that is full');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'gannet-folder-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const storeIn = (path: string) =>
  new FolderStore({ path, events: { uploaded: () => undefined, deleted: () => undefined } });
const all = { prefix: '', after: '', size: 10 };
const pathsOf = async (store: FolderStore) => (await store.list(all)).files.map(({ path }) => path);

function upload(path: string, bytes: number) {
  const body = (async function* () {
    await Promise.resolve();
    yield Buffer.alloc(bytes, 'x');
  })();
  return { path, contentType: 'text/plain', bytes, body, check: () => undefined, isConditional: false };
}

itWhere(existsSync(MEMORY), 'there is no file system in memory, which keeps all times')(
  'a file of a time that no date has is there like any other',
  async () => {
    for (const [name, seconds] of Object.entries({ late: 99_999_999_999_999, early: -99_999_999_999_999 })) {
      writeFileSync(join(folder, name), name);
      execFileSync('touch', ['-d', `@${seconds}`, join(folder, name)]);
    }
    const { files } = await storeIn(folder).list(all);
    expect(files.map(({ path, modifiedUtc }) => [path, modifiedUtc])).toEqual([
      ['early', '0001-01-01T00:00:00.000Z'],
      ['late', '9999-12-31T23:59:59.999Z'],
    ]);
  },
);

itWhere(isRoot, 'only root can take the part of somebody who may not read')(
  'what may not be read is not gone: a file is listed, and a folder makes the listing fail',
  async () => {
    writeFileSync(join(folder, 'secret'), 'x', { mode: 0o000 });
    writeFileSync(join(folder, 'open'), 'x', { mode: 0o644 });
    mkdirSync(join(folder, 'lost+found'), { mode: 0o700 });
    chmodSync(folder, 0o755);
    const store = storeIn(folder);
    process.seteuid?.(NOBODY);
    try {
      expect(await pathsOf(store)).toEqual(['open', 'secret']);
      process.seteuid?.(0);
      mkdirSync(join(folder, 'closed'), { mode: 0o700 });
      process.seteuid?.(NOBODY);
      await expect(store.list(all)).rejects.toMatchObject({
        code: 'store-unavailable',
        detail: 'The folder "closed/" of this media store cannot be used: this user may not do that (EACCES).',
      });
      await expect(store.open('secret')).rejects.toMatchObject({
        code: 'store-unavailable',
        detail: 'The file "secret" of this media store cannot be used: this user may not do that (EACCES).',
      });
      await expect(store.put(upload('new', 1))).rejects.toMatchObject({ code: 'store-unavailable' });
    } finally {
      process.seteuid?.(0);
    }
  },
);

itWhere(mayMount, 'a small file system cannot be mounted (run as root)')(
  'a full disk is a full store, and one that may only be read does not answer',
  async () => {
    const disk = SmallFileSystem.mount(join(folder, 'disk'));
    try {
      const store = storeIn(disk.path);
      await store.put(upload('first', 10));
      disk.shrinkTo(100_000);
      await expect(store.put(upload('large', 1_000_000))).rejects.toMatchObject({ code: 'store-full' });
      expect(await pathsOf(store)).toEqual(['first']);
      expect(await store.put(upload('small', 10))).toMatchObject({ isNew: true });
      execFileSync('mount', ['-o', 'remount,ro', disk.path]);
      await expect(store.put(upload('third', 10))).rejects.toMatchObject({ code: 'store-unavailable' });
      await expect(store.remove('first', () => undefined)).rejects.toMatchObject({ code: 'store-unavailable' });
      expect(await pathsOf(store)).toEqual(['first', 'small']);
    } finally {
      disk.unmount();
    }
  },
);
