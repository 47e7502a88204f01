/** Finds the process that holds the lock of a file, for a message. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { diskOf, mountsOf } from './mounts.js';

export interface LockHolder {
  readonly pid: number;
  /** Id of the user of the process. */
  readonly user: number;
}

/**
 * Returns the holder of a lock; undefined if unknown: only Linux reports it, and not for processes in other containers.
 */
export function lockHolder(path: string): LockHolder | undefined {
  try {
    const { ino } = statSync(path, { bigint: true });
    // The device of the mount, not of `stat`, which is another one for a subvolume of Btrfs.
    const disk = diskOf(realpathSync(path), mountsOf(readFileSync('/proc/self/mountinfo', 'utf8')));
    if (disk === undefined) return undefined;
    const device = disk.split(':').map((part) => Number(part).toString(16).padStart(2, '0'));
    // `1: FLOCK  ADVISORY  WRITE 4711 08:01:131073 0 EOF`
    const line = new RegExp(String.raw`^\d+: FLOCK .* (\d+) ${device.join(':')}:${ino} `, 'm');
    const pid = Number(line.exec(readFileSync('/proc/locks', 'utf8'))?.[1] ?? 0);
    return pid > 0 ? { pid, user: statSync(`/proc/${pid}`).uid } : undefined;
  } catch {
    // The file or process has vanished, or there is no /proc: the message goes without.
    return undefined;
  }
}
