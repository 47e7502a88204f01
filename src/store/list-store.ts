/**
 * The LMDB environment of one list (`lists/<id>/store`): its state, and everything that is written in one transaction
 * with it.
 *
 *   meta            'state' → ListState, 'entry' → KeptEntry, 'words-<N>' → dictionary of words, 'words' → their number
 *                   (`src/records/record-words.ts`)
 *   outbox          row number → event for webhooks (`Outbox`); created when the first one is written
 *   …-v<N>          records of a version and its manifest (`src/records/record-store.ts`, `segment-manifest.ts`)
 *   …-v<N>-s<M>     what `src/vectors` keeps beside the records of a version
 *   …-v<N>-pages    which pages of documents are indexed beside them, and their manifest (`src/index/parts/part-store.ts`)
 *
 * Thread-safety: an object belongs to one thread. Threads that open the same path share the native environment, and
 * write transactions exclude each other. A transaction is on disk when `transaction` returns. After `refresh()`, which
 * a task calls once at its start, reads see the last commit of any thread.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import type { Database, RootDatabase } from 'lmdb';
import type { ListRecord } from '../catalog/index.js';
import {
  allocateLockFile,
  assertEnvironmentKnown,
  assertGrowthRoom,
  assertKnownFormat,
  asStorageError,
  type EnvironmentOptions,
  FormatError,
  openRoot,
  Outbox,
  OUTBOX_DATABASE,
  type LmdbEnvironment,
  mapEnvironmentAnew,
  mapRootAnew,
  ServiceError,
} from '../platform/index.js';
import { hasStore, LISTS_GONE, missingStore, storePath } from './list-files.js';
import { FIRST_LIST_STATE_FORMAT, LIST_STATE_FORMATS_WITH_MORE, type ListState } from './list-state.js';

/**
 * Address space of a list's store (not memory or disk), small enough that thousands of lists fit into the address space
 * of a process. A store that outgrows its map gets one of twice the size it needs; the old map stays until the store is
 * closed, for readers that still use it.
 */
export const INITIAL_MAP_BYTES = 256 * 2 ** 20;
/** Factor by which the map of an existing store exceeds its file. */
const MAP_GROWTH = 2;
/**
 * Maximum numbers of named databases, with room to spare: of a list beside its versions, of a version beside its vector
 * spaces, and of a space. Dropping a database frees its slot.
 */
const DATABASES_OF_A_LIST = 32;
const DATABASES_OF_A_VERSION = 12;
const DATABASES_OF_A_SPACE = 3;
/**
 * Maximum number of vector spaces of a version: pictures, the serving model, its successor, three earlier models
 * (`ModelAttachment`), one that was removed and that a thread may still read, and the different lengths of vectors that
 * came with records.
 */
export const SPACES_MAX = 12;
/** Versions beside the earlier ones that are kept: the current one and the next. */
const VERSIONS_BESIDE = 2;
const VERSIONS_KEPT_DEFAULT = 2;
const VERSIONS_KEPT = 'gannet.versionsKept';
const READERS_MAX = 512;
const META = 'meta';
/** Format of `KeptEntry`. An entry that another release wrote in another format counts as missing. */
const ENTRY_FORMAT = 1;

/** Returns the suffix of the names of a version's databases, or of those of one of its vector spaces. */
export function versionSuffix(version: number, space?: number): string {
  return space === undefined ? `v${version}` : `v${version}-s${space}`;
}

/** Copy of the list's catalogue entry, from which a lost catalogue is restored. */
export interface KeptEntry {
  readonly format: typeof ENTRY_FORMAT;
  readonly list: ListRecord;
  /** Region of the account, which is restored with the list. */
  readonly region: string;
}

export interface ListStoreOptions {
  /**
   * True to create a missing store. Default false: a missing store is an error, because an empty store must never
   * replace a lost one.
   */
  readonly create?: boolean;
  /** For tests of the growth of the map. */
  readonly initialMapBytes?: number;
}

export class ListStore {
  protected readonly root: RootDatabase;
  protected readonly meta: Database<ListState | KeptEntry | Uint8Array | number, string>;
  private openedOutbox: Outbox | undefined;
  private asEnvironment: LmdbEnvironment | undefined;

  /**
   * Throws `list-missing` if there is no store and `create` is not set, `resources-exhausted` if the process has no
   * room for another environment.
   */
  constructor(
    readonly listPath: string,
    { create = false, initialMapBytes = INITIAL_MAP_BYTES }: ListStoreOptions = {},
  ) {
    const path = storePath(listPath);
    if (!create && !hasStore(listPath)) throw missingStore(listPath);
    try {
      mkdirSync(path);
    } catch (error) {
      // A missing parent folder is not created: that would bring back a list that has just been deleted.
      if (isSystemError(error, 'ENOENT')) throw listIsGone(error);
      if (!isSystemError(error, 'EEXIST')) throw asStorageError(error);
    }
    try {
      allocateLockFile(join(path, 'lock.mdb'));
    } catch (error) {
      throw isSystemError(error, 'ENOENT') ? listIsGone(error) : asStorageError(error);
    }
    try {
      this.root = openRoot(path, environmentOf(listPath, initialMapBytes));
      this.meta = this.root.openDB({ name: META, encoding: 'msgpack' });
    } catch (error) {
      throw this.asWriteError(error);
    }
  }

  /** Undefined in a folder whose creation was interrupted. Throws if this release does not know the format. */
  state(): ListState | undefined {
    const state = this.meta.get('state') as ListState | undefined;
    assertStateKnown(storePath(this.listPath), state);
    return state;
  }
  /**
   * Throws if the stored state is not the state that the caller's changes are based on. Call it inside the transaction
   * that writes the changes. A list has one writer, so a different state means that the disk returned an older page,
   * and the commit would undo later ones.
   */
  assertStateIs({ sequence, nextRecordNumber }: ListState): void {
    const found = this.state();
    if (found?.sequence === sequence && found.nextRecordNumber === nextRecordNumber) return;
    throw new Error(
      `a commit was made from state ${sequence} of ${this.listPath}, with ${nextRecordNumber} as the next record; ` +
        `there is state ${found?.sequence}, with ${found?.nextRecordNumber}`,
    );
  }
  /** Writes the state, inside a transaction. The format never decreases. */
  putState(state: ListState): void {
    const format = Math.max(state.format, this.state()?.format ?? 0);
    this.meta.putSync('state', format === state.format ? state : { ...state, format });
  }
  /**
   * Raises the format of the store, inside a transaction that writes what releases of lower formats do not know. Does
   * nothing if the list has no state yet: its first state sets the format.
   */
  raiseFormat(format: number): void {
    const state = this.state();
    if (state !== undefined && state.format < format) this.putState({ ...state, format });
  }

  /** Undefined if no entry was kept, or its format is not known. */
  keptEntry(): KeptEntry | undefined {
    const kept = this.meta.get('entry') as KeptEntry | undefined;
    return (kept?.format as number | undefined) === ENTRY_FORMAT ? kept : undefined;
  }
  /** Writes the copy of the catalogue entry, inside a transaction. */
  putKeptEntry(list: ListRecord, region: string): void {
    const kept: KeptEntry = { format: ENTRY_FORMAT, list, region };
    this.meta.putSync('entry', kept);
  }

  /**
   * Must be read once outside a transaction before it is used in one: opening a database is a transaction of its own.
   */
  get outbox(): Outbox {
    return (this.openedOutbox ??= new Outbox(this.root.openDB({ name: OUTBOX_DATABASE, encoding: 'msgpack' })));
  }

  /** The environment, for code that keeps data beside the records and writes both in one transaction. */
  get environment(): LmdbEnvironment {
    const { root } = this;
    return (this.asEnvironment ??= {
      root,
      database: (name, options = {}) => root.openDB({ name, ...options }),
      transaction: async (action) => this.transaction(action),
      // The environment is closed by the owner of the store.
      close: () => Promise.resolve(),
    });
  }

  /** True if the store has a database of this name. */
  hasDatabase(name: string): boolean {
    return hasDatabase(this.root, name);
  }

  /** Makes later reads see the last commit of any thread. */
  refresh(): void {
    this.root.resetReadTxn();
  }

  /**
   * Runs the action in a transaction, which is on disk when this returns. If the action throws, nothing is written.
   * Throws `storage-full` if the disk is full.
   */
  transaction<Result>(action: () => Result): Result {
    assertGrowthRoom(fileBytes(this.listPath));
    try {
      return this.root.transactionSync(action);
    } catch (error) {
      throw this.asWriteError(error);
    }
  }

  /**
   * Returns `storage-full` or another storage error if the error means that, `storage-failed` if the folder of all
   * lists is gone; every other error as it is.
   */
  asWriteError(error: unknown): unknown {
    const told = asStorageError(error, this.listPath);
    if (told instanceof ServiceError || existsSync(dirname(this.listPath))) return told;
    return new ServiceError('storage-failed', LISTS_GONE, { cause: error });
  }

  /**
   * Maps the file again in all threads after the disk failed to read it and has recovered. Throws the system's error;
   * EBUSY while a thread writes it.
   */
  mapAnew(): void {
    mapRootAnew(this.root);
  }

  async close(): Promise<void> {
    await this.root.close();
  }
}

/**
 * Sets how many earlier versions of a list the service keeps (`versions.kept`), for this thread and threads that are
 * started later. LMDB fixes the maximum number of databases when a store is first opened, and each takes memory for
 * every reader.
 */
export function useVersionsKept(kept: number): void {
  setEnvironmentData(VERSIONS_KEPT, kept);
}

function databasesMax(): number {
  const kept = getEnvironmentData(VERSIONS_KEPT);
  const versions = VERSIONS_BESIDE + (typeof kept === 'number' ? kept : VERSIONS_KEPT_DEFAULT);
  return DATABASES_OF_A_LIST + versions * (DATABASES_OF_A_VERSION + SPACES_MAX * DATABASES_OF_A_SPACE);
}

/** Size of the file of a list's store; 0 if there is none. */
function fileBytes(listPath: string): number {
  return statSync(join(storePath(listPath), 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0;
}

function environmentOf(listPath: string, initialMapBytes: number): EnvironmentOptions {
  return {
    kind: 'list',
    mapBytes: Math.max(initialMapBytes, MAP_GROWTH * fileBytes(listPath)),
    databasesMax: databasesMax(),
    readersMax: READERS_MAX,
  };
}

/**
 * Maps the file of a list's store again, in all threads that have it open, after the disk failed to read it and has
 * recovered. Throws the system's error; EBUSY while a thread writes it.
 */
export function mapStoreAnew(listPath: string): void {
  mapEnvironmentAnew(storePath(listPath));
}

/** Throws a `FormatError` if a later release wrote the list's store in this folder. Nobody may have it open. */
export function assertStoreKnown(path: string): void {
  assertEnvironmentKnown(path, 'list', (root) => {
    try {
      if (!hasDatabase(root, META)) return;
      assertStateKnown(path, root.openDB<ListState, string>({ name: META, encoding: 'msgpack' }).get('state'));
    } catch (error) {
      // A state that cannot be read is damaged; that is reported when the list is opened.
      if (error instanceof FormatError) throw error;
    }
  });
}

function assertStateKnown(path: string, state: ListState | undefined): void {
  const format = state?.format ?? FIRST_LIST_STATE_FORMAT;
  if (!LIST_STATE_FORMATS_WITH_MORE.includes(format)) assertKnownFormat(path, 'list', format);
}

function hasDatabase(root: RootDatabase, name: string): boolean {
  // Looking up the name of a database as a value finds nothing, so its key is searched for.
  for (const key of root.getKeys({ start: name, limit: 1 })) return String(key) === name;
  return false;
}

function isSystemError(error: unknown, code: 'ENOENT' | 'EEXIST'): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

function listIsGone(cause: unknown): ServiceError {
  return new ServiceError('list-not-found', 'The list has been deleted.', { cause });
}
