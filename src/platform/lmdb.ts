/**
 * Access to LMDB. No other file imports a value from `lmdb`, so that the checking build is the one loaded. The library
 * is required, not imported, because imports from libraries may be evaluated before those of neighbouring files; and
 * only when something is opened, because commands that talk to a running service open nothing.
 */
import { createRequire } from 'node:module';
import type * as Lmdb from 'lmdb';
import { useCheckingBuild } from './lmdb-build.js';

let library: typeof Lmdb | undefined;

function load(): typeof Lmdb {
  useCheckingBuild();
  return createRequire(import.meta.url)('lmdb') as typeof Lmdb;
}

/** Same as `open` of lmdb-js. */
export function open<Value, Key extends Lmdb.Key>(
  options: Lmdb.RootDatabaseOptionsWithPath,
): Lmdb.RootDatabase<Value, Key> {
  library ??= load();
  return library.open<Value, Key>(options);
}

/** Methods that `native-bindings/lmdb-js` adds: late_commit.h, map_again.h, mappings_lock.h. */
interface Additions {
  commitLate(told: (error?: Error) => void): void;
  mapAnew(): void;
  useMappingsLock(address: bigint): void;
}

/** Functions that it adds: map_again.h. */
interface AddedFunctions {
  mapAnewByFile(path: string): boolean;
}

const additionsOf = (root: Lmdb.RootDatabase) => (root as unknown as { readonly env: Additions }).env;

/**
 * From now on, no environment of this process, in any thread, unmaps its file while the kernel's `trimMappings` runs.
 */
export function useMappingsLock(root: Lmdb.RootDatabase, address: bigint): void {
  additionsOf(root).useMappingsLock(address);
}

/**
 * Maps the file of the environment anew at the same addresses, for all threads that share it. Must not be called within
 * a transaction. Throws system errors; EBUSY while another thread writes the environment.
 */
export function mapAnew(root: Lmdb.RootDatabase): void {
  additionsOf(root).mapAnew();
  // The current read snapshot may come from zeros.
  root.resetReadTxn();
}

/**
 * The same for an environment that other threads have open, without opening it. `path`: its file. Does nothing
 * if no thread has it open. Throws as `mapAnew`.
 */
export function mapOpenedAnew(path: string): void {
  library ??= load();
  const { nativeAddon } = library as unknown as { readonly nativeAddon: AddedFunctions };
  nativeAddon.mapAnewByFile(path);
}

/**
 * Runs the action in one write transaction. Its pages are written when this returns, and another thread waits for the
 * disk. Resolves with the action's result when all of it is on disk; otherwise changes nothing and rejects. Until then,
 * beginning another write transaction in this thread, which opening a database does, blocks.
 */
export function commitBeside<Result>(root: Lmdb.RootDatabase, action: () => Result): Promise<Result> {
  const env = additionsOf(root);
  return new Promise((resolve, reject) => {
    root.transactionSync(() => {
      // Before anything is written: it throws if lmdb-js is in a write transaction of its own, which could not be
      // rolled back.
      env.commitLate((error) => {
        // Reads made meanwhile saw the state before the commit.
        root.resetReadTxn();
        if (error === undefined) resolve(result);
        else reject(error);
      });
      const result = action();
    });
  });
}
