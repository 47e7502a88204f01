/** Exit statuses of `gannet`, listed in docs/operating.md. */
export const EXIT = {
  done: 0,
  /** The service answered with an error, a check of `doctor` failed, or records of an import were refused. */
  failed: 1,
  /** The command line or the settings are wrong. */
  usage: 2,
  /** No service is reachable, and the data directory cannot be opened. */
  unavailable: 3,
} as const;

export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

/** A failure that the command line reports as a message, without a stack trace. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    message: string,
    readonly status: ExitStatus = EXIT.failed,
  ) {
    super(message);
  }
}
