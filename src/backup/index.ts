/** Backups of the data directory: made while serving, restored while nothing runs. */
export { finishRestore, restoreBackup, type Restored } from './restore.js';
