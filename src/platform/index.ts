export * from './bounded-map.js';
export * from './byte-budget.js';
export {
  beforeEndOf,
  NEVER,
  unlessEnded,
  within,
  withSignal,
  type AbortListener,
  type Cancellation,
} from './cancellation.js';
export * from './clock.js';
// Only the types of these modules: they need libraries that most threads never use, and are imported directly.
export type { Config } from './config.js';
export type { LoggerOptions, ServiceLogger } from './logger.js';
export type { Metrics, PoolName } from './metrics.js';
export * from './control-socket-path.js';
export * from './cursor.js';
export * from './damaged-environment.js';
export * from './damaged-storage.js';
export * from './storage-state.js';
export * from './data-there.js';
export * from './disk-use.js';
export * from './environment-format.js';
export * from './errors.js';
export * from './counted-marks.js';
export * from './exact-json.js';
export * from './json-members.js';
export * from './link-or-copy.js';
export * from './json-scanner.js';
export * from './events/index.js';
export * from './data-directory-fault.js';
export * from './file-modes.js';
export * from './fold.js';
export * from './garbage-collection.js';
export * from './thread-slices.js';
export * from './ids.js';
export * from './known-errors.js';
export * from './limits.js';
export * from './lmdb.js';
export * from './environment-copy.js';
export * from './synced-folders.js';
export * from './lmdb-environment.js';
export * from './lock-holder.js';
export * from './make-folder.js';
export * from './mapped-memory.js';
export * from './memory-budget.js';
export * from './nameless-file.js';
export * from './names.js';
export * from './own-memory.js';
export * from './own-time.js';
export * from './operator-error.js';
export * from './outbound/index.js';
export * from './paths.js';
export * from './process-room.js';
export * from './program.js';
export * from './shell-word.js';
export * from './machine-share.js';
export { memoryWarnings } from './automatic-memory.js';
export * from './mounts.js';
export * from './passing-jobs.js';
export * from './plain-letters.js';
export * from './progress.js';
export * from './real-place.js';
export * from './request-memory.js';
export * from './search-activity.js';
export * from './secrets/index.js';
export * from './service-manager.js';
export * from './storage-faults.js';
export * from './storage-space.js';
export * from './suggest.js';
export * from './system-code.js';
export * from './system-errors.js';
export * from './service-key.js';
export * from './setting-origins.js';
export * from './settings.js';
export * from './told-text.js';
export * from './web-server-fault.js';
export * from './weighted-turns.js';
export * from './whole-bytes.js';
