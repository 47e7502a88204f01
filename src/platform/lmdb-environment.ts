/**
 * One LMDB environment, opened through lmdb-js. Segment files are never opened here: they belong to the kernel's own copy.
 *
 * Durable writing: `await environment.transaction(…)` resolves when the transaction is on disk, not merely visible.
 * Threads that open the same path share one native environment; write transactions exclude each other across threads.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open, type Database, type Key, type RootDatabase } from 'lmdb';
import { allocateLockFile, asStorageError } from './storage-space.js';

export interface EnvironmentOptions {
  /** Named databases that may be open at a time. */
  readonly databasesMax?: number;
  readonly readOnly?: boolean;
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
  /** Runs the action in one write transaction; resolves with its result when all of it is on disk, or changes nothing. */
  transaction<Result>(action: () => Result): Promise<Result>;
  /** Resolves when everything that was committed before is on disk. */
  flushed(): Promise<void>;
  close(): Promise<void>;
}

const DATABASES_MAX_DEFAULT = 64;
const READERS_MAX = 1024;

export function openEnvironment(path: string, options: EnvironmentOptions = {}): LmdbEnvironment {
  if (options.readOnly !== true) {
    mkdirSync(path, { recursive: true });
    allocateLockFile(join(path, 'lock.mdb'));
  }
  const root = open({
    path,
    // A path with a dot in it would otherwise be taken for a file name.
    noSubdir: false,
    maxDbs: options.databasesMax ?? DATABASES_MAX_DEFAULT,
    maxReaders: READERS_MAX,
    ...(options.readOnly === true ? { readOnly: true } : {}),
  });
  return {
    root,
    database: <Value, K extends Key = Key>(name: string, databaseOptions: DatabaseOptions = {}) =>
      root.openDB<Value, K>({ name, ...databaseOptions }),
    async transaction(action) {
      try {
        // `transaction` of lmdb-js commits what was written before the action threw; a child transaction is undone.
        const result = await root.childTransaction(action);
        await root.flushed;
        return result;
      } catch (error) {
        throw asStorageError(error, path);
      }
    },
    async flushed() {
      await root.flushed;
    },
    close: () => root.close(),
  };
}
