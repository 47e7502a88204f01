/** What a list needs and does not have on disk; for `gannet doctor --data`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDamage } from '../../platform/index.js';
import { RecordStore } from '../../records/index.js';
import { hasStore, segmentsPath } from '../../store/index.js';
import { listFolder, listFolderNames } from './list-folders.js';
import { namedSegmentFiles } from '../segments/segment-files.js';

/**
 * Paths of segments that manifests of the lists name and that are not there. Of a list whose store is damaged nothing is said: that is
 * told as such. Nothing else may have the lists open.
 */
export async function missingSegments(dataDir: string): Promise<string[]> {
  const missing: string[] = [];
  for (const id of listFolderNames(dataDir)) {
    const path = listFolder(dataDir, id);
    if (hasStore(path)) missing.push(...(await missingOf(path)));
  }
  return missing;
}

async function missingOf(listPath: string): Promise<string[]> {
  let store: RecordStore | undefined;
  try {
    store = new RecordStore(listPath);
    return namedSegmentFiles(listPath, store)
      .map((file) => join(segmentsPath(listPath), file))
      .filter((path) => !existsSync(path));
  } catch (error) {
    if (isDamage(error)) return [];
    throw error;
  } finally {
    await store?.close();
  }
}
