/**
 * Loaded into the service with a soak (`node --import`), in each of its threads: every so often a line of what the thread takes goes to a file in the folder
 * that SOAK_PROBES names. Where the folder has a file `snapshot`, each thread writes one of its heap beside it, once.
 */
import { appendFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { getHeapSpaceStatistics, getHeapStatistics, writeHeapSnapshot } from 'node:v8';
import { threadId } from 'node:worker_threads';

const INTERVAL_MS = 30_000;
const folder = process.env.SOAK_PROBES;
/** When the snapshot was asked for that was written last. */
let answeredMs = 0;

/** Writes a line. */
export function look() {
  const { rss: _rss, ...memory } = process.memoryUsage();
  const { malloced_memory, number_of_native_contexts, number_of_detached_contexts } = getHeapStatistics();
  const spaces = Object.fromEntries(
    getHeapSpaceStatistics().map((space) => [space.space_name, [space.physical_space_size, space.space_used_size]]),
  );
  const resources = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  const line = {
    atS: performance.now() / 1000,
    ...memory,
    malloced_memory,
    number_of_native_contexts,
    number_of_detached_contexts,
    spaces,
    resources,
  };
  appendFileSync(join(folder, `${process.pid}-${threadId}.ndjson`), `${JSON.stringify(line)}\n`);
  const asked = statSync(join(folder, 'snapshot'), { throwIfNoEntry: false });
  if (asked === undefined || asked.mtimeMs === answeredMs) return;
  answeredMs = asked.mtimeMs;
  writeHeapSnapshot(join(folder, `${process.pid}-${threadId}-${Math.round(line.atS)}.heapsnapshot`));
}

if (folder !== undefined) setInterval(look, INTERVAL_MS).unref();
