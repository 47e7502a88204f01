/** A process as Node.js has it. */
interface StartedProcess {
  readonly pid?: number | undefined;
  kill(signal: 'SIGKILL'): boolean;
}

/**
 * SIGKILL to a process that was started. Of one that could not be, Node.js has 0 for its number until it tells the error: a signal to that
 * goes to this very process, and to all others of its group.
 */
export function killProcess(child: StartedProcess): void {
  if (child.pid !== undefined) child.kill('SIGKILL');
}
