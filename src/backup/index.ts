/** Backups of the data directory: made while serving, restored while nothing runs. */
export { BACKUPS } from './backups-key.js';
export { finishRestore, markRestored, restoreBackup, RESTORING, type Restored } from './restore.js';
