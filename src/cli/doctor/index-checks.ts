/** Checks whether indexes have the format of this release: those of another one are rebuilt by the next start. Read-only. */
import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ListRecord } from '../../catalog/index.js';
import { listFolder, listStores } from '../../index/index.js';
import { segmentsPath } from '../../store/index.js';
import { formatBytes, formatCounted } from '../output.js';
import { failed, fine, notice, type Check } from './check.js';

/** A list with an index of another format. */
export interface OutdatedIndex {
  /** Folder of the list. */
  readonly path: string;
  /** Size of its index, of which a rebuild writes a second copy. */
  readonly bytes: number;
}

/**
 * Returns the lists whose index has another format than that of this release. Opens segments as they are, also of a
 * data directory in use. What cannot be opened for another reason is left to other checks.
 */
export async function outdatedIndexes(folder: string): Promise<OutdatedIndex[]> {
  const { isKernelError, kernel } = await import('../../../native-bindings/index.js');
  const isOutdated = (path: string) => {
    try {
      kernel.closeSegment(kernel.openSegment(path));
      return false;
    } catch (error) {
      return isKernelError(error) && error.code === 'unsupported-format';
    }
  };
  return listStores(folder).flatMap((store) => {
    const path = dirname(store);
    const files = segmentFilesOf(path);
    if (!files.some(isOutdated)) return [];
    // A file that a merge has just removed counts as 0.
    const bytes = files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
    return [{ path, bytes }];
  });
}

function segmentFilesOf(listPath: string): string[] {
  const segments = segmentsPath(listPath);
  if (!existsSync(segments)) return [];
  const names = readdirSync(segments).filter((name) => /^\d+\.mdb$/.test(name));
  return names.map((name) => join(segments, name));
}

/** Says what the next start rebuilds, and whether the disk has room for it. */
export async function indexesCheck(folder: string, lists: readonly ListRecord[]): Promise<Check> {
  const name = 'Indexes';
  const outdated = (await outdatedIndexes(folder)).sort((left, right) => right.bytes - left.bytes);
  const [largest] = outdated;
  if (largest === undefined) return fine(name, 'all indexes have the format of this release');
  const total = outdated.reduce((sum, { bytes }) => sum + bytes, 0);
  const record = lists.find(({ id }) => listFolder(folder, id) === largest.path);
  const called = record === undefined ? largest.path : `${record.account}/${record.name}`;
  const told =
    `${formatCounted(outdated.length, 'list')} with an index of another release (${formatBytes(total)}): the next start rebuilds it from ` +
    'the records, and requests for a list are answered 503 (not-ready) until it is done. The disk needs room for a second copy of the ' +
    `largest index, that of ${called} (${formatBytes(largest.bytes)})`;
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= largest.bytes) return notice(name, told);
  return failed(name, `${told}, but only ${formatBytes(free)} are free. Free some space before the start`);
}

/** Stands for the comparison of records with indexes that would have to be rebuilt first. */
export function notComparedCheck(outdated: readonly OutdatedIndex[]): Check {
  return notice(
    'Records',
    `not compared, because the index of ${formatCounted(outdated.length, 'list')} has to be rebuilt first. Start the service and ` +
      'run gannet doctor --data then, or run that of the release that made the index now',
  );
}
