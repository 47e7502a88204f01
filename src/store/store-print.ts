/** Fingerprint of a list's store, which tells without opening it whether it has changed. */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { readFullySync } from '../platform/index.js';
import { storePath } from './list-files.js';

/** Size of the two meta pages of LMDB. Each commit writes one of them: transaction number, roots, checksums. */
const META_BYTES = 8192;

/**
 * Returns a fingerprint of the meta pages, the inode, the size and the time of the last change. It changes with each
 * commit and differs between files. Undefined if there is no store, or it cannot be read.
 */
export function storePrint(listPath: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(join(storePath(listPath), 'data.mdb'), 'r');
    const { ino, size, mtimeNs } = fstatSync(descriptor, { bigint: true });
    const bytes = Buffer.alloc(META_BYTES);
    const length = readFullySync(descriptor, bytes, 0);
    const hash = createHash('sha256').update(bytes.subarray(0, length)).update(`${ino}.${size}.${mtimeNs}`);
    return length === 0 ? undefined : hash.digest('base64url').slice(0, 22);
  } catch {
    // Whoever opens the store reports what is wrong with it.
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
