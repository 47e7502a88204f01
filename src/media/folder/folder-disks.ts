/**
 * On which disk the folder of a media store lies, for stores on one disk are silent together. What the system has mounted tells it: a look at
 * the folder itself would wait for the disk. Main thread only.
 */
import { readFileSync } from 'node:fs';
import { isWithin, mountsOf, type Mount } from '../../platform/index.js';
import { FolderCalls, type FolderCallsOptions } from './folder-calls.js';

const MOUNTS = '/proc/self/mountinfo';
/** A disk may be mounted when somebody looks into its folder for the first time. */
const MOUNTS_FRESH_MS = 5_000;

let known: { readonly mounts: readonly Mount[]; readonly readMs: number } | undefined;

/** Folders of one kind. */
export class CallsOfDisks {
  private readonly callsOf = new Map<string, FolderCalls>();

  constructor(private readonly options: FolderCallsOptions = {}) {}

  /** Those of the disk on which the folder of this path, without links, lies now; of the folder alone where the system does not tell its disk. */
  of(path: string, mounts = mountsNow()): FolderCalls {
    const disk = diskOf(path, mounts) ?? path;
    let calls = this.callsOf.get(disk);
    if (calls === undefined) this.callsOf.set(disk, (calls = new FolderCalls(this.options)));
    return calls;
  }
}

const ofStores = new CallsOfDisks();

/** Of media stores. */
export function callsOfDisk(path: string, mounts = mountsNow()): FolderCalls {
  return ofStores.of(path, mounts);
}

/** Undefined where it is not known. */
export function diskOf(path: string, mounts: readonly Pick<Mount, 'at' | 'disk'>[]): string | undefined {
  let found: Pick<Mount, 'at' | 'disk'> | undefined;
  for (const mount of mounts) {
    // Of those at the same place, the last lies over the others.
    if (isWithin(path, mount.at) && mount.at.length >= (found?.at.length ?? 0)) found = mount;
  }
  return found?.disk;
}

function mountsNow(): readonly Mount[] {
  const nowMs = performance.now();
  if (known === undefined || nowMs - known.readMs > MOUNTS_FRESH_MS) {
    known = { mounts: mountsOf(mountsText()), readMs: nowMs };
  }
  return known.mounts;
}

/** Nothing on systems that are not Linux, or that do not show it. */
function mountsText(): string {
  try {
    return readFileSync(MOUNTS, 'utf8');
  } catch {
    return '';
  }
}
