/** Measures processor time of the threads of a process in the scheduler's nanoseconds instead of ticks of 10 ms. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

/** Returns milliseconds so far: of all existing threads, of the main thread, and of their waiting for a processor. */
export function threadTimesMs(pid) {
  const tasks = `/proc/${pid}/task`;
  const times = readdirSync(tasks).map((thread) => {
    const [ranMs, waitedMs] = timesMs(`${tasks}/${thread}/schedstat`);
    return { isMain: thread === String(pid), ranMs, waitedMs };
  });
  return {
    all: times.reduce((sum, { ranMs }) => sum + ranMs, 0),
    main: times.find(({ isMain }) => isMain).ranMs,
    waited: times.reduce((sum, { waitedMs }) => sum + waitedMs, 0),
  };
}

/** Returns a `Map` of the milliseconds of processor time so far by name of thread. The main thread is called `main`, as Node.js's threads have its name. */
export function namedThreadTimesMs(pid) {
  const tasks = `/proc/${pid}/task`;
  const times = new Map();
  for (const thread of readdirSync(tasks)) {
    const name = thread === String(pid) ? 'main' : nameOf(`${tasks}/${thread}/comm`);
    times.set(name, (times.get(name) ?? 0) + timesMs(`${tasks}/${thread}/schedstat`)[0]);
  }
  return times;
}

function nameOf(path) {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return 'ended';
  }
}

const TICK_MS = 10;

/** Returns a function that returns the processors that others used since: without this process, that one and `besideMs`, to a tick of 10 ms. */
export function othersSince(pid) {
  const busyMs = () => {
    const [user, nice, system, , , interrupts, soft, stolen] = readFileSync('/proc/stat', 'utf8')
      .split(/\s+/, 9)
      .slice(1)
      .map(Number);
    return (user + nice + system + interrupts + soft + stolen) * TICK_MS;
  };
  const oursMs = () => {
    const { user, system } = process.cpuUsage();
    return threadTimesMs(pid).all + (user + system) / 1000;
  };
  const [busy, ours, begun] = [busyMs(), oursMs(), performance.now()];
  return (besideMs = 0) => Math.max(0, (busyMs() - busy - (oursMs() - ours) - besideMs) / (performance.now() - begun));
}

/** Returns nanoseconds on a processor, and waiting for one. */
function timesMs(path) {
  try {
    return readFileSync(path, 'utf8')
      .split(' ')
      .map((nanoseconds) => Number(nanoseconds) / 1e6);
  } catch {
    // The thread has just ended.
    return [0, 0];
  }
}
