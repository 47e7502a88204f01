/** Backups of the data directory: made while serving, restored while nothing runs. */
export { BACKUPS } from './backups-key.js';
export {
  assertMovable,
  finishRestore,
  markRestored,
  restoreBackup,
  RESTORING,
  toldFinished,
  type AssertKnown,
  type FinishedRestore,
  type Restored,
} from './restore.js';
