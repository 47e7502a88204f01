/**
 * Whether somebody is still there for an answer, as far as work that looks now and then has to know: a part of AbortSignal, which is
 * one. Making a signal with its controller takes longer than all else that is made for a request.
 */
export interface Cancellation {
  readonly aborted: boolean;
  /** What the work rejects with; undefined until `aborted`. */
  readonly reason: unknown;
}
