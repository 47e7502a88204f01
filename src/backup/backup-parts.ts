/** Backups as they are served. */
import { MEDIA_STORES } from '../media/index.js';
import { provide, type FeatureParts } from '../operations/index.js';
import { backupOperations } from './backup-operations.js';
import { Backups } from './backups.js';
import { BACKUPS } from './backups-key.js';

export const backupParts: FeatureParts = {
  operations: backupOperations,
  open({ dataDir, environment, environments, clock, log, progress, ...platform }) {
    const source = { dataDir, system: environment, environments, clock, log };
    const backups = new Backups(source, progress, platform.part(MEDIA_STORES));
    return { parts: [provide(BACKUPS, backups)], events: backups.events };
  },
};
