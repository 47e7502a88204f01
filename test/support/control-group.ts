/** A control group with little memory, where this system lets a test make one. */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ControlGroup {
  /** For a shell that is to be in it with all that it starts. */
  readonly enter: string;
  /** Once nothing is in it any more. */
  remove(): void;
}

/** Undefined where none can be made: by who is not root, or where groups of the first kind are not mounted. */
export function controlGroup(name: string, memoryBytes: number): ControlGroup | undefined {
  const own = /^\d+:memory:(?<path>.*)$/mu.exec(textIn('/proc/self/cgroup'))?.groups?.['path'];
  if (own === undefined) return undefined;
  const folder = join('/sys/fs/cgroup/memory', own, `${name}-${process.pid}`);
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, 'memory.limit_in_bytes'), String(memoryBytes));
  } catch {
    return undefined;
  }
  return {
    enter: `echo $$ > ${join(folder, 'cgroup.procs')}`,
    remove: () => {
      rmdirSync(folder);
    },
  };
}

function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
