/**
 * How much memory a process may have by its control group and those above it, of both kinds: a container, or a unit of systemd, has less than
 * the machine. As `src/platform/machine-share.ts` finds for the service; this is for what runs before anything is compiled.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Of groups of the second kind, and of the first. Beyond `memory.high` a process hardly goes on. */
const UNIFIED = { at: '/sys/fs/cgroup', files: ['memory.max', 'memory.high'] };
const FIRST = { at: '/sys/fs/cgroup/memory', files: ['memory.limit_in_bytes'] };

/** In bytes; Infinity where nothing limits it. `read` has the content of a file, undefined where there is none. */
export function memoryLimitBytes(read = textIn) {
  const limits = (read('/proc/self/cgroup') ?? '').split('\n').flatMap((line) => {
    const [, controllers, ...path] = line.split(':');
    const kind = controllers === '' ? UNIFIED : controllers?.split(',').includes('memory') ? FIRST : undefined;
    return kind === undefined ? [] : limitsOf(kind, path.join(':'), read);
  });
  return Math.min(Number.POSITIVE_INFINITY, ...limits);
}

/** Of the topmost group and of each one down to `path`. In a container the topmost is its own, and what follows is not there. */
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
    // There is no such thing here.
    return undefined;
  }
}
