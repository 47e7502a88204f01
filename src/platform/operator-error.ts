/** A failure that the operator can put right. The message is one sentence that says how; no stack is shown for it. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}

/** Another process has the data directory: a service that runs or is starting, or a command. */
export class DataDirectoryInUseError extends OperatorError {
  override readonly name = 'DataDirectoryInUseError';
}
