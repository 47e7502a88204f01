/**
 * What Linux reports to a process about itself, below `/proc/self`. Other systems report nothing, nor does a `chroot`
 * without `/proc`.
 */
import { readFileSync } from 'node:fs';

const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR']);
/** Key of the page size in the auxiliary vector (elf.h). */
const AT_PAGESZ = 6n;
const WORD_BYTES = 8;
const USUAL_PAGE_BYTES = 4096;

/** Returns the content of the file; undefined if it does not exist. Throws other errors of reading, such as EMFILE. */
export function procSelf(name: 'auxv' | 'limits' | 'maps' | 'statm'): Buffer | undefined {
  try {
    return readFileSync(`/proc/self/${name}`);
  } catch (error) {
    if (ABSENT.has((error as NodeJS.ErrnoException).code)) return undefined;
    throw error;
  }
}

/** Bytes of a page of `statm`: 4,096 on x86-64, up to 65,536 on arm64, depending on the build of its Linux. */
export function pageBytes(): number {
  return (known ??= pageBytesOf(procSelf('auxv') ?? Buffer.alloc(0)));
}

let known: number | undefined;

/** Returns the page size from an auxiliary vector: pairs of a key and a value, 64 bits each. */
export function pageBytesOf(auxiliary: Buffer): number {
  for (let at = 0; at + 2 * WORD_BYTES <= auxiliary.length; at += 2 * WORD_BYTES) {
    if (auxiliary.readBigUInt64LE(at) === AT_PAGESZ) return Number(auxiliary.readBigUInt64LE(at + WORD_BYTES));
  }
  return USUAL_PAGE_BYTES;
}
