/**
 * What lies in a folder, by what stands in it, and what its file system has left. Files that have several names are counted once, by the room that they
 * take. It is looked at beside everything else, and what was found is told for a while: there may be hundreds of thousands of files.
 */
import { lstat, readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { SharedLook } from './storage-state.js';

const BLOCK_BYTES = 512;
/** So long is told what was found in folders. */
const TOLD_MS = 300_000;

export interface DiskUse {
  readonly bytes: number;
  /** For users that are not root. */
  readonly freeBytes: number;
  /** The largest first; undefined until they have been looked at. */
  readonly entries: readonly { readonly name: string; readonly bytes: number }[] | undefined;
}

export class DiskLook {
  readonly #space: SharedLook<Omit<DiskUse, 'entries'> | undefined>;
  readonly #entries: SharedLook<DiskUse['entries']>;
  #found: { readonly atMs: number; readonly entries: DiskUse['entries'] } | undefined;
  /** Of the last look: for who cannot wait for one. */
  last: Omit<DiskUse, 'entries'> | undefined;

  constructor(
    private readonly folder: string,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.#space = new SharedLook(() => this.#askSpace(), undefined);
    this.#entries = new SharedLook(() => this.#askEntries(), undefined);
  }

  /** Only how much is free. Undefined: the disk does not answer. */
  space(): Promise<Omit<DiskUse, 'entries'> | undefined> {
    return this.#space.look();
  }

  /** Never rejects. Undefined: the disk does not answer. */
  async look(): Promise<DiskUse | undefined> {
    const space = await this.space();
    if (space === undefined) return undefined;
    const isFresh = this.#found !== undefined && this.nowMs() - this.#found.atMs < TOLD_MS;
    return {
      ...space,
      entries: isFresh ? this.#found?.entries : ((await this.#entries.look()) ?? this.#found?.entries),
    };
  }

  async #askSpace(): Promise<Omit<DiskUse, 'entries'> | undefined> {
    try {
      const { bavail, blocks, bsize } = await statfs(this.folder);
      this.last = { bytes: blocks * bsize, freeBytes: bavail * bsize };
    } catch {
      this.last = undefined;
    }
    return this.last;
  }

  async #askEntries(): Promise<DiskUse['entries']> {
    const seen = new Set<string>();
    const names = await namesIn(this.folder);
    const entries: { name: string; bytes: number }[] = [];
    // One after the other: a disk that is at work is not to be asked for all at once.
    for (const name of names) entries.push({ name, bytes: await bytesOf(join(this.folder, name), seen) });
    entries.sort((a, b) => b.bytes - a.bytes);
    this.#found = { atMs: this.nowMs(), entries };
    return entries;
  }
}

/** Of a file, or of all that is below a folder. What goes meanwhile is nothing. */
async function bytesOf(path: string, seen: Set<string>): Promise<number> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return 0;
  if (found.isDirectory()) {
    let bytes = found.blocks * BLOCK_BYTES;
    for (const name of await namesIn(path)) bytes += await bytesOf(join(path, name), seen);
    return bytes;
  }
  if (found.nlink > 1) {
    const name = `${found.dev}/${found.ino}`;
    if (seen.has(name)) return 0;
    seen.add(name);
  }
  return found.blocks * BLOCK_BYTES;
}

function namesIn(path: string): Promise<string[]> {
  return readdir(path).catch(() => []);
}
