/**
 * A file system in memory over a folder, to be filled up and emptied: `shrink` leaves not a byte, `grow` gives room. Needs the right to
 * mount; `canMount` says whether it is there.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOM_MIB = 256;
const MEBIBYTE = 2 ** 20;
const ATTEMPTS_MAX = 100;

export class SmallFileSystem {
  private constructor(readonly path: string) {}

  static mount(path: string): SmallFileSystem {
    mkdirSync(path, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${ROOM_MIB}m`, 'tmpfs', path], { stdio: 'ignore' });
    return new SmallFileSystem(path);
  }

  /** From now on it has as much room as is used. */
  shrink(): void {
    this.shrinkTo(0);
  }

  /** Room for no more than so many bytes beyond what is used. */
  shrinkTo(freeBytes: number): void {
    this.remountFor(() => `size=${this.usedBytes() + freeBytes}`);
  }

  /** No further file; room for what is in files. */
  shrinkInodes(): void {
    this.remountFor(() => {
      const { files, ffree } = statfsSync(this.path);
      return `nr_inodes=${files - ffree}`;
    });
  }

  grow(): void {
    this.remount(`size=${ROOM_MIB * MEBIBYTE},nr_inodes=100000`);
  }

  /** From now on it can only be read; nothing may have a file open to write. */
  refuseWrites(): void {
    this.remount('ro');
  }

  takeWrites(): void {
    this.remount('rw');
  }

  unmount(): void {
    execFileSync('umount', ['-l', this.path], { stdio: 'ignore' });
  }

  /** At least a page: a size of 0 means none. */
  private usedBytes(): number {
    const { blocks, bfree, bsize } = statfsSync(this.path);
    return Math.max((blocks - bfree) * bsize, bsize);
  }

  /** A size below what is used is refused, and a service may write between the look and the change: then it is looked again. */
  private remountFor(options: () => string): void {
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.remount(options());
        return;
      } catch (error) {
        if (attempt === ATTEMPTS_MAX) throw error;
      }
    }
  }

  private remount(options: string): void {
    execFileSync('mount', ['-o', `remount,${options}`, this.path], { stdio: 'ignore' });
  }
}

/** Whether this process may mount. Says so where it may not: what is skipped then is not tested. */
export function canMount(what: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-mount-'));
  try {
    SmallFileSystem.mount(folder).unmount();
    return true;
  } catch {
    console.log(`${what}: skipped, a small file system cannot be mounted here (run it as root)`);
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
