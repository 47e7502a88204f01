/** Parses the mounts that the system reports to a process in `/proc/self/mountinfo`, and finds the disk of a path. Pure functions. */
import { isWithin } from './real-place.js';

export interface Mount {
  /** Device number such as `8:1`; the same for all mounts of a disk. */
  readonly disk: string;
  /** The folder of the file system that is mounted. */
  readonly root: string;
  readonly at: string;
  /** Type such as `ext4`. */
  readonly type: string;
  /** Options of the file system. */
  readonly options: readonly string[];
}

/** A varying number of fields precedes the type; ` - ` ends them. The source may be empty. */
const LINE = /^\S+ \S+ (?<disk>\S+) (?<root>\S+) (?<at>\S+) .*?- (?<type>\S+) \S* (?<options>\S*)/u;

export function mountsOf(text: string): readonly Mount[] {
  return text.split('\n').flatMap((line) => {
    const { disk, root, at, type, options = '' } = LINE.exec(line)?.groups ?? {};
    if (disk === undefined || root === undefined || at === undefined || type === undefined) return [];
    return [{ disk, root: plain(root), at: plain(at), type, options: options.split(',') }];
  });
}

/** Returns the device number of the disk with this path (without links); undefined if it is unknown. */
export function diskOf(path: string, mounts: readonly Pick<Mount, 'at' | 'disk'>[]): string | undefined {
  let found: Pick<Mount, 'at' | 'disk'> | undefined;
  for (const mount of mounts) {
    // Among mounts at the same place, the last one covers the others.
    if (isWithin(path, mount.at) && mount.at.length >= (found?.at.length ?? 0)) found = mount;
  }
  return found?.disk;
}

/** Decodes spaces and the like, which are written as `\\040`. */
function plain(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/gu, (_, digits: string) => String.fromCharCode(parseInt(digits, 8)));
}
