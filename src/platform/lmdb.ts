/**
 * LMDB as this service uses it. Nothing else imports a value from `lmdb`, so that the checking build is the one that is loaded. It is
 * required and not imported: what a file imports from libraries may be evaluated before the files beside it; and not before something is
 * opened, for commands that talk to a running service open nothing.
 */
import { createRequire } from 'node:module';
import type * as Lmdb from 'lmdb';
import { useCheckingBuild } from './lmdb-build.js';

let library: typeof Lmdb | undefined;

function load(): typeof Lmdb {
  useCheckingBuild();
  return createRequire(import.meta.url)('lmdb') as typeof Lmdb;
}

/** As that of lmdb-js. */
export function open<Value, Key extends Lmdb.Key>(
  options: Lmdb.RootDatabaseOptionsWithPath,
): Lmdb.RootDatabase<Value, Key> {
  library ??= load();
  return library.open<Value, Key>(options);
}

/** What `native-bindings/lmdb-js` adds: late_commit.h, map_again.h, mappings_lock.h. */
interface Additions {
  commitLate(told: (error?: Error) => void): void;
  mapAnew(): void;
  useMappingsLock(address: bigint): void;
}

const additionsOf = (root: Lmdb.RootDatabase) => (root as unknown as { readonly env: Additions }).env;

/** From now on no environment of this process, in whatever thread, unmaps its file while the kernel's `trimMappings` is at work. */
export function useMappingsLock(root: Lmdb.RootDatabase, address: bigint): void {
  additionsOf(root).useMappingsLock(address);
}

/** Maps the file of the environment anew in its place, for all threads that share it. Not within a transaction. Throws what the system says. */
export function mapAnew(root: Lmdb.RootDatabase): void {
  additionsOf(root).mapAnew();
  // What was read before may be of zeros.
  root.resetReadTxn();
}

/**
 * Runs the action in one write transaction; its pages are written when this returns, and a thread waits for the disk. Resolves with its result
 * when all of it is on disk, or changes nothing and rejects. Until then whoever begins another one in the same thread, as who opens a
 * database does, waits for it.
 */
export function commitBeside<Result>(root: Lmdb.RootDatabase, action: () => Result): Promise<Result> {
  const env = additionsOf(root);
  return new Promise((resolve, reject) => {
    root.transactionSync(() => {
      // Before anything is written: it throws where lmdb-js is writing by itself, in a transaction that could not be taken back.
      env.commitLate((error) => {
        // What was read meanwhile was read as of before.
        root.resetReadTxn();
        if (error === undefined) resolve(result);
        else reject(error);
      });
      const result = action();
    });
  });
}
