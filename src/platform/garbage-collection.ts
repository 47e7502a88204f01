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

/**
 * Sets it for the whole process; threads have to be started after. `heapGrowthPercent`: by how much a heap may grow before
 * all of it is collected, which stalls its thread for some 25 ms; undefined: as V8 has it, whose 8 MiB are the answers
 * of a second.
 */
export function tuneGarbageCollection({ heapGrowthPercent }: { readonly heapGrowthPercent: number | undefined }): void {
  for (const flag of WITHOUT_HELPERS) setFlagsFromString(flag);
  if (heapGrowthPercent !== undefined) setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`);
}
