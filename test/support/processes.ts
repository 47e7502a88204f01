/** Information on processes from /proc. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

export interface SystemProcess {
  readonly pid: number;
  readonly parent: number;
  /** State letter: `Z` for a zombie. */
  readonly state: string;
  readonly command: string;
}

/** Undefined if there is no such process. */
export function processOf(pid: number): SystemProcess | undefined {
  try {
    const [state = '', parent] = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /su, '')
      .split(' ');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
    return { pid, parent: Number(parent), state, command };
  } catch {
    return undefined;
  }
}

/** False also for a zombie. */
export function isAlive(pid: number): boolean {
  return !['Z', 'X', undefined].includes(processOf(pid)?.state);
}

export function childrenOf(parent: number): SystemProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .flatMap((name) => processOf(Number(name)) ?? [])
    .filter((each) => each.parent === parent);
}

/** Returns the number of open descriptors: files, sockets, pipes. */
export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
