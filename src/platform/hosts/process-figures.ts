/** What the system reports about a process; only Linux does. */
import { readFileSync } from 'node:fs';

/**
 * Fields of `/proc/<pid>/stat` after the program's name, counted from 0. Their unit is 1/USER_HZ, which is 100 wherever
 * Node.js runs.
 */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;
const TICK_MS = 10;

/** Processor time of all threads of a process, in steps of 10 ms; undefined if the system does not report it. */
export function processorMs(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program's name may contain anything, so the fields are read after its closing parenthesis.
    const members = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(members[USER_TICKS]) + Number(members[SYSTEM_TICKS])) * TICK_MS;
  } catch {
    return undefined;
  }
}

/** Resident memory of a process; 0 if the system does not report it. */
export function residentBytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
