/** Processor time of the threads of a process, in nanoseconds of the scheduler and not in ticks of 10 ms. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds so far: of all threads that there are, and of the main thread among them. */
export function threadTimesMs(pid) {
  const tasks = `/proc/${pid}/task`;
  const times = readdirSync(tasks).map((thread) => [thread, timeMs(`${tasks}/${thread}/schedstat`)]);
  return {
    all: times.reduce((sum, [, ms]) => sum + ms, 0),
    main: times.find(([thread]) => thread === String(pid))[1],
  };
}

function timeMs(path) {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    // A thread that has just ended.
    return 0;
  }
}
