import { setMaxListeners } from 'node:events';

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

/** For work that nobody calls off, however much of it waits at a time. */
export const NEVER: AbortSignal = new AbortController().signal;
setMaxListeners(0, NEVER);

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

/**
 * As `promise`, or undefined as soon as the signal is aborted: what cannot be broken off, such as a call of a disk that is silent, goes on
 * without anybody who waits.
 */
export async function unlessEnded<Result>(signal: Cancellation, promise: Promise<Result>): Promise<Result | undefined> {
  let end = (): void => undefined;
  const ended = new Promise<undefined>((resolve) => {
    end = () => {
      resolve(undefined);
    };
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
  });
  try {
    return await Promise.race([ended, promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** What the promise resolves or rejects with; rejects with the signal's reason where that is there first. Leaves nothing with the signal. */
export async function beforeEndOf<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  let leave = (): void => undefined;
  const end = new Promise<never>((_resolve, reject) => {
    leave = () => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([promise, end]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
