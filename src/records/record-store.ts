/**
 * The LMDB environment of one list (`lists/<id>/store`): the list's state, and per version its records, names, manifest of
 * segments and deletions.
 *
 *   meta            'state' → ListState, 'entry' → KeptEntry
 *   records-v<N>    record number (u32) → record-codec bytes
 *   names-v<N>      name (UTF-8; see nameKey) → record number (u32, little-endian)
 *   manifest-v<N>   segment number → SegmentEntry
 *   outbox          row number → event that webhooks are to be told (`Outbox`); made when the first one is written
 *   deletions-v<N>  [segment number, chunk of 4096 documents] → 512 bytes, one bit a document
 *   …-v<N>-s<M>     what `src/vectors` keeps beside the records of a version
 *
 * Thread-safety: one object belongs to one thread; threads that open the same path share the native environment, and
 * write transactions exclude each other. A transaction is on disk when `transaction` returns. Reads see the last commit of
 * any thread after `refresh()`, which a task calls once at its start.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, RootDatabase } from 'lmdb';
import type { ListRecord } from '../catalog/index.js';
import {
  allocateLockFile,
  assertGrowthRoom,
  assertKnownFormat,
  asStorageError,
  openRoot,
  Outbox,
  OUTBOX_DATABASE,
  type LmdbEnvironment,
  ServiceError,
} from '../platform/index.js';
import { FIRST_LIST_STATE_FORMAT, LIST_STATE_FORMAT_WITH_VECTORS, type ListState } from './list-state.js';
import { SegmentManifest } from './segment-manifest.js';

/**
 * Address space of a list's store, not memory or disk. One that outgrows its map gets one of twice the size it needs; the old one
 * stays until the store is closed, for those who still read in it. Thousands of lists fit into the address space of a process so.
 */
export const INITIAL_MAP_BYTES = 256 * 2 ** 20;
/** A store that is large already gets room to double. */
const MAP_GROWTH = 2;
/** Named databases of a list: five versions with room to spare, since a dropped one frees its place. */
const DATABASES_MAX = 128;
const READERS_MAX = 512;
/** Longer names are kept under a prefix and a hash: LMDB bounds its keys. */
const NAME_KEY_BYTES_MAX = 1000;
const NAME_KEY_PREFIX_BYTES = 900;
/** Of `KeptEntry`; what another release wrote in another form is as good as none. */
const ENTRY_FORMAT = 1;
const APPEND = { append: true };
const PLAIN = { append: false };

export function storePath(listPath: string): string {
  return join(listPath, 'store');
}
export function segmentsPath(listPath: string): string {
  return join(listPath, 'segments');
}
export function segmentFile(listPath: string, segment: number): string {
  return join(segmentsPath(listPath), `${String(segment).padStart(8, '0')}.mdb`);
}

/** A segment of vectors; numbered together with those of words. */
export function vectorSegmentFile(listPath: string, segment: number): string {
  return join(segmentsPath(listPath), `${String(segment).padStart(8, '0')}.gvs`);
}

/** The key of a name. No UTF-8 text holds the byte 0xff, so a long name never meets a short one. */
export function nameKey(name: string): Buffer {
  const bytes = Buffer.from(name, 'utf8');
  if (bytes.length <= NAME_KEY_BYTES_MAX) return bytes;
  const hash = createHash('sha256').update(bytes).digest();
  return Buffer.concat([bytes.subarray(0, NAME_KEY_PREFIX_BYTES), Buffer.from([0xff]), hash]);
}

/** True where a store was made. One of no bytes was cut off: LMDB would take it for a new one. */
export function hasStore(listPath: string): boolean {
  return (statSync(join(storePath(listPath), 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** What is asked of a list whose records are not there. */
export function missingStore(): ServiceError {
  return new ServiceError(
    'list-missing',
    'The list is in the catalogue, but its records are not in the data directory: bring its folder back, or delete the list.',
  );
}

/** What the names of a version's databases end in; `space`: those of vectors of one kind. */
export function versionSuffix(version: number, space?: number): string {
  return space === undefined ? `v${version}` : `v${version}-s${space}`;
}

function versionOfDatabase(name: string): number | undefined {
  const number = /^[a-z]+-v(\d+)(?:-s\d+)?$/u.exec(name)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** Records, names, manifest and deletions of one version. */
export class VersionStore extends SegmentManifest {
  private recordsDb: Database<Buffer, number> | undefined;
  private namesDb: Database<Buffer, Buffer> | undefined;
  private readonly numberBytes = Buffer.alloc(4);

  constructor(
    private readonly root: RootDatabase,
    readonly version: number,
  ) {
    super(root, versionSuffix(version));
  }

  // Opening a database takes the write lock for a moment, so readers open only what they need, and never in a transaction.
  get records(): Database<Buffer, number> {
    return (this.recordsDb ??= this.root.openDB({
      name: `records-v${this.version}`,
      encoding: 'binary',
      keyEncoding: 'uint32',
    }));
  }
  get names(): Database<Buffer, Buffer> {
    return (this.namesDb ??= this.root.openDB({
      name: `names-v${this.version}`,
      encoding: 'binary',
      keyEncoding: 'binary',
    }));
  }
  /** Opens all four, before a transaction that uses them. */
  prepare(): this {
    void [this.records, this.names, this.manifest, this.deletions];
    return this;
  }

  /** The bytes of a record; good until the next read from any database of this thread. */
  record(recordNumber: number): Buffer | undefined {
    return this.records.getBinaryFast(recordNumber);
  }

  /** Records that are stored, without going through them. */
  recordCount(): number {
    return (this.records.getStats() as { readonly entryCount: number }).entryCount;
  }

  recordNumberOfName(name: string): number | undefined {
    return this.names.getBinaryFast(nameKey(name))?.readUInt32LE(0);
  }

  /** `append`: the number is above all that are stored, which is written faster. */
  putRecord(recordNumber: number, bytes: Uint8Array, append = false): void {
    const written = this.records.putSync(recordNumber, bytes as Buffer, append ? APPEND : PLAIN) as unknown;
    // LMDB refuses to append below what is there, and lmdb-js says so only here.
    if (written !== true) throw new Error(`record ${recordNumber} of version ${this.version} could not be written`);
  }
  removeRecord(recordNumber: number): void {
    this.records.removeSync(recordNumber);
  }
  putName(name: string, recordNumber: number): void {
    // LMDB copies the value before this returns, so one buffer serves all.
    this.numberBytes.writeUInt32LE(recordNumber, 0);
    this.names.putSync(nameKey(name), this.numberBytes);
  }
  removeName(name: string): void {
    this.names.removeSync(nameKey(name));
  }

  /** Deletes all databases of the version, also those that others keep beside its records. No thread may use it any more. */
  drop(): void {
    this.prepare();
    for (const database of [this.records, this.names, this.manifest, this.deletions]) database.dropSync();
    for (const name of Array.from(this.root.getKeys(), String)) {
      if (versionOfDatabase(name) === this.version) this.root.openDB({ name, encoding: 'binary' }).dropSync();
    }
  }
}

/** The list's entry in the catalogue, kept beside its records so that it can be put back where the catalogue is lost. */
export interface KeptEntry {
  readonly format: typeof ENTRY_FORMAT;
  readonly list: ListRecord;
  /** Of the account, which is made again with it. */
  readonly region: string;
}

export interface RecordStoreOptions {
  /** Makes the store where there is none. Default false: that is refused, for an empty store must never stand in for a lost one. */
  readonly create?: boolean;
  /** For tests of its growth. */
  readonly initialMapBytes?: number;
}

export class RecordStore {
  private readonly root: RootDatabase;
  private readonly meta: Database<ListState | KeptEntry, string>;
  private readonly versions = new Map<number, VersionStore>();
  private openedOutbox: Outbox | undefined;
  private asEnvironment: LmdbEnvironment | undefined;

  /** Throws `list-missing` where there is no store and none is to be made, `resources-exhausted` where the process has no room. */
  constructor(
    readonly listPath: string,
    { create = false, initialMapBytes = INITIAL_MAP_BYTES }: RecordStoreOptions = {},
  ) {
    const path = storePath(listPath);
    if (!create && !hasStore(listPath)) throw missingStore();
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
      this.root = openRoot(path, {
        kind: 'list',
        mapBytes: Math.max(initialMapBytes, MAP_GROWTH * this.fileBytes()),
        databasesMax: DATABASES_MAX,
        readersMax: READERS_MAX,
      });
      this.meta = this.root.openDB({ name: 'meta', encoding: 'msgpack' });
    } catch (error) {
      throw this.asWriteError(error);
    }
  }

  /** Undefined in a folder whose creation was cut short. Throws for a format that this release does not know. */
  state(): ListState | undefined {
    const state = this.meta.get('state') as ListState | undefined;
    const format = state?.format ?? FIRST_LIST_STATE_FORMAT;
    if (format !== LIST_STATE_FORMAT_WITH_VECTORS) assertKnownFormat(storePath(this.listPath), 'list', format);
    return state;
  }
  /** Inside a transaction. */
  putState(state: ListState): void {
    this.meta.putSync('state', state);
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
    // Looking up the name of a database as if it were a value finds nothing.
    for (const key of this.root.getKeys({ start: name, limit: 1 })) return String(key) === name;
    return false;
  }

  version(version: number): VersionStore {
    let store = this.versions.get(version);
    if (store === undefined) {
      store = new VersionStore(this.root, version);
      this.versions.set(version, store);
    }
    return store;
  }
  /** Numbers of the versions that have databases here, whether or not the state names them. */
  versionsOnDisk(): number[] {
    const numbers = new Set<number>();
    for (const key of this.root.getKeys()) {
      const number = versionOfDatabase(String(key));
      if (number !== undefined) numbers.add(number);
    }
    return [...numbers];
  }
  forgetVersion(version: number): void {
    this.versions.delete(version);
  }

  /** Reads from here on see the last commit of any thread. */
  refresh(): void {
    this.root.resetReadTxn();
  }

  /** All of the action or, when it throws, nothing; on disk when this returns. Rejects a full disk as `storage-full`. */
  transaction<Result>(action: () => Result): Result {
    assertGrowthRoom(this.fileBytes());
    try {
      return this.root.transactionSync(action);
    } catch (error) {
      throw this.asWriteError(error);
    }
  }

  /** `storage-full` where the error means that; every other error as it is. */
  asWriteError(error: unknown): unknown {
    return asStorageError(error, this.listPath);
  }

  /** Of the file, 0 before there is one. */
  private fileBytes(): number {
    return statSync(join(storePath(this.listPath), 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0;
  }

  async close(): Promise<void> {
    this.versions.clear();
    await this.root.close();
  }
}

function isSystemError(error: unknown, code: 'ENOENT' | 'EEXIST'): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

function listIsGone(cause: unknown): ServiceError {
  return new ServiceError('list-not-found', 'The list has been deleted.', { cause });
}
