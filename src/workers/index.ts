/** Worker threads: the pools that the main thread uses. Only Piscina loads the `.worker.ts` files. */
export { createSearchPool, type RunningSearchPool, type SearchPoolOptions } from './search-pool.js';
export { createIngestExecutor, type IngestExecutorOptions, type RunningIngestExecutor } from './ingest-executor.js';
export { FairQueue } from './fair-queue.js';
export type { SearchPoolTask, WorkerDeath } from './search-messages.js';
