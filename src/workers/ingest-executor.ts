/**
 * The pool of ingest workers. A task is given to a thread only when one is free; the others wait here, so that a client
 * that goes away takes its task out of the queue. Accounts that wait have turns.
 *
 * Merges have a lane and a thread of their own: a merge of minutes must not hold up a write of milliseconds. What is made
 * again from records (`reindex`) goes there too. Merges that nobody waits for, which take minutes, have one more where there is memory for
 * its thread: others overtake them, as long as both together hold no more memory than merges may.
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
/** A thread that was needed for a merge ends after this time without work. */
const IDLE_TIMEOUT_MS = 60_000;
/** Searches come first on a busy processor; not before small writes, whose clients wait as well, and which take milliseconds. */
const NICE_INCREMENT = 5;
/** Whatever somebody waits for comes before merges that nobody waits for. */
const QUIET_NICE_INCREMENT = 10;
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
  /** That of the `SearchActivity`, to which some tasks give way. Absent: nobody searches. */
  readonly searches?: SharedArrayBuffer | undefined;
  /** What all merges together may hold where those that nobody waits for have a thread of their own. Absent: they have none. */
  readonly mergeBytesMax?: number | undefined;
  /** Where it is seen whether a task may open what it needs. Absent: one of its own. */
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
      // Its tasks never wait for anything, and with atomics Piscina would not turn the event loop between them: the timers that
      // lmdb-js leaves behind with each snapshot would gather. A task of milliseconds does not notice the difference.
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
  // One thread waits for work; where small writes have their own, it is theirs.
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
    // Before the one of merges, so that who waits for bytes there keeps no place from those that need none.
    holding: new TaskLane({ atWorkMax: MERGES_AT_WORK_MAX }),
    small: new TaskLane({ atWorkMax: SMALL_AT_WORK_MAX }),
  };
}

function placeOf(task: IngestTask, { large, small, quiet }: Pools, lanes: ReturnType<typeof lanesOf>) {
  if (small !== undefined && SMALL.has(task.kind)) return { lane: lanes.small, pool: small };
  if (quiet !== undefined && isQuiet(task)) return { lane: lanes.quiet, pool: quiet };
  return { lane: BESIDE_WRITERS.has(task.kind) ? lanes.merges : lanes.writes, pool: large };
}

/** Runs the action with as much of what merges may hold as its task holds, when that is there. */
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
    // Quiet ones, who all need bytes, hold no more than that which is at work.
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
      // Before its commit: what cannot be opened afterwards would be on disk and not searchable.
      room.assertForWriting();
      // Outside the lanes: what waits for memory keeps no thread from what needs none.
      return NEEDING_MEMORY.has(task.kind) ? memory.run(() => runInLane(task, options)) : runInLane(task, options);
    },
    async close() {
      await Promise.all(all.map((lane) => lane.drained()));
      await Promise.all(pools.map((pool) => pool.close()));
    },
  };
}

/** What is refused from `ingest.queue_max` on, and what waits beside it for as long as it takes: merges, checks, what builds versions. */
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

/** Of what merges may hold; what is made in pieces counts with the batches. */
function bytesHeldBy(task: IngestTask): number {
  if (task.kind === 'learn-model') return task.bytesMax;
  if (task.kind !== 'merge' && task.kind !== 'merge-vectors') return 0;
  // A thread that is there for it alone counts with it.
  return task.holdsBytes + (isQuiet(task) ? INGEST_THREAD_BYTES : 0);
}
