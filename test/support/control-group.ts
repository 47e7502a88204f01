/** Creates a control group with little memory, if the system allows it. */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ControlGroup {
  /** Shell command that puts the shell and its children into the group. */
  readonly enter: string;
  /** Removes the group, when no process is left in it. */
  remove(): void;
}

/** Undefined without root, or if cgroup v1 is not mounted. */
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
