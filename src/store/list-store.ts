/**
 * The LMDB environment of one list (`lists/<id>/store`): its state, and whatever is kept in one transaction with it.
 *
 *   meta            'state' → ListState, 'entry' → KeptEntry, 'words-<N>' → dictionary of words, 'words' → how many (`src/records/record-words.ts`)
 *   outbox          row number → event that webhooks are to be told (`Outbox`); made when the first one is written
 *   …-v<N>          records of a version and its manifest (`src/records/record-store.ts`, `segment-manifest.ts`)
 *   …-v<N>-s<M>     what `src/vectors` keeps beside the records of a version
 *   …-v<N>-pages    which pages of documents are indexed beside them, and their manifest (`src/index/parts/part-store.ts`)
 *
 * Thread-safety: one object belongs to one thread; threads that open the same path share the native environment, and
 * write transactions exclude each other. A transaction is on disk when `transaction` returns. Reads see the last commit of
 * any thread after `refresh()`, which a task calls once at its start.
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
 * Address space of a list's store, not memory or disk. One that outgrows its map gets one of twice the size it needs; the old one
 * stays until the store is closed, for those who still read in it. Thousands of lists fit into the address space of a process so.
 */
export const INITIAL_MAP_BYTES = 256 * 2 ** 20;
/** A store that is large already gets room to double. */
const MAP_GROWTH = 2;
/** Named databases of a list beside those of its versions, and of a version beside those of vectors, each with room to spare; a dropped one frees its place. */
const DATABASES_OF_A_LIST = 32;
const DATABASES_OF_A_VERSION = 12;
const DATABASES_OF_A_SPACE = 3;
/**
 * Kinds of vectors of a version: of the pictures, of the model that serves, of one that takes its place, of three before (`ModelAttachment`), of one that was
 * forgotten and that a thread may still read, and of lengths that came with records.
 */
export const SPACES_MAX = 12;
/** Beside the earlier versions that are kept: the current one, and the next. */
const VERSIONS_BESIDE = 2;
const VERSIONS_KEPT_DEFAULT = 2;
const VERSIONS_KEPT = 'gannet.versionsKept';
const READERS_MAX = 512;
const META = 'meta';
/** Of `KeptEntry`; what another release wrote in another form is as good as none. */
const ENTRY_FORMAT = 1;

/** What the names of a version's databases end in; `space`: those of vectors of one kind. */
export function versionSuffix(version: number, space?: number): string {
  return space === undefined ? `v${version}` : `v${version}-s${space}`;
}

/** The list's entry in the catalogue, kept beside its records so that it can be put back where the catalogue is lost. */
export interface KeptEntry {
  readonly format: typeof ENTRY_FORMAT;
  readonly list: ListRecord;
  /** Of the account, which is made again with it. */
  readonly region: string;
}

export interface ListStoreOptions {
  /** Makes the store where there is none. Default false: that is refused, for an empty store must never stand in for a lost one. */
  readonly create?: boolean;
  /** For tests of its growth. */
  readonly initialMapBytes?: number;
}

export class ListStore {
  protected readonly root: RootDatabase;
  protected readonly meta: Database<ListState | KeptEntry | Uint8Array | number, string>;
  private openedOutbox: Outbox | undefined;
  private asEnvironment: LmdbEnvironment | undefined;

  /** Throws `list-missing` where there is no store and none is to be made, `resources-exhausted` where the process has no room. */
  constructor(
    readonly listPath: string,
    { create = false, initialMapBytes = INITIAL_MAP_BYTES }: ListStoreOptions = {},
  ) {
    const path = storePath(listPath);
    if (!create && !hasStore(listPath)) throw missingStore(listPath);
    try {
      mkdirSync(path);
    } catch (error) {
      // A folder that is gone is not made again: a list that was deleted a moment ago would come to life.
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

  /** Undefined in a folder whose creation was cut short. Throws for a format that this release does not know. */
  state(): ListState | undefined {
    const state = this.meta.get('state') as ListState | undefined;
    assertStateKnown(storePath(this.listPath), state);
    return state;
  }
  /**
   * Inside a transaction that puts what was made from this state, which was read before. Nobody else commits meanwhile: another state means that
   * the disk has shown an older page than it has, and what was made from it would take back what was committed since.
   */
  assertStateIs({ sequence, nextRecordNumber }: ListState): void {
    const found = this.state();
    if (found?.sequence === sequence && found.nextRecordNumber === nextRecordNumber) return;
    throw new Error(
      `a commit was made from state ${sequence} of ${this.listPath}, with ${nextRecordNumber} as the next record; ` +
        `there is state ${found?.sequence}, with ${found?.nextRecordNumber}`,
    );
  }
  /** Inside a transaction. Its format is not lower than that of the state before. */
  putState(state: ListState): void {
    const format = Math.max(state.format, this.state()?.format ?? 0);
    this.meta.putSync('state', format === state.format ? state : { ...state, format });
  }
  /** Inside a transaction that writes what releases of a lower format do not know. A list that has no state yet is given its format with it. */
  raiseFormat(format: number): void {
    const state = this.state();
    if (state !== undefined && state.format < format) this.putState({ ...state, format });
  }

  /** Undefined where none was kept, or in a form that this release does not know. */
  keptEntry(): KeptEntry | undefined {
    const kept = this.meta.get('entry') as KeptEntry | undefined;
    return (kept?.format as number | undefined) === ENTRY_FORMAT ? kept : undefined;
  }
  /** Inside a transaction. */
  putKeptEntry(list: ListRecord, region: string): void {
    const kept: KeptEntry = { format: ENTRY_FORMAT, list, region };
    this.meta.putSync('entry', kept);
  }

  /** Not for the first time inside a transaction: opening a database is one of its own. */
  get outbox(): Outbox {
    return (this.openedOutbox ??= new Outbox(this.root.openDB({ name: OUTBOX_DATABASE, encoding: 'msgpack' })));
  }

  /** For what others keep beside the records, in the transactions that write these. */
  get environment(): LmdbEnvironment {
    const { root } = this;
    return (this.asEnvironment ??= {
      root,
      database: (name, options = {}) => root.openDB({ name, ...options }),
      transaction: async (action) => this.transaction(action),
      // Who opened the store closes it.
      close: () => Promise.resolve(),
    });
  }

  /** True where the store has a database of this name. */
  hasDatabase(name: string): boolean {
    return hasDatabase(this.root, name);
  }

  /** Reads from here on see the last commit of any thread. */
  refresh(): void {
    this.root.resetReadTxn();
  }

  /** All of the action or, when it throws, nothing; on disk when this returns. Rejects a full disk as `storage-full`. */
  transaction<Result>(action: () => Result): Result {
    assertGrowthRoom(fileBytes(this.listPath));
    try {
      return this.root.transactionSync(action);
    } catch (error) {
      throw this.asWriteError(error);
    }
  }

  /** `storage-full` where the error means that, `storage-failed` where the folder of all lists is gone; every other error as it is. */
  asWriteError(error: unknown): unknown {
    const told = asStorageError(error, this.listPath);
    if (told instanceof ServiceError || existsSync(dirname(this.listPath))) return told;
    return new ServiceError('storage-failed', LISTS_GONE, { cause: error });
  }

  /** What the disk could not read, and can again, is read anew by all threads; nobody writes it meanwhile. Throws what the system says. */
  mapAnew(): void {
    mapRootAnew(this.root);
  }

  async close(): Promise<void> {
    await this.root.close();
  }
}

/**
 * How many earlier versions of lists the service keeps (versions.kept), for this thread and those that are started later: LMDB has room for so many databases
 * as it is told where a store is opened first, and each takes memory for every reader.
 */
export function useVersionsKept(kept: number): void {
  setEnvironmentData(VERSIONS_KEPT, kept);
}

function databasesMax(): number {
  const kept = getEnvironmentData(VERSIONS_KEPT);
  const versions = VERSIONS_BESIDE + (typeof kept === 'number' ? kept : VERSIONS_KEPT_DEFAULT);
  return DATABASES_OF_A_LIST + versions * (DATABASES_OF_A_VERSION + SPACES_MAX * DATABASES_OF_A_SPACE);
}

/** Of the file of a list's store, 0 before there is one. */
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

/** What the disk could not read of a list's store, and can again, is read anew by all threads that have it open; nobody writes it. Rejects with what the system says. */
export function mapStoreAnew(listPath: string): Promise<void> {
  return mapEnvironmentAnew(storePath(listPath), environmentOf(listPath, INITIAL_MAP_BYTES));
}

/** Throws a `FormatError` where a release of the future wrote what is in this folder of a list's store, which nobody has open. */
export function assertStoreKnown(path: string): void {
  assertEnvironmentKnown(path, 'list', (root) => {
    try {
      if (!hasDatabase(root, META)) return;
      assertStateKnown(path, root.openDB<ListState, string>({ name: META, encoding: 'msgpack' }).get('state'));
    } catch (error) {
      // A state that cannot be read is damaged, which is told of when the list is opened.
      if (error instanceof FormatError) throw error;
    }
  });
}

function assertStateKnown(path: string, state: ListState | undefined): void {
  const format = state?.format ?? FIRST_LIST_STATE_FORMAT;
  if (!LIST_STATE_FORMATS_WITH_MORE.includes(format)) assertKnownFormat(path, 'list', format);
}

function hasDatabase(root: RootDatabase, name: string): boolean {
  // Looking up the name of a database as if it were a value finds nothing.
  for (const key of root.getKeys({ start: name, limit: 1 })) return String(key) === name;
  return false;
}

function isSystemError(error: unknown, code: 'ENOENT' | 'EEXIST'): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

function listIsGone(cause: unknown): ServiceError {
  return new ServiceError('list-not-found', 'The list has been deleted.', { cause });
}
