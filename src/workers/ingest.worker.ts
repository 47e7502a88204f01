/**
 * Entry of an ingest thread: runs one task at a time, and answers with a WorkerReply. The work itself is in src/index.
 */
import { workerData } from 'node:worker_threads';
import { kernel } from '../../native-bindings/index.js';
import { runIngestTask, type IngestResult, type IngestTask } from '../index/index.js';
import { Rests } from '../platform/index.js';
import { RecordStoreCache } from '../records/index.js';
import { replyOf, type WorkerReply } from '../platform/hosts/reply.js';

/** Data that the pool passes to each of its threads. */
export interface IngestWorkerData {
  /** See `src/platform/thread-slices.ts`. */
  readonly sliceMs: number;
  /** Name of the thread in `top -H` and the like. */
  readonly name: string;
  /** Memory of the `SearchActivity`. Undefined: there are no searches. */
  readonly searches: SharedArrayBuffer | undefined;
}

const { name, sliceMs, searches } = workerData as IngestWorkerData;
kernel.nameThread(name);
kernel.setThreadSlice(sliceMs);

const rests = searches === undefined ? undefined : new Rests(searches);
const context = { kernel, stores: new RecordStoreCache(), rests };

export default function runTask(task: IngestTask): Promise<WorkerReply<IngestResult<IngestTask>>> {
  return replyOf(() => runIngestTask(context, task));
}
