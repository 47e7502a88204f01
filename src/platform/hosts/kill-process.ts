/** The part of Node's ChildProcess that is needed here. */
interface StartedProcess {
  readonly pid?: number | undefined;
  kill(signal: 'SIGKILL'): boolean;
}

/**
 * Sends SIGKILL to a process, if it was started. For one that could not be, Node.js has the number 0 until it emits the
 * error, and a signal to 0 would go to this process and all others of its group.
 */
export function killProcess(child: StartedProcess): void {
  if (child.pid !== undefined) child.kill('SIGKILL');
}
