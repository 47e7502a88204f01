/**
 * A folder on a file system with special behaviour: its refusals are reported, and an unreadable file does not count
 * as deleted.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { itWhere } from '../../../test/support/skip.js';
import { canMount, SmallFileSystem } from '../../../test/support/small-file-system.js';
import { WeightedTurns } from '../../platform/index.js';
import { RESERVED_PART } from '../media-path.js';
import { FolderCalls } from './folder-calls.js';
import { FolderStore } from './folder-store.js';
import { SafeFile } from './safe-folder.js';

const MEMORY = '/dev/shm';
/** A user without any rights. */
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

const storeIn = (path: string, calls?: FolderCalls) =>
  new FolderStore({
    path,
    events: { uploaded: () => undefined, deleted: () => undefined },
    ...(calls === undefined ? {} : { calls }),
  });
const all = { prefix: '', after: '', size: 10 };
const pathsOf = async (store: FolderStore) => (await store.list(all)).files.map(({ path }) => path);

function upload(path: string, bytes: number, pieceBytes = bytes) {
  const body = (async function* () {
    await Promise.resolve();
    const piece = Buffer.alloc(pieceBytes, 'x');
    for (let sent = 0; sent < bytes; sent += pieceBytes) yield piece;
  })();
  return { path, contentType: 'text/plain', bytes, body, check: () => undefined, isConditional: false };
}

itWhere(existsSync(MEMORY), 'there is no file system in memory, which keeps all times')(
  'A file whose time is out of the range of dates is listed like any other',
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
  'An unreadable file is still listed, and an unreadable folder makes the listing fail',
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
  'A full disk is reported as storage full, and a read-only one as unavailable',
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

it('An upload in progress is not removed as a leftover by another store of the same folder', async () => {
  let [begun, end] = [(): void => undefined, (): void => undefined];
  const isUnderWay = new Promise<void>((resolve) => (begun = resolve));
  const mayEnd = new Promise<void>((resolve) => (end = resolve));
  const body = (async function* () {
    yield Buffer.from('half');
    begun();
    await mayEnd;
    yield Buffer.from('done');
  })();
  const put = storeIn(folder).put({ ...upload('slow', 8), body });
  await isUnderWay;
  writeFileSync(join(folder, RESERVED_PART, 'left'), 'left');
  await storeIn(folder).put(upload('other', 1));
  end();
  expect(await put).toMatchObject({ isNew: true, file: { bytes: 8 } });
  expect(readdirSync(join(folder, RESERVED_PART))).toEqual([]);
});

describe('an upload onto a slow disk', () => {
  const handles = async () => {
    const probe = await open(folder);
    await probe.close();
    return Object.getPrototypeOf(probe) as FileHandle;
  };
  const calls = (callsMax = 2) => new FolderCalls({ turns: new WeightedTurns(3), callsMax });
  const uploads = () => readdirSync(join(folder, RESERVED_PART));
  /** Holds the first sync, that of the file, back until `end` is called. */
  async function heldSync() {
    mkdirSync(join(folder, RESERVED_PART));
    let [begun, end] = [(): void => undefined, (): void => undefined];
    const isUnderWay = new Promise<void>((resolve) => (begun = resolve));
    const ended = new Promise<void>((resolve) => (end = resolve));
    vi.spyOn(await handles(), 'sync').mockImplementationOnce(() => {
      begun();
      return ended;
    });
    return { isUnderWay, end };
  }
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it('waits minutes for its sync, while the store serves other calls', async () => {
    const store = storeIn(folder, calls());
    const { isUnderWay, end } = await heldSync();
    const put = store.put(upload('file', 10));
    await isUnderWay;
    vi.advanceTimersByTime(5 * 60_000);
    expect(await pathsOf(store)).toEqual([]);
    end();
    expect(await put).toMatchObject({ isNew: true });
  });

  it('leaves nothing behind after it was given up, once the disk answers again', async () => {
    const store = storeIn(folder, calls(1));
    const { isUnderWay, end } = await heldSync();
    const put = store.put(upload('file', 10)).catch((error: unknown) => error);
    await isUnderWay;
    vi.advanceTimersByTime(60 * 60_000);
    vi.useRealTimers();
    expect(await put).toMatchObject({ code: 'store-unavailable' });
    expect(uploads()).toHaveLength(1);
    end();
    await expect.poll(uploads).toEqual([]);
  });

  it('is mostly synced before it ends', async () => {
    const synced = vi.spyOn(await handles(), 'datasync');
    await storeIn(folder, calls()).put(upload('file', 150 * 2 ** 20, 2 ** 20));
    expect(synced).toHaveBeenCalledTimes(2);
  });
});

it('A file is not left open if it cannot be examined', async () => {
  writeFileSync(join(folder, 'a'), 'a');
  /** Returns the open files below the folder, because others of this process come and go. */
  const openFiles = () =>
    readdirSync('/proc/self/fd').filter((descriptor) => {
      try {
        return readlinkSync(join('/proc/self/fd', descriptor)).startsWith(folder);
      } catch {
        return false;
      }
    });
  const store = storeIn(folder);
  await store.open('a').then((file) => file?.close());
  const stat = vi.spyOn(SafeFile.prototype, 'stat').mockRejectedValueOnce(Object.assign(new Error(), { code: 'EIO' }));
  await expect(store.open('a')).rejects.toMatchObject({ code: 'store-unavailable' });
  expect(openFiles()).toEqual([]);
  stat.mockRestore();
});
