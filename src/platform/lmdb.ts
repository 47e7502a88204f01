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
