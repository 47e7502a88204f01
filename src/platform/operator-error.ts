/** A failure that the operator can put right. The message is one sentence that says how; no stack is shown for it. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}
