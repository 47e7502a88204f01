/** What Linux tells a process of itself, below `/proc/self`. Other systems tell nothing, nor does a root directory without `/proc` (`chroot`). */
import { readFileSync } from 'node:fs';

const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR']);
/** The key of the size of a page in the auxiliary vector (elf.h). */
const AT_PAGESZ = 6n;
const WORD_BYTES = 8;
const USUAL_PAGE_BYTES = 4096;

/** The file of this name; undefined where there is none. Throws what reading throws otherwise, such as EMFILE. */
export function procSelf(name: 'auxv' | 'limits' | 'maps' | 'statm'): Buffer | undefined {
  try {
    return readFileSync(`/proc/self/${name}`);
  } catch (error) {
    if (ABSENT.has((error as NodeJS.ErrnoException).code)) return undefined;
    throw error;
  }
}

/** Bytes of a page of `statm`: 4,096 on x86-64, up to 65,536 on arm64 by how its Linux was built. */
export function pageBytes(): number {
  return (known ??= pageBytesOf(procSelf('auxv') ?? Buffer.alloc(0)));
}

let known: number | undefined;

/** From the auxiliary vector of a process: pairs of a key and a value, 64 bits each. */
export function pageBytesOf(auxiliary: Buffer): number {
  for (let at = 0; at + 2 * WORD_BYTES <= auxiliary.length; at += 2 * WORD_BYTES) {
    if (auxiliary.readBigUInt64LE(at) === AT_PAGESZ) return Number(auxiliary.readBigUInt64LE(at + WORD_BYTES));
  }
  return USUAL_PAGE_BYTES;
}
