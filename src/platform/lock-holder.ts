/** Who holds the lock of a file, for a message. */
import { readFileSync, statSync } from 'node:fs';

export interface LockHolder {
  readonly pid: number;
  /** Id of its user. */
  readonly user: number;
}

/** Undefined where the system does not tell: only Linux does, and not of processes in other containers. */
export function lockHolder(path: string): LockHolder | undefined {
  try {
    const { ino } = statSync(path, { bigint: true });
    // `1: FLOCK  ADVISORY  WRITE 4711 08:01:131073 0 EOF`
    const line = new RegExp(String.raw`^\d+: FLOCK .* (\d+) [0-9a-f]+:[0-9a-f]+:${ino} `, 'm');
    const pid = Number(line.exec(readFileSync('/proc/locks', 'utf8'))?.[1] ?? 0);
    return pid > 0 ? { pid, user: statSync(`/proc/${pid}`).uid } : undefined;
  } catch {
    // The file or the process has gone meanwhile, or there is no /proc: the message does without.
    return undefined;
  }
}
