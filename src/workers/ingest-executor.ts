/**
 * The pool of ingest workers. A task is given to a thread only when one is free; other tasks wait here, so that a
 * client that goes away takes its task out of the queue. Accounts take turns.
 *
 * Merges have a lane and a thread of their own, since a merge of minutes must not delay a write of milliseconds.
 * Rebuilding from records (`reindex`) goes there, too. Merges that nobody waits for, which take minutes, have another
 * thread if there is memory for it: other merges overtake them, as long as both together hold no more memory than
 * merges may.
 */
import { Piscina } from 'piscina';
import type { Logger } from 'pino';
import {
  ListRoom,
  type IngestExecutor,
  type IngestOptions,
  type IngestResult,
  type IngestTask,
} from '../index/index.js';
import {
  INGEST_THREAD_BYTES,
  NEVER,
  SMALL_WRITE_SLICE_MS,
  startThreads,
  WAITING_SLICE_MS,
  WeightedTurns,
  type Config,
  type HeapLimits,
  type Metrics,
  type OwnMemory,
  ServiceError,
} from '../platform/index.js';
import { ingestTransferList } from './ingest-transfer.js';
import type { IngestWorkerData } from './ingest.worker.js';
import { TaskLane } from './task-lane.js';
import { WaitingForThreads } from './waiting-for-threads.js';
import { WorkerDeaths, workerFile } from './worker-pool.js';
import { valueOf, type WorkerReply } from '../platform/hosts/reply.js';

const MERGES_AT_WORK_MAX = 1;
/** A thread started for a merge ends after this time without work. */
const IDLE_TIMEOUT_MS = 60_000;
/**
 * Searches go first on a busy processor, but not before small writes, whose clients wait as well, and which take
 * milliseconds.
 */
const NICE_INCREMENT = 5;
/** Everything that somebody waits for goes before merges that nobody waits for. */
const QUIET_NICE_INCREMENT = 10;
const SMALL: ReadonlySet<IngestTask['kind']> = new Set(['write-batch', 'commit-merge', 'create-list', 'keep-entry']);
const SMALL_AT_WORK_MAX = 1;
const CLOSE_TIMEOUT_MS = 60_000;
/** Tasks that wait for memory. Small writes and commits of merges need little, and wait for no merge. */
const NEEDING_MEMORY: ReadonlySet<IngestTask['kind']> = new Set([
  'bulk-batch',
  'build-step',
  'merge',
  'reindex',
  'build-vectors',
  'merge-vectors',
  'learn-model',
]);
/** Long tasks without a commit, which run in parallel with the writers. */
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
  /** Where tasks that need much memory wait for it. */
  readonly memory: OwnMemory;
  /**
   * True if small writes have a thread of their own, with the priority of searches. Otherwise they share the others'
   * threads.
   */
  readonly hasThreadForSmall?: boolean;
  /** Memory of the `SearchActivity`, to which some tasks give way. Undefined: there are no searches. */
  readonly searches?: SharedArrayBuffer | undefined;
  /**
   * Bytes that all merges may hold if merges that nobody waits for have a thread of their own. Undefined: they have
   * none.
   */
  readonly mergeBytesMax?: number | undefined;
  /** Checks whether a task may open what it needs. Default: a room of its own. */
  readonly room?: ListRoom;
}

export interface RunningIngestExecutor extends IngestExecutor {
  /** Finishes what was accepted, then ends the threads. */
  close(): Promise<void>;
}

interface CommonOfThreads {
  readonly heap: HeapLimits;
  readonly searches: SharedArrayBuffer | undefined;
}

interface Threads {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly niceIncrement: number;
  readonly sliceMs: number;
}

function poolOf({ heap, searches }: CommonOfThreads, { name, min, max, niceIncrement, sliceMs }: Threads): Piscina {
  const workerData: IngestWorkerData = { name, sliceMs, searches };
  const make = () =>
    new Piscina({
      filename: workerFile('ingest'),
      minThreads: min,
      maxThreads: max,
      concurrentTasksPerWorker: 1,
      maxQueue: max,
      idleTimeout: IDLE_TIMEOUT_MS,
      niceIncrement,
      workerData,
      // Disabled since tasks never wait for anything: with atomics, Piscina would not turn the event loop between them,
      // and the timers that lmdb-js leaves behind with each snapshot would pile up. A task of milliseconds does not
      // notice the difference.
      atomics: 'disabled',
      resourceLimits: heap,
      recordTiming: false,
      closeTimeout: CLOSE_TIMEOUT_MS,
    });
  return startThreads(make, ({ threads }) => threads);
}

interface PoolsWanted {
  readonly threads: number;
  readonly hasThreadForSmall: boolean;
  readonly hasThreadForQuiet: boolean;
}

function poolsOf(common: CommonOfThreads, { threads, hasThreadForSmall, hasThreadForQuiet }: PoolsWanted) {
  // One thread always waits for work; if small writes have their own, it is that one.
  const large = poolOf(common, {
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
  const ofQuiet = {
    name: 'gannet-quiet',
    min: 0,
    max: MERGES_AT_WORK_MAX,
    niceIncrement: QUIET_NICE_INCREMENT,
    sliceMs: WAITING_SLICE_MS,
  };
  return {
    large,
    small: hasThreadForSmall ? poolOf(common, ofSmall) : undefined,
    quiet: hasThreadForQuiet ? poolOf(common, ofQuiet) : undefined,
  };
}

type Pools = ReturnType<typeof poolsOf>;

function lanesOf(threads: number) {
  return {
    writes: new TaskLane({ atWorkMax: threads }),
    merges: new TaskLane({ atWorkMax: MERGES_AT_WORK_MAX }),
    quiet: new TaskLane({ atWorkMax: MERGES_AT_WORK_MAX }),
    // Precedes the lane of merges, so that a task that waits for bytes here does not block tasks that need none.
    holding: new TaskLane({ atWorkMax: MERGES_AT_WORK_MAX }),
    small: new TaskLane({ atWorkMax: SMALL_AT_WORK_MAX }),
  };
}

function placeOf(task: IngestTask, { large, small, quiet }: Pools, lanes: ReturnType<typeof lanesOf>) {
  if (small !== undefined && SMALL.has(task.kind)) return { lane: lanes.small, pool: small };
  if (quiet !== undefined && isQuiet(task)) return { lane: lanes.quiet, pool: quiet };
  return { lane: BESIDE_WRITERS.has(task.kind) ? lanes.merges : lanes.writes, pool: large };
}

/** Runs the action once the bytes that its task holds are available within those of merges. */
async function holding<Result>(
  turns: WeightedTurns,
  task: IngestTask,
  signal: AbortSignal = NEVER,
  action: () => Promise<Result>,
): Promise<Result> {
  const giveBack = await turns.take(bytesHeldBy(task), signal);
  try {
    return await action();
  } finally {
    giveBack();
  }
}

function waitingIn(pools: readonly Piscina[], deaths: WorkerDeaths): WaitingForThreads {
  const waiting = new WaitingForThreads();
  for (const pool of pools)
    pool.on('error', (error) => {
      waiting.threadDied(pool, error, deaths.failure(error));
    });
  return waiting;
}

export function createIngestExecutor({
  config,
  log,
  metrics,
  heap,
  memory,
  hasThreadForSmall = false,
  searches,
  mergeBytesMax,
  room = new ListRoom(),
}: IngestExecutorOptions): RunningIngestExecutor {
  const { threads } = config.ingest;
  const hasThreadForQuiet = mergeBytesMax !== undefined;
  const given = poolsOf({ heap, searches }, { threads, hasThreadForSmall, hasThreadForQuiet });
  const pools = Object.values(given).flatMap((pool) => pool ?? []);
  const deaths = new WorkerDeaths('ingest', log, metrics);
  const waiting = waitingIn(pools, deaths);
  const lanes = lanesOf(threads);
  const [all, counted] = [Object.values(lanes), [lanes.writes, lanes.small]];
  const mergeBytes = new WeightedTurns(mergeBytesMax ?? Infinity);
  const needsBytes = (task: IngestTask) => hasThreadForQuiet && bytesHeldBy(task) > 0;

  async function send<T extends IngestTask>(task: T, pool: Piscina): Promise<IngestResult<T>> {
    const begin = performance.now();
    let reply: WorkerReply<IngestResult<T>>;
    try {
      reply = await waiting.run(pool, async (signal) => {
        const transferList = ingestTransferList(task);
        return (await pool.run(task, { transferList, signal })) as WorkerReply<IngestResult<T>>;
      });
    } catch (error) {
      throw error instanceof ServiceError ? error : deaths.failure(error);
    }
    metrics.ingestTaskSeconds.observe({ kind: task.kind }, (performance.now() - begin) / 1000);
    return valueOf(reply, (stack) => {
      log.error({ task: task.kind, list: task.listPath, stack }, 'An ingest task failed unexpectedly');
    });
  }

  async function runInLane<T extends IngestTask>(task: T, options: IngestOptions): Promise<IngestResult<T>> {
    const { lane, pool } = placeOf(task, given, lanes);
    const tell = () => tellWaiting(metrics, counted, all);
    const inLane = () => {
      const done = lane.run(() => send(task, pool), options);
      tell();
      return done;
    };
    // Quiet merges, which all need bytes, only hold those of the one that is running.
    const [before, action] = lane === lanes.quiet ? [lane, () => send(task, pool)] : [lanes.holding, inLane];
    const held = () => holding(mergeBytes, task, options.signal, action);
    const done = needsBytes(task) ? before.run(held, options) : inLane();
    tell();
    try {
      return await done;
    } finally {
      tell();
    }
  }

  return {
    get waiting() {
      return waitingInAll(counted);
    },
    waitingByAccount: () => countsIn(counted),
    async run(task, options = {}) {
      // Before the commit: if the result could not be opened afterwards, it would be on disk and not searchable.
      room.assertForWriting();
      // Outside of the lanes: a task that waits for memory blocks no thread for those that need none.
      return NEEDING_MEMORY.has(task.kind) ? memory.run(() => runInLane(task, options)) : runInLane(task, options);
    },
    async close() {
      await Promise.all(all.map((lane) => lane.drained()));
      await Promise.all(pools.map((pool) => pool.close()));
    },
  };
}

/**
 * Reports two gauges: tasks that are refused from `ingest.queue_max` on, and tasks that may wait as long as needed
 * (merges, checks, version builds).
 */
function tellWaiting({ poolWaiting }: Metrics, counted: readonly TaskLane[], all: readonly TaskLane[]): void {
  poolWaiting.labels('ingest').set(waitingInAll(counted));
  poolWaiting.labels('ingest-later').set(waitingInAll(all) - waitingInAll(counted));
}

function waitingInAll(lanes: readonly TaskLane[]): number {
  return lanes.reduce((sum, { waiting }) => sum + waiting, 0);
}

function countsIn(lanes: readonly TaskLane[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const lane of lanes)
    for (const [account, count] of lane.waitingByAccount()) counts.set(account, (counts.get(account) ?? 0) + count);
  return counts;
}

function isQuiet(task: IngestTask): boolean {
  return task.kind === 'merge-vectors' && task.isQuiet;
}

/** Bytes that the task holds of those for merges; what is built in pieces counts as batches. */
function bytesHeldBy(task: IngestTask): number {
  if (task.kind === 'learn-model') return task.bytesMax;
  if (task.kind !== 'merge' && task.kind !== 'merge-vectors') return 0;
  // Includes the thread that exists for quiet merges only.
  return task.holdsBytes + (isQuiet(task) ? INGEST_THREAD_BYTES : 0);
}
