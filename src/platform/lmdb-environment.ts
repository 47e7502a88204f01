/**
 * One LMDB environment, opened through lmdb-js. Segment files are not opened here: they belong to the kernel.
 *
 * Durability: `await environment.transaction(…)` resolves when the transaction is on disk, and rejects if nothing of it
 * was written. Threads that open the same path share one native environment; write transactions exclude each other
 * across threads.
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
import { commitBeside, mapAnew, mapOpenedAnew, open, useMappingsLock } from './lmdb.js';
import { checkEnvironmentFile, isDamage } from './damaged-storage.js';
import { assertEnvironmentRoom, assertGrowthRoom } from './process-room.js';
import { makeSyncedFolderNow } from './make-folder.js';
import { syncFolderNow } from './synced-folders.js';
import { allocateLockFile, asStorageError, isStorageError } from './storage-space.js';

export interface EnvironmentOptions {
  /** Kind of the environment; one of another kind is refused. */
  readonly kind: EnvironmentKind;
  /** Number of named databases that may be open at a time. */
  readonly databasesMax?: number;
  readonly readersMax?: number;
  /** Address space, not memory or disk. Default: grows with the file. */
  readonly mapBytes?: number;
  readonly readOnly?: boolean;
  /**
   * If true, another thread waits for the disk at the end of each transaction, so that the calling thread stays free.
   * Default: the calling thread waits.
   */
  readonly commitsBeside?: boolean;
  /**
   * Address of the kernel's `mappingsLock`, which all environments of the process then hold while they unmap. To be
   * given for the first environment, in a process that trims mapped files.
   */
  readonly mappingsLock?: bigint;
}

export interface DatabaseOptions {
  /** Encoding of values; default `msgpack`. */
  readonly encoding?: 'msgpack' | 'json' | 'string' | 'binary' | 'ordered-binary';
  /** Encoding of keys; default `ordered-binary` (strings, numbers and arrays of them, in order). */
  readonly keyEncoding?: 'uint32' | 'binary' | 'ordered-binary';
}

export interface LmdbEnvironment {
  readonly root: RootDatabase;
  database<Value, K extends Key = Key>(name: string, options?: DatabaseOptions): Database<Value, K>;
  /**
   * Runs the action in one write transaction. Resolves with its result when all of it is on disk. Otherwise changes
   * nothing and rejects with what the action threw, or with `storage-full` or `storage-failed`. Reads continue with the
   * previous state meanwhile.
   */
  transaction<Result>(action: () => Result): Promise<Result>;
  close(): Promise<void>;
}

export interface OpenedEnvironment extends LmdbEnvironment {
  /**
   * Maps the file anew for all threads that have the environment open, once pages that the disk could not read are
   * readable again: until then the mapping has zeros in their place. Rejects with system errors.
   */
  mapAnew(): Promise<void>;
}

const DATABASES_MAX_DEFAULT = 64;
const READERS_MAX_DEFAULT = 1024;
/** Enough to overwrite both meta pages, plus one. */
const SETTLING_COMMITS = 3;

/**
 * Opens an environment, creating its folder if it is missing. Throws `FormatError`, or `storage-full` if there is no
 * space for a new one.
 */
export function openEnvironment(path: string, options: EnvironmentOptions): OpenedEnvironment {
  try {
    if (options.readOnly !== true) {
      makeSyncedFolderNow(path);
      allocateLockFile(join(path, 'lock.mdb'));
    }
    const isNew = fileBytes(path) === 0;
    const root = openRoot(path, options);
    // Otherwise, after a power failure, later commits would be in a file that has no name.
    if (isNew) syncFolderNow(path);
    if (options.mappingsLock !== undefined) useMappingsLock(root, options.mappingsLock);
    return new OpenEnvironment(root, path, options.commitsBeside === true);
  } catch (error) {
    throw asStorageError(error, path);
  }
}

/**
 * Throws `FormatError` if there is an environment that `openEnvironment` would refuse, without opening anything for
 * writing. Does not check one that an earlier release left unsettled. `look` throws a `FormatError` for other format
 * numbers stored in it.
 */
export function assertEnvironmentKnown(
  path: string,
  kind: EnvironmentKind,
  look: (root: RootDatabase) => void = () => undefined,
): void {
  const file = join(path, 'data.mdb');
  // An empty file is an environment that is about to be created.
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
    // Opening it for use handles damage.
    if (!isDamage(error)) throw error;
  }
}

/** The upgrade that the next opening for writing would do. */
export interface DueUpgrade {
  readonly from: number;
  readonly to: number;
  /** Size of the environment's file. */
  readonly bytes: number;
}

/**
 * Returns the upgrade that is due; undefined if there is none, or no environment. Throws as `assertEnvironmentKnown`.
 */
export function dueUpgrade(path: string, kind: EnvironmentKind): DueUpgrade | undefined {
  const to = formatOf(kind).number;
  let from = to;
  assertEnvironmentKnown(path, kind, (root) => {
    from = formatNumberOf(root);
  });
  return from === to ? undefined : { from, to, bytes: fileBytes(path) };
}

/**
 * Maps the file of an environment anew for all threads that have it open, once pages that the disk could not read are
 * readable again. Does not open it: zeros in place of those pages may prevent that. Throws system errors; EBUSY while a
 * thread writes it.
 */
export function mapEnvironmentAnew(path: string): void {
  mapOpenedAnew(join(path, 'data.mdb'));
}

/** The same for an environment that the caller has open. */
export function mapRootAnew(root: RootDatabase): void {
  mapAnew(root);
}

/**
 * Opens an environment for callers that run their own transactions. The folder and its lock file must exist. Throws
 * LMDB's errors, or `FormatError`.
 */
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
 * Settles the last commit of an environment of an earlier release. Those let the sync of a commit overlap with the next
 * one, so a commit was visible before it was on disk. After a power failure, only lmdb-js with that option can tell
 * which commit is complete. It determines that here, and commits over both meta pages; from then on every commit is
 * LMDB's own, whose meta page is written after its pages are on disk.
 */
function settle(path: string, options: EnvironmentOptions): void {
  const root = openNative(path, options, true);
  try {
    checkFormat(root, { path, kind: options.kind, isReadOnly: false });
    for (let commit = 0; commit < SETTLING_COMMITS; ++commit) writeFormat(root, options.kind);
  } finally {
    // Waits for the disk. Nothing is in progress, so the environment is closed when this returns.
    void root.close();
  }
}

function openNative(path: string, options: EnvironmentOptions, overlappingSync: boolean): RootDatabase {
  assertEnvironmentRoom(options.mapBytes ?? fileBytes(path));
  checkEnvironmentFile(join(path, 'data.mdb'));
  return open({
    path,
    // Otherwise a path with a dot would be taken for a file name.
    noSubdir: false,
    maxDbs: options.databasesMax ?? DATABASES_MAX_DEFAULT,
    maxReaders: options.readersMax ?? READERS_MAX_DEFAULT,
    // If set, a commit whose sync failed would be rejected and yet be visible.
    overlappingSync,
    // If set, lmdb-js creates a promise per turn that nobody can listen to, and which ends the process when the commit
    // fails.
    eventTurnBatching: false,
    ...(options.mapBytes === undefined ? {} : { mapSize: options.mapBytes }),
    ...(options.readOnly === true ? { readOnly: true } : {}),
  });
}

class OpenEnvironment implements OpenedEnvironment {
  /** True after a failed commit, until LMDB is known to accept commits again. */
  private isSuspect = false;
  /** Settles with the transaction that is being synced. */
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
      // Never uses transactions that lmdb-js runs by itself: a damaged page in one of those ends the process or hangs.
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

  /**
   * Throws if LMDB refuses the environment, as it does after a meta page could not be written: lmdb-js would wait for
   * ever for the next commit.
   */
  private assertAlive(): void {
    this.root.resetReadTxn();
    this.root.get(FORMAT_KEY);
    this.isSuspect = false;
  }
}

/**
 * Returns the cause of a failed commit. lmdb-js gives it in a promise of its own; if nobody listened to that, it would
 * end the process.
 */
async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { readonly commitError?: Promise<never> };
  if (commitError === undefined) return error;
  return commitError.catch((cause: unknown) => cause);
}

/** Returns the size of the environment's file; 0 if there is none. */
function fileBytes(path: string): number {
  return statSync(join(path, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0;
}
