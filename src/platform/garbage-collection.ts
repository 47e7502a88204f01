/**
 * How V8 collects garbage in a service whose searches are short and keep all processors busy. Its defaults are for one page
 * of a browser on a machine with processors to spare (docs/decisions/0038-the-slowest-of-a-hundred-searches.md).
 */
import { setFlagsFromString } from 'node:v8';

/**
 * A collection of young objects takes half a millisecond in a search thread, three on the main thread. Threads that help with it
 * have to be woken, take processors from searches, and free buffers under the lock of the allocator that the search is allocating
 * from.
 */
const WITHOUT_HELPERS = ['--no-parallel-scavenge', '--no-concurrent-sweeping', '--no-concurrent-array-buffer-sweeping'];

/** By how much a heap may grow before all of it is collected, where the budget has room for that. */
export const HEAP_GROWTH_PERCENT = 300;

/** `heapGrowthPercent`: see `HEAP_GROWTH_PERCENT`; a collection of all stalls its thread for some 25 ms. Undefined: as V8 has it, whose 8 MiB are the answers of a second. */
interface Tuning {
  readonly heapGrowthPercent: number | undefined;
}

function flagsOf({ heapGrowthPercent }: Tuning): readonly string[] {
  return [...WITHOUT_HELPERS, `--heap-growing-percent=${heapGrowthPercent ?? 0}`];
}

/**
 * Sets it for the whole process, also for threads that run: V8 looks at these flags whenever it collects. It takes compiled code, also that of
 * Node.js itself, only with the flags that it was compiled with: what is started before costs less.
 */
export function tuneGarbageCollection(tuning: Tuning): void {
  for (const flag of flagsOf(tuning)) setFlagsFromString(flag);
}

/** The flags of a process before, and after each tuning that there is: compiled code is kept for each. */
export function tunings(): readonly (readonly string[])[] {
  const untuned = [...WITHOUT_HELPERS.map((flag) => flag.replace('--no-', '--')), '--heap-growing-percent=0'];
  return [untuned, flagsOf({ heapGrowthPercent: undefined }), flagsOf({ heapGrowthPercent: HEAP_GROWTH_PERCENT })];
}
