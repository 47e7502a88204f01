/**
 * Ext4 on a file, as a disk that can report an error and has quotas. Needs a loop device and the permission to mount.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOM_MIB = 128;
const IGNORED = { stdio: 'ignore' } as const;

export interface Ext4Options {
  /** Options of `mkfs.ext4`. */
  readonly made?: readonly string[];
  /** Additional options of `mount`. */
  readonly mounted?: string;
}

export class Ext4Disk {
  private constructor(
    readonly path: string,
    private readonly device: string,
  ) {}

  /** Mounts the new file `image` at `path`, which is created if missing. Throws if this machine cannot. */
  static mount(image: string, path: string, { made = [], mounted = '' }: Ext4Options = {}): Ext4Disk {
    mkdirSync(path, { recursive: true });
    const file = openSync(image, 'w');
    ftruncateSync(file, ROOM_MIB * 2 ** 20);
    closeSync(file);
    execFileSync('mkfs.ext4', ['-q', ...made, image], IGNORED);
    const options = ['loop', 'errors=remount-ro', ...(mounted === '' ? [] : [mounted])].join(',');
    execFileSync('mount', ['-o', options, image, path], IGNORED);
    const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
    const [device = ''] = mounts.find((line) => line.split(' ')[1] === path)?.split(' ') ?? [];
    return new Ext4Disk(path, device.replace('/dev/', ''));
  }

  /** Makes the disk refuse writes from now on, as after a bad sector. */
  meetError(): void {
    writeFileSync(`/sys/fs/ext4/${this.device}/trigger_fs_error`, '1');
  }

  unmount(): void {
    execFileSync('umount', ['-l', this.path], IGNORED);
  }
}

/** True if this machine can mount one with these options. */
export function canMountExt4(options: Ext4Options = {}): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-mount-'));
  try {
    Ext4Disk.mount(join(folder, 'image'), join(folder, 'on'), options).unmount();
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
