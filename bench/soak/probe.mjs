/**
 * Writes the resources of each thread of the service in a soak (loaded by `node --import`): every 30 s a line to a file in the folder
 * SOAK_PROBES. If the folder has a new file `snapshot`, each thread also writes a heap snapshot there.
 */
import { appendFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { getHeapSpaceStatistics, getHeapStatistics, writeHeapSnapshot } from 'node:v8';
import { threadId } from 'node:worker_threads';

const INTERVAL_MS = 30_000;
const folder = process.env.SOAK_PROBES;
/** Time of the last request for a snapshot that was answered. */
let answeredMs = 0;

/** Writes a line, and a snapshot if requested. */
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
