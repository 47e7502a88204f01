/** What the system tells of a process: Linux alone does. */
import { readFileSync } from 'node:fs';

/** Members of `/proc/<pid>/stat` behind the name, from 0, and what they count: USER_HZ is 100 wherever Node.js runs. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;
const TICK_MS = 10;

/** Of all its threads, in steps of 10 ms; undefined where the system does not tell. */
export function processorMs(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Behind the program's name, which may hold anything.
    const members = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(members[USER_TICKS]) + Number(members[SYSTEM_TICKS])) * TICK_MS;
  } catch {
    return undefined;
  }
}

/** 0 where the system does not tell. */
export function residentBytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
