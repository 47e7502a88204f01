/**
 * Workers that are threads or processes, with one interface for both. What a worker itself needs is in `serve-host.js`.
 */
export { createChildProcess, type ChildProcessOptions } from './child-process.js';
export type { ShortForm, ShortForms } from './direct-line.js';
export {
  FileProcesses,
  type FileProcessesOptions,
  type FileProtocol,
  type FileReaderOptions,
} from './file-processes.js';
export { CallTimedOutError, type CallOptions, type Host, type HostOptions } from './host.js';
export { HostPool } from './host-pool.js';
export { killProcess } from './kill-process.js';
export { loggedWorker } from './logged-worker.js';
export { processorMs, residentBytes } from './process-figures.js';
export type { FromWorker, Protocol, ProtocolEvent, ToWorker } from './protocol.js';
export { createWorkerThread } from './worker-thread.js';
