/** Backups as they are served. */
import { provide, type FeatureParts } from '../operations/index.js';
import { backupOperations } from './backup-operations.js';
import { BACKUPS, Backups } from './backups.js';

export const backupParts: FeatureParts = {
  operations: backupOperations,
  open({ dataDir, environment, environments, clock, log, progress, config }) {
    const source = { dataDir, system: environment, environments, clock, log };
    return { parts: [provide(BACKUPS, new Backups(source, progress, config.account.name))] };
  },
};
