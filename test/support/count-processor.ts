/**
 * Counts for each file of tests what it takes of the processors: in its process, and in the services and commands that it starts, once
 * they have ended and it has been told. scripts/lib/summary-reporter.mjs reads it. Linux only; elsewhere nothing is told.
 */
import { readFileSync } from 'node:fs';
import { afterAll } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    processorSeconds?: number;
  }
}

/** Of Linux, for whoever reads /proc. */
const TICKS_PER_SECOND = 100;

/** What this process and the children that it waited for have used until now; user and system. */
function usedSeconds(): number | undefined {
  let stat;
  try {
    stat = readFileSync('/proc/self/stat', 'utf8');
  } catch {
    return undefined;
  }
  // The name of the program, in brackets, may hold spaces: utime, stime, cutime and cstime are the 12th to the 15th behind it.
  const ticks = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return ticks.reduce((sum, count) => sum + Number(count), 0) / TICKS_PER_SECOND;
}

/** Files of unit tests share a process: what came before is another file's. */
const shared = globalThis as { gannetProcessorSeconds?: number };

afterAll(({}, file) => {
  const used = usedSeconds();
  if (used === undefined) return;
  file.meta.processorSeconds = used - (shared.gannetProcessorSeconds ?? 0);
  shared.gannetProcessorSeconds = used;
});
