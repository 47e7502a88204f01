/**
 * Finds the memory that a process may use by its control group and those above it, of cgroup versions 1 and 2: a container or systemd unit has less
 * than the machine. `src/platform/machine-share.ts` does the same for the service; this is for scripts that run before anything is compiled.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files of cgroup version 2 and of version 1. Above `memory.high` a process is slowed almost to a halt. */
const UNIFIED = { at: '/sys/fs/cgroup', files: ['memory.max', 'memory.high'] };
const FIRST = { at: '/sys/fs/cgroup/memory', files: ['memory.limit_in_bytes'] };

/** Returns the limit in bytes, or Infinity without one. `read` returns the content of a file, or undefined if there is none. */
export function memoryLimitBytes(read = textIn) {
  const limits = (read('/proc/self/cgroup') ?? '').split('\n').flatMap((line) => {
    const [, controllers, ...path] = line.split(':');
    const kind = controllers === '' ? UNIFIED : controllers?.split(',').includes('memory') ? FIRST : undefined;
    return kind === undefined ? [] : limitsOf(kind, path.join(':'), read);
  });
  return Math.min(Number.POSITIVE_INFINITY, ...limits);
}

/** Returns the limits of the topmost group and of each one down to `path`. In a container the topmost is its own, and the others do not exist. */
function limitsOf({ at, files }, path, read) {
  const folders = [at];
  for (const part of path.split('/').filter((each) => each !== '' && each !== '..'))
    folders.push(join(folders.at(-1), part));
  return folders
    .flatMap((folder) => files.map((file) => Number(read(join(folder, file)))))
    .filter((bytes) => Number.isFinite(bytes) && bytes > 0);
}

function textIn(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The file does not exist.
    return undefined;
  }
}
