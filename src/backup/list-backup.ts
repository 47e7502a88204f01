/** Copies one list as of one moment: its store as of a commit, and the segments that this commit names. */
import { constants } from 'node:fs';
import { copyFile, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { namedSegmentFiles } from '../index/index.js';
import { copyEnvironment, makeFolder, ServiceError } from '../platform/index.js';
import { RecordStore } from '../records/index.js';
import { hasStore, segmentsPath, storePath } from '../store/index.js';
import { keepCopy, linked } from './file-keeping.js';

/** Interval of looking for new segments while the store is copied. */
const LOOK_MS = 20;
/** If a merge removes a segment between two looks, the copy is attempted again. */
const ATTEMPTS_MAX = 10;
const SEGMENT = /^\d{8,}\.(?:mdb|gvs)$/u;

export interface ListBackupPlaces {
  readonly listPath: string;
  /** Folder of the list in the backup. */
  readonly target: string;
  /** Folder of the list in the previous backup. */
  readonly before: string | undefined;
  /** A folder on the file system of the data directory, where segments are linked until they are copied. */
  readonly staging: string;
  /** Returns the fingerprint of the list's store while the list is closed and has no work left; undefined otherwise. */
  readonly printAtRest: () => string | undefined;
}

export interface ListBackup {
  readonly bytes: number;
  readonly bytesShared: number;
}

/** Returns undefined if the list is gone. Rejects with `storage-full`, and with LMDB's error for a damaged store. */
export async function backUpList(places: ListBackupPlaces): Promise<ListBackup | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    await rm(places.target, { recursive: true, force: true });
    if (!hasStore(places.listPath)) return undefined;
    const made = (await backUpAtRest(places)) ?? (await attemptBackup(places));
    if (made !== 'segments-gone') return made;
  }
  throw new ServiceError(
    'conflict',
    `The index of the list ${basename(places.listPath)} changes faster than it is copied: try again when less is written.`,
  );
}

/**
 * Copies a list at rest, whose files do not change until it is opened: nothing is opened, and its folder has exactly
 * the segments that its store names. Returns undefined, with nothing left behind, if the list is not at rest, or not
 * until the end.
 */
async function backUpAtRest(places: ListBackupPlaces): Promise<ListBackup | undefined> {
  const { listPath, target, staging, before, printAtRest } = places;
  const print = printAtRest();
  if (print === undefined) return undefined;
  const segments = segmentsPath(target);
  const caught = new SegmentCatch(segmentsPath(listPath), { segments, staging });
  let isSame = false;
  try {
    await Promise.all([makeFolder(segments), makeFolder(staging)]);
    await makeFolder(storePath(target));
    await caught.look();
    const [from, to] = [listPath, target].map((path) => join(storePath(path), 'data.mdb')) as [string, string];
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    const kept = await caught.keep(undefined, before === undefined ? undefined : segmentsPath(before));
    isSame = printAtRest() === print;
    return isSame ? kept : undefined;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  } finally {
    await rm(staging, { recursive: true, force: true });
    if (!isSame) await rm(target, { recursive: true, force: true });
  }
}

async function attemptBackup(places: ListBackupPlaces): Promise<ListBackup | undefined | 'segments-gone'> {
  const { listPath, target, staging } = places;
  const segments = segmentsPath(target);
  await Promise.all([makeFolder(segments), makeFolder(staging)]);
  const caught = new SegmentCatch(segmentsPath(listPath), { segments, staging });
  try {
    await caught.look();
    const copied = copyStore(listPath, target);
    await caught.lookUntil(copied);
    await copied;
    await caught.look();
    const named = await namesInCopy(target);
    if (!named.every((name) => caught.has(name))) return 'segments-gone';
    return await caught.keep(named, places.before === undefined ? undefined : segmentsPath(places.before));
  } catch (error) {
    if (hasStore(listPath)) throw error;
    // Whatever is said of it: some file systems have no size of a file that was deleted while it is open.
    await rm(target, { recursive: true, force: true });
    return undefined;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * Where the second name of a segment is: in the backup, as a link or a copy, or in the staging folder, to be copied
 * later.
 */
type Place = 'linked' | 'copied' | 'staged';

/** Gives each segment a second name before a merge removes it. */
class SegmentCatch {
  private readonly places = new Map<string, Place>();

  constructor(
    private readonly from: string,
    private readonly to: { readonly segments: string; readonly staging: string },
  ) {}

  has(name: string): boolean {
    return this.places.has(name);
  }

  async look(): Promise<void> {
    const names = await readdir(this.from).catch((error: unknown) => {
      // The list's creation was interrupted.
      if (isGone(error)) return [];
      throw error;
    });
    for (const name of names) if (SEGMENT.test(name) && !this.has(name)) await this.take(name);
  }

  async lookUntil(done: Promise<unknown>): Promise<void> {
    let isDone = false;
    const end = done.then(
      () => (isDone = true),
      () => (isDone = true),
    );
    while (!isDone) {
      await this.look();
      await Promise.race([end, new Promise((resolve) => setTimeout(resolve, LOOK_MS))]);
    }
  }

  /** Completes the named segments, or all, in the backup, and removes others. */
  async keep(named: readonly string[] | undefined, before: string | undefined): Promise<ListBackup> {
    const { segments, staging } = this.to;
    const wanted = new Set(named ?? this.places.keys());
    for (const name of this.places.keys()) if (!wanted.has(name)) await rm(join(segments, name), { force: true });
    let [bytes, bytesShared] = [0, 0];
    for (const name of wanted) {
      const place = this.places.get(name);
      const at = join(segments, name);
      const kept =
        place === 'staged'
          ? await keepCopy(join(staging, name), at, before === undefined ? undefined : join(before, name))
          : { bytes: (await stat(at)).size, shared: place === 'linked' };
      bytes += kept.bytes;
      if (kept.shared) bytesShared += kept.bytes;
    }
    return { bytes, bytesShared };
  }

  private async take(name: string): Promise<void> {
    const from = join(this.from, name);
    const at = join(this.to.segments, name);
    try {
      if (await linked(from, at)) this.places.set(name, 'linked');
      else if (await linked(from, join(this.to.staging, name))) this.places.set(name, 'staged');
      else {
        // The folder of the list is a file system of its own.
        await keepCopy(from, at, undefined);
        this.places.set(name, 'copied');
      }
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
}

/** Opens the store as its owner does, since a process may open it only once. */
async function copyStore(listPath: string, target: string): Promise<void> {
  const store = new RecordStore(listPath);
  try {
    await copyEnvironment(store.environment.root, storePath(target));
  } finally {
    await store.close();
  }
}

async function namesInCopy(target: string): Promise<string[]> {
  const copy = new RecordStore(target);
  try {
    return namedSegmentFiles(target, copy);
  } finally {
    await copy.close();
    await rm(join(storePath(target), 'lock.mdb'), { force: true });
  }
}

function isGone(error: unknown): boolean {
  return ['ENOENT', 'list-missing', 'list-not-found'].includes(String((error as NodeJS.ErrnoException).code));
}
