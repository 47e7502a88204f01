/**
 * A file system in memory over a folder that can be filled and emptied: `shrink` leaves no free byte, `grow` gives
 * room. Needs the permission to mount, which `canMount` checks.
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

  /** Limits it to the bytes in use. */
  shrink(): void {
    this.shrinkTo(0);
  }

  /** Limits it to so many bytes beyond those in use. */
  shrinkTo(freeBytes: number): void {
    this.remountFor(() => `size=${this.usedBytes() + freeBytes}`);
  }

  /** Allows no further files, but more content. */
  shrinkInodes(): void {
    this.remountFor(() => {
      const { files, ffree } = statfsSync(this.path);
      return `nr_inodes=${files - ffree}`;
    });
  }

  grow(): void {
    this.remount(`size=${ROOM_MIB * MEBIBYTE},nr_inodes=100000`);
  }

  /** Makes it read-only; no file may be open for writing. */
  refuseWrites(): void {
    this.remount('ro');
  }

  takeWrites(): void {
    this.remount('rw');
  }

  unmount(): void {
    execFileSync('umount', ['-l', this.path], { stdio: 'ignore' });
  }

  /** At least a page, since a size of 0 means no limit. */
  private usedBytes(): number {
    const { blocks, bfree, bsize } = statfsSync(this.path);
    return Math.max((blocks - bfree) * bsize, bsize);
  }

  /** Retries if the size is refused because a service has written more since it was measured. */
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

/** Returns whether this process may mount. If not, prints what is skipped. */
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
