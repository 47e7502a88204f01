/**
 * Tunes V8's garbage collection for a service with short searches that keep all processors busy. V8's defaults are made
 * for a browser page on a machine with idle processors (docs/decisions/0038-the-slowest-of-a-hundred-searches.md).
 */
import { setFlagsFromString } from 'node:v8';
import type { Worker } from 'node:worker_threads';

/**
 * Flags that turn off helper threads. A collection of young objects takes half a millisecond in a search thread, three
 * on the main thread. Helper threads have to be woken, take processors from searches, and free buffers under the
 * allocator's lock that the search needs.
 */
const WITHOUT_HELPERS = ['--no-parallel-scavenge', '--no-concurrent-sweeping', '--no-concurrent-array-buffer-sweeping'];

/** V8's default for the one tuned flag that affects compiled code. */
const UNTUNED_GROWTH = '--heap-growing-percent=0';

/** Growth of a heap, in percent, before a full collection: with a large budget of memory, and with a small one. */
export const HEAP_GROWTH_PERCENT = { generous: 300, moderate: 50 };

/**
 * Limit of the time that a thread counts as starting. It takes tenths of a second, or seconds on a busy machine; a
 * thread that hangs must not leave the process untuned.
 */
export const STARTING_MS_MAX = 10_000;

/**
 * `heapGrowthPercent`: see `HEAP_GROWTH_PERCENT`. A full collection stalls its thread for some 25 ms. Undefined: V8's
 * default, whose minimum growth of 8 MiB is filled by the answers of one second.
 */
interface Tuning {
  readonly heapGrowthPercent: number | undefined;
}

function flagsOf({ heapGrowthPercent }: Tuning): readonly string[] {
  return [...WITHOUT_HELPERS, `--heap-growing-percent=${heapGrowthPercent ?? 0}`];
}

let tuned: Tuning | undefined;
let threadsStarting = 0;

/**
 * Sets the flags for the whole process, including running threads: V8 reads them at each collection. V8 only accepts
 * compiled code, including that of Node.js itself, with the flags it was compiled with; so what is started before this,
 * or by `startThreads`, starts faster.
 */
export function tuneGarbageCollection(tuning: Tuning): void {
  tuned = tuning;
  tuneUnlessStarting();
}

/**
 * Starts threads while V8 has its default flags, in a process that may be tuned already. Tuning returns once each
 * thread has sent its first message, which it does when it has loaded its code, has ended, or after `STARTING_MS_MAX`.
 * With other flags a thread refuses the compiled code of Node.js's modules and takes half as long again to start, as do
 * threads that a pool starts later by itself.
 */
export function startThreads<Started>(
  start: () => Started,
  threadsOf: (started: Started) => readonly Worker[],
): Started {
  if (tuned !== undefined) setFlagsFromString(UNTUNED_GROWTH);
  try {
    const started = start();
    for (const thread of threadsOf(started)) untilUp(thread);
    return started;
  } finally {
    tuneUnlessStarting();
  }
}

function untilUp(thread: Worker): void {
  threadsStarting += 1;
  const isUp = () => {
    clearTimeout(limit);
    thread.off('message', isUp);
    thread.off('exit', isUp);
    threadsStarting -= 1;
    tuneUnlessStarting();
  };
  const limit = setTimeout(isUp, STARTING_MS_MAX);
  limit.unref();
  thread.on('message', isUp);
  thread.on('exit', isUp);
}

function tuneUnlessStarting(): void {
  if (threadsStarting > 0 || tuned === undefined) return;
  for (const flag of flagsOf(tuned)) setFlagsFromString(flag);
}

/**
 * Returns the flags of a process before tuning, and after each possible tuning: compiled code is stored for each of
 * them.
 */
export function tunings(): readonly (readonly string[])[] {
  const untuned = [...WITHOUT_HELPERS.map((flag) => flag.replace('--no-', '--')), UNTUNED_GROWTH];
  const percents = [undefined, ...Object.values(HEAP_GROWTH_PERCENT)];
  return [untuned, ...percents.map((heapGrowthPercent) => flagsOf({ heapGrowthPercent }))];
}
