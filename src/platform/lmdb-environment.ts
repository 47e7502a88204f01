/**
 * One LMDB environment, opened through lmdb-js. Segment files are never opened here: they belong to the kernel's own copy.
 *
 * Durable writing: `await environment.transaction(…)` resolves when the transaction is on disk, and rejects when nothing of it is there.
 * Threads that open the same path share one native environment; write transactions exclude each other across threads.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, Key, RootDatabase } from 'lmdb';
import {
  checkFormat,
  FORMAT_KEY,
  formatNumberOf,
  formatOf,
  writeFormat,
  type EnvironmentKind,
} from './environment-format.js';
import { endsInOverlappingSync } from './environment-file.js';
import { commitBeside, mapAnew, open, useMappingsLock } from './lmdb.js';
import { checkEnvironmentFile, isDamage } from './damaged-storage.js';
import { assertEnvironmentRoom, assertGrowthRoom } from './process-room.js';
import { makeSyncedFolderNow } from './make-folder.js';
import { syncFolderNow } from './synced-folders.js';
import { allocateLockFile, asStorageError, isStorageError } from './storage-space.js';

export interface EnvironmentOptions {
  /** What the environment is; another one is refused. */
  readonly kind: EnvironmentKind;
  /** Named databases that may be open at a time. */
  readonly databasesMax?: number;
  readonly readersMax?: number;
  /** Address space, not memory or disk; where it is left out, it grows with the file. */
  readonly mapBytes?: number;
  readonly readOnly?: boolean;
  /** A thread waits for the disk at the end of each transaction, for who has others to answer meanwhile. Default: the caller's own. */
  readonly commitsBeside?: boolean;
  /** Of a process that lets go of mapped files, for its first environment: the kernel's `mappingsLock`, which all of them hold from then on while they unmap. */
  readonly mappingsLock?: bigint;
}

export interface DatabaseOptions {
  /** How values are kept; default `msgpack`. */
  readonly encoding?: 'msgpack' | 'json' | 'string' | 'binary' | 'ordered-binary';
  /** How keys are kept; default `ordered-binary` (strings, numbers and arrays of them, in order). */
  readonly keyEncoding?: 'uint32' | 'binary' | 'ordered-binary';
}

export interface LmdbEnvironment {
  readonly root: RootDatabase;
  database<Value, K extends Key = Key>(name: string, options?: DatabaseOptions): Database<Value, K>;
  /**
   * Runs the action in one write transaction; resolves with its result when all of it is on disk, or changes nothing and rejects:
   * with what the action threw, or with `storage-full` or `storage-failed`. What was read before is read on.
   */
  transaction<Result>(action: () => Result): Promise<Result>;
  close(): Promise<void>;
}

export interface OpenedEnvironment extends LmdbEnvironment {
  /** What the disk could not read, and can again, is read anew by all who have the environment open: zeros stood there. Rejects with what the system says. */
  mapAnew(): Promise<void>;
}

const DATABASES_MAX_DEFAULT = 64;
const READERS_MAX_DEFAULT = 1024;
/** Both meta pages are written over, and one more. */
const SETTLING_COMMITS = 3;

/** Makes the folder where there is none. Throws `FormatError`, or `storage-full` where a new one has no room. */
export function openEnvironment(path: string, options: EnvironmentOptions): OpenedEnvironment {
  try {
    if (options.readOnly !== true) {
      makeSyncedFolderNow(path);
      allocateLockFile(join(path, 'lock.mdb'));
    }
    const isNew = fileBytes(path) === 0;
    const root = openRoot(path, options);
    // Else what is committed from now on would be in a file without a name after a loss of power.
    if (isNew) syncFolderNow(path);
    if (options.mappingsLock !== undefined) useMappingsLock(root, options.mappingsLock);
    return new OpenEnvironment(root, path, options.commitsBeside === true);
  } catch (error) {
    throw asStorageError(error, path);
  }
}

/**
 * Throws `FormatError` where an environment is there that `openEnvironment` would refuse, before anything is opened that would write.
 * One that an earlier release left unsettled is left to who opens it. `look` throws a `FormatError` for what else says a format in it.
 */
export function assertEnvironmentKnown(
  path: string,
  kind: EnvironmentKind,
  look: (root: RootDatabase) => void = () => undefined,
): void {
  const file = join(path, 'data.mdb');
  // A file without a byte is an environment that is about to be made.
  if (fileBytes(path) === 0 || endsInOverlappingSync(file)) return;
  allocateLockFile(join(path, 'lock.mdb'));
  try {
    const root = openRoot(path, { kind, readOnly: true });
    try {
      look(root);
    } finally {
      void root.close();
    }
  } catch (error) {
    // Who opens it knows what to do with one that is damaged.
    if (!isDamage(error)) throw error;
  }
}

/** What the next opening of an environment does that may write. */
export interface DueUpgrade {
  readonly from: number;
  readonly to: number;
  /** Of its file. */
  readonly bytes: number;
}

/** Undefined where there is nothing to do, or nothing there. Throws as `assertEnvironmentKnown`. */
export function dueUpgrade(path: string, kind: EnvironmentKind): DueUpgrade | undefined {
  const to = formatOf(kind).number;
  let from = to;
  assertEnvironmentKnown(path, kind, (root) => {
    from = formatNumberOf(root);
  });
  return from === to ? undefined : { from, to, bytes: fileBytes(path) };
}

/**
 * What the disk could not read of an environment, and can again, is read anew by all threads that have it open; nobody writes it meanwhile, and it is there.
 * Nothing of it is looked at before: zeros may stand there. Rejects with what the system says.
 */
export async function mapEnvironmentAnew(path: string, options: EnvironmentOptions): Promise<void> {
  const root = openNative(path, options, false);
  try {
    mapAnew(root);
  } finally {
    await root.close();
  }
}

/** The same by who has it open already: zeros may keep another one from opening it. Nobody writes it meanwhile. */
export function mapRootAnew(root: RootDatabase): void {
  mapAnew(root);
}

/** For who runs transactions in its own way. The folder and its lock file are there. Throws what LMDB throws, or `FormatError`. */
export function openRoot(path: string, options: EnvironmentOptions): RootDatabase {
  const { kind, readOnly = false } = options;
  const isUnsettled = !readOnly && endsInOverlappingSync(join(path, 'data.mdb'));
  if (isUnsettled) settle(path, options);
  const root = openNative(path, options, false);
  try {
    checkFormat(root, { path, kind, isReadOnly: readOnly });
    if (isUnsettled) writeFormat(root, kind);
  } catch (error) {
    void root.close();
    throw error;
  }
  return root;
}

/**
 * Earlier releases let the sync of a commit overlap with the next one: such a commit is seen before it is on disk. After a loss of
 * power only lmdb-js with that option knows which commit is whole. It finds it here, and commits over both meta pages; from then on
 * every commit is LMDB's own, whose meta page is written when its pages are on disk.
 */
function settle(path: string, options: EnvironmentOptions): void {
  const root = openNative(path, options, true);
  try {
    checkFormat(root, { path, kind: options.kind, isReadOnly: false });
    for (let commit = 0; commit < SETTLING_COMMITS; ++commit) writeFormat(root, options.kind);
  } finally {
    // Waits for the disk. Nothing is under way, so it is closed when this returns.
    void root.close();
  }
}

function openNative(path: string, options: EnvironmentOptions, overlappingSync: boolean): RootDatabase {
  assertEnvironmentRoom(options.mapBytes ?? fileBytes(path));
  checkEnvironmentFile(join(path, 'data.mdb'));
  return open({
    path,
    // A path with a dot in it would otherwise be taken for a file name.
    noSubdir: false,
    maxDbs: options.databasesMax ?? DATABASES_MAX_DEFAULT,
    maxReaders: options.readersMax ?? READERS_MAX_DEFAULT,
    // With it, a commit whose sync fails has failed and is seen all the same.
    overlappingSync,
    // With it, lmdb-js makes a promise for each turn that nobody can listen to, and that ends the process when the commit fails.
    eventTurnBatching: false,
    ...(options.mapBytes === undefined ? {} : { mapSize: options.mapBytes }),
    ...(options.readOnly === true ? { readOnly: true } : {}),
  });
}

class OpenEnvironment implements OpenedEnvironment {
  /** A commit failed, and it is not known yet whether LMDB goes on. */
  private isSuspect = false;
  /** Settles with the transaction that waits for the disk. */
  private committing: Promise<unknown> = Promise.resolve();

  constructor(
    readonly root: RootDatabase,
    private readonly path: string,
    private readonly commitsBeside: boolean,
  ) {}

  database<Value, K extends Key = Key>(name: string, options: DatabaseOptions = {}): Database<Value, K> {
    try {
      return this.root.openDB<Value, K>({ name, ...options });
    } catch (error) {
      throw asStorageError(error, this.path);
    }
  }

  transaction<Result>(action: () => Result): Promise<Result> {
    if (!this.commitsBeside) return this.committed(() => this.root.transactionSync(action));
    const result = this.committing.then(() => this.committed(() => commitBeside(this.root, action)));
    this.committing = result.catch(() => undefined);
    return result;
  }

  mapAnew(): Promise<void> {
    const mapped = this.committing.then(() => {
      mapAnew(this.root);
    });
    this.committing = mapped.catch(() => undefined);
    return mapped;
  }

  private async committed<Result>(commit: () => Result | Promise<Result>): Promise<Result> {
    try {
      if (this.isSuspect) this.assertAlive();
      assertGrowthRoom(fileBytes(this.path));
      // Not the transactions that lmdb-js runs by itself: one that meets a damaged page there ends the process or never ends.
      return await commit();
    } catch (error) {
      const failure = asStorageError(await causeOf(error), this.path);
      this.isSuspect ||= isStorageError(failure);
      throw failure;
    }
  }

  async close(): Promise<void> {
    await this.committing;
    await this.root.close();
  }

  /** After a meta page could not be written LMDB refuses everything, and lmdb-js would wait for ever for the next commit. */
  private assertAlive(): void {
    this.root.resetReadTxn();
    this.root.get(FORMAT_KEY);
    this.isSuspect = false;
  }
}

/**
 * Of a commit that failed lmdb-js gives the reason in a promise of its own, which nobody else listens to: unheard, it would end the
 * process.
 */
async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { readonly commitError?: Promise<never> };
  if (commitError === undefined) return error;
  return commitError.catch((cause: unknown) => cause);
}

/** Of the environment in this folder, 0 before there is one. */
function fileBytes(path: string): number {
  return statSync(join(path, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0;
}
