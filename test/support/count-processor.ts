/**
 * Measures the CPU time of each test file: in its process, and in the services and commands it starts, once they have
 * ended and been waited for. Read by scripts/lib/summary-reporter.mjs. Linux only; nothing is reported elsewhere.
 */
import { readFileSync } from 'node:fs';
import { afterAll } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    processorSeconds?: number;
  }
}

/** Of Linux, in /proc. */
const TICKS_PER_SECOND = 100;

/** Returns the user and system time of this process and its waited-for children. */
function usedSeconds(): number | undefined {
  let stat;
  try {
    stat = readFileSync('/proc/self/stat', 'utf8');
  } catch {
    return undefined;
  }
  // The program's name, in brackets, may contain spaces. After it, utime, stime, cutime and cstime are fields 12 to 15.
  const ticks = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return ticks.reduce((sum, count) => sum + Number(count), 0) / TICKS_PER_SECOND;
}

/** Files of unit tests share a process, so the time before belongs to other files. */
const shared = globalThis as { gannetProcessorSeconds?: number };

afterAll(({}, file) => {
  const used = usedSeconds();
  if (used === undefined) return;
  file.meta.processorSeconds = used - (shared.gannetProcessorSeconds ?? 0);
  shared.gannetProcessorSeconds = used;
});
