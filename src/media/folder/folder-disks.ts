/**
 * Finds the disk of a media store's folder, since stores on one disk stop answering together. Reads the system's mount
 * table: looking at the folder itself would wait for the disk. Main thread only.
 */
import { readFileSync } from 'node:fs';
import { diskOf, mountsOf, type Mount } from '../../platform/index.js';
import { FolderCalls, type FolderCallsOptions } from './folder-calls.js';

const MOUNTS = '/proc/self/mountinfo';
/** Short, since a disk may be mounted by the first access to its folder. */
const MOUNTS_FRESH_MS = 5_000;

let known: { readonly mounts: readonly Mount[]; readonly readMs: number } | undefined;

/** Calls by disk, for folders of one kind. */
export class CallsOfDisks {
  private readonly callsOf = new Map<string, FolderCalls>();

  constructor(private readonly options: FolderCallsOptions = {}) {}

  /**
   * Returns the calls of the disk with this path (without links). If the system does not tell the disk, the folder
   * counts as one.
   */
  of(path: string, mounts = mountsNow()): FolderCalls {
    const disk = diskOf(path, mounts) ?? path;
    let calls = this.callsOf.get(disk);
    if (calls === undefined) this.callsOf.set(disk, (calls = new FolderCalls(this.options)));
    return calls;
  }
}

const ofStores = new CallsOfDisks();

/** Returns the calls for a media store. */
export function callsOfDisk(path: string, mounts = mountsNow()): FolderCalls {
  return ofStores.of(path, mounts);
}

function mountsNow(): readonly Mount[] {
  const nowMs = performance.now();
  if (known === undefined || nowMs - known.readMs > MOUNTS_FRESH_MS) {
    known = { mounts: mountsOf(mountsText()), readMs: nowMs };
  }
  return known.mounts;
}

/** Returns '' on systems other than Linux, or if the file cannot be read. */
function mountsText(): string {
  try {
    return readFileSync(MOUNTS, 'utf8');
  } catch {
    return '';
  }
}
