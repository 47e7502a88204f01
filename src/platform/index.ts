export * from './clock.js';
// Only the type: reading settings needs the schema library, which worker threads have no use for; `config.js` is entered directly.
export type { Config } from './config.js';
export * from './control-socket-path.js';
export * from './errors.js';
export * from './events/index.js';
export * from './fold.js';
export * from './ids.js';
export * from './limits.js';
export * from './lmdb-environment.js';
export * from './logger.js';
export * from './mapped-memory.js';
export * from './metrics.js';
export * from './names.js';
export * from './operator-error.js';
export * from './outbound/index.js';
export * from './paths.js';
export * from './storage-space.js';
export * from './suggest.js';
