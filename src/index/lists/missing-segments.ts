/** Finds missing files of lists, for `gannet doctor --data`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDamage } from '../../platform/index.js';
import { RecordStore } from '../../records/index.js';
import { hasStore, segmentsPath } from '../../store/index.js';
import { listFolder, listFolderNames } from './list-folders.js';
import { namedSegmentFiles } from '../segments/segment-files.js';

/**
 * Returns the paths of segments that manifests name and that do not exist. Skips lists whose store is damaged: that is
 * reported separately. Nothing else may have the lists open.
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
