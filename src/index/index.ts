/** The write side of lists: segments, manifest, versions, merging, recovery. */
export * from './types.js';
export * from './kernel-layout.js';
export * from './ingest-tasks.js';
export * from './ingest-handlers.js';
export { createListIndexes, type ListIndexesOptions } from './list-indexes.js';
