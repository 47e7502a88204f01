/**
 * Whether somebody is still there for an answer, as far as work has to know that looks now and then, or wants to be told: a part of
 * AbortSignal, which is one. Making a signal with its controller takes longer than all else that is made for a request.
 */
export interface Cancellation {
  readonly aborted: boolean;
  /** What the work rejects with; undefined until `aborted`. */
  readonly reason: unknown;
  /** The listener is called once, when `aborted` becomes true; never where it is already. */
  addEventListener(type: 'abort', listener: AbortListener): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}

/** As the platform's events have it, too. */
export type AbortListener = (() => void) | { handleEvent(): void };

/** Does something that takes an AbortSignal: what ends with the request ends what was begun for it. */
export async function withSignal<Result>(
  cancellation: Cancellation,
  action: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const abort = () => {
    controller.abort(cancellation.reason);
  };
  if (cancellation.aborted) abort();
  cancellation.addEventListener('abort', abort);
  try {
    return await action(controller.signal);
  } finally {
    cancellation.removeEventListener('abort', abort);
  }
}
