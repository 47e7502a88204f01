/** A failure that the operator can fix. The message is one sentence that says how; no stack is shown. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}

/** Another process has the data directory open: a running or starting service, or a command. */
export class DataDirectoryInUseError extends OperatorError {
  override readonly name = 'DataDirectoryInUseError';
}
