/**
 * How V8 collects garbage in a service whose searches are short and keep all processors busy. Its defaults are for one page
 * of a browser on a machine with processors to spare (docs/decisions/0038-the-slowest-of-a-hundred-searches.md).
 */
import { setFlagsFromString } from 'node:v8';
import type { Worker } from 'node:worker_threads';

/**
 * A collection of young objects takes half a millisecond in a search thread, three on the main thread. Threads that help with it
 * have to be woken, take processors from searches, and free buffers under the lock of the allocator that the search is allocating
 * from.
 */
const WITHOUT_HELPERS = ['--no-parallel-scavenge', '--no-concurrent-sweeping', '--no-concurrent-array-buffer-sweeping'];

/** The one that compiled code depends on, as V8 has it by itself. */
const UNTUNED_GROWTH = '--heap-growing-percent=0';

/** By how much a heap may grow before all of it is collected: where the budget has room for much, and where it is small. */
export const HEAP_GROWTH_PERCENT = { generous: 300, moderate: 50 };

/** A thread takes tenths of a second to start, and seconds on a busy machine; one that hangs does not leave the process untuned. */
export const STARTING_MS_MAX = 10_000;

/** `heapGrowthPercent`: see `HEAP_GROWTH_PERCENT`; a collection of all stalls its thread for some 25 ms. Undefined: as V8 has it, whose 8 MiB are the answers of a second. */
interface Tuning {
  readonly heapGrowthPercent: number | undefined;
}

function flagsOf({ heapGrowthPercent }: Tuning): readonly string[] {
  return [...WITHOUT_HELPERS, `--heap-growing-percent=${heapGrowthPercent ?? 0}`];
}

let tuned: Tuning | undefined;
let threadsStarting = 0;

/**
 * Sets it for the whole process, also for threads that run: V8 looks at these flags whenever it collects. It takes compiled code, also that of
 * Node.js itself, only with the flags that it was compiled with: what is started before costs less, and so does what `startThreads` starts.
 */
export function tuneGarbageCollection(tuning: Tuning): void {
  tuned = tuning;
  tuneUnlessStarting();
}

/**
 * Starts threads of a service that may be tuned already: until each has said something, which it does once it has loaded what it needs, or has ended,
 * or for `STARTING_MS_MAX`, V8 has the flags that it has by itself. With others a thread refuses the compiled code of Node.js's own modules, and costs
 * half as much again, as those do that a pool starts by itself later.
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

/** The flags of a process before, and after each tuning that there is: compiled code is kept for each. */
export function tunings(): readonly (readonly string[])[] {
  const untuned = [...WITHOUT_HELPERS.map((flag) => flag.replace('--no-', '--')), UNTUNED_GROWTH];
  const percents = [undefined, ...Object.values(HEAP_GROWTH_PERCENT)];
  return [untuned, ...percents.map((heapGrowthPercent) => flagsOf({ heapGrowthPercent }))];
}
