/**
 * Loaded into the service with a soak (`node --import`), in each of its threads: every so often a line of what the thread takes goes to a file in the folder
 * that SOAK_PROBES names. Where the folder has a file `snapshot`, the main thread writes a snapshot of its heap beside it and removes the file.
 */
import { appendFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { getHeapStatistics, writeHeapSnapshot } from 'node:v8';
import { isMainThread, threadId } from 'node:worker_threads';

const INTERVAL_MS = 30_000;
const folder = process.env.SOAK_PROBES;

/** Writes a line. */
export function look() {
  const { rss: _rss, ...memory } = process.memoryUsage();
  const { malloced_memory, number_of_native_contexts, number_of_detached_contexts } = getHeapStatistics();
  const resources = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  const line = {
    atS: performance.now() / 1000,
    ...memory,
    malloced_memory,
    number_of_native_contexts,
    number_of_detached_contexts,
    resources,
  };
  appendFileSync(join(folder, `${process.pid}-${threadId}.ndjson`), `${JSON.stringify(line)}\n`);
  const wanted = join(folder, 'snapshot');
  if (!isMainThread || !existsSync(wanted)) return;
  rmSync(wanted);
  writeHeapSnapshot(join(folder, `${Math.round(line.atS)}.heapsnapshot`));
}

if (folder !== undefined) setInterval(look, INTERVAL_MS).unref();
