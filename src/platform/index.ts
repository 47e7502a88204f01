export * from './clock.js';
// Of these only the types: they need libraries which most threads have no use for, and are entered directly.
export type { Config } from './config.js';
export type { LoggerOptions, ServiceLogger } from './logger.js';
export type { Metrics, PoolName } from './metrics.js';
export * from './control-socket-path.js';
export * from './errors.js';
export * from './events/index.js';
export * from './fold.js';
export * from './ids.js';
export * from './limits.js';
export * from './lmdb-environment.js';
export * from './mapped-memory.js';
export * from './names.js';
export * from './operator-error.js';
export * from './outbound/index.js';
export * from './paths.js';
export * from './storage-space.js';
export * from './suggest.js';
