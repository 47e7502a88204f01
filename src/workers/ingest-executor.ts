/**
 * The pool of ingest workers. A task is given to a thread only when one is free; the others wait here, so that a client
 * that goes away takes its task out of the queue.
 *
 * Merges have a lane and a thread of their own: a merge of minutes must not hold up a write of milliseconds. What is made
 * again from records (`reindex`) goes there too.
 */
import { Piscina } from 'piscina';
import type { Logger } from 'pino';
import { ListRoom, type IngestExecutor, type IngestResult, type IngestTask } from '../index/index.js';
import {
  SMALL_WRITE_SLICE_MS,
  WAITING_SLICE_MS,
  type Config,
  type HeapLimits,
  type Metrics,
  type OwnMemory,
} from '../platform/index.js';
import { ingestTransferList } from './ingest-transfer.js';
import type { IngestWorkerData } from './ingest.worker.js';
import { TaskLane } from './task-lane.js';
import { WorkerDeaths, workerFile } from './worker-pool.js';
import { valueOf, type WorkerReply } from '../platform/hosts/reply.js';

const MERGES_AT_WORK_MAX = 1;
/** A thread that was needed for a merge ends after this time without work. */
const IDLE_TIMEOUT_MS = 60_000;
/** Searches come first on a busy processor; not before small writes, whose clients wait as well, and which take milliseconds. */
const NICE_INCREMENT = 5;
const SMALL: ReadonlySet<IngestTask['kind']> = new Set(['write-batch', 'commit-merge', 'create-list', 'keep-entry']);
const SMALL_AT_WORK_MAX = 1;
const CLOSE_TIMEOUT_MS = 60_000;
/** Small writes and commits of what was merged take little, and wait for no merge. */
const NEEDING_MEMORY: ReadonlySet<IngestTask['kind']> = new Set([
  'bulk-batch',
  'build-step',
  'merge',
  'reindex',
  'build-vectors',
  'merge-vectors',
  'learn-model',
]);
/** Long ones that commit nothing, beside the writers. */
const BESIDE_WRITERS: ReadonlySet<IngestTask['kind']> = new Set([
  'merge',
  'reindex',
  'build-vectors',
  'merge-vectors',
  'calibrate',
  'learn-model',
]);

export interface IngestExecutorOptions {
  readonly config: Pick<Config, 'ingest'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly heap: HeapLimits;
  /** Where tasks that take much wait for it. */
  readonly memory: OwnMemory;
  /** Small writes have a thread of their own, and of the same priority as searches. Otherwise they share the others'. */
  readonly hasThreadForSmall?: boolean;
  /** Where it is seen whether a task may open what it needs. Absent: one of its own. */
  readonly room?: ListRoom;
}

export interface RunningIngestExecutor extends IngestExecutor {
  /** Finishes what was accepted, then ends the threads. */
  close(): Promise<void>;
}

interface Threads {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly niceIncrement: number;
  readonly sliceMs: number;
}

function poolOf(heap: HeapLimits, { name, min, max, niceIncrement, sliceMs }: Threads): Piscina {
  const workerData: IngestWorkerData = { name, sliceMs };
  return new Piscina({
    filename: workerFile('ingest'),
    minThreads: min,
    maxThreads: max,
    concurrentTasksPerWorker: 1,
    maxQueue: max,
    idleTimeout: IDLE_TIMEOUT_MS,
    niceIncrement,
    workerData,
    // Its tasks never wait for anything, and with atomics Piscina would not turn the event loop between them: the timers that
    // lmdb-js leaves behind with each snapshot would gather. A task of milliseconds does not notice the difference.
    atomics: 'disabled',
    resourceLimits: heap,
    recordTiming: false,
    closeTimeout: CLOSE_TIMEOUT_MS,
  });
}

function poolsOf(heap: HeapLimits, given: { readonly threads: number; readonly hasThreadForSmall: boolean }) {
  const { threads, hasThreadForSmall } = given;
  // One thread waits for work; where small writes have their own, it is theirs.
  const large = poolOf(heap, {
    name: 'gannet-ingest',
    min: hasThreadForSmall ? 0 : 1,
    max: threads + MERGES_AT_WORK_MAX,
    niceIncrement: NICE_INCREMENT,
    sliceMs: WAITING_SLICE_MS,
  });
  const ofSmall = {
    name: 'gannet-writes',
    min: SMALL_AT_WORK_MAX,
    max: SMALL_AT_WORK_MAX,
    niceIncrement: 0,
    sliceMs: SMALL_WRITE_SLICE_MS,
  };
  return { large, small: hasThreadForSmall ? poolOf(heap, ofSmall) : undefined };
}

export function createIngestExecutor({
  config,
  log,
  metrics,
  heap,
  memory,
  hasThreadForSmall = false,
  room = new ListRoom(),
}: IngestExecutorOptions): RunningIngestExecutor {
  const threads = config.ingest.threads;
  const { large, small } = poolsOf(heap, { threads, hasThreadForSmall });
  const pools = [large, small ?? []].flat();
  const deaths = new WorkerDeaths('ingest', log, metrics);
  for (const pool of pools)
    pool.on('error', (error) => {
      deaths.record(error);
    });
  const waiting = metrics.poolWaiting.labels('ingest');
  const lanes = {
    writes: new TaskLane({ atWorkMax: threads }),
    merges: new TaskLane({ atWorkMax: MERGES_AT_WORK_MAX }),
    small: new TaskLane({ atWorkMax: SMALL_AT_WORK_MAX }),
  };
  const all = Object.values(lanes);
  const isSmall = ({ kind }: IngestTask) => small !== undefined && SMALL.has(kind);

  async function send<T extends IngestTask>(task: T): Promise<IngestResult<T>> {
    const begin = performance.now();
    let reply: WorkerReply<IngestResult<T>>;
    try {
      const pool = isSmall(task) ? (small ?? large) : large;
      reply = (await pool.run(task, { transferList: ingestTransferList(task) })) as WorkerReply<IngestResult<T>>;
    } catch (error) {
      throw deaths.failure(error);
    }
    metrics.ingestTaskSeconds.observe({ kind: task.kind }, (performance.now() - begin) / 1000);
    return valueOf(reply, (stack) => {
      log.error({ task: task.kind, list: task.listPath, stack }, 'An ingest task failed unexpectedly');
    });
  }

  async function runInLane<T extends IngestTask>(task: T, signal?: AbortSignal): Promise<IngestResult<T>> {
    const lane = BESIDE_WRITERS.has(task.kind) ? lanes.merges : isSmall(task) ? lanes.small : lanes.writes;
    const done = lane.run(() => send(task), signal);
    const tell = () => {
      waiting.set(all.reduce((sum, each) => sum + each.waiting, 0));
    };
    tell();
    try {
      return await done;
    } finally {
      tell();
    }
  }

  return {
    get waiting() {
      return lanes.writes.waiting + lanes.small.waiting;
    },
    async run(task, { signal } = {}) {
      // Before its commit: what cannot be opened afterwards would be on disk and not searchable.
      room.assertForWriting();
      // Outside the lanes: what waits for memory keeps no thread from what needs none.
      return NEEDING_MEMORY.has(task.kind) ? memory.run(() => runInLane(task, signal)) : runInLane(task, signal);
    },
    async close() {
      await Promise.all(all.map((lane) => lane.drained()));
      await Promise.all(pools.map((pool) => pool.close()));
    },
  };
}
