/** Tells whether a list's store is as it was, without opening it. */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { storePath } from './list-files.js';

/** Both meta pages of LMDB, one of which each commit writes: number of the transaction, roots, sums. */
const META_BYTES = 8192;

/**
 * Another text after each commit, and for another file: of the meta pages, the size and the time of the last change. Undefined where
 * there is no store, or it cannot be read.
 */
export function storePrint(listPath: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(join(storePath(listPath), 'data.mdb'), 'r');
    const { ino, size, mtimeNs } = fstatSync(descriptor, { bigint: true });
    const bytes = Buffer.alloc(META_BYTES);
    const length = readSync(descriptor, bytes, 0, META_BYTES, 0);
    const hash = createHash('sha256').update(bytes.subarray(0, length)).update(`${ino}.${size}.${mtimeNs}`);
    return length === 0 ? undefined : hash.digest('base64url').slice(0, 22);
  } catch {
    // Whoever opens it says what is wrong with it.
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
